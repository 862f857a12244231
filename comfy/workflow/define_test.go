package workflow

import (
	"testing"
)

// Every file of the corpus becomes a tool that the registry accepts, with and without a server's declarations.
func TestDefineCorpus(t *testing.T) {
	t.Parallel()
	info := testInfo(t)
	for name, data := range corpusFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{FileName: name, ObjectInfo: info}, {FileName: name}} {
				d, err := Define(w, o)
				if err != nil {
					t.Fatal(err)
				}
				checkTool(t, d)
				if d.Tool.Description != "" && d.notes == 0 {
					t.Errorf("A51 description %q of %d notes", d.Tool.Description, d.notes)
				}
			}
		})
	}
}

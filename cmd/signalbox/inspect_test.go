package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspectDefinitions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.json", `{"toolId":"a","service":"s","displayName":"A","inputSchema":{"n":{"type":"number"}}}`)
	bad := file("bad.json", `[{"service":"s","displayName":"B","inputSchema":{}},{"toolId":"c","service":"s","displayName":"C","inputSchema":{}}]`)
	deep := file("deep.json", `{"toolId":"d","metadata":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}`)
	inspect := func(files ...string) (string, error) {
		var out bytes.Buffer
		err := inspectCommand{Files: files}.Run(env{ctx: t.Context(), stdout: &out})
		return strings.ReplaceAll(out.String(), dir+string(filepath.Separator), ""), err
	}
	t.Run("A10 A18 definitions are shown as the tools they become", func(t *testing.T) {
		t.Parallel()
		if out, err := inspect(good); err != nil || out != "good.json: a, A\n  n (number)\n" {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("A4 A10 what is wrong is told, and the others are shown", func(t *testing.T) {
		t.Parallel()
		out, err := inspect(bad, deep)
		for _, want := range []string{"bad.json: c, C\n", "bad.json: error: toolId: is missing\n", "deep.json: error: line 1", "nested deeper"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not said:\n%s", want, out)
			}
		}
		if !errors.Is(err, errReported) {
			t.Errorf("it ends with %v", err)
		}
	})
}

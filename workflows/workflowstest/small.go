// Package workflowstest has the bundled workflows for tests that need runs, not pictures to look at.
package workflowstest

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/workflows"
)

// sizes are the sides of pictures in each workflow, and what they become.
var sizes = map[string][]string{
	"beforeafter.json":  {"1024", "96"},
	"contactsheet.json": {"640", "96"},
	"filmlook.json":     {"1280", "96"},
	"poster.json":       {"1024", "96", "768", "72"},
	"wallpaper.json":    {"1024", "320", "640", "200"},
}

// Small gives the bundled workflows with small pictures, which take the embedded engine no time. In full size the race
// detector makes seconds of each.
func Small(t testing.TB) fs.FS {
	t.Helper()
	files, err := fs.Glob(workflows.FS, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	small := fstest.MapFS{}
	for _, name := range files {
		data, err := workflows.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if sides := sizes[name]; sides != nil {
			if text = strings.NewReplacer(sides...).Replace(text); text == string(data) {
				t.Fatalf("%s has no side of %s any more", name, sides[0])
			}
		}
		small[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return small
}

// SmallDir gives a folder with what Small has, which goes with the test.
func SmallDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, Small(t)); err != nil {
		t.Fatal(err)
	}
	return dir
}

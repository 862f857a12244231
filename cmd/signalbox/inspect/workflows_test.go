package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/registry"
)

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWorkflows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []string{
		writeFile(t, dir, "Cat Maker.json", graphtest.Sampling("Draws a cat.").String()),
		writeFile(t, dir, "cat_maker.json", `{"prompt": `+graphtest.SmallPrompt+`}`),
		writeFile(t, dir, "page.json", `<html>`),
		filepath.Join(dir, "missing.json"),
	}
	var out bytes.Buffer
	ok, err := Workflows(context.Background(), &out, files, Options{JSON: true, ObjectInfo: graphtest.Mini(t)})
	if err != nil || ok {
		t.Fatalf("ok %v, error %v", ok, err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(files) {
		t.Fatalf("%d lines for %d files:\n%s", len(lines), len(files), out.String())
	}
	var first struct {
		File, Format    string
		Tool            registry.Tool
		Notes           []string
		Nodes           int
		ActiveNodes     int
		ExecutableNodes int
		Links           int
		ClassTypes      []string
		Lint            []graph.Finding
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	if first.File != files[0] || first.Format != "ui" || first.Tool.ToolID != "cat-maker" || first.Nodes != 8 || first.ActiveNodes != 7 || first.ExecutableNodes != 7 || first.Links != 9 {
		t.Errorf("%+v", first)
	}
	if diff := cmp.Diff([]string{"Draws a cat."}, first.Notes); diff != "" {
		t.Error(diff)
	}
	members := func(line string) []string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		set := map[string]bool{}
		for k := range m {
			set[k] = true
		}
		return slices.Sorted(maps.Keys(set))
	}
	if diff := cmp.Diff([]string{"error", "file"}, members(lines[2])); diff != "" {
		t.Errorf("members that do not apply are left out:\n%s", diff)
	}
	if !strings.Contains(lines[1], `"format":"api"`) || !strings.Contains(lines[1], "command-clash") || !strings.Contains(lines[3], "missing.json") {
		t.Errorf("%s\n%s", lines[1], lines[3])
	}
}

func TestInspectTellsOfTheBotsOwnCommands(t *testing.T) {
	t.Parallel()
	graph := (&graphtest.Graph{}).Node("1", "LoadImage", `["a.png", "image"]`, "").Node("2", "SaveImage", `["x"]`, "").Link(1, "1", 0, "2", "images", "IMAGE").String()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(graph), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reserved []string
		want     bool
	}{{[]string{"/help", "/settings"}, true}, {nil, false}} {
		var out strings.Builder
		if ok, err := Workflows(t.Context(), &out, []string{path}, Options{JSON: true, Reserved: c.reserved}); err != nil || !ok || strings.Contains(out.String(), "command-reserved") != c.want {
			t.Errorf("%v: %v, %v\n%s", c.reserved, ok, err, out.String())
		}
	}
}

func TestInspectText(t *testing.T) {
	t.Parallel()
	r := report("cat.json", []byte(graphtest.Sampling("Draws a cat.").String()), Options{ObjectInfo: graphtest.Mini(t)})
	text := r.Text(80)
	for _, want := range []string{"cat.json\n", "/cat", "Draws a cat.", "prompt", "text-to-image", "advanced", "outputs"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 82 {
			t.Errorf("a long line: %s", line)
		}
	}
	if bad := report("x.json", []byte(`[]`), Options{}); !strings.Contains(bad.Text(0), "error: not a ComfyUI workflow") {
		t.Error(bad.Text(0))
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out bytes.Buffer
	if _, err := Convert(context.Background(), &out, writeFile(t, dir, "a.json", graphtest.Sampling().String()), graphtest.Mini(t)); err != nil {
		t.Fatal(err)
	}
	var p graph.Prompt
	if err := json.Unmarshal(out.Bytes(), &p); err != nil || len(p) != 7 {
		t.Errorf("%d nodes, %v", len(p), err)
	}
	if _, err := Convert(context.Background(), &out, writeFile(t, dir, "b.json", `{}`), nil); err == nil || !strings.Contains(err.Error(), "b.json") {
		t.Errorf("error %v", err)
	}
	if _, err := Convert(context.Background(), &out, dir, nil); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("error %v", err)
	}
}

// The lines of --json carry the counts of the corpus.
func TestInspectCorpus(t *testing.T) {
	t.Parallel()
	var expected struct {
		Workflows map[string]graphtest.Facts `json:"workflows"`
	}
	graphtest.ReadJSON(t, filepath.Join(graphtest.Corpus(t), "expected.json"), &expected)
	info := graphtest.ObjectInfo(t)
	for name, data := range graphtest.Files(t) {
		t.Run("A51 A57 "+name, func(t *testing.T) {
			t.Parallel()
			r := report(name, data, Options{ObjectInfo: info})
			want := expected.Workflows[name]
			if r.Error != "" || *r.Nodes != want.Nodes || *r.ActiveNodes != want.ActiveNodes || *r.ExecutableNodes != want.ExecutableNodes || *r.Links != want.Links || len(r.Notes) != len(want.Notes) {
				t.Errorf("%+v", r)
			}
			line, err := r.line()
			if err != nil || bytes.Count(line, []byte("\n")) != 1 {
				t.Errorf("not one line: %v", err)
			}
			if tool, err := registry.DecodeTool(mustTool(t, line)); err != nil {
				t.Errorf("the tool can't be read back: %v", err)
			} else if tool.Version == "" {
				t.Error("the tool is not sealed")
			}
			if strings.Contains(r.Text(0), "\x1b") {
				t.Error("control characters in the text")
			}
		})
	}
}

func mustTool(t *testing.T, line []byte) []byte {
	t.Helper()
	var r struct{ Tool json.RawMessage }
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	return r.Tool
}

func TestReportsHideSecrets(t *testing.T) {
	t.Parallel()
	const key = "sk-abcdefghijklmnopqrstuvwxyz012345"
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "images", "IMAGE")
	b.Node("1", "Paid", `["draw with `+key+`", "`+key+`"]`, "").Node("2", "SaveImage", `["x"]`, "").Node("3", graph.DeployPrefix+"Text", `["what", "`+key+`"]`, "").Node("4", "Note", `["use `+key+`"]`, "")
	r := report("x.json", []byte(b.String()), Options{ObjectInfo: graphtest.Mini(t)})
	line, err := r.line()
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"line": string(line), "text": r.Text(0)} {
		if strings.Contains(text, key) {
			t.Errorf("the %s holds the key: %s", what, text)
		}
	}
}

func TestCommandClashes(t *testing.T) {
	t.Parallel()
	clashes := commandClashes(map[string]registry.Tool{"b.json": {ToolID: "b", CommandName: "/cat"}, "a.json": {ToolID: "a", CommandName: "/cat"}, "c.json": {ToolID: "c", CommandName: "/dog"}})
	if len(clashes) != 1 || len(clashes["b.json"]) != 1 || clashes["b.json"][0].Code != "command-clash" || !strings.Contains(clashes["b.json"][0].Message, "a.json") {
		t.Errorf("%v", clashes)
	}
}

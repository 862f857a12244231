package main

import (
	"bytes"
	"errors"
	"fmt"
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

// TestInspectExample reads the answer that stands in a tool over HTTP as its runs would.
func TestInspectExample(t *testing.T) {
	t.Parallel()
	const definition = `
tool:
  toolId: clouds
  displayName: Clouds
  inputSchema: {}
  outputSchema: %s
  webhookStrategy: {expectedStatusField: state, successValue: done, resultPath: %s, idPath: [id]}
http: {baseURL: https://clouds.example, submit: {path: /x}, poll: {path: "/x/{{task.id}}"}}
example: %s
`
	const two = `{state: done, images: [{url: "https://clouds.example/1.png", width: 64}, {url: "https://clouds.example/2.png", width: 64}]}`
	for name, c := range map[string]struct{ outputs, path, example, want string }{
		"a list of objects":         {`{image: {type: image}}`, `[images]`, two, `is no address of a file but an object; let resultPath go on to one of its members (url, width), through a list of them with "*"`},
		"an object":                 {`{image: {type: image}}`, `[images, "0"]`, two, "but an object"},
		"a list of addresses":       {`{image: {type: image}}`, `[images, "*", url]`, two, ""},
		"one address":               {`{image: {type: image}}`, `[images, "0", url]`, two, ""},
		"a text":                    {`{answer: {type: text}}`, `[images]`, two, ""},
		"nothing there":             {`{image: {type: image}}`, `[pictures]`, two, "resultPath"},
		"one output of two":         {`{image: {type: image}, depth: {type: image}}`, `[images, "*", url]`, two, "nothing for the output depth"},
		"outputs by name":           {`{image: {type: image}, depth: {type: image}}`, `[out]`, `{state: done, out: {image: "https://a.example/1", depth: "https://a.example/2"}}`, ""},
		"an answer of no success":   {`{image: {type: image}}`, `[images]`, `{state: developing}`, `it is read as running, not as a success`},
		"an answer without a state": {`{image: {type: image}}`, `[images]`, `{images: []}`, "state"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "clouds.tool.yaml")
			if err := os.WriteFile(file, fmt.Appendf(nil, definition, c.outputs, c.path, c.example), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if code := run(t.Context(), []string{"inspect", file}, &out, &out); code != 0 {
				t.Errorf("exit %d", code)
			}
			if said := out.String(); strings.Contains(said, "warning: example: ") != (c.want != "") || !strings.Contains(said, c.want) {
				t.Errorf("it says %s", said)
			}
		})
	}
}

package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
)

func TestParseForms(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(graphtest.SmallGraph)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       graph.Format
	}{
		{"graph", graphtest.SmallGraph, graph.FormatUI},
		{"graph with byte order mark and blank lines", "\ufeff\n\n" + graphtest.SmallGraph + "\n", graph.FormatUI},
		{"prompt", graphtest.SmallPrompt, graph.FormatAPI},
		{"prompt under prompt", `{"prompt": ` + graphtest.SmallPrompt + `, "client_id": "x"}`, graph.FormatAPIWrapped},
		{"prompt under input.workflow", `{"input": {"workflow": ` + graphtest.SmallPrompt + `, "images": []}}`, graph.FormatRunpod},
		{"graph under workflow", `{"workflow": ` + graphtest.SmallGraph + `, "output": ` + graphtest.SmallPrompt + `}`, graph.FormatUI},
		{"graph as text under workflow", `{"workflow": ` + string(quoted) + `}`, graph.FormatUI},
		{"prompt under output", `{"output": ` + graphtest.SmallPrompt + `}`, graph.FormatAPIWrapped},
		{"prompt with members that are no nodes", `{"version": 1, ` + graphtest.SmallPrompt[1:], graph.FormatAPI},
		{"half a surrogate pair and broken bytes", `{"nodes": [{"id": 1, "type": "A\ud800", "title": "` + "\xff\xfe" + `"}]}`, graph.FormatUI},
		{"a name twice", `{"nodes": [], "nodes": [{"id": 1, "type": "A"}]}`, graph.FormatUI},
		{"graph with everything odd", `{"nodes": [null, 5, {"id": "a", "type": "X", "pos": {"0": 1, "1": 2}, "mode": null, "inputs": [null, {"name": 5, "type": ["a", "b"], "link": null}], "outputs": null, "widgets_values": {"a": 1}}],
			"links": null, "extra": null, "definitions": null}`, graph.FormatUI},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := graphtest.Parse(t, c.text).Format; got != c.want {
				t.Errorf("format %s, want %s", got, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	loop := strings.Replace(graphtest.BlurDef, `"type": "Blur"`, `"type": "11111111-1111-1111-1111-111111111111"`, 1)
	for _, c := range []struct{ name, text, says string }{
		{"empty", " \n", "empty"},
		{"a web page", "<!DOCTYPE html><html></html>", "web page"},
		{"a picture", "\x89PNG\r\n", "picture"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "UTF-8"},
		{"a list", `[1, 2]`, "a list"},
		{"a text", `"hello"`, "a text"},
		{"another object", `{"name": "x", "dependencies": {}}`, `"name", "dependencies"`},
		{"an empty object", `{}`, "empty"},
		{"no nodes", `{"nodes": [], "links": []}`, "no nodes"},
		{"a workflow of n8n", `{"name": "Mail", "nodes": [{"id": "a1", "name": "Hook", "type": "n8n-nodes-base.webhook", "position": [1, 2], "parameters": {}}], "connections": {"Hook": {"main": []}}}`, `"connections"`},
		{"a flow of a page", `{"nodes": [{"id": "1", "type": "output", "position": {"x": 1, "y": 2}, "data": {}}], "edges": [], "viewport": {}}`, `"edges"`},
		{"no usable nodes", `{"nodes": [{"x": 1}], "links": []}`, "no type"},
		{"NaN", "{\"nodes\": [{\"id\": 1, \"type\": \"A\",\n\"widgets_values\": [NaN]}]}", "line 2, column 20: NaN is not a JSON number"},
		{"minus infinity", `{"a": -Infinity}`, "Infinity is not a JSON number"},
		{"cut off", `{"nodes": [{"id": 1, "ty`, "cut off"},
		{"a trailing comma", `{"nodes": [1,]}`, "line 1, column"},
		{"two values", graphtest.SmallGraph + graphtest.SmallGraph, "follows the end"},
		{"deep", strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested deeper than 200 levels"},
		{"a subgraph in itself", `{"nodes": [{"id": 1, "type": "11111111-1111-1111-1111-111111111111"}], "definitions": {"subgraphs": [` + loop + `]}}`, "contains itself"},
		{"an expansion bomb", expansionBomb(30), "unfold into more than"},
		{"envelopes without end", strings.Repeat(`{"prompt":`, 20) + graphtest.SmallPrompt + strings.Repeat("}", 20), "envelopes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := graph.Parse([]byte(c.text))
			if !errors.Is(err, graph.ErrNotWorkflow) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Fatalf("error %v, want it to say %q", err, c.says)
			}
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("the error is not one line: %q", err)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		if _, err := graph.Parse(make([]byte, graph.MaxBytes+1)); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("error %v", err)
		}
	})
}

// expansionBomb makes n definitions, each holding two instances of the next.
func expansionBomb(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`{"id": "d%d", "nodes": [{"id": 1, "type": "d%d"}, {"id": 2, "type": "d%d"}], "links": []}`, i, i+1, i+1))
	}
	return `{"nodes": [{"id": 1, "type": "d0"}], "definitions": {"subgraphs": [` + strings.Join(defs, ",") + `]}}`
}

func TestPromptRoundTrip(t *testing.T) {
	t.Parallel()
	p := graphtest.Parse(t, graphtest.SmallPrompt).Prompt
	first, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var again graph.Prompt
	if err := json.Unmarshal(first, &again); err != nil {
		t.Fatal(err)
	}
	second, err := again.MarshalJSON()
	if err != nil || string(first) != string(second) {
		t.Errorf("%s\n%s\n%v", first, second, err)
	}
	for _, want := range []string{`"seed":18446744073709551615`, `"model":["4",0]`, `"pair":["x","y"]`, `"_meta":{"title":"Go"}`} {
		if !strings.Contains(string(first), want) {
			t.Errorf("%s is missing in %s", want, first)
		}
	}
	c := p.Clone()
	c[0].Inputs.Set("steps", json.Number("1"))
	if v, _ := p[0].Inputs.Get("steps"); v != json.Number("20") {
		t.Errorf("the original changed to %v", v)
	}
}

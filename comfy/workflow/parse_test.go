package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const smallPrompt = `{"3": {"class_type": "Sampler", "inputs": {"seed": 18446744073709551615, "steps": 20, "model": ["4", 0], "pair": ["x", "y"]}, "_meta": {"title": "Go"}}, "4": {"class_type": "Model", "inputs": {"ckpt_name": "a"}}}`

const smallGraph = `{"nodes": [{"id": 1, "type": "LoadImage", "widgets_values": ["a.png"]}], "links": []}`

func TestParseForms(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(smallGraph)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"graph", smallGraph, FormatUI},
		{"graph with byte order mark and blank lines", "\ufeff\n\n" + smallGraph + "\n", FormatUI},
		{"prompt", smallPrompt, FormatAPI},
		{"prompt under prompt", `{"prompt": ` + smallPrompt + `, "client_id": "x"}`, FormatAPIWrapped},
		{"prompt under input.workflow", `{"input": {"workflow": ` + smallPrompt + `, "images": []}}`, FormatRunpod},
		{"graph under workflow", `{"workflow": ` + smallGraph + `, "output": ` + smallPrompt + `}`, FormatUI},
		{"graph as text under workflow", `{"workflow": ` + string(quoted) + `}`, FormatUI},
		{"prompt under output", `{"output": ` + smallPrompt + `}`, FormatAPIWrapped},
		{"prompt with members that are no nodes", `{"version": 1, ` + smallPrompt[1:], FormatAPI},
		{"half a surrogate pair and broken bytes", `{"nodes": [{"id": 1, "type": "A\ud800", "title": "` + "\xff\xfe" + `"}]}`, FormatUI},
		{"a name twice", `{"nodes": [], "nodes": [{"id": 1, "type": "A"}]}`, FormatUI},
		{"graph with everything odd", `{"nodes": [null, 5, {"id": "a", "type": "X", "pos": {"0": 1, "1": 2}, "mode": null, "inputs": [null, {"name": 5, "type": ["a", "b"], "link": null}], "outputs": null, "widgets_values": {"a": 1}}],
			"links": null, "extra": null, "definitions": null}`, FormatUI},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := mustParse(t, c.text).Format; got != c.want {
				t.Errorf("format %s, want %s", got, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	loop := strings.Replace(blurDef, `"type": "Blur"`, `"type": "11111111-1111-1111-1111-111111111111"`, 1)
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
		{"two values", smallGraph + smallGraph, "follows the end"},
		{"deep", strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested deeper than 200 levels"},
		{"a subgraph in itself", `{"nodes": [{"id": 1, "type": "11111111-1111-1111-1111-111111111111"}], "definitions": {"subgraphs": [` + loop + `]}}`, "contains itself"},
		{"an expansion bomb", expansionBomb(30), "unfold into more than"},
		{"envelopes without end", strings.Repeat(`{"prompt":`, 20) + smallPrompt + strings.Repeat("}", 20), "envelopes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(c.text))
			if !errors.Is(err, ErrNotWorkflow) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Fatalf("error %v, want it to say %q", err, c.says)
			}
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("the error is not one line: %q", err)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		if _, err := Parse(make([]byte, MaxBytes+1)); err == nil || !strings.Contains(err.Error(), "bytes") {
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
	p := mustParse(t, smallPrompt).Prompt
	first, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var again Prompt
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

func TestObjectInfo(t *testing.T) {
	t.Parallel()
	info := miniObjectInfo(t)
	sampler, ok := info.Class("Sampler")
	if !ok || sampler.Inputs[1].Max != "18446744073709551615" || !sampler.Inputs[1].hasControl() || sampler.Inputs[4].Type != "COMBO" || len(sampler.Inputs[4].Options) != 3 {
		t.Errorf("Sampler is %+v", sampler)
	}
	if _, ok := (*ObjectInfo)(nil).Class("x"); ok || (*ObjectInfo)(nil).Len() != 0 {
		t.Error("a nil ObjectInfo is not empty")
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"a": 1}`, `{"a": {"input": `} {
		if _, err := ParseObjectInfo([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if full := testInfo(t); full.Len() != 768 {
		t.Errorf("%d classes", full.Len())
	}
}

// FuzzParse: whatever comes in, every step ends without a panic, and what converts can be read back.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{smallGraph, smallPrompt, `{"prompt": ` + smallPrompt + `}`, `{"nodes": [{"id": 1, "type": "11111111-1111-1111-1111-111111111111", "widgets_values": [4],
		"properties": {"proxyWidgets": "[[\"-1\",\"radius\"]]"}}, {"id": 2, "type": "MarkdownNote", "widgets_values": ["# Hi\n@input 1.radius name=x min=1\n@tol id=b\n| a | b |\n[x](y)"]}], "definitions": {"subgraphs": [` + blurDef + `]},
		"extra": {"linearData": {"inputs": [["1", "radius"]], "outputs": [1]}, "groupNodes": {"A": {"nodes": [{"type": "Blur"}], "links": [[0, 0, 0, 0]]}}}}`,
		`{"nodes": [{"id": 1, "type": "workflow>A", "inputs": [{"name": "a", "link": 1}]}], "links": [[1, 1, 0, 1, 0, "*"]], "extra": {"groupNodes": {"A": {"nodes": [{"type": "Reroute", "inputs": [{"name": "", "type": "*"}], "outputs": [{}]}], "links": [[0, 0, 0, 0]]}}}}`,
		`{"nodes": [{"id": 1, "type": "ComfyUIDeployExternalEnum", "widgets_values": ["a", "b", "[1,2"]}, {"id": 2, "type": "ComfyUIDeployExternalSeed", "widgets_values": ["s", -1, 5, 2]}]}`} {
		f.Add([]byte(seed))
	}
	info, err := ParseObjectInfo([]byte(miniInfo))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse(data)
		if err != nil {
			return
		}
		w.Facts()
		for _, o := range []*ObjectInfo{nil, info} {
			if p, _, err := Convert(w, o); err == nil {
				checkReadable(t, p)
			}
			d, err := Define(w, Options{FileName: "f.json", ObjectInfo: o})
			if err != nil {
				t.Fatal(err)
			}
			checkTool(t, d)
		}
	})
}

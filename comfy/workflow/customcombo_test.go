package workflow

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
)

const comboInfo = `{
 "CustomCombo": {"input": {"required": {"choice": ["COMBO", {"options": []}]}}, "output": ["STRING", "INT"], "name": "CustomCombo", "display_name": "Custom Combo"},
 "Level": {"input": {"required": {"image": ["IMAGE"], "channel": ["INT", {"forceInput": true}]}}, "output": ["IMAGE"], "name": "Level"},
 "LoadImage": {"input": {"required": {"image": [["example.png"], {"image_upload": true}]}}, "output": ["IMAGE", "MASK"], "name": "LoadImage"},
 "SaveImage": {"input": {"required": {"images": ["IMAGE"], "filename_prefix": ["STRING", {"default": "ComfyUI"}]}}, "output": [], "output_node": true, "name": "SaveImage"}
}`

func comboGraph(values string) *graphtest.Graph {
	b := &graphtest.Graph{}
	b.Link(1, "1", 1, "3", "channel", "INT").Link(2, "2", 0, "3", "image", "IMAGE").Link(3, "3", 0, "4", "images", "IMAGE")
	b.Node("1", "CustomCombo", values, `"title": "Channel",`).Node("2", "LoadImage", `["a.png", "image"]`, "")
	return b.Node("3", "Level", `[]`, "").Node("4", "SaveImage", `["x"]`, "")
}

func comboOf(t *testing.T, p graph.Prompt) map[string]any {
	t.Helper()
	for _, n := range p {
		if n.Class == "CustomCombo" {
			got := map[string]any{}
			for _, in := range n.Inputs {
				got[in.Name] = ordered.Plain(in.Value)
			}
			return got
		}
	}
	t.Fatal("no CustomCombo")
	return nil
}

func TestCustomComboKeepsItsOptionsAndThePlaceOfTheChoice(t *testing.T) {
	t.Parallel()
	info, err := objectinfo.Parse([]byte(comboInfo))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"choice": "G", "index": json.Number("2"), "option1": "RGB", "option2": "R", "option3": "G", "option4": ""}
	for _, c := range []struct {
		name, values string
		info         *objectinfo.Info
		want         map[string]any
	}{
		{"stored", `["G", 2, "RGB", "R", "G", ""]`, info, all},
		{"a stale place", `["G", 0, "RGB", "R", "G", ""]`, info, all},
		{"of before places were kept", `["G", "RGB", "R", "G", ""]`, info, all},
		{"no server", `["G", 2, "RGB", "R", "G", ""]`, nil, all},
		{"a choice that is gone", `["X", 1, "RGB", "R"]`, info, map[string]any{"choice": "X", "index": json.Number("-1"), "option1": "RGB", "option2": "R"}},
		{"nothing but the choice", `["G"]`, info, map[string]any{"choice": "G"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, _, err := graph.Convert(graphtest.Parse(t, comboGraph(c.values).String()), c.info)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, comboOf(t, p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCustomComboIsAnInputWithItsOptions(t *testing.T) {
	t.Parallel()
	info, err := objectinfo.Parse([]byte(comboInfo))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Define(graphtest.Parse(t, comboGraph(`["G", 2, "RGB", "R", "G", ""]`).String()), Options{FileName: "levels.json", ObjectInfo: info})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range d.Tool.InputSchema {
		names = append(names, f.Name)
		if f.Name == "channel" && (len(f.Choices) != 3 || f.Default != any("G")) {
			t.Errorf("the choices are %v, default %v", f.Choices, f.Default)
		}
	}
	if diff := cmp.Diff([]string{"image", "channel"}, names); diff != "" {
		t.Fatal(diff)
	}
	a, err := d.Binding.Apply(map[string]any{"channel": "R"}, map[string][]string{"image": {"b.png"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := comboOf(t, a.Prompt); got["choice"] != any("R") || got["index"] != any(json.Number("1")) {
		t.Errorf("the choice and its place are %v and %v", got["choice"], got["index"])
	}
}

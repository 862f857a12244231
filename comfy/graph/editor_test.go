package graph_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
)

// What the official editor makes of a graph, where older versions of this package made something else.

const innerPort = `{"id": "11111111-2222-4333-8444-555555555555", "name": "s", "inputNode": {"id": -10}, "outputNode": {"id": -20},
 "inputs": [{"id": "a", "name": "width", "type": "INT", "linkIds": [5]}], "outputs": [{"id": "b", "name": "LATENT", "type": "LATENT", "linkIds": [7]}],
 "nodes": [{"id": 2, "type": "Number", "mode": MODE, "inputs": [{"name": "value", "type": "INT", "widget": {"name": "value"}, "link": 5}], "outputs": [{"name": "INT", "type": "INT", "links": [6]}], "widgets_values": [777, "fixed"]},
  {"id": 3, "type": "Latent", "mode": 0, "inputs": [{"name": "width", "type": "INT", "widget": {"name": "width"}, "link": WIDTH}], "outputs": [{"name": "LATENT", "type": "LATENT", "links": [7]}], "widgets_values": [512, 512]}],
 "links": [{"id": 5, "origin_id": -10, "origin_slot": 0, "target_id": 2, "target_slot": 0, "type": "INT"}, {"id": 8, "origin_id": -10, "origin_slot": 0, "target_id": 3, "target_slot": 0, "type": "INT"},
  {"id": 6, "origin_id": 2, "origin_slot": 0, "target_id": 3, "target_slot": 0, "type": "INT"}, {"id": 7, "origin_id": 3, "origin_slot": 0, "target_id": -20, "target_slot": 0, "type": "LATENT"}]}`

func TestPromotedValueOfAnIdleNode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mode, width, want string }{
		"bypassed":                 {"4", "6", "777"},
		"muted, beside an active":  {"2", "8", "777"},
		"active":                   {"0", "8", "777"},
		"muted, its output linked": {"2", "6", "512"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := strings.NewReplacer("MODE", c.mode, "WIDTH", c.width).Replace(innerPort)
			text := `{"nodes": [{"id": 1, "type": "11111111-2222-4333-8444-555555555555", "inputs": [{"name": "width", "type": "INT", "widget": {"name": "width"}, "link": null}],
 "outputs": [{"name": "LATENT", "type": "LATENT", "links": []}], "properties": {"proxyWidgets": [["2", "value"]]}, "widgets_values": []}], "links": [], "version": 0.4, "definitions": {"subgraphs": [` + def + `]}}`
			p, _, err := graph.Convert(graphtest.Parse(t, text), graphtest.Mini(t))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := p.Node("1:3").Inputs.Get("width"); string(ordered.Append(nil, got)) != c.want {
				t.Errorf("width = %v, want %s", got, c.want)
			}
		})
	}
}

func TestGroupNodeShowsOutputsByItsConfig(t *testing.T) {
	t.Parallel()
	const text = `{"nodes": [
 {"id": 1, "type": "workflow>pair", "inputs": [], "outputs": [{"name": "a", "type": "IMAGE", "links": [1]}], "widgets_values": []},
 {"id": 2, "type": "SaveImage", "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "widgets_values": ["x"]}],
 "links": [[1, 1, SLOT, 2, 0, "IMAGE"]], "version": 0.4, "extra": {"groupNodes": {"pair": {"nodes": [
  {"type": "LoadImage", "index": 0, "inputs": [], "outputs": [{"name": "IMAGE", "type": "IMAGE"}, {"name": "MASK", "type": "MASK"}], "widgets_values": ["a.png", "image"]},
  {"type": "Blur", "index": 1, "inputs": [{"name": "image", "type": "IMAGE"}], "outputs": [{"name": "IMAGE", "type": "IMAGE"}], "widgets_values": [1, 1]}],
  "links": [[0, 0, 1, 0, 1, "IMAGE"]], "external": [], "config": CONFIG}}}}`
	for name, c := range map[string]struct{ slot, config, want string }{
		"an inner link hides":        {"1", `{}`, "1:1"},
		"shown in spite of the link": {"0", `{"0": {"output": {"0": {"visible": true}}}}`, "1:0"},
		"hidden":                     {"0", `{"0": {"output": {"1": {"visible": false}}}}`, "1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := graph.Convert(graphtest.Parse(t, strings.NewReplacer("SLOT", c.slot, "CONFIG", c.config).Replace(text)), graphtest.Mini(t))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := p.Node("2").Inputs.Get("images"); got != any(graph.Ref{Node: c.want, Slot: 0}) {
				t.Errorf("SaveImage gets %v, want %s", got, c.want)
			}
		})
	}
}

const switchInfo = `{
 "Generate": {"input": {"required": {"clip": ["CLIP"], "prompt": ["STRING", {"multiline": true}]}, "optional": {"image": ["IMAGE"]}}, "output": ["STRING"], "name": "Generate"},
 "Extract": {"input": {"required": {"json": ["STRING", {}], "key": ["STRING", {}]}}, "output": ["STRING"], "name": "Extract"},
 "Text": {"input": {"required": {"value": ["STRING", {}]}}, "output": ["STRING"], "name": "Text"},
 "Clip": {"input": {"required": {}}, "output": ["CLIP"], "name": "Clip"},
 "Switch": {"input": {"required": {"switch": ["BOOLEAN", {}], "on_false": ["COMFY_MATCHTYPE_V3", {"template": {"template_id": "a", "allowed_types": "*"}}], "on_true": ["COMFY_MATCHTYPE_V3", {"template": {"template_id": "a", "allowed_types": "*"}}]}}, "output": ["COMFY_MATCHTYPE_V3"], "name": "Switch"},
 "Show": {"input": {"required": {"text": ["STRING", {}], "style": [["plain", "bold"]], "when": ["COMFY_DYNAMICCOMBO_V3", {"options": [{"key": "now", "inputs": {"required": {"delay": ["INT", {"default": 3}]}}}]}]}}, "output": [], "output_node": true, "name": "Show"},
 "ControlNetLoader": {"input": {"required": {"control_net_name": [["a.pth"]]}}, "output": ["CONTROL_NET"], "name": "ControlNetLoader"},
 "ConditioningAverage": {"input": {"required": {"conditioning_to_strength": ["FLOAT", {"default": 1.0}]}}, "output": ["CONDITIONING"], "name": "ConditioningAverage"}
}`

func convertSwitches(t *testing.T, text string) graph.Prompt {
	t.Helper()
	info, err := objectinfo.Parse([]byte(switchInfo))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := graph.Convert(graphtest.Parse(t, text), info)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBypassTakesTheFirstInputThatFits(t *testing.T) {
	t.Parallel()
	t.Run("behind a socket that takes any type", func(t *testing.T) {
		t.Parallel()
		p := convertSwitches(t, `{"nodes": [
 {"id": 1, "type": "Clip", "outputs": [{"name": "CLIP", "type": "CLIP", "links": [1]}]},
 {"id": 2, "type": "Text", "outputs": [{"name": "STRING", "type": "STRING", "links": [2]}], "widgets_values": ["hello"]},
 {"id": 3, "type": "Generate", "mode": 4, "inputs": [{"name": "clip", "type": "CLIP", "link": 1}, {"name": "prompt", "type": "STRING", "widget": {"name": "prompt"}, "link": 2}], "outputs": [{"name": "STRING", "type": "STRING", "links": [3]}], "widgets_values": [""]},
 {"id": 4, "type": "Switch", "inputs": [{"name": "on_true", "type": "*", "link": 3}], "outputs": [{"name": "output", "type": "*", "links": []}], "widgets_values": [true]}],
 "links": [[1, 1, 0, 3, 0, "CLIP"], [2, 2, 0, 3, 1, "STRING"], [3, 3, 0, 4, 0, "STRING"]], "version": 0.4}`)
		if got, _ := p.Node("4").Inputs.Get("on_true"); got != any(graph.Ref{Node: "2", Slot: 0}) {
			t.Errorf("on_true = %v, want the text", got)
		}
	})
	t.Run("in the order of the declaration", func(t *testing.T) {
		t.Parallel()
		p := convertSwitches(t, `{"nodes": [
 {"id": 2, "type": "Text", "outputs": [{"name": "STRING", "type": "STRING", "links": [2]}], "widgets_values": ["the key"]},
 {"id": 3, "type": "Extract", "mode": 4, "inputs": [{"name": "key", "type": "STRING", "widget": {"name": "key"}, "link": 2}], "outputs": [{"name": "STRING", "type": "STRING", "links": [3]}], "widgets_values": ["{}", ""]},
 {"id": 4, "type": "Show", "inputs": [{"name": "text", "type": "STRING", "widget": {"name": "text"}, "link": 3}], "widgets_values": ["own"]}],
 "links": [[2, 2, 0, 3, 0, "STRING"], [3, 3, 0, 4, 0, "STRING"]], "version": 0.4}`)
		if got, _ := p.Node("4").Inputs.Get("text"); got != any("own") {
			t.Errorf("text = %v: the first declared input has no link, so the node's own value stays", got)
		}
	})
}

func TestConvertCompletesOldFiles(t *testing.T) {
	t.Parallel()
	p := convertSwitches(t, `{"nodes": [
 {"id": 1, "type": "ConditioningAverage ", "outputs": [{"name": "CONDITIONING", "type": "CONDITIONING", "links": []}], "widgets_values": [0.5]},
 {"id": 2, "type": "T2IAdapterLoader", "outputs": [], "widgets_values": ["a.pth"]},
 {"id": 3, "type": "Show", "inputs": [], "widgets_values": ["x"]},
 {"id": 4, "type": "Switch", "inputs": []}], "links": [], "version": 0.4}`)
	want := `{"1":{"class_type":"ConditioningAverage","inputs":{"conditioning_to_strength":0.5}},"2":{"class_type":"ControlNetLoader","inputs":{"control_net_name":"a.pth"}},` +
		`"3":{"class_type":"Show","inputs":{"text":"x","style":"plain","when":"now","when.delay":3}},"4":{"class_type":"Switch","inputs":{"switch":false}}}`
	for i := range p {
		p[i].Title = ""
	}
	if got, _ := p.MarshalJSON(); string(got) != want {
		t.Errorf("prompt\n%s, want\n%s", got, want)
	}
}

func TestOldClassOfAPrompt(t *testing.T) {
	t.Parallel()
	p := convertSwitches(t, `{"1": {"class_type": "T2IAdapterLoader", "inputs": {"t2i_adapter_name": "a.pth"}}}`)
	if got, _ := p.Node("1").Inputs.Get("control_net_name"); p.Node("1").Class != "ControlNetLoader" || got != any("a.pth") {
		t.Errorf("node %+v", p.Node("1"))
	}
}

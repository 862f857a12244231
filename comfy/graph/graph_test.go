package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
)

func TestConvertLinks(t *testing.T) {
	t.Parallel()
	t.Run("a link wins over the widget, the widget keeps its place", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "radius", "INT")
		b.Node("1", "Number", `[7]`, "").Node("2", "Blur", `[3, 2.5]`, "")
		wantPrompt(t, b, `{"1": {"class_type": "Number", "inputs": {"value": 7}}, "2": {"class_type": "Blur", "inputs": {"radius": ["1", 0], "sigma": 2.5}}}`)
	})
	t.Run("reroutes and primitives vanish", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "", "*").Link(2, "2", 0, "3", "image", "IMAGE").Link(3, "9", 0, "3", "radius", "INT")
		b.Node("1", "LoadImage", `["a.png", "image"]`, "").Node("2", "Reroute", `null`, "").Node("9", "PrimitiveNode", `[11, "fixed"]`, "").Node("8", "PrimitiveNode", `[1]`, "")
		b.Node("3", "Blur", `[3, 2]`, "")
		wantPrompt(t, b, `{"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}, "3": {"class_type": "Blur", "inputs": {"image": ["1", 0], "radius": 11, "sigma": 2}}}`)
	})
	t.Run("a primitive without a value leaves the widget as it is", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "9", 0, "3", "radius", "INT")
		b.Node("9", "PrimitiveNode", `[null, "fixed"]`, "").Node("3", "Blur", `[3, 2]`, "")
		wantPrompt(t, b, `{"3": {"class_type": "Blur", "inputs": {"radius": 3, "sigma": 2}}}`)
	})
	t.Run("a muted origin leaves the input out", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "3", "image", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, `"mode": 2,`).Node("3", "Blur", `[3, 2]`, "")
		wantPrompt(t, b, `{"3": {"class_type": "Blur", "inputs": {"radius": 3, "sigma": 2}}}`)
	})
	t.Run("a bypassed node passes links on by type", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "3", "image1", "IMAGE").Link(2, "1", 1, "3", "mask", "MASK").Link(3, "3", 1, "4", "mask", "MASK").Link(4, "3", 0, "4", "image1", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "")
		b.Node("3", "Mix", `["normal"]`, `"mode": 4, "outputs": [{"name": "IMAGE", "type": "IMAGE"}, {"name": "MASK", "type": "MASK"}],`)
		b.Node("4", "Mix", `[]`, "")
		wantPrompt(t, b, `{"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}, "4": {"class_type": "Mix", "inputs": {"mode": "screen", "image1": ["1", 0], "mask": ["1", 1]}}}`)
	})
	t.Run("behind a bypassed node the type of its own input counts, not that of the last one", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 1, "2", "mask", "MASK").Link(2, "1", 0, "2", "picture", "IMAGE").Link(3, "2", 0, "3", "image", "IMAGE").Link(4, "3", 0, "4", "any", "*")
		b.Node("1", "LoadImage", `["a.png"]`, "")
		b.Node("2", "Cut", `[]`, `"mode": 4, "outputs": [{"name": "IMAGE", "type": "IMAGE"}],`).Node("3", "Blur", `[]`, `"mode": 4, "outputs": [{"name": "IMAGE", "type": "IMAGE"}],`)
		b.Node("4", "Show", `[]`, "")
		wantPrompt(t, b, `{"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}, "4": {"class_type": "Show", "inputs": {"any": ["1", 0]}}}`)
	})
	t.Run("a circle of reroutes ends with a finding", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "", "*").Link(2, "2", 0, "1", "", "*").Link(3, "2", 0, "3", "image", "IMAGE")
		b.Node("1", "Reroute", `null`, "").Node("2", "Reroute", `null`, "").Node("3", "Blur", `[3, 2]`, "")
		p, findings, err := graph.Convert(graphtest.Parse(t, b.String()), graphtest.Mini(t))
		if err != nil || len(p) != 1 || graphtest.Codes(findings)[0] != "link-cycle" {
			t.Errorf("prompt %v, findings %v, error %v", p, findings, err)
		}
	})
	t.Run("set and get nodes of packs are resolved by name", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "IMAGE", "IMAGE").Link(2, "3", 0, "4", "image", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", "SetNode", `["pic"]`, "").Node("3", "GetNode", `["pic"]`, "").Node("4", "Blur", `[1, 1]`, "")
		wantPrompt(t, b, `{"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}, "4": {"class_type": "Blur", "inputs": {"radius": 1, "sigma": 1, "image": ["1", 0]}}}`)
	})
	t.Run("a set node that is bypassed or muted still has its name: what it takes is followed", func(t *testing.T) {
		t.Parallel()
		for _, mode := range []string{"4", "2"} {
			b := new(graphtest.Graph)
			b.Link(1, "1", 0, "5", "image", "IMAGE").Link(2, "5", 0, "2", "IMAGE", "IMAGE").Link(3, "3", 0, "4", "image", "IMAGE")
			b.Node("1", "LoadImage", `["a.png"]`, "").Node("5", "Blur", `[1, 1]`, `"mode": 4, "outputs": [{"name": "IMAGE", "type": "IMAGE"}],`)
			b.Node("2", "SetNode", `["pic"]`, `"mode": `+mode+`,`).Node("7", "SetNode", `["pic"]`, "").Node("3", "GetNode", `["pic"]`, "").Node("4", "Blur", `[1, 1]`, "")
			wantPrompt(t, b, `{"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}, "4": {"class_type": "Blur", "inputs": {"radius": 1, "sigma": 1, "image": ["1", 0]}}}`)
		}
	})
	t.Run("broken links are dropped: null rows, missing nodes, unknown ids", func(t *testing.T) {
		t.Parallel()
		text := `{"nodes": [{"id": 4, "type": "Blur", "inputs": [{"name": "image", "type": "IMAGE", "link": 77}, {"name": "radius", "type": ["a"], "link": 5}], "widgets_values": [2, 3]}],
			"links": [null, [5, 99, 0, 4, 1, "INT"], []], "version": 0.4}`
		p, _, err := graph.Convert(graphtest.Parse(t, text), graphtest.Mini(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(p.Indented()); len(p[0].Inputs) != 2 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("of two nodes with one id the last one counts", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph).Node("1", "Blur", `[1, 1]`, "").Node("1", "Number", `[7]`, "")
		wantPrompt(t, b, `{"1": {"class_type": "Number", "inputs": {"value": 7}}}`)
		_, findings, err := graph.Convert(graphtest.Parse(t, b.String()), graphtest.Mini(t))
		if err != nil || len(findings) != 1 || findings[0].Code != "duplicate-id" {
			t.Errorf("findings %v, error %v", findings, err)
		}
		if f := graphtest.Parse(t, b.String()).Facts(); f.Nodes != 2 || f.ExecutableNodes != 2 {
			t.Errorf("the facts count what stands in the file: %+v", f)
		}
	})
	t.Run("nothing executes is an error", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph).Node("1", "Note", `["hello"]`, "").Node("2", "Blur", `[1, 1]`, `"mode": 2,`)
		if _, _, err := graph.Convert(graphtest.Parse(t, b.String()), nil); err == nil {
			t.Error("no error")
		}
	})
}

func TestConvertWidgets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, class, values, more, want string }{
		{"seeds beyond 2^53 stay exact and their control value is skipped", "Sampler", `[18446744073709551615, "randomize", 30, 7.5, "heun", 0.5]`, "",
			`{"seed": 18446744073709551615, "steps": 30, "cfg": 7.5, "sampler_name": "heun", "denoise": 0.5}`},
		{"very old files have a boolean for control", "Sampler", `[5, true, 30, 7.5, "heun", 0.5]`, "", `{"seed": 5, "steps": 30, "cfg": 7.5, "sampler_name": "heun", "denoise": 0.5}`},
		{"without a control value nothing shifts", "Sampler", `[5, 30, 7.5, "heun", 0.5]`, "", `{"seed": 5, "steps": 30, "cfg": 7.5, "sampler_name": "heun", "denoise": 0.5}`},
		{"a short list is filled with defaults and first options", "Sampler", `[5, "fixed", 30]`, "", `{"seed": 5, "steps": 30, "cfg": 8.0, "sampler_name": "euler", "denoise": 1.0}`},
		{"a long list is cut", "Blur", `[5, 2, 9, "x"]`, "", `{"radius": 5, "sigma": 2}`},
		{"the upload button is skipped where it is", "LoadImage", `["a.png", "image"]`, "", `{"image": "a.png"}`},
		{"values by name, foreign names left out", "Blur", `{"sigma": 4, "radius": 2, "videopreview": {"x": 1}}`, "", `{"radius": 2, "sigma": 4}`},
		{"a format brings inputs of its own, the editor's values stay out", "Combine", `{"rate": 16, "format": "mp4", "crf": 23, "pix": "b", "save": false, "lossless": true, "videopreview": {"hidden": true}}`, "",
			`{"rate": 16, "format": "mp4", "pix": "b", "crf": 23, "save": false}`},
		{"a format's inputs that are not in the file", "Combine", `{"rate": 16, "format": "mp4", "save": false}`, "", `{"rate": 16, "format": "mp4", "pix": "a", "crf": 19, "save": false}`},
		{"a format without inputs", "Combine", `{"rate": 16, "format": "gif", "crf": 23, "save": false}`, "", `{"rate": 16, "format": "gif", "save": false}`},
		{"rows of a lora loader that declares none", "Power Lora Loader (rgthree)",
			`[{}, {"type": "PowerLoraLoaderHeaderWidget"}, {"on": true, "lora": "a.safetensors", "strength": 0.8, "strengthTwo": null}, {"on": false, "lora": "b.safetensors", "strength": 1, "strengthTwo": 0.5}, {}, ""]`, "",
			`{"lora_1": {"on": true, "lora": "a.safetensors", "strength": 0.8}, "lora_2": {"on": false, "lora": "b.safetensors", "strength": 1}}`},
		{"rows with a strength for the texts", "Power Lora Loader (rgthree)", `[null, {"on": true, "lora": "a.safetensors", "strength": 0.8, "strengthTwo": 0.5}]`, `"properties": {"Show Strengths": "Separate Model & Clip"},`,
			`{"lora_1": {"on": true, "lora": "a.safetensors", "strength": 0.8, "strengthTwo": 0.5}}`},
		{"a lora loader without rows", "Power Lora Loader (rgthree)", `[{}, {"type": "PowerLoraLoaderHeaderWidget"}, {}, ""]`, "", `{}`},
		{"a dynamic combo brings its own inputs", "Resize", `["size", 10, 20, "lanczos"]`, "", `{"how": "size", "how.width": 10, "how.height": 20, "method": "lanczos"}`},
		{"a dynamic combo in a dynamic combo", "Resize", `["factor", 1.5, "odd", 7, "area"]`, "", `{"how": "factor", "how.by": 1.5, "how.deep": "odd", "how.deep.n": 7, "method": "area"}`},
		{"old values of inputs that became sockets are dropped", "Forced", `["old text", 9, "y"]`, "", `{"count": 9, "name": "y"}`},
		{"new values without them are not", "Forced", `[9, "y"]`, "", `{"count": 9, "name": "y"}`},
		{"a control value after a combo brings a filter along", "Pick", `["b", "increment", "", 4]`, "", `{"which": "b", "count": 4}`},
		{"a combo without them", "Pick", `["b", 4]`, "", `{"which": "b", "count": 4}`},
		{"a list as a value is wrapped", "Curve", `[[[0, 0], [1, 1]]]`, "", `{"points": {"__type__": "CURVE", "__value__": [[0, 0], [1, 1]]}}`},
		{"null in the place of the control value", "Sampler", `[5, null, 30, 7.5, "heun", 0.5]`, "", `{"seed": 5, "steps": 30, "cfg": 7.5, "sampler_name": "heun", "denoise": 0.5}`},
		{"an unknown class with the names beside the values", "Foreign", `["hi", 5, "fixed", [1, 2]]`, `"widgets_values_named": {"a": "hi", "seed": 5, "control_after_generate": "fixed", "b": [1, 2]},`, `{"a": "hi", "seed": 5, "b": {"__value__": [1, 2]}}`},
		{"the names beside the values lead past an option the server lacks", "Resize", `["crop", 10, "soft", "lanczos"]`, `"widgets_values_named": {"how": "crop", "how.left": 10, "how.edge": "soft", "method": "lanczos"},`,
			`{"how": "crop", "how.left": 10, "how.edge": "soft", "method": "lanczos"}`},
		{"so do the sockets of widgets", "Resize", `["crop", 10, "soft", "lanczos"]`, `"inputs": [{"name": "how", "type": "COMFY_DYNAMICCOMBO_V3", "widget": {"name": "how"}}, {"name": "how.left", "type": "INT", "widget": {"name": "how.left"}},
			{"name": "how.edge", "type": "STRING", "widget": {"name": "how.edge"}}, {"name": "method", "type": "COMBO", "widget": {"name": "method"}}],`,
			`{"how": "crop", "how.left": 10, "how.edge": "soft", "method": "lanczos"}`},
		{"a widget came in between since: the file's own names count", "Sampler", `[5, "fixed", 30, "heun", 0.5]`, `"inputs": [{"name": "seed", "type": "X", "widget": {"name": "seed"}}, {"name": "steps", "type": "X", "widget": {"name": "steps"}}, {"name": "sampler_name", "type": "X", "widget": {"name": "sampler_name"}}, {"name": "denoise", "type": "X", "widget": {"name": "denoise"}}],`,
			`{"seed": 5, "steps": 30, "cfg": 8.0, "sampler_name": "heun", "denoise": 0.5}`},
		{"a widget went away since", "Blur", `[4, "soft", 2.5]`, `"inputs": [{"name": "radius", "type": "X", "widget": {"name": "radius"}}, {"name": "edge", "type": "X", "widget": {"name": "edge"}}, {"name": "sigma", "type": "X", "widget": {"name": "sigma"}}],`, `{"radius": 4, "sigma": 2.5}`},
		{"names that do not fit the values do not count", "Sampler", `[5, "fixed", 30]`, `"inputs": [{"name": "steps", "type": "X", "widget": {"name": "steps"}}, {"name": "seed", "type": "X", "widget": {"name": "seed"}}],`, `{"seed": 5, "steps": 30, "cfg": 8.0, "sampler_name": "euler", "denoise": 1.0}`},
		{"the buttons above a 3D view are passed over", "View", `["a.glb", "upload3dmodel", "uploadExtraResources", "clear", "", 768, 512]`, "", `{"model_file": "a.glb", "view": "", "width": 768, "height": 512}`},
		{"a 3D view without buttons", "View", `["a.glb", "", 768, 512]`, "", `{"model_file": "a.glb", "view": "", "width": 768, "height": 512}`},
		{"an unknown class is named by its sockets", "Foreign", `["hi", 3, "randomize", true]`, `"inputs": [{"name": "a", "type": "STRING", "widget": {"name": "a"}}, {"name": "b", "type": "INT", "widget": {"name": "b"}}, {"name": "c", "type": "BOOLEAN", "widget": {"name": "c"}}],`,
			`{"a": "hi", "b": 3, "c": true}`},
		{"a class of a known pack, of the version that the values fit", "Efficient Loader", `["a.ckpt", "Baked VAE", -1, "None", 1, 1, "a cat", "ugly", "none", "comfy", 512, 768, 1]`, "",
			`{"ckpt_name": "a.ckpt", "vae_name": "Baked VAE", "clip_skip": -1, "lora_name": "None", "lora_model_strength": 1, "lora_clip_strength": 1, "positive": "a cat", "negative": "ugly", "token_normalization": "none",
				"weight_interpretation": "comfy", "empty_latent_width": 512, "empty_latent_height": 768, "batch_size": 1}`},
		{"the same class before it had two widgets more", "Efficient Loader", `["a.ckpt", "Baked VAE", -1, "None", 1, 1, "a cat", "ugly", 512, 768, 1]`, "",
			`{"ckpt_name": "a.ckpt", "vae_name": "Baked VAE", "clip_skip": -1, "lora_name": "None", "lora_model_strength": 1, "lora_clip_strength": 1, "positive": "a cat", "negative": "ugly",
				"empty_latent_width": 512, "empty_latent_height": 768, "batch_size": 1}`},
		{"a pack's sampler has null for its control value", "KSampler (Efficient)", `[5, null, 20, 7, "euler", "karras", 1, "auto", "true"]`, "",
			`{"seed": 5, "steps": 20, "cfg": 7, "sampler_name": "euler", "scheduler": "karras", "denoise": 1, "preview_method": "auto", "vae_decode": "true"}`},
		{"buttons after the values of a pack's class", "Seed (rgthree)", `[5, "", "", ""]`, "", `{"seed": 5}`},
		{"values that fit no version of a pack's class get no names", "Efficient Loader", `["a.ckpt", 3]`, "", `{}`},
		{"an unknown class without names gets none", "Foreign", `["hi", 3]`, "", `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := new(graphtest.Graph).Node("1", c.class, c.values, c.more)
			wantPrompt(t, b, `{"1": {"class_type": "`+c.class+`", "inputs": `+c.want+`}}`)
		})
	}
}

// twoBlursDef has two widgets of one name.
const twoBlursDef = `{"id": "33333333-3333-3333-3333-333333333333", "name": "Two", "inputs": [], "outputs": [], "links": [], "nodes": [
  {"id": 5, "type": "Blur", "inputs": [], "widgets_values": [3, 1.5]}, {"id": 6, "type": "Blur", "inputs": [], "widgets_values": [4, 2.5]}]}`

func TestConvertSubgraphs(t *testing.T) {
	t.Parallel()
	const soft, outer = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	load := `"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}`
	one := func(props, values string) *graphtest.Graph {
		b := &graphtest.Graph{Defs: []string{graphtest.BlurDef}}
		b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE")
		return b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", soft, values, `"properties": `+props+`,`).Node("3", "SaveImage", `["x"]`, "")
	}
	save := `"3": {"class_type": "SaveImage", "inputs": {"filename_prefix": "x", "images": ["2:5", 0]}}`
	for _, c := range []struct{ name, props, values, radius, sigma string }{
		{"without promoted values the inner ones stay", `{}`, `[]`, "3", "1.5"},
		{"promoted by input name", `{"proxyWidgets": [["-1", "radius"]]}`, `[9]`, "9", "1.5"},
		{"promoted by inner node", `{"proxyWidgets": [["5", "sigma"], ["-1", "radius"]]}`, `[0.25, 9]`, "9", "0.25"},
		{"the list as JSON text", `{"proxyWidgets": "[[\"5\", \"sigma\"]]"}`, `[0.25]`, "3", "0.25"},
		{"old names with the node in front", `{"proxyWidgets": [["5", "5: sigma"]]}`, `[0.25]`, "3", "0.25"},
		{"null and missing values leave the inner ones", `{"proxyWidgets": [["5", "sigma"], ["-1", "radius"]]}`, `[null]`, "3", "1.5"},
		{"a value of another sort does not slip in", `{"proxyWidgets": [["5", "sigma"]]}`, `["text"]`, "3", "1.5"},
		{"stale entries do no harm", `{"proxyWidgets": [["99", "gone"], ["5", "nothing"], []]}`, `[1, 2]`, "3", "1.5"},
		{"files without the list name the ports in order", `{}`, `[8]`, "8", "1.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantPrompt(t, one(c.props, c.values), `{`+load+`, "2:5": {"class_type": "Blur", "inputs": {"radius": `+c.radius+`, "sigma": `+c.sigma+`, "image": ["1", 0]}}, `+save+`}`)
		})
	}
	t.Run("a definition used twice, an output straight from an input", func(t *testing.T) {
		t.Parallel()
		b := &graphtest.Graph{Defs: []string{graphtest.BlurDef}}
		b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 1, "4", "image", "IMAGE").Link(3, "4", 0, "3", "images", "IMAGE").Link(5, "9", 0, "4", "radius", "INT")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", soft, `[]`, "").Node("9", "PrimitiveNode", `[30]`, "").Node("4", soft, `[]`, "").Node("3", "SaveImage", `["x"]`, "")
		wantPrompt(t, b, `{`+load+`, "2:5": {"class_type": "Blur", "inputs": {"radius": 3, "sigma": 1.5, "image": ["1", 0]}}, "4:5": {"class_type": "Blur", "inputs": {"radius": 30, "sigma": 1.5, "image": ["1", 0]}},
			"3": {"class_type": "SaveImage", "inputs": {"filename_prefix": "x", "images": ["4:5", 0]}}}`)
	})
	t.Run("nested, the outer instance promotes through the inner", func(t *testing.T) {
		t.Parallel()
		b := &graphtest.Graph{Defs: []string{graphtest.OuterDef, graphtest.BlurDef}}
		b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", outer, `[0.75]`, `"properties": {"proxyWidgets": [["7", "sigma", "5"]]},`).Node("3", "SaveImage", `["x"]`, "")
		wantPrompt(t, b, `{`+load+`, "2:7:5": {"class_type": "Blur", "inputs": {"radius": 3, "sigma": 0.75, "image": ["1", 0]}}, "3": {"class_type": "SaveImage", "inputs": {"filename_prefix": "x", "images": ["2:7:5", 0]}}}`)
	})
	t.Run("the outer instance says which of two inner widgets of one name it means", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ proxy, first, second string }{
			{`[["7", "sigma", "6"]]`, "1.5", "0.75"}, {`[["7", "7: 6: sigma"]]`, "1.5", "0.75"}, {`[["7", "sigma", "5"]]`, "0.75", "2.5"},
		} {
			b := &graphtest.Graph{Defs: []string{twoBlursDef, `{"id": "44444444-4444-4444-4444-444444444444", "name": "Outer", "inputs": [], "outputs": [], "links": [],
				"nodes": [{"id": 7, "type": "33333333-3333-3333-3333-333333333333", "inputs": [], "properties": {"proxyWidgets": [["5", "sigma"], ["6", "sigma"]]}, "widgets_values": []}]}`}}
			b.Node("2", "44444444-4444-4444-4444-444444444444", `[0.75]`, `"properties": {"proxyWidgets": `+c.proxy+`},`)
			wantPrompt(t, b, `{"2:7:5": {"class_type": "Blur", "inputs": {"radius": 3, "sigma": `+c.first+`}}, "2:7:6": {"class_type": "Blur", "inputs": {"radius": 4, "sigma": `+c.second+`}}}`)
		}
	})
	t.Run("an instance sets a primitive inside", func(t *testing.T) {
		t.Parallel()
		b := &graphtest.Graph{Defs: []string{graphtest.PrimitiveDef}}
		for id, v := range map[string]string{"2": "11", "4": "22"} {
			b.Node(id, "55555555-5555-5555-5555-555555555555", `[`+v+`]`, `"properties": {"proxyWidgets": [["8", "value"]]},`)
		}
		b.Node("5", "55555555-5555-5555-5555-555555555555", `[]`, `"properties": {"proxyWidgets": [["8", "value"]]},`)
		wantPrompt(t, b, `{"2:9": {"class_type": "Number", "inputs": {"value": 11}}, "4:9": {"class_type": "Number", "inputs": {"value": 22}}, "5:9": {"class_type": "Number", "inputs": {"value": 3}}}`)
	})
	t.Run("files without the list: every port that leads to a widget has its value, whatever its type", func(t *testing.T) {
		t.Parallel()
		const ports = "66666666-6666-6666-6666-666666666666"
		for _, c := range []struct{ name, inputs, values, seed, color string }{
			{"as the instance lists them", `{"name": "color", "type": "COLOR", "widget": {"name": "color"}}, {"name": "model", "type": "MODEL"}, {"name": "seed", "type": "INT", "widget": {"name": "seed"}}`, `["#112233", 7]`, "7", "#112233"},
			{"sockets that say nothing of widgets", `{"name": "seed", "type": "INT"}, {"name": "color", "type": "COLOR"}`, `[7, "#112233"]`, "7", "#112233"},
			{"as the definition lists them", ``, `[7, "#112233"]`, "7", "#112233"},
			{"with the control value of a seed", ``, `[7, "randomize", "#112233"]`, "7", "#112233"},
			{"more values than ports", ``, `[7, 8, 9]`, "3", "#000000"},
		} {
			b := &graphtest.Graph{Defs: []string{`{"id": "` + ports + `", "name": "Ports", "outputs": [],
				"inputs": [{"id": "m", "name": "model", "type": "MODEL", "linkIds": [1]}, {"id": "s", "name": "seed", "type": "INT", "linkIds": [2]}, {"id": "c", "name": "color", "type": "COLOR", "linkIds": [3]}],
				"links": [{"id": 1, "origin_id": -10, "origin_slot": 0, "target_id": 5, "target_slot": 0, "type": "MODEL"}, {"id": 2, "origin_id": -10, "origin_slot": 1, "target_id": 5, "target_slot": 1, "type": "INT"},
					{"id": 3, "origin_id": -10, "origin_slot": 2, "target_id": 5, "target_slot": 2, "type": "COLOR"}],
				"nodes": [{"id": 5, "type": "Tint", "widgets_values": [3, "fixed", "#000000"], "inputs": [{"name": "model", "type": "MODEL", "link": 1}, {"name": "seed", "type": "INT", "link": 2, "widget": {"name": "seed"}},
					{"name": "color", "type": "COLOR", "link": 3, "widget": {"name": "color"}}]}]}`}}
			b.Node("2", ports, c.values, `"inputs": [`+c.inputs+`],`)
			t.Log(c.name)
			wantPrompt(t, b, `{"2:5": {"class_type": "Tint", "inputs": {"seed": `+c.seed+`, "color": "`+c.color+`"}}}`)
		}
	})
	t.Run("a port that leads to several widgets gives all of them the value of the first", func(t *testing.T) {
		t.Parallel()
		const fan = "77777777-7777-7777-7777-777777777777"
		def := `{"id": "` + fan + `", "name": "Fan", "outputs": [], "inputs": [{"id": "r", "name": "radius", "type": "INT", "linkIds": [1, 2]}],
			"links": [{"id": 2, "origin_id": -10, "origin_slot": 0, "target_id": 6, "target_slot": 0, "type": "INT"}, {"id": 1, "origin_id": -10, "origin_slot": 0, "target_id": 5, "target_slot": 0, "type": "INT"}],
			"nodes": [{"id": 6, "type": "Blur", "widgets_values": [4, 2], "inputs": [{"name": "radius", "type": "INT", "link": 2, "widget": {"name": "radius"}}]},
				{"id": 5, "type": "Blur", "widgets_values": [3, 1], "inputs": [{"name": "radius", "type": "INT", "link": 1, "widget": {"name": "radius"}}]}]}`
		for _, c := range []struct{ more, values, radius string }{
			{``, `[]`, "3"}, {``, `[9]`, "9"}, {`"properties": {"proxyWidgets": [["5", "radius"]]},`, `[9]`, "9"}, {`"properties": {"proxyWidgets": [["5", "radius"]]},`, `[]`, "3"},
		} {
			b := &graphtest.Graph{Defs: []string{def}}
			b.Node("2", fan, c.values, c.more)
			wantPrompt(t, b, `{"2:6": {"class_type": "Blur", "inputs": {"radius": `+c.radius+`, "sigma": 2}}, "2:5": {"class_type": "Blur", "inputs": {"radius": `+c.radius+`, "sigma": 1}}}`)
		}
		b := &graphtest.Graph{Defs: []string{def, `{"id": "88888888-8888-8888-8888-888888888888", "name": "Outer", "outputs": [], "inputs": [{"id": "r", "name": "size", "type": "INT", "linkIds": [1, 2]}],
			"links": [{"id": 1, "origin_id": -10, "origin_slot": 0, "target_id": 7, "target_slot": 0, "type": "INT"}, {"id": 2, "origin_id": -10, "origin_slot": 0, "target_id": 8, "target_slot": 0, "type": "INT"}],
			"nodes": [{"id": 7, "type": "` + fan + `", "widgets_values": [11], "inputs": [{"name": "radius", "type": "INT", "link": 1, "widget": {"name": "radius"}}]},
				{"id": 8, "type": "Number", "widgets_values": [5], "inputs": [{"name": "value", "type": "INT", "link": 2, "widget": {"name": "value"}}]}]}`}}
		b.Node("2", "88888888-8888-8888-8888-888888888888", `[]`, "")
		wantPrompt(t, b, `{"2:7:6": {"class_type": "Blur", "inputs": {"radius": 11, "sigma": 2}}, "2:7:5": {"class_type": "Blur", "inputs": {"radius": 11, "sigma": 1}}, "2:8": {"class_type": "Number", "inputs": {"value": 11}}}`)
	})
	t.Run("a bypassed instance passes its input on, a muted one takes all inside along", func(t *testing.T) {
		t.Parallel()
		for mode, images := range map[string]string{"4": `, "images": ["1", 0]`, "2": ""} {
			b := &graphtest.Graph{Defs: []string{graphtest.BlurDef}}
			b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE")
			b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", soft, `[]`, `"mode": `+mode+`, "outputs": [{"name": "IMAGE", "type": "IMAGE"}],`).Node("3", "SaveImage", `["x"]`, "")
			wantPrompt(t, b, `{`+load+`, "3": {"class_type": "SaveImage", "inputs": {"filename_prefix": "x"`+images+`}}}`)
		}
	})
}

func TestConvertGroupNodes(t *testing.T) {
	t.Parallel()
	b := &graphtest.Graph{Extra: `{"groupNodes": {"Two": {"nodes": [
		{"type": "Blur", "index": 0, "inputs": [{"name": "image", "type": "IMAGE", "link": null}], "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": []}], "widgets_values": [1, 1]},
		{"type": "Blur", "index": 1, "inputs": [{"name": "image", "type": "IMAGE", "link": null}], "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": []}], "widgets_values": [1, 1]}],
		"links": [[0, 0, 1, 0, 9, "IMAGE"]], "external": []}}}`}
	b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE")
	b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", "workflow>Two", `[4, 0.5, 6, 0.7]`, "").Node("3", "SaveImage", `["x"]`, "")
	wantPrompt(t, b, `{"1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}, "2:0": {"class_type": "Blur", "inputs": {"radius": 4, "sigma": 0.5, "image": ["1", 0]}},
		"2:1": {"class_type": "Blur", "inputs": {"radius": 6, "sigma": 0.7, "image": ["2:0", 0]}}, "3": {"class_type": "SaveImage", "inputs": {"filename_prefix": "x", "images": ["2:1", 0]}}}`)

	missing := new(graphtest.Graph).Node("2", "workflow/Gone", `[]`, "")
	_, findings, err := graph.Convert(graphtest.Parse(t, missing.String()), nil)
	if err != nil || len(findings) != 1 || findings[0].Code != "group-node-unsupported" {
		t.Errorf("a group node without definition: %v %v", findings, err)
	}
}

// wantPrompt compares a converted prompt with JSON, without titles.
func wantPrompt(t *testing.T, from fmt.Stringer, want string) graph.Prompt {
	t.Helper()
	p, _, err := graph.Convert(graphtest.Parse(t, from.String()), graphtest.Mini(t))
	if err != nil {
		t.Fatal(err)
	}
	bare := p.Clone()
	for i := range bare {
		bare[i].Title = ""
	}
	var got, expected any
	raw, err := json.Marshal(bare)
	if err != nil {
		t.Fatal(err)
	}
	decode := func(data []byte, into *any) {
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
	}
	decode(raw, &got)
	decode([]byte(want), &expected)
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
	return p
}

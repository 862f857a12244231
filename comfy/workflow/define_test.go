package workflow

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// Every file of the corpus becomes a tool that the registry accepts, with and without a server's declarations.
func TestDefineCorpus(t *testing.T) {
	t.Parallel()
	info := graphtest.ObjectInfo(t)
	for name, data := range graphtest.Files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := graph.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{FileName: name, ObjectInfo: info}, {FileName: name}} {
				d, err := Define(w, o)
				if err != nil {
					t.Fatal(err)
				}
				checkTool(t, d)
				again, err := Define(w, o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(d, again); diff != "" {
					t.Errorf("a second time it is another: %s", diff)
				}
				checkKinds(t, w, d)
				if f := w.Facts(); d.Tool.Description != "" && len(f.Notes)+len(f.SubgraphNotes) == 0 {
					t.Errorf("A51 description %q without a note", d.Tool.Description)
				}
			}
		})
	}
}

// checkKinds compares the outputs with the kinds that the active nodes give, by the independent script's table.
func checkKinds(t *testing.T, w *graph.Workflow, d *Definition) {
	t.Helper()
	given := map[string]bool{}
	for _, o := range d.Binding.Outputs {
		given[o.Type] = true
	}
	for _, kind := range w.Facts().OutputTypes {
		if !given[outputType(kind)] && len(d.Binding.Outputs) > 0 {
			t.Errorf("the workflow gives %s, the tool only %v", kind, d.Binding.Outputs)
		}
	}
}

// Classes that no server declared still lead to the texts, the seed and the size.
func TestDefineUndeclared(t *testing.T) {
	t.Parallel()
	t.Run("a loader that has the texts", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "model", "MODEL").Link(2, "1", 1, "2", "positive", "CONDITIONING").Link(3, "1", 2, "2", "negative", "CONDITIONING").Link(4, "1", 3, "2", "latent_image", "LATENT").Link(5, "2", 5, "3", "images", "IMAGE")
		b.Node("1", "Efficient Loader", `["a.ckpt", "Baked VAE", -1, "None", 1, 1, "a cat", "ugly", 512, 768, 1]`, "").Node("2", "KSampler (Efficient)", `[5, null, 20, 7, "euler", "karras", 1, "auto", "true"]`, "").Node("3", "SaveImage", `["x"]`, "")
		d := define(t, b.String(), nil)
		checkTool(t, d)
		wantTargets(t, d, map[string]string{"prompt": "1.positive", "negative_prompt": "1.negative", "seed": "2.seed", "steps": "2.steps", "width": "1.empty_latent_width", "height": "1.empty_latent_height"})
	})
	t.Run("a text widget of an unusual name behind the conditioning", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "model", "MODEL").Link(2, "1", 2, "2", "positive", "CONDITIONING").Link(3, "4", 0, "2", "negative", "CONDITIONING").Link(4, "2", 0, "3", "images", "IMAGE")
		b.Node("1", "StyledSource", `["styles", "fixed", 0.9, "a quiet harbour at dawn", 181]`, `"inputs": [{"name": "category", "type": "COMBO", "widget": {"name": "category"}}, {"name": "text_mode", "type": "COMBO", "widget": {"name": "text_mode"}},
			{"name": "strength", "type": "FLOAT", "widget": {"name": "strength"}}, {"name": "base_prompt", "type": "STRING", "widget": {"name": "base_prompt"}}, {"name": "seed", "type": "INT", "widget": {"name": "seed"}}],`)
		b.Node("4", "CLIPTextEncode", `["bad"]`, "").Node("2", "KSampler", `[777, "fixed", 28, 6, "euler", "normal", 1]`, "").Node("3", "SaveImage", `["x"]`, "")
		d := define(t, b.String(), nil)
		checkTool(t, d)
		wantTargets(t, d, map[string]string{"prompt": "1.base_prompt", "negative_prompt": "4.text"})
	})
	t.Run("texts that go through nodes for hooks in pairs", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "3", "negative_NEW", "CONDITIONING").Link(2, "2", 0, "3", "positive_NEW", "CONDITIONING").Link(3, "3", 0, "4", "positive", "CONDITIONING").Link(4, "3", 1, "4", "negative", "CONDITIONING").Link(5, "4", 0, "5", "images", "IMAGE")
		b.Node("1", "CLIPTextEncode", `["worst quality"]`, "").Node("2", "CLIPTextEncode", `["a rock in a river"]`, "").Node("3", "PairConditioningSetProperties", `[1, "default"]`, "")
		b.Node("4", "KSampler", `[777, "fixed", 28, 6, "euler", "normal", 1]`, "").Node("5", "SaveImage", `["x"]`, "")
		d := define(t, b.String(), nil)
		checkTool(t, d)
		wantTargets(t, d, map[string]string{"prompt": "2.text", "negative_prompt": "1.text"})
	})
}

func TestDefineNoProse(t *testing.T) {
	t.Parallel()
	info, err := objectinfo.Parse([]byte(`{"Math": {"input": {"required": {"expression": ["STRING", {"multiline": true, "default": "a + b"}], "image": ["IMAGE"]}}, "output": ["IMAGE"], "name": "Math"}, ` + graphtest.MiniInfo[1:]))
	if err != nil {
		t.Fatal(err)
	}
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE")
	b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", "Math", `["max(a, 2)"]`, "").Node("3", "SaveImage", `["x"]`, "")
	for _, in := range define(t, b.String(), info).Binding.Inputs {
		if in.Field.Name != "image" {
			t.Errorf("a formula is asked for as %s", in.Field.Name)
		}
	}
}

func TestDefineShownText(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "text", "STRING")
	b.Node("1", "PrimitiveString", `["hi"]`, "").Node("2", "ShowText|pysssss", `["what was shown last"]`, `"inputs": [{"name": "text", "type": "STRING", "link": 1}],`)
	if d := define(t, b.String(), nil); hasCode(d, "unknown-node") {
		t.Errorf("a text shown last time is no widget: %v", d.Findings)
	}
}

// wantTargets checks where the named inputs write first.
func wantTargets(t *testing.T, d *Definition, want map[string]string) {
	t.Helper()
	for name, target := range want {
		got := ""
		for _, in := range d.Binding.Inputs {
			if in.Field.Name == name {
				got = in.Targets[0].Node + "." + in.Targets[0].Input
			}
		}
		if got != target {
			t.Errorf("input %s writes %q, want %q; all: %v", name, got, target, summary(d))
		}
	}
}

// summary shows the inputs of a tool in brief: name type flags default [min max] targets.
func summary(d *Definition) []string {
	var out []string
	for _, in := range d.Binding.Inputs {
		f := in.Field
		s := f.Name + " " + string(f.Type)
		for _, flag := range []struct {
			on   bool
			name string
		}{{f.Required, "required"}, {f.Advanced, "advanced"}, {f.Seed, "seed"}, {f.Integer && !f.Seed, "integer"}, {f.Multiple, "multiple"}} {
			if flag.on {
				s += " " + flag.name
			}
		}
		if f.Default != nil {
			s += " =" + string(ordered.Append(nil, f.Default))
		}
		if f.Min != "" || f.Max != "" {
			s += " [" + string(f.Min) + " " + string(f.Max) + "]"
		}
		for _, c := range f.Choices {
			s += " |" + strings.Trim(string(ordered.Append(nil, c.Value)), `"`)
		}
		for _, t := range in.Targets {
			s += " > " + t.Node + "." + t.Input
			if t.Mode != "" {
				s += " " + string(t.Mode)
			}
		}
		out = append(out, s)
	}
	return out
}

func wantSummary(t *testing.T, d *Definition, want ...string) {
	t.Helper()
	checkTool(t, d)
	if diff := cmp.Diff(want, summary(d)); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

func TestGuesses(t *testing.T) {
	t.Parallel()
	t.Run("A53 inputs that the notes explain are not listed again, the others are", func(t *testing.T) {
		t.Parallel()
		d := define(t, graphtest.Sampling("Draws a cat.\n\nInputs: what to draw; the width.").String(), graphtest.Mini(t))
		if want := "Draws a cat.\n\nInputs: what to draw; the width.\n\nMore inputs: Negative prompt, seed, steps, CFG scale, height."; d.Tool.Description != want {
			t.Errorf("description %q", d.Tool.Description)
		}
		named := "Draws a cat.\n\nInputs: what to draw, negative_prompt, seed, steps, cfg, width and height."
		if d := define(t, graphtest.Sampling(named).String(), graphtest.Mini(t)); d.Tool.Description != named {
			t.Errorf("description %q", d.Tool.Description)
		}
	})
	t.Run("A85 an edited note changes the description and nothing else", func(t *testing.T) {
		t.Parallel()
		before, after := define(t, graphtest.Sampling("Draws a cat.").String(), graphtest.Mini(t)), define(t, graphtest.Sampling("Draws a dog.").String(), graphtest.Mini(t))
		if after.Tool.Description != strings.Replace(before.Tool.Description, "cat", "dog", 1) || after.Tool.Description == before.Tool.Description {
			t.Errorf("description %q, then %q", before.Tool.Description, after.Tool.Description)
		}
		before.Tool.Description = after.Tool.Description
		if diff := cmp.Diff(before.Tool, after.Tool); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a preview beside a saved picture is no second result, a text beside it is", func(t *testing.T) {
		t.Parallel()
		b := graphtest.Sampling()
		b.Link(20, "6", 0, "20", "images", "IMAGE").Node("20", "PreviewImage", `[]`, "")
		b.Link(21, "6", 0, "21", "source", "IMAGE").Node("21", "PreviewAny", `[]`, "")
		var got []string
		for _, o := range define(t, b.String(), graphtest.Mini(t)).Binding.Outputs {
			got = append(got, o.Node+" "+o.Type)
		}
		if diff := cmp.Diff([]string{"7 image", "21 text"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("A10 A18 A22 a sampler's texts, seed, knobs and choices become inputs, rare ones advanced", func(t *testing.T) {
		t.Parallel()
		d := define(t, graphtest.Sampling("Draws a cat.", "Steps: how long to work.\n- seed: any number\n[weights: https://x.example/a.safetensors]").String(), graphtest.Mini(t))
		wantSummary(t, d,
			`prompt string ="a cat" > 2.text`, `negative_prompt string ="ugly" > 3.text`, `seed number seed =-1 [0 18446744073709551615] > 5.seed`, `steps number integer =30 [1 100] > 5.steps`,
			`cfg number =7.5 [0.0 30.0] > 5.cfg`, `width number integer =640 [16 4096] > 4.width`, `height number integer =480 [16 4096] > 4.height`, `denoise number advanced =1 [0.0 1.0] > 5.denoise`,
			`model string advanced ="a.safetensors" |a.safetensors |b.safetensors > 1.ckpt_name`, `sampler string advanced ="heun" |euler |heun |lcm > 5.sampler_name`)
		tool := d.Tool
		if tool.ToolID != "big-poster" || tool.CommandName != "/big_poster" || tool.DisplayName != "Big Poster" || tool.Service != "comfyui" || tool.Category != "text-to-image" {
			t.Errorf("tool %s %s %q %s %s", tool.ToolID, tool.CommandName, tool.DisplayName, tool.Service, tool.Category)
		}
		if !strings.HasPrefix(tool.Description, "Draws a cat.\n\n") || !strings.HasSuffix(tool.Description, "\n\nInputs: What to draw, Negative prompt, CFG scale, width, height.") && !strings.HasSuffix(tool.Description, "\n\nInputs: What to draw, Negative prompt, seed, steps, CFG scale, width, height.") {
			t.Errorf("A53 description %q", tool.Description)
		}
		if *tool.CostingModel != (registry.CostingModel{Rate: DefaultRate, Unit: registry.UnitSecond, RateSource: registry.RateStatic}) {
			t.Errorf("costing %+v", tool.CostingModel)
		}
		if steps, _ := tool.InputSchema.Get("steps"); steps.Description != "how long to work." {
			t.Errorf("A21 the note does not describe the input it names: %q", steps.Description)
		}
		if cfg, _ := tool.InputSchema.Get("cfg"); cfg.Description == "" {
			t.Error("A21 a usual widget has no description")
		}
		if diff := cmp.Diff(registry.OutputSchema{{Name: "image", Type: "image"}}, tool.OutputSchema); diff != "" {
			t.Errorf("A11 A12 outputs:\n%s", diff)
		}
		if diff := cmp.Diff(Requirements{Classes: []string{"Decode", "Encode", "Latent", "Model", "Sampler", "SaveImage"}, Models: []Model{{Folder: "checkpoints", Name: "a.safetensors"}}, PicturesOnly: true}, d.Needs); diff != "" {
			t.Errorf("needs:\n%s", diff)
		}
	})
	t.Run("A21 the tooltip of a class is no description, and a prompt without words is asked for", func(t *testing.T) {
		t.Parallel()
		info, err := objectinfo.Parse([]byte(strings.Replace(graphtest.MiniInfo, `{"multiline": true, "dynamicPrompts": true}`, `{"multiline": true, "tooltip": "The text to be encoded."}`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		d := define(t, strings.Replace(graphtest.Sampling().String(), `"a cat"`, `" "`, 1), info)
		if f, _ := d.Tool.InputSchema.Get("prompt"); f.Description != "" || !f.Required || f.Default != nil {
			t.Errorf("prompt %+v", f)
		}
	})
	t.Run("A16 the metadata holds facts about the source", func(t *testing.T) {
		t.Parallel()
		d := define(t, graphtest.Sampling().String(), graphtest.Mini(t))
		if d.Tool.Metadata["example"] != "a cat" || d.Tool.Metadata["workflow"].(map[string]any)["nodes"] != json.Number("7") {
			t.Errorf("%v", d.Tool.Metadata)
		}
	})
	t.Run("inputs behind muted and bypassed nodes and unconnected loaders are none", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE").Link(3, "4", 0, "5", "image", "IMAGE").Link(4, "5", 0, "6", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", "Blur", `[3, 1]`, `"mode": 4, "outputs": [{"name": "IMAGE", "type": "IMAGE"}],`).Node("3", "SaveImage", `["x"]`, "")
		b.Node("4", "LoadImage", `["b.png"]`, "").Node("5", "Blur", `[3, 1]`, "").Node("6", "SaveImage", `["x"]`, `"mode": 2,`).Node("7", "LoadImage", `["c.png"]`, "")
		d := define(t, b.String(), graphtest.Mini(t))
		wantSummary(t, d, `image image required > 1.image`)
		if !hasCode(d, "muted-output") || d.Tool.Category != "image-processing" {
			t.Errorf("findings %v, category %s", graphtest.Codes(d.Findings), d.Tool.Category)
		}
	})
	t.Run("A36 a picture workflow asks for a picture first", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE").Link(3, "8", 0, "2", "radius", "INT")
		b.Node("1", "LoadImage", `["a.png"]`, `"title": "Your photo",`).Node("2", "Blur", `[3, 1.5]`, "").Node("8", "Number", `[4]`, `"title": "Softness",`).Node("3", "SaveImage", `["x"]`, "")
		d := define(t, b.String(), graphtest.Mini(t))
		wantSummary(t, d, `image image required > 1.image`, `softness number integer =4 > 8.value`, `sigma number =1.5 > 2.sigma`)
		if h := d.Tool.PlatformHints; h.PrimaryInput != "image" || !h.SupportsFileCaption || !h.SupportsReplyWithCommand {
			t.Errorf("hints %+v", h)
		}
		if f, _ := d.Tool.InputSchema.Get("image"); f.DisplayName != "Your photo" {
			t.Errorf("label %q", f.DisplayName)
		}
	})
	t.Run("the prompt is found through text nodes, the negative of a zeroed conditioning is none", func(t *testing.T) {
		t.Parallel()
		b := graphtest.Sampling()
		b.Link(20, "11", 0, "2", "text", "STRING")
		text := b.String()
		text = strings.Replace(text, `{"name": "clip", "type": "CLIP", "link": 2, "widget": {"name": "clip"}}`, `{"name": "clip", "type": "CLIP", "link": 2}, {"name": "text", "type": "STRING", "link": 20}`, 1)
		text = strings.Replace(text, `"type": "Encode", "pos": [2, 0]`, `"type": "Zero", "pos": [2, 0]`, 1)
		text = strings.Replace(text, `{"nodes": [`, `{"nodes": [{"id": 11, "type": "PrimitiveString", "title": "Motif", "inputs": [], "widgets_values": ["a dog"]},`, 1)
		d := define(t, text, graphtest.Mini(t))
		if got := summary(d)[0]; got != `motif string ="a dog" > 11.value` {
			t.Errorf("first input %s", got)
		}
		if _, ok := d.Tool.InputSchema.Get("negative_prompt"); ok {
			t.Error("there is a negative prompt")
		}
	})
	t.Run("the prompt form gives the same inputs", func(t *testing.T) {
		t.Parallel()
		info := graphtest.Mini(t)
		graph := define(t, graphtest.Sampling().String(), info)
		prompt := define(t, string(graph.Binding.Prompt), info)
		if diff := cmp.Diff(summary(graph), summary(prompt)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAuthored(t *testing.T) {
	t.Parallel()
	t.Run("app inputs and outputs are the author's choice", func(t *testing.T) {
		t.Parallel()
		b := graphtest.Sampling()
		b.Link(30, "6", 0, "8", "images", "IMAGE")
		b.Node("8", "PreviewImage", `[]`, "")
		b.Extra = `{"linearData": {"inputs": [["5", "steps"], [2, "text"], [77, "gone"]], "outputs": [8]}}`
		d := define(t, b.String(), graphtest.Mini(t))
		checkTool(t, d)
		got := summary(d)
		if got[0] != "steps number integer =30 [1 100] > 5.steps" || got[1] != `what_to_draw string ="a cat" > 2.text` || !strings.Contains(strings.Join(got, "\n"), "cfg number advanced") {
			t.Errorf("inputs %q", got)
		}
		if len(d.Binding.Outputs) != 1 || d.Binding.Outputs[0].Node != "8" || !hasCode(d, "app-input-missing") {
			t.Errorf("outputs %v, findings %v", d.Binding.Outputs, graphtest.Codes(d.Findings))
		}
	})
	t.Run("a tool says that its results keep the workflow", func(t *testing.T) {
		t.Parallel()
		for words, want := range map[string]any{"keep-workflow": true, "keep-workflow=true": true, "keep-workflow=no": nil, "category=x": nil} {
			b := graphtest.Sampling()
			b.Node("9", "Note", `["@tool `+words+`"]`, "")
			if got := define(t, b.String(), graphtest.Mini(t)).Tool.Metadata[registry.KeepWorkflow]; got != want {
				t.Errorf("%s gives %v", words, got)
			}
		}
	})
	t.Run("a tool says what it does with another's result, and which input is the strength", func(t *testing.T) {
		t.Parallel()
		d := define(t, graphtest.Sampling("@tool follows=Upscale\n@input 5.cfg role=strength").String(), graphtest.Mini(t))
		if f, ok := d.Tool.InputSchema.Strength(); d.Tool.Follows != registry.FollowUpscale || !ok || f.Name != "cfg" || hasCode(d, "unknown-directive") {
			t.Errorf("follows %q, strength %q, findings %v", d.Tool.Follows, f.Name, graphtest.Codes(d.Findings))
		}
		d = define(t, graphtest.Sampling("@tool follows=upscal\n@input 5.cfg role=strenght").String(), graphtest.Mini(t))
		if f, _ := d.Tool.InputSchema.Strength(); d.Tool.Follows != "" || f.Name == "cfg" || len(graphtest.Codes(d.Findings)) < 2 || !hasCode(d, "unknown-directive") {
			t.Errorf("slips give %q and %v", d.Tool.Follows, d.Findings)
		}
	})
	t.Run("a tool says which tags it needs of an engine", func(t *testing.T) {
		t.Parallel()
		d := define(t, graphtest.Sampling("@tool name=Big needs vram=24 gpu=4090").String(), graphtest.Mini(t))
		if got := strings.Join(d.Needs.Tags, " "); got != "gpu=4090 vram=24" || d.Tool.DisplayName != "Big" || hasCode(d, "unknown-directive") {
			t.Errorf("%q, %q, findings %v", got, d.Tool.DisplayName, d.Findings)
		}
		d = define(t, graphtest.Sampling("@tool needs gpu fast=").String(), graphtest.Mini(t))
		if len(d.Needs.Tags) != 0 || !hasCode(d, "directive-value") {
			t.Errorf("slips give %q and %v", d.Needs.Tags, d.Findings)
		}
	})
	t.Run("a slip in a directive is told with what is expected there", func(t *testing.T) {
		t.Parallel()
		for line, want := range map[string]string{
			"@tool cost=two":          "give US dollars a run",
			"@tool needs gpu":         "name tags of engines",
			"@input 5.cfg min=little": "give a value of the input's type",
			"@i18n de input=steps choices=2\n@input 5.steps name=steps choices=2|4": "give labels of values",
		} {
			d := define(t, graphtest.Sampling(line).String(), graphtest.Mini(t))
			if !slices.ContainsFunc(d.Findings, func(f graph.Finding) bool { return f.Code == "directive-value" && strings.HasPrefix(f.Advice, want) }) {
				t.Errorf("%s: findings %+v, want advice %q", line, d.Findings, want)
			}
		}
	})
	t.Run("app inputs of an instance reach the widget inside", func(t *testing.T) {
		t.Parallel()
		b := &graphtest.Graph{Defs: []string{graphtest.OuterDef, graphtest.BlurDef}, Extra: `{"linearData": {"inputs": [["2", "sigma"], ["4", "radius"]]}}`}
		b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "4", "image", "IMAGE").Link(3, "4", 0, "3", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", "22222222-2222-2222-2222-222222222222", `[0.75]`, `"properties": {"proxyWidgets": [["7", "sigma"]]},`)
		b.Node("4", "11111111-1111-1111-1111-111111111111", `[]`, "").Node("3", "SaveImage", `["x"]`, "")
		d := define(t, b.String(), graphtest.Mini(t))
		wantSummary(t, d, `sigma number =0.75 > 2:7:5.sigma`, `radius number integer =3 [1 31] > 4:5.radius`, `image image required > 1.image`)
		if d.Tool.Description != "Inside the box.\n\nInputs: sigma, radius, image." {
			t.Errorf("A51 the notes of subgraphs: %q", d.Tool.Description)
		}
	})
	t.Run("a primitive, at the root or inside an instance, stands for the widgets it sets", func(t *testing.T) {
		t.Parallel()
		b := &graphtest.Graph{Defs: []string{graphtest.PrimitiveDef}, Extra: `{"linearData": {"inputs": [["9", "value"], ["2", "value"]]}}`}
		b.Link(1, "9", 0, "4", "radius", "INT").Link(2, "9", 0, "5", "radius", "INT").Link(3, "4", 0, "3", "images", "IMAGE").Link(4, "5", 0, "6", "images", "IMAGE").Link(5, "1", 0, "4", "image", "IMAGE").Link(6, "1", 0, "5", "image", "IMAGE")
		b.Node("9", "PrimitiveNode", `[4, "fixed"]`, `"title": "Softness",`).Node("1", "LoadImage", `["a.png"]`, "").Node("4", "Blur", `[1, 1]`, "").Node("5", "Blur", `[1, 1]`, "").Node("3", "SaveImage", `["x"]`, "").Node("6", "SaveImage", `["y"]`, "")
		b.Node("2", "55555555-5555-5555-5555-555555555555", `[11]`, `"properties": {"proxyWidgets": [["8", "value"]]},`)
		d := define(t, b.String(), graphtest.Mini(t))
		wantSummary(t, d, `radius number integer =4 [1 31] > 4.radius > 5.radius`, `value number integer =11 > 2:9.value`, `image image required > 1.image`)
	})
	t.Run("a subgraph saved alone asks for what its instance shows", func(t *testing.T) {
		t.Parallel()
		inside := graphtest.Sampling()
		inside.Nodes, inside.Links, inside.Rows = nil, nil, nil
		inside.Objects = true
		inside.Link(1, "1", 0, "5", "model", "MODEL").Link(2, "1", 1, "2", "clip", "CLIP").Link(4, "2", 0, "5", "positive", "CONDITIONING").Link(5, "3", 0, "5", "negative", "CONDITIONING").Link(6, "4", 0, "5", "latent_image", "LATENT")
		inside.Link(7, "5", 0, "6", "samples", "LATENT").Link(8, "1", 2, "6", "vae", "VAE").Link(9, "8", 0, "2", "text", "STRING").Link(10, "-10", 0, "8", "value", "STRING").Link(11, "6", 0, "-20", "out", "IMAGE")
		inside.Node("1", "Model", `["a.safetensors"]`, "").Node("2", "Encode", `["old"]`, "").Node("3", "Encode", `["ugly"]`, "").Node("4", "Latent", `[640, 480]`, "").Node("5", "Sampler", `[7, "randomize", 30, 7.5, "heun", 1]`, "").Node("6", "Decode", `[]`, "")
		inside.Node("8", "PrimitiveString", `["a cat"]`, `"title": "String (odd)",`)
		def := `{"id": "66666666-6666-6666-6666-666666666666", "name": "Paint", "inputs": [{"name": "value", "label": "motif", "type": "STRING", "linkIds": [10]}], "outputs": [{"name": "IMAGE", "type": "IMAGE", "linkIds": [11]}],
			"nodes": [` + strings.Join(inside.Nodes, ",") + `], "links": [` + strings.Join(inside.Rows, ",") + `]}`
		b := &graphtest.Graph{Defs: []string{def}}
		b.Node("2", "66666666-6666-6666-6666-666666666666", `[]`, `"properties": {"proxyWidgets": [["8", "value"]]}, "inputs": [{"name": "value", "label": "motif", "type": "STRING", "link": null, "widget": {"name": "value"}}], "outputs": [{"name": "IMAGE", "type": "IMAGE"}],`)
		b.Node("3", "Note", `["Paints."]`, "").Node("4", "PreviewImage", `[]`, "")
		d := define(t, b.String(), graphtest.Mini(t))
		wantTargets(t, d, map[string]string{"motif": "2:8.value", "width": "2:4.width", "seed": "2:5.seed"})
	})
	t.Run("directives change what was guessed and add what was not", func(t *testing.T) {
		t.Parallel()
		d := define(t, graphtest.Sampling("Cats.\n@tool id=cat command=/CATS name=\"Cat maker\" category=\"Text to Image\" visibility=internal cost=0.05\n@input \"what to draw\".text name=motif label=\"The motif\" default=\"a cat\"\n"+
			"@input 5.cfg advanced min=2 max=6 choices=2|4|6 default=4\n@input 7.filename_prefix name=file required\n@output 7 name=picture\n@bot telegram send-as=document filename=../cat.png\n@input 5.nothing name=x").String(), graphtest.Mini(t))
		checkTool(t, d)
		tool := d.Tool
		if tool.ToolID != "cat" || tool.CommandName != "/cats" || tool.DisplayName != "Cat maker" || tool.Category != "text-to-image" || tool.Visibility != registry.VisibilityInternal ||
			*tool.CostingModel != (registry.CostingModel{Rate: "0.05", Unit: registry.UnitRequest, RateSource: registry.RateStatic}) || tool.Delivery["telegram"] != (registry.DeliveryHint{SendAs: "document", Filename: "cat.png"}) {
			t.Errorf("%+v", tool)
		}
		got := strings.Join(summary(d), "\n")
		for _, want := range []string{`file string required > 7.filename_prefix`, `motif string ="a cat" > 2.text`, `cfg number advanced =4 [2 6] |2 |4 |6 > 5.cfg`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in\n%s", want, got)
			}
		}
		if f, _ := tool.InputSchema.Get("motif"); f.DisplayName != "The motif" {
			t.Errorf("label %q", f.DisplayName)
		}
		if strings.Contains(tool.Description, "@") || !hasCode(d, "directive-target") || d.Binding.Outputs[0].Name != "picture" {
			t.Errorf("description %q, findings %v, outputs %v", tool.Description, graphtest.Codes(d.Findings), d.Binding.Outputs)
		}
	})
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	for i, class := range []string{"SaveImage", "SaveVideo", "SaveAudio", "SaveGLB", "SaveString", "PreviewImage"} {
		id := strconv.Itoa(10 + i)
		b.Link(i+1, "1", 0, id, "images", "IMAGE").Node(id, class, `["x"]`, "")
	}
	b.Node("1", "LoadImage", `["a.png"]`, "")
	d := define(t, b.String(), graphtest.Mini(t))
	want := []binding.Output{{Name: "image", Type: "image", Node: "10"}, {Name: "video", Type: "video", Node: "11"}, {Name: "audio", Type: "audio", Node: "12"}, {Name: "model", Type: "file", Node: "13"}, {Name: "text", Type: "text", Node: "14"}}
	if diff := cmp.Diff(want, d.Binding.Outputs); diff != "" {
		t.Errorf("A11 several results stay several, typed, previews left out:\n%s", diff)
	}
	if !hasCode(d, "ambiguous-output") {
		t.Errorf("findings %v", graphtest.Codes(d.Findings))
	}
	none := define(t, new(graphtest.Graph).Node("1", "LoadImage", `["a.png"]`, "").String(), graphtest.Mini(t))
	if !hasCode(none, "no-output") || none.Tool.State() != registry.StateUnavailable {
		t.Errorf("findings %v, state %s", graphtest.Codes(none.Findings), none.Tool.State())
	}
}

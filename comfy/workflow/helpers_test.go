package workflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/registry"
)

// miniInfo declares a handful of made-up and core classes, enough for graphs written by hand.
const miniInfo = `{
 "Sampler": {"input": {"required": {"model": ["MODEL"], "seed": ["INT", {"default": 0, "min": 0, "max": 18446744073709551615, "control_after_generate": true}],
   "steps": ["INT", {"default": 20, "min": 1, "max": 100, "tooltip": "How long to work."}], "cfg": ["FLOAT", {"default": 8.0, "min": 0.0, "max": 30.0, "step": 0.1}],
   "sampler_name": [["euler", "heun", "lcm"]], "positive": ["CONDITIONING"], "negative": ["CONDITIONING"], "latent_image": ["LATENT"], "denoise": ["FLOAT", {"default": 1.0, "min": 0.0, "max": 1.0}]}},
   "output": ["LATENT"], "output_node": false, "name": "Sampler", "display_name": "A Sampler"},
 "Encode": {"input": {"required": {"text": ["STRING", {"multiline": true, "dynamicPrompts": true}], "clip": ["CLIP"]}}, "output": ["CONDITIONING"], "name": "Encode", "display_name": "Encode Text"},
 "Zero": {"input": {"required": {"conditioning": ["CONDITIONING"]}}, "output": ["CONDITIONING"], "name": "Zero"},
 "Model": {"input": {"required": {"ckpt_name": [["a.safetensors", "b.safetensors"]]}}, "output": ["MODEL", "CLIP", "VAE"], "name": "Model"},
 "Latent": {"input": {"required": {"width": ["INT", {"default": 512, "min": 16, "max": 4096, "step": 8}], "height": ["INT", {"default": 512, "min": 16, "max": 4096, "step": 8}]}}, "output": ["LATENT"], "name": "Latent"},
 "Decode": {"input": {"required": {"samples": ["LATENT"], "vae": ["VAE"]}}, "output": ["IMAGE"], "name": "Decode"},
 "LoadImage": {"input": {"required": {"image": [["example.png"], {"image_upload": true}]}}, "output": ["IMAGE", "MASK"], "name": "LoadImage", "display_name": "Load Image"},
 "Blur": {"input": {"required": {"image": ["IMAGE"], "radius": ["INT", {"default": 1, "min": 1, "max": 31}], "sigma": ["FLOAT", {"default": 1.0}]}}, "output": ["IMAGE"], "name": "Blur"},
 "Mix": {"input": {"required": {"image1": ["IMAGE"], "image2": ["IMAGE"], "mask": ["MASK"]}, "optional": {"mode": [["normal", "screen"], {"default": "screen"}]}}, "output": ["IMAGE", "MASK"], "name": "Mix"},
 "Resize": {"input": {"required": {"input": ["IMAGE"], "how": ["COMFY_DYNAMICCOMBO_V3", {"options": [
     {"key": "size", "inputs": {"required": {"width": ["INT", {"default": 64}], "height": ["INT", {"default": 64}]}}},
     {"key": "factor", "inputs": {"required": {"by": ["FLOAT", {"default": 2.0}], "deep": ["COMFY_DYNAMICCOMBO_V3", {"options": [{"key": "plain", "inputs": {"required": {}}}, {"key": "odd", "inputs": {"required": {"n": ["INT", {"default": 3}]}}}]}]}}}]}],
   "method": ["COMBO", {"options": ["area", "lanczos"]}]}}, "input_order": {"required": ["input", "how", "method"]}, "output": ["IMAGE"], "name": "Resize"},
 "Forced": {"input": {"required": {"text": ["STRING", {"forceInput": true}], "count": ["INT", {"default": 5}], "name": ["STRING", {"default": "x"}]}}, "output": ["STRING"], "name": "Forced"},
 "Curve": {"input": {"required": {"points": ["CURVE", {}], "image": ["IMAGE"]}}, "output": ["IMAGE"], "name": "Curve"},
 "Pick": {"input": {"required": {"which": ["COMBO", {"options": ["a", "b"], "control_after_generate": true}], "count": ["INT", {"default": 1}]}}, "output": ["STRING"], "name": "Pick"},
 "Combine": {"input": {"required": {"images": ["IMAGE"], "rate": ["FLOAT", {"default": 8}], "format": [["gif", "mp4"], {"formats": {"mp4": [["pix", ["a", "b"]], ["crf", "INT", {"default": 19, "min": 0, "max": 100}]], "webp": [["lossless", "BOOLEAN", {"default": true}]]}}],
   "save": ["BOOLEAN", {"default": true}]}}, "output": [], "output_node": true, "name": "Combine"},
 "Power Lora Loader (rgthree)": {"input": {"required": {}, "optional": {"model": ["MODEL"], "clip": ["CLIP"]}, "hidden": {}}, "output": ["MODEL", "CLIP"], "name": "Power Lora Loader (rgthree)"},
 "Tint": {"input": {"required": {"model": ["MODEL"], "seed": ["INT", {"control_after_generate": true}], "color": ["COLOR", {"default": "#ffffff"}]}}, "output": ["MODEL"], "name": "Tint"},
 "View": {"input": {"required": {"model_file": [["none", "a.glb"], {"file_upload": true}], "view": ["LOAD_3D", {}], "width": ["INT", {"default": 1024}], "height": ["INT", {"default": 1024}]}}, "output": ["IMAGE"], "name": "View"},
 "Number": {"input": {"required": {"value": ["INT", {"default": 0}]}}, "output": ["INT"], "name": "Number"},
 "PrimitiveString": {"input": {"required": {"value": ["STRING", {}]}}, "output": ["STRING"], "name": "PrimitiveString"},
 "SaveImage": {"input": {"required": {"images": ["IMAGE"], "filename_prefix": ["STRING", {"default": "ComfyUI"}]}}, "output": [], "output_node": true, "name": "SaveImage", "display_name": "Save Image"},
 "PreviewImage": {"input": {"required": {"images": ["IMAGE"]}}, "output": [], "output_node": true, "name": "PreviewImage"},
 "Paid": {"input": {"required": {"prompt": ["STRING", {"multiline": true}], "api_key": ["STRING", {}]}}, "output": ["IMAGE"], "api_node": true, "name": "Paid"}
}`

func miniObjectInfo(t testing.TB) *ObjectInfo {
	t.Helper()
	info, err := ParseObjectInfo([]byte(miniInfo))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// g writes graphs briefly: nodes by id with class, widget values and extra members, links as "id: from.slot > to.input TYPE".
type g struct {
	nodes, defs []string
	links       map[string]string // of the target "node.input": the link's id
	linkRows    []string
	objects     bool
	extra       string
}

// link adds a link and remembers it for the node that takes it.
func (b *g) link(id int, from string, slot int, to, input, typ string) *g {
	if b.links == nil {
		b.links = map[string]string{}
	}
	b.links[to+"."+input] += fmt.Sprintf(`{"name": %q, "type": %q, "link": %d, "widget": {"name": %q}},`, input, typ, id, input)
	if b.objects {
		b.linkRows = append(b.linkRows, fmt.Sprintf(`{"id": %d, "origin_id": %s, "origin_slot": %d, "target_id": %s, "target_slot": 0, "type": %q}`, id, from, slot, to, typ))
	} else {
		b.linkRows = append(b.linkRows, fmt.Sprintf(`[%d, %s, %d, %s, 0, %q]`, id, from, slot, to, typ))
	}
	return b
}

// node adds a node; its links must have been added before. more holds further members, each ending in a comma.
func (b *g) node(id, class, values, more string) *g {
	inputs := ""
	for _, key := range sortedKeys(b.links) {
		if strings.HasPrefix(key, id+".") {
			inputs += b.links[key]
		}
	}
	if !strings.Contains(more, `"inputs"`) {
		more += `"inputs": [` + strings.TrimSuffix(inputs, ",") + `],`
	}
	b.nodes = append(b.nodes, fmt.Sprintf(`{"id": %s, "type": %q, "pos": [%d, 0], %s "widgets_values": %s}`, id, class, len(b.nodes), more, values))
	return b
}

func sortedKeys(m map[string]string) []string {
	set := map[string]bool{}
	for k := range m {
		set[k] = true
	}
	return sorted(set)
}

func (b *g) String() string {
	extra := b.extra
	if extra == "" {
		extra = "{}"
	}
	return fmt.Sprintf(`{"nodes": [%s], "links": [%s], "version": 0.4, "extra": %s, "definitions": {"subgraphs": [%s]}}`,
		strings.Join(b.nodes, ","), strings.Join(b.linkRows, ","), extra, strings.Join(b.defs, ","))
}

func mustParse(t testing.TB, text string) *Workflow {
	t.Helper()
	w, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

// wantPrompt compares a converted prompt with JSON, without titles.
func wantPrompt(t *testing.T, graph fmt.Stringer, want string) Prompt {
	t.Helper()
	p, _, err := Convert(mustParse(t, graph.String()), miniObjectInfo(t))
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

func define(t *testing.T, text string, info *ObjectInfo) *Definition {
	t.Helper()
	d, err := Define(mustParse(t, text), Options{FileName: "Big Poster.json", ObjectInfo: info})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func codes(findings []Finding) []string {
	set := map[string]bool{}
	for _, f := range findings {
		set[f.Code] = true
	}
	return sorted(set)
}

func hasCode(d *Definition, code string) bool {
	for _, f := range d.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

func checkReadable(t *testing.T, p Prompt) {
	t.Helper()
	raw, err := p.MarshalJSON()
	if err != nil || !json.Valid(raw) {
		t.Fatalf("the prompt is no JSON: %v %q", err, raw)
	}
}

// checkTool makes sure that the registry takes the tool and that the binding works with what it asks for.
func checkTool(t *testing.T, d *Definition) {
	t.Helper()
	if err := registry.Validate(d.Tool); err != nil {
		t.Fatalf("A10 the registry refuses the tool: %v", err)
	}
	values, media := map[string]any{}, map[string][]string{}
	for _, in := range d.Binding.Inputs {
		f := in.Field
		switch {
		case !f.Required:
		case f.Type.IsMedia():
			media[f.Name] = []string{"upload.png"}
			if in.takesURL() {
				media[f.Name] = []string{"https://files.example/x.bin"}
			}
		case len(f.Choices) > 0:
			values[f.Name] = f.Choices[0].Value
		case f.Type == registry.TypeNumber:
			values[f.Name] = json.Number("1")
			if f.Min != "" {
				values[f.Name] = f.Min
			}
		case f.Type == registry.TypeBoolean:
			values[f.Name] = true
		default:
			values[f.Name] = "some text"
		}
		if f.Multiple && values[f.Name] != nil {
			values[f.Name] = []any{values[f.Name]}
		}
	}
	applied, err := d.Binding.Apply(values, media, nil)
	if err != nil {
		t.Fatalf("the binding refuses what it asks for: %v", err)
	}
	checkReadable(t, applied.Prompt)
}

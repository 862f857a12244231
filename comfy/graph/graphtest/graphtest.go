// Package graphtest has graphs for tests: a way to write them briefly, declarations of a few classes, and the shared corpus.
package graphtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// MiniInfo declares a handful of made-up and core classes, enough for graphs written by hand.
const MiniInfo = `{
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

func Mini(t testing.TB) *objectinfo.Info {
	t.Helper()
	info, err := objectinfo.Parse([]byte(MiniInfo))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// Graph writes graphs briefly: nodes by id with class, widget values and extra members, links as "id: from.slot > to.input TYPE".
type Graph struct {
	Nodes, Defs []string
	Links       map[string]string // of the target "node.input": the link's id
	Rows        []string
	Objects     bool
	Extra       string
}

// Link adds a link and remembers it for the node that takes it.
func (b *Graph) Link(id int, from string, slot int, to, input, typ string) *Graph {
	if b.Links == nil {
		b.Links = map[string]string{}
	}
	b.Links[to+"."+input] += fmt.Sprintf(`{"name": %q, "type": %q, "link": %d, "widget": {"name": %q}},`, input, typ, id, input)
	if b.Objects {
		b.Rows = append(b.Rows, fmt.Sprintf(`{"id": %d, "origin_id": %s, "origin_slot": %d, "target_id": %s, "target_slot": 0, "type": %q}`, id, from, slot, to, typ))
	} else {
		b.Rows = append(b.Rows, fmt.Sprintf(`[%d, %s, %d, %s, 0, %q]`, id, from, slot, to, typ))
	}
	return b
}

// Node adds a node; its links must have been added before. more holds further members, each ending in a comma.
func (b *Graph) Node(id, class, values, more string) *Graph {
	inputs := ""
	for _, key := range slices.Sorted(maps.Keys(b.Links)) {
		if strings.HasPrefix(key, id+".") {
			inputs += b.Links[key]
		}
	}
	if !strings.Contains(more, `"inputs"`) {
		more += `"inputs": [` + strings.TrimSuffix(inputs, ",") + `],`
	}
	b.Nodes = append(b.Nodes, fmt.Sprintf(`{"id": %s, "type": %q, "pos": [%d, 0], %s "widgets_values": %s}`, id, class, len(b.Nodes), more, values))
	return b
}

func (b *Graph) String() string {
	extra := cmp.Or(b.Extra, "{}")
	return fmt.Sprintf(`{"nodes": [%s], "links": [%s], "version": 0.4, "extra": %s, "definitions": {"subgraphs": [%s]}}`,
		strings.Join(b.Nodes, ","), strings.Join(b.Rows, ","), extra, strings.Join(b.Defs, ","))
}

func Parse(t testing.TB, text string) *graph.Workflow {
	t.Helper()
	w, err := graph.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

// Corpus finds the shared corpus beside the project. Without it the test is skipped, in CI it fails.
func Corpus(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		path := filepath.Join(dir, "..", "shared", "corpus")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("the shared corpus is missing")
	}
	t.Skip("the shared corpus is not here")
	return ""
}

func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ReadJSON(t testing.TB, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(ReadFile(t, path), into); err != nil {
		t.Fatal(err)
	}
}

// Files gives the bytes of every workflow of the corpus by name.
func Files(t testing.TB) map[string][]byte {
	t.Helper()
	dir := filepath.Join(Corpus(t), "workflows")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		files[e.Name()] = ReadFile(t, filepath.Join(dir, e.Name()))
	}
	return files
}

type Note struct {
	ID       json.Number `json:"id"`
	Type     string      `json:"type"`
	Mode     int         `json:"mode"`
	Title    string      `json:"title"`
	Text     string      `json:"text"`
	Subgraph string      `json:"subgraph"`
}

type Facts struct {
	Format          graph.Format  `json:"format"`
	Notes           []Note        `json:"notes"`
	NotesInDocument []json.Number `json:"notes_document_order"`
	SubgraphNotes   []Note        `json:"subgraph_notes"`
	Nodes           int           `json:"node_count_total"`
	ActiveNodes     int           `json:"node_count_active"`
	ExecutableNodes int           `json:"node_count_executable_expanded"`
	Links           int           `json:"link_count"`
	LinksAll        int           `json:"link_count_all"`
	DanglingLinks   int           `json:"dangling_links"`
	ClassTypes      []string      `json:"class_types"`
	ClassTypesAll   []string      `json:"class_types_all"`
	OutputTypes     []string      `json:"output_types"`
	InputKinds      []string      `json:"input_kinds"`
	Muted           int           `json:"muted_count_all"`
	Bypassed        int           `json:"bypassed_count_all"`
	MaxDepth        int           `json:"max_subgraph_depth"`
}

var sharedInfo struct {
	once sync.Once
	info *objectinfo.Info
	err  error
}

// ObjectInfo is the object_info of the corpus, read once for all tests.
func ObjectInfo(t testing.TB) *objectinfo.Info {
	t.Helper()
	path := filepath.Join(Corpus(t), "object_info.json")
	sharedInfo.once.Do(func() {
		data, err := os.ReadFile(path)
		if err == nil {
			sharedInfo.info, err = objectinfo.Parse(data)
		}
		sharedInfo.err = err
	})
	if sharedInfo.err != nil {
		t.Fatal(sharedInfo.err)
	}
	return sharedInfo.info
}

const BlurDef = `{"id": "11111111-1111-1111-1111-111111111111", "name": "Soft", "inputNode": {"id": -10}, "outputNode": {"id": -20},
  "inputs": [{"id": "a", "name": "image", "type": "IMAGE", "linkIds": [1]}, {"id": "b", "name": "radius", "type": "INT", "linkIds": [2], "label": "Softness"}],
  "outputs": [{"id": "c", "name": "IMAGE", "type": "IMAGE", "linkIds": [3]}, {"id": "d", "name": "same", "type": "IMAGE", "linkIds": [4]}],
  "nodes": [{"id": 5, "type": "Blur", "inputs": [{"name": "image", "type": "IMAGE", "link": 1}, {"name": "radius", "type": "INT", "link": 2, "widget": {"name": "radius"}}], "widgets_values": [3, 1.5]},
            {"id": 6, "type": "Note", "pos": [0, 0], "inputs": [], "widgets_values": ["Inside the box."]}],
  "links": [{"id": 1, "origin_id": -10, "origin_slot": 0, "target_id": 5, "target_slot": 0, "type": "IMAGE"}, {"id": 2, "origin_id": -10, "origin_slot": 1, "target_id": 5, "target_slot": 1, "type": "INT"},
            {"id": 3, "origin_id": 5, "origin_slot": 0, "target_id": -20, "target_slot": 0, "type": "IMAGE"}, {"id": 4, "origin_id": -10, "origin_slot": 0, "target_id": -20, "target_slot": 1, "type": "IMAGE"}]}`

const PrimitiveDef = `{"id": "55555555-5555-5555-5555-555555555555", "name": "Primitive", "inputs": [], "outputs": [],
  "links": [{"id": 1, "origin_id": 8, "origin_slot": 0, "target_id": 9, "target_slot": 0, "type": "INT"}],
  "nodes": [{"id": 8, "type": "PrimitiveNode", "outputs": [{"name": "INT", "type": "INT", "widget": {"name": "value"}, "links": [1]}], "widgets_values": [3, "randomize"]},
            {"id": 9, "type": "Number", "inputs": [{"name": "value", "type": "INT", "link": 1, "widget": {"name": "value"}}], "widgets_values": [0]}]}`

const OuterDef = `{"id": "22222222-2222-2222-2222-222222222222", "name": "Outer", "inputNode": {"id": -10}, "outputNode": {"id": -20},
  "inputs": [{"id": "a", "name": "image", "type": "IMAGE", "linkIds": [1]}], "outputs": [{"id": "c", "name": "IMAGE", "type": "IMAGE", "linkIds": [3]}],
  "nodes": [{"id": 7, "type": "11111111-1111-1111-1111-111111111111", "inputs": [{"name": "image", "type": "IMAGE", "link": 1}], "outputs": [{"name": "IMAGE", "type": "IMAGE"}], "properties": {"proxyWidgets": [["5", "sigma"]]}, "widgets_values": []}],
  "links": [{"id": 1, "origin_id": -10, "origin_slot": 0, "target_id": 7, "target_slot": 0, "type": "IMAGE"}, {"id": 3, "origin_id": 7, "origin_slot": 0, "target_id": -20, "target_slot": 0, "type": "IMAGE"}]}`

const SmallPrompt = `{"3": {"class_type": "Sampler", "inputs": {"seed": 18446744073709551615, "steps": 20, "model": ["4", 0], "pair": ["x", "y"]}, "_meta": {"title": "Go"}}, "4": {"class_type": "Model", "inputs": {"ckpt_name": "a"}}}`

const SmallGraph = `{"nodes": [{"id": 1, "type": "LoadImage", "widgets_values": ["a.png"]}], "links": []}`

// Codes are the codes of findings, each once.
func Codes(findings []graph.Finding) []string {
	set := map[string]bool{}
	for _, f := range findings {
		set[f.Code] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Sampling is a whole picture workflow in the mini classes; the arguments replace parts of it.
func Sampling(notes ...string) *Graph {
	b := new(Graph)
	b.Link(1, "1", 0, "5", "model", "MODEL").Link(2, "1", 1, "2", "clip", "CLIP").Link(3, "1", 1, "3", "clip", "CLIP").Link(4, "2", 0, "5", "positive", "CONDITIONING").Link(5, "3", 0, "5", "negative", "CONDITIONING")
	b.Link(6, "4", 0, "5", "latent_image", "LATENT").Link(7, "5", 0, "6", "samples", "LATENT").Link(8, "1", 2, "6", "vae", "VAE").Link(9, "6", 0, "7", "images", "IMAGE")
	b.Node("1", "Model", `["a.safetensors"]`, "").Node("2", "Encode", `["a cat"]`, `"title": "What to draw",`).Node("3", "Encode", `["ugly"]`, "").Node("4", "Latent", `[640, 480]`, "")
	b.Node("5", "Sampler", `[7, "randomize", 30, 7.5, "heun", 1]`, "").Node("6", "Decode", `[]`, "").Node("7", "SaveImage", `["x"]`, "")
	for i, text := range notes {
		quoted, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		b.Node(strconv.Itoa(90+i), "Note", "["+string(quoted)+"]", "")
	}
	return b
}

package comfy_test

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/loras"
	"github.com/signalbox/signalbox/registry"
)

const loraFlow = `{
	"1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "base.safetensors"}},
	"2": {"class_type": "LoraLoader", "inputs": {"model": ["1", 0], "clip": ["1", 1], "lora_name": "styles/ink.safetensors", "strength_model": 1, "strength_clip": 1}},
	"3": {"class_type": "CLIPTextEncode", "_meta": {"title": "Prompt"}, "inputs": {"text": "a fox", "clip": ["2", 1]}},
	"4": {"class_type": "EmptyLatentImage", "inputs": {"width": 512, "height": 512, "batch_size": 1}},
	"5": {"class_type": "KSampler", "inputs": {"model": ["2", 0], "positive": ["3", 0], "negative": ["3", 0], "latent_image": ["4", 0], "seed": 1, "steps": 4, "cfg": 1, "sampler_name": "euler", "scheduler": "normal", "denoise": 1}},
	"6": {"class_type": "VAEDecode", "inputs": {"samples": ["5", 0], "vae": ["1", 2]}},
	"7": {"class_type": "SaveImage", "inputs": {"images": ["6", 0], "filename_prefix": "x"}}
}`

func TestLoras(t *testing.T) {
	t.Parallel()
	t.Run("what the operator says of them", testKnownLoras)
	t.Run("what their files say of them", testLoraFiles)
	t.Run("a file that can't be read is asked for three times", testBrokenLora)
	t.Run("what no server could tell is asked for when one is back", testLoraOfLostServer)
}

func testKnownLoras(t *testing.T) {
	t.Parallel()
	said, err := loras.Parse([]byte(`{"ink.safetensors": {"label": "Ink", "words": "ink wash"}, "detail.safetensors": {"words": "intricate detail"}, "elsewhere.safetensors": {"words": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	server := comfytest.New(t, comfytest.Options{Models: map[string][]string{
		"checkpoints": {"base.safetensors"}, "loras": {"styles/ink.safetensors", "detail.safetensors", "unknown.safetensors"},
	}})
	w := newWorld(t, newFolder(nil), server)
	flows := loader.New(loader.Config{Sources: []fs.FS{newFolder(map[string]string{"fox.json": loraFlow})}, Engines: w.fleet, Store: w.store, Rate: "0.000337", Loras: said})
	tools, err := flows.Load(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	f, ok := tools[0].InputSchema.Get("lora")
	if !ok {
		t.Fatalf("no LoRA can be chosen: %+v", tools[0].InputSchema)
	}
	labels := map[any]string{}
	for _, c := range f.Choices {
		labels[c.Value] = c.Label
	}
	if diff := cmp.Diff(map[any]string{"styles/ink.safetensors": "Ink", "detail.safetensors": "", "unknown.safetensors": ""}, labels); diff != "" {
		t.Error(diff)
	}
	want := &registry.ChoiceWords{Into: "prompt", Of: map[string]string{"styles/ink.safetensors": "ink wash", "detail.safetensors": "intricate detail"}}
	if diff := cmp.Diff(want, f.Words); diff != "" {
		t.Error(diff)
	}
	if _, err := loras.Parse([]byte(`{"a": {"trigger": "x"}}`)); err == nil {
		t.Error("a member that nobody knows is passed over")
	}
}

// loraWorld serves the LoRA workflow with what the operator and the servers' files say, and gives what loads its one tool.
func loraWorld(t *testing.T, known string, servers ...*comfytest.Server) (*world, func() registry.InputField) {
	t.Helper()
	said, err := loras.Parse([]byte(known))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, newFolder(nil), servers...)
	flows := loader.New(loader.Config{Sources: []fs.FS{newFolder(map[string]string{"fox.json": loraFlow})}, Engines: w.fleet, Store: w.store, Rate: "0.000337", Loras: said})
	return w, func() registry.InputField {
		t.Helper()
		tools, err := flows.Load(t.Context())
		if err != nil || len(tools) != 1 {
			t.Fatalf("%d tools, %v", len(tools), err)
		}
		f, ok := tools[0].InputSchema.Get("lora")
		if !ok {
			t.Fatalf("no LoRA can be chosen: %+v", tools[0].InputSchema)
		}
		return f
	}
}

func testLoraFiles(t *testing.T) {
	t.Parallel()
	options := func(meta map[string]map[string]string) comfytest.Options {
		return comfytest.Options{Metadata: meta, Models: map[string][]string{
			"checkpoints": {"base.safetensors"},
			"loras":       {"styles/ink.safetensors", "detail.safetensors", "told.safetensors", "silenced.safetensors", "bare.safetensors", "old.ckpt"},
		}}
	}
	bare := comfytest.New(t, options(nil))
	server := comfytest.New(t, options(map[string]map[string]string{
		"loras/styles/ink.safetensors":   {"modelspec.trigger_phrase": "ink wash", "modelspec.title": "Ink"},
		"loras/detail.safetensors":       {"ss_tag_frequency": `{"10_det": {"det41l": 20, "a room": 4}}`, "ss_dataset_dirs": `{"10_det": {"n_repeats": 10, "img_count": 20}}`},
		"loras/told.safetensors":         {"modelspec.trigger_phrase": "the file's"},
		"loras/silenced.safetensors":     {"modelspec.trigger_phrase": "the file's"},
		"loras/old.ckpt":                 {"modelspec.trigger_phrase": "unreadable"},
		"checkpoints/base.safetensors":   {"modelspec.trigger_phrase": "no LoRA"},
		"loras/not-offered.safetensors":  {"modelspec.trigger_phrase": "not there"},
		"loras/styles/other.safetensors": {"modelspec.trigger_phrase": "not there"},
	}))
	w, lora := loraWorld(t, `{"told.safetensors": {"words": "the operator's"}, "silenced.safetensors": {"words": ""}, "ink.safetensors": {"label": "Ink"}}`, bare, server)
	if f := lora(); len(f.Words.Of) != 1 {
		t.Errorf("before any file was read there are the words %v", f.Words.Of)
	}
	w.fleet.Refresh(t.Context())
	f := lora()
	want := &registry.ChoiceWords{Into: "prompt", Of: map[string]string{"styles/ink.safetensors": "ink wash", "detail.safetensors": "det41l", "told.safetensors": "the operator's"}}
	if diff := cmp.Diff(want, f.Words); diff != "" {
		t.Error(diff)
	}
	if i := slices.IndexFunc(f.Choices, func(c registry.Choice) bool { return c.Value == "styles/ink.safetensors" }); f.Choices[i].Label != "Ink" {
		t.Errorf("the operator's label is lost: %+v", f.Choices[i])
	}
	asked := len(server.Calls("GET /view_metadata/loras"))
	w.fleet.Refresh(t.Context())
	lora()
	if again := len(server.Calls("GET /view_metadata/loras")); asked != 3 || again != asked {
		t.Errorf("the server was asked %d times for 3 files, and %d times after that", asked, again-asked)
	}
}

func testBrokenLora(t *testing.T) {
	t.Parallel()
	server := comfytest.New(t, comfytest.Options{Models: map[string][]string{"checkpoints": {"base.safetensors"}, "loras": {"styles/ink.safetensors", "old.ckpt"}},
		Metadata: map[string]map[string]string{"loras/styles/ink.safetensors": {"modelspec.trigger_phrase": "ink wash"}}})
	server.On("GET /view_metadata/loras", 2, comfytest.CutMidAnswer)
	w, lora := loraWorld(t, `{}`, server)
	lora()
	w.fleet.Refresh(t.Context())
	w.fleet.Refresh(t.Context())
	if f := lora(); f.Words != nil {
		t.Errorf("words of a broken answer: %v", f.Words)
	}
	w.fleet.Refresh(t.Context())
	if f := lora(); f.Words == nil || f.Words.Of["styles/ink.safetensors"] != "ink wash" {
		t.Errorf("the third answer was good, and there are the words %v", f.Words)
	}
	server.On("GET /view_metadata/loras", comfytest.Always, comfytest.BrokenJSON)
	w, lora = loraWorld(t, `{}`, server)
	lora()
	before := len(server.Calls("GET /view_metadata/loras"))
	for range 5 {
		w.fleet.Refresh(t.Context())
	}
	if n := len(server.Calls("GET /view_metadata/loras")) - before; n != 3 {
		t.Errorf("a broken file was asked for %d times", n)
	}
}

func testLoraOfLostServer(t *testing.T) {
	t.Parallel()
	server := comfytest.New(t, comfytest.Options{Models: map[string][]string{"checkpoints": {"base.safetensors"}, "loras": {"styles/ink.safetensors", "old.ckpt"}},
		Metadata: map[string]map[string]string{"loras/styles/ink.safetensors": {"modelspec.trigger_phrase": "ink wash"}}})
	w, lora := loraWorld(t, `{}`, server)
	lora()
	server.Down()
	w.fleet.Refresh(t.Context())
	server.Up()
	w.fleet.Refresh(t.Context())
	if f := lora(); f.Words == nil || f.Words.Of["styles/ink.safetensors"] != "ink wash" {
		t.Errorf("the server is back, and there are the words %v", f.Words)
	}
}

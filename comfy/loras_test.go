package comfy_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
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
	loras, err := comfy.ParseLoras([]byte(`{"ink.safetensors": {"label": "Ink", "words": "ink wash"}, "detail.safetensors": {"words": "intricate detail"}, "elsewhere.safetensors": {"words": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	server := comfytest.New(t, comfytest.Options{Models: map[string][]string{
		"checkpoints": {"base.safetensors"}, "loras": {"styles/ink.safetensors", "detail.safetensors", "unknown.safetensors"},
	}})
	w := newWorld(t, newFolder(nil), server)
	loader := comfy.NewWorkflows(comfy.WorkflowsConfig{Sources: []fs.FS{newFolder(map[string]string{"fox.json": loraFlow})}, Fleet: w.fleet, Store: w.store, Rate: "0.000337", Loras: loras})
	tools, err := loader.Load(t.Context())
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
	if _, err := comfy.ParseLoras([]byte(`{"a": {"trigger": "x"}}`)); err == nil {
		t.Error("a member that nobody knows is passed over")
	}
}

package comfytest

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// ResultClass is an output node whose result is scripted: its input "ui" holds, as JSON, what a real node would show, such
// as {"gifs": [{"filename": "a.mp4", "subfolder": "", "type": "output"}]}. No file is made.
const ResultClass = "FakeResult"

// fakes are the classes that stand for models. They are instant; hold them with Hold.
func (s *Server) fakes() []node.Node {
	file := func(name, folder string) node.Input {
		return node.OldCombo(name).From(func(*node.Files) []string { return s.models(folder) })
	}
	model, clip, vae := node.Socket("model", "MODEL"), node.Socket("clip", "CLIP"), node.Socket("vae", "VAE")
	cond := func(name string) node.Input { return node.Socket(name, "CONDITIONING") }
	size := []node.Input{
		node.Int("width").Default(1024).Range(16, 16384).Step(16), node.Int("height").Default(1024).Range(16, 16384).Step(16),
		node.Int("batch_size").Default(1).Range(1, 4096),
	}
	weights := node.OldCombo("weight_dtype", "default", "fp8_e4m3fn")
	return []node.Node{
		fake("CheckpointLoaderSimple", "MODEL,CLIP,VAE", file("ckpt_name", "checkpoints")),
		fake("UNETLoader", "MODEL", file("unet_name", "diffusion_models"), weights),
		fake("CLIPLoader", "CLIP", file("clip_name", "text_encoders"), node.OldCombo("type", "flux", "sd3")),
		fake("DualCLIPLoader", "CLIP", file("clip_name1", "text_encoders"), file("clip_name2", "text_encoders"),
			node.OldCombo("type", "sdxl", "flux"), node.OldCombo("device", "default", "cpu")),
		fake("VAELoader", "VAE", file("vae_name", "vae")),
		fake("LoraLoader", "MODEL,CLIP", model, clip, file("lora_name", "loras"),
			node.Float("strength_model").Default(1.0).Range(-100.0, 100.0), node.Float("strength_clip").Default(1.0).Range(-100.0, 100.0)),
		fake("CLIPTextEncode", "CONDITIONING", node.Text("text"), clip),
		fake("FluxGuidance", "CONDITIONING", cond("conditioning"), node.Float("guidance").Default(3.5).Range(0.0, 100.0)),
		fake("ConditioningZeroOut", "CONDITIONING", cond("conditioning")),
		fake("EmptyLatentImage", "LATENT", size...),
		fake("EmptySD3LatentImage", "LATENT", size...),
		fake("VAEEncode", "LATENT", node.Socket("pixels", "IMAGE"), vae),
		fake("RepeatLatentBatch", "LATENT", node.Socket("samples", "LATENT"), node.Int("amount").Default(1).Range(1, 64)),
		sampler(model, cond),
		decoder(vae),
		result(),
	}
}

// fake is a class that gives a token for each of its outputs.
func fake(class, outputs string, inputs ...node.Input) node.Node {
	types := strings.Split(outputs, ",")
	return node.Node{
		Spec: node.Spec{Class: class, Category: "fake", Module: "nodes", Legacy: true, Required: inputs, Outputs: node.Outs(types...)},
		Run: func(context.Context, *node.Call) (*node.Result, error) {
			out := make([]any, len(types))
			for i, typ := range types {
				out[i] = class + " " + typ
			}
			return node.Out(out...), nil
		},
	}
}

// sampler reports a step at a time.
func sampler(model node.Input, cond func(string) node.Input) node.Node {
	n := fake("KSampler", "LATENT", model,
		node.Int("seed").Default(0).Range(0, uint64(math.MaxUint64)).With("control_after_generate", true),
		node.Int("steps").Default(20).Range(1, 10000), node.Float("cfg").Default(8.0).Range(0.0, 100.0),
		node.OldCombo("sampler_name", "euler", "dpmpp_2m"), node.OldCombo("scheduler", "simple", "karras"),
		cond("positive"), cond("negative"), node.Socket("latent_image", "LATENT"), node.Float("denoise").Default(1.0).Range(0.0, 1.0))
	done := n.Run
	n.Run = func(ctx context.Context, c *node.Call) (*node.Result, error) {
		for i, steps := 1, c.Int("steps"); i <= steps; i++ {
			c.Progress(i, steps)
		}
		return done(ctx, c)
	}
	return n
}

func decoder(vae node.Input) node.Node {
	n := fake("VAEDecode", "IMAGE", node.Socket("samples", "LATENT"), vae)
	n.Run = func(context.Context, *node.Call) (*node.Result, error) {
		img, err := tensor.NewImage(1, 8, 8, 3)
		return node.Out(img), err
	}
	return n
}

func result() node.Node {
	return node.Node{
		Spec: node.Spec{Class: ResultClass, Category: "fake", Module: "nodes", Legacy: true, OutputNode: true,
			Required: []node.Input{node.Text("ui")}, Optional: []node.Input{node.Socket("after", "*")}},
		Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			v, err := pyval.Parse([]byte(c.Text("ui")))
			shown, ok := v.(*pyval.Dict)
			if err != nil || !ok {
				return nil, fmt.Errorf("ui of %s is no JSON object: %v", ResultClass, err)
			}
			r := &node.Result{UI: map[string][]any{}}
			for _, key := range shown.Keys() {
				r.UI[key], _ = shown.At(key).([]any)
			}
			return r, nil
		},
	}
}

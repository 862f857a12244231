package comfy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/workflows"
)

func (w *world) photo(t *testing.T) registry.Media { t.Helper(); return w.photoOf(t, 120) }

func (w *world) photoOf(t *testing.T, blue uint8) registry.Media {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 96, 64))
	for y := range 64 {
		for x := range 96 {
			img.Set(x, y, color.RGBA{R: uint8(2 * x), G: uint8(3 * y), B: blue, A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return w.store.AddFile("photo.png", "image/png", b.Bytes())
}

func TestBundledWorkflowsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflows.FS, comfytest.New(t, comfytest.Options{Without: []string{"KSampler"}}))
	t.Run("A40 fluxgeneral is listed as unavailable with the missing names", func(t *testing.T) {
		tool := w.tools["fluxgeneral"]
		if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "KSampler") {
			t.Errorf("status: %+v", tool.Status)
		}
		if tool.CommandName != "/fluxgeneral" {
			t.Errorf("command %q", tool.CommandName)
		}
	})
	t.Run("A21 every input has a description and a label", func(t *testing.T) {
		for id, tool := range w.tools {
			for _, f := range tool.InputSchema {
				if f.Description == "" || f.DisplayName == "" || strings.Contains(f.Label(), "_") {
					t.Errorf("%s.%s: label %q, description %q", id, f.Name, f.Label(), f.Description)
				}
			}
		}
	})
	t.Run("A21 every text is there in five languages", func(t *testing.T) {
		for id, tool := range w.tools {
			properNames := map[string]bool{"sampler": true, "scheduler": true} // what they offer are names of methods in every language
			for _, language := range []string{"de", "es", "ru", "zh"} {
				words := tool.Localized[language]
				if words.DisplayName == "" || words.Description == "" {
					t.Errorf("%s has no name or description in %s", id, language)
				}
				for _, f := range tool.InputSchema {
					if own := words.Inputs[f.Name]; own.DisplayName == "" || own.Description == "" {
						t.Errorf("%s.%s is not described in %s: %+v", id, f.Name, language, own)
					}
					for _, c := range f.Choices {
						if value := fmt.Sprint(c.Value); words.Inputs[f.Name].Choices[value] == "" && !properNames[f.Name] {
							t.Errorf("%s.%s: the choice %s has no label in %s", id, f.Name, value, language)
						}
					}
				}
				for _, o := range tool.OutputSchema {
					if words.Outputs[o.Name] == "" {
						t.Errorf("%s: the output %s has no words in %s", id, o.Name, language)
					}
				}
			}
		}
	})
	for _, id := range []string{"wallpaper", "poster", "sticker", "beforeafter", "contactsheet", "filmlook"} {
		t.Run("A1 "+id+" runs end to end", func(t *testing.T) {
			tool, ok := w.tools[id]
			if !ok {
				t.Fatalf("not loaded; there are %v", w.tools)
			}
			if tool.State() != registry.StateActive {
				t.Fatalf("%s: %+v", id, tool.Status)
			}
			inputs := map[string]any{}
			for _, f := range tool.InputSchema {
				if f.Type == registry.TypeImage {
					inputs[f.Name] = w.photo(t)
				}
				if f.Name == "width" || f.Name == "height" {
					inputs[f.Name] = json.Number("96")
				}
			}
			p := w.run(t, tool, inputs)
			if p.State != registry.RunSucceeded || p.Result == nil {
				t.Fatalf("ended %s: %v (%v)", p.State, p.Err, errors.Unwrap(p.Err))
			}
			if len(p.Result.Outputs) != len(tool.OutputSchema) {
				t.Errorf("%d outputs, the tool declares %d", len(p.Result.Outputs), len(tool.OutputSchema))
			}
			for _, o := range p.Result.Outputs {
				r, err := o.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := png.Decode(r); err != nil {
					t.Errorf("%s: %v", o.Name, err)
				}
				r.Close()
			}
			if p.Result.Usage.RunTime <= 0 {
				t.Error("no run time")
			}
		})
	}
}

func TestFluxGeneralRunsWhereTheModelsAre(t *testing.T) {
	t.Parallel()
	s := comfytest.New(t, comfytest.Options{Models: map[string][]string{
		"diffusion_models": {"flux1-dev.safetensors"}, "text_encoders": {"clip_l.safetensors", "t5xxl_fp8_e4m3fn.safetensors"}, "vae": {"ae.safetensors"},
	}})
	w := newWorld(t, workflows.FS, s)
	tool := w.tools["fluxgeneral"]
	if tool.State() != registry.StateActive {
		t.Fatalf("%+v", tool.Status)
	}
	p := w.run(t, tool, map[string]any{"prompt": "a red bicycle", "seed": json.Number("9223372036854775809")})
	if p.State != registry.RunSucceeded || len(p.Result.Outputs) != 1 {
		t.Fatalf("%+v", p)
	}
	if body := string(s.Calls("POST /prompt")[0].Body); !strings.Contains(body, `"a red bicycle"`) || !strings.Contains(body, "9223372036854775809") {
		t.Error(body)
	}
}

func TestUnreadablePicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflows.FS, comfytest.New(t, comfytest.Options{}))
	ref := w.store.AddFile("photo.png", "image/png", []byte("this is no picture"))
	p := w.run(t, w.tools["poster"], map[string]any{"image": ref})
	if p.State != registry.RunFailed || p.Err == nil || p.Err.Code != registry.CodeInvalidInput || !strings.Contains(p.Err.Message, `"Photo" can't be read`) {
		t.Errorf("ended %s: %v", p.State, p.Err)
	}
}

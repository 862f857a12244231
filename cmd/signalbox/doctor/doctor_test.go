package doctor_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/cmd/signalbox/doctor"
	"github.com/signalbox/signalbox/comfy/comfytest"
)

// paint is a workflow that takes one model.
const paint = `{
	"4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "sd.safetensors"}},
	"5": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
	"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a cat", "clip": ["4", 1]}},
	"3": {"class_type": "KSampler", "inputs": {"seed": 1, "steps": 4, "cfg": 7.5, "sampler_name": "euler", "scheduler": "simple", "denoise": 1.0,
		"model": ["4", 0], "positive": ["6", 0], "negative": ["6", 0], "latent_image": ["5", 0]}},
	"8": {"class_type": "VAEDecode", "inputs": {"samples": ["3", 0], "vae": ["4", 2]}},
	"9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "cat"}}}`

func TestWorkflowsThatEnginesCannotRun(t *testing.T) {
	t.Parallel()
	has := comfytest.New(t, comfytest.Options{Models: map[string][]string{"checkpoints": {"sd.safetensors"}}})
	lacks := comfytest.New(t, comfytest.Options{})
	name := func(s *comfytest.Server) string { return s.URL().Host }
	for what, c := range map[string]struct {
		engines []*comfytest.Server
		want    string
	}{
		"no engine has the model": {[]*comfytest.Server{lacks}, "BAD  workflow       paint: nobody can run it: " + name(lacks) + " lacks the model sd.safetensors\n"},
		"one of two has it":       {[]*comfytest.Server{has, lacks}, "ok   workflow       paint: only " + name(has) + " can run it: " + name(lacks) + " lacks the model sd.safetensors\n"},
		"all have it":             {[]*comfytest.Server{has}, "ok   workflows      1 can be run by every engine\n"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "paint.json"), []byte(paint), 0o600); err != nil {
			t.Fatal(err)
		}
		var urls []*url.URL
		for _, s := range c.engines {
			urls = append(urls, s.URL())
		}
		var out strings.Builder
		healthy := doctor.Look(t.Context(), &out, doctor.Config{DataDir: t.TempDir(), WorkflowsDir: dir, Engines: urls, ListenAddr: "127.0.0.1:0"})
		if !strings.Contains(out.String(), c.want) || healthy == strings.Contains(c.want, "BAD") {
			t.Errorf("%s: healthy %v\n%s", what, healthy, out.String())
		}
	}
}

func TestOperatorOfAHouseInTheOpen(t *testing.T) {
	t.Parallel()
	public := &url.URL{Scheme: "https", Host: "bot.example"}
	for want, c := range map[string]doctor.Config{
		"ok   ADMIN_TOKEN    not set: only people whom an operator has made one get into the console": {Public: public},
		"BAD  ADMIN_TOKEN    6 letters can be guessed, and whoever has them is the operator":          {Public: public, AdminToken: "secret"},
		"ok   ADMIN_TOKEN    signs the operator in":                                                   {Public: public, AdminToken: strings.Repeat("a1", 16)},
		"": {AdminToken: "x"},
	} {
		c.DataDir, c.WorkflowsDir, c.ListenAddr = t.TempDir(), t.TempDir(), "127.0.0.1:0"
		var out strings.Builder
		healthy := doctor.Look(t.Context(), &out, c)
		if !strings.Contains(out.String(), want) || healthy == strings.HasPrefix(want, "BAD") || strings.Contains(out.String(), "ADMIN_TOKEN") != (want != "") {
			t.Errorf("%q: healthy %v\n%s", want, healthy, out.String())
		}
	}
}

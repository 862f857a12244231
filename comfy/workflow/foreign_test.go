package workflow

import (
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/registry"
)

// painting is a picture painted from words, in core classes.
func painting() *graphtest.Graph {
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "5", "model", "MODEL").Link(2, "1", 1, "2", "clip", "CLIP").Link(3, "1", 1, "3", "clip", "CLIP").Link(4, "2", 0, "5", "positive", "CONDITIONING").Link(5, "3", 0, "5", "negative", "CONDITIONING")
	b.Link(6, "4", 0, "5", "latent_image", "LATENT").Link(7, "5", 0, "6", "samples", "LATENT").Link(8, "1", 2, "6", "vae", "VAE").Link(9, "6", 0, "7", "images", "IMAGE")
	b.Node("1", "CheckpointLoaderSimple", `["a.safetensors"]`, "").Node("2", "CLIPTextEncode", `["a cat"]`, "").Node("3", "CLIPTextEncode", `["ugly"]`, "").Node("4", "EmptyLatentImage", `[640, 480, 1]`, "")
	b.Node("5", "KSampler", `[7, "randomize", 30, 7.5, "heun", "normal", 1]`, "").Node("6", "VAEDecode", `[]`, "").Node("7", "SaveImage", `["x"]`, "")
	return b
}

// A picture that the tool itself has made, to be varied, does not make another kind of tool of it.
func TestOwnPictureKeepsKind(t *testing.T) {
	t.Parallel()
	d := define(t, painting().String(), graphtest.ObjectInfo(t))
	if _, ok := d.Tool.InputSchema.Get(ownPicture); !ok {
		t.Fatalf("no picture to vary: %v", summary(d))
	}
	if d.Tool.Category != "text-to-image" {
		t.Errorf("category %q, want text-to-image", d.Tool.Category)
	}
	b := painting()
	b.Nodes[1], b.Nodes[2] = `{"id": 2, "type": "Words", "outputs": [{"name": "CONDITIONING", "type": "CONDITIONING"}]}`, `{"id": 3, "type": "Words", "outputs": [{"name": "CONDITIONING", "type": "CONDITIONING"}]}`
	if h := define(t, b.String(), graphtest.ObjectInfo(t)).Tool.PlatformHints; h.PrimaryInput != "text" {
		t.Errorf("asks for %q first", h.PrimaryInput)
	}
}

// Which output of a node is the negative side is told by its name: some give a model before the pair.
func TestPromptSides(t *testing.T) {
	t.Parallel()
	const outputs = `"outputs": [{"name": "MODEL", "type": "MODEL"}, {"name": "positive", "type": "CONDITIONING"}, {"name": "negative", "type": "CONDITIONING"}],`
	for _, more := range []string{outputs, ""} {
		b := painting()
		b.Links, b.Rows, b.Nodes = nil, nil, nil
		b.Link(1, "2", 0, "8", "positive", "CONDITIONING").Link(2, "3", 0, "8", "negative", "CONDITIONING").Link(3, "8", 1, "5", "positive", "CONDITIONING").Link(4, "8", 2, "5", "negative", "CONDITIONING").Link(5, "5", 0, "7", "images", "IMAGE")
		b.Node("2", "CLIPTextEncode", `["a cat"]`, "").Node("3", "CLIPTextEncode", `["ugly"]`, "")
		b.Node("5", "KSampler", `[7, "randomize", 30, 7.5, "heun", "normal", 1]`, "").Node("8", "ApplyFace", `[]`, more).Node("7", "SaveImage", `["x"]`, "")
		wantTargets(t, define(t, b.String(), graphtest.ObjectInfo(t)), map[string]string{"prompt": "2.text", "negative_prompt": "3.text"})
	}
	t.Run("the second words of a guider for edits", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "4", "positive", "CONDITIONING").Link(2, "2", 0, "4", "negative", "CONDITIONING").Link(3, "4", 0, "5", "cond1", "CONDITIONING").Link(4, "4", 1, "5", "cond2", "CONDITIONING").Link(5, "2", 0, "5", "negative", "CONDITIONING")
		b.Link(6, "5", 0, "6", "guider", "GUIDER").Link(7, "6", 0, "7", "images", "IMAGE")
		b.Node("5", "DualCFGGuider", `[7, 1]`, "").Node("1", "Words", `[]`, "").Node("2", "CLIPTextEncode", `["ugly"]`, "")
		b.Node("4", "InstructPixToPixConditioning", `[]`, `"outputs": [{"name": "positive", "type": "CONDITIONING"}, {"name": "negative", "type": "CONDITIONING"}],`).Node("6", "SamplerCustomAdvanced", `[]`, "").Node("7", "SaveImage", `["x"]`, "")
		wantTargets(t, define(t, b.String(), graphtest.ObjectInfo(t)), map[string]string{"prompt": "", "negative_prompt": "2.text"})
	})
}

// A number that any node may hold has the bounds of what it is used for, and none that no one means.
func TestPrimitiveBounds(t *testing.T) {
	t.Parallel()
	b := painting()
	b.Link(20, "20", 0, "4", "width", "INT")
	b.Nodes[3] = ""
	b.Nodes = append(b.Nodes[:3], b.Nodes[4:]...)
	b.Node("4", "EmptyLatentImage", `[640, 480, 1]`, "").Node("20", "PrimitiveInt", `[640, "fixed"]`, "")
	d := define(t, b.String(), graphtest.ObjectInfo(t))
	wantTargets(t, d, map[string]string{"width": "20.value"})
	if f, _ := d.Tool.InputSchema.Get("width"); f.Min != "16" || f.Max != "16384" {
		t.Errorf("width from %s to %s, want those of the latent", f.Min, f.Max)
	}
	b = new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "length", "INT").Link(2, "2", 0, "3", "images", "IMAGE")
	b.Node("1", "PrimitiveInt", `[97, "fixed"]`, "").Node("2", "LongSampler", `[]`, "").Node("3", "SaveImage", `["x"]`, "")
	if f, ok := define(t, b.String(), graphtest.ObjectInfo(t)).Tool.InputSchema.Get("length"); !ok || f.Max != "" || f.Min != "" {
		t.Errorf("length from %q to %q, want none", f.Min, f.Max)
	}
}

// Where no sampler leads to the texts what to avoid is told apart all the same.
func TestFreeNegative(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "sdxl_tuple", "SDXL_TUPLE").Link(2, "2", 0, "3", "images", "IMAGE")
	b.Node("1", "TupleLoader", `["a cat", "ugly"]`, `"inputs": [{"name": "positive", "type": "STRING", "widget": {"name": "positive"}}, {"name": "negative", "type": "STRING", "widget": {"name": "negative"}}],`)
	b.Node("2", "KSampler SDXL (Eff.)", `[]`, "").Node("3", "SaveImage", `["x"]`, "")
	d := define(t, b.String(), nil)
	checkTool(t, d)
	wantTargets(t, d, map[string]string{"prompt": "1.positive", "negative_prompt": "1.negative"})
}

// Without declarations a node at the end gives the result where no known one does: ComfyUI runs nothing else.
func TestUndeclaredResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, class, typ, want string }{
		{"a preview of another pack", "AILab_Preview", "IMAGE", graph.KindImage},
		{"a saver by its name", "Some_SaveAudioFile", "*", graph.KindAudio},
		{"by what it takes", "TripoSRViewer", "MESH", graph.KindFile},
		{"a text", "IF_Display", "STRING", graph.KindText},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := new(graphtest.Graph)
			b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "2", 0, "3", "in", c.typ)
			b.Node("1", "LoadImage", `["a.png", "image"]`, "").Node("2", "Removal", `[]`, "").Node("3", c.class, `[]`, "")
			d := define(t, b.String(), nil)
			checkTool(t, d)
			if out := d.Binding.Outputs; len(out) != 1 || out[0].Node != "3" || out[0].Type != c.want {
				t.Errorf("outputs %v, want %s of node 3", out, c.want)
			}
			if f, ok := d.Tool.InputSchema.Get("image"); !ok || f.Type != registry.TypeImage {
				t.Errorf("inputs %v, want the picture", summary(d))
			}
		})
	}
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "image", "IMAGE").Link(2, "1", 0, "3", "images", "IMAGE")
	b.Node("1", "LoadImage", `["a.png", "image"]`, "").Node("2", "Leftover", `[]`, "").Node("3", "SaveImage", `["x"]`, "")
	if out := define(t, b.String(), nil).Binding.Outputs; len(out) != 1 || out[0].Node != "3" {
		t.Errorf("outputs %v, want the known one alone", out)
	}
}

// Values that an old file does not name are named where the pack is well known.
func TestKnownPacks(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "hyvid_embeds", "HYVIDEMBEDS").Link(2, "2", 0, "3", "images", "IMAGE")
	b.Node("1", "HyVideoTextEncode", `["a bear", "bad quality", "video"]`, "").Node("2", "HyVideoSampler", `[512, 320, 85, 30, 6, 9, 1, "fixed", true, 1]`, "").Node("3", "VHS_VideoCombine", `{"frame_rate": 24}`, "")
	d := define(t, b.String(), nil)
	checkTool(t, d)
	wantTargets(t, d, map[string]string{"prompt": "1.prompt", "negative_prompt": "1.negative_prompt", "seed": "2.seed", "length": "2.num_frames", "steps": "2.steps"})
}

// Among the values of such a class an empty one at the end may be a button or a text.
func TestKnownPackTexts(t *testing.T) {
	t.Parallel()
	for _, more := range []string{``, `, true`, `, true, "", "", false`} {
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "model", "CUSTOM").Link(2, "2", 0, "3", "text", "STRING")
		b.Node("1", "LLM_api_loader", `["gpt", "https://api.example/v1", ""]`, "")
		b.Node("2", "LLM", `["You help.", "Hello", 0.7, "enable", "disable", "disable", "enable", 1920, "", "", "", "", "", 100, ""`+more+`]`, "").Node("3", "ShowText|pysssss", `[]`, "")
		d := define(t, b.String(), nil)
		checkTool(t, d)
		wantTargets(t, d, map[string]string{"prompt": "2.user_prompt", "temperature": "2.temperature"})
	}
}

// A loader that nobody declared is known by its name and the file that it holds.
func TestUndeclaredLoader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ class, widget, value, want string }{
		{"AILab_LoadImage", "image", `"dog.webp"`, "image"}, {"Pack LoadVideoFile", "video", `"clip.mp4"`, "video"}, {"My_LoadAudio", "audio", `"a song.mp3"`, "audio"},
		{"easy loadImageBase64", "base64_data", `"/9j/4AAQ"`, "image"}, {"LoadImageFromURL", "url", `"https://a.example/b.png"`, ""}, {"LoadImagesFromDir", "image", `"some folder"`, ""}, {"LoadVideoModel", "model", `"a.mp4"`, ""},
	} {
		t.Run(c.class, func(t *testing.T) {
			t.Parallel()
			b := new(graphtest.Graph)
			b.Link(1, "1", 0, "3", "images", "IMAGE")
			b.Node("1", c.class, "["+c.value+"]", `"inputs": [{"name": "`+c.widget+`", "type": "COMBO", "widget": {"name": "`+c.widget+`"}}],`).Node("3", "SaveImage", `["x"]`, "")
			d := define(t, b.String(), nil)
			checkTool(t, d)
			f, ok := d.Tool.InputSchema.Get(c.want)
			if ok != (c.want != "") || ok && (string(f.Type) != c.want || !f.Required) {
				t.Errorf("inputs %v, want %q", summary(d), c.want)
			}
		})
	}
}

// The first of two sizes and step counts is that of the sampler that runs first, in whatever order the file has them.
func TestKnobsInRunningOrder(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "4", 0, "5", "latent_image", "LATENT").Link(2, "5", 0, "8", "samples", "LATENT").Link(3, "8", 0, "9", "latent_image", "LATENT").Link(4, "9", 0, "7", "images", "IMAGE")
	b.Node("9", "KSampler", `[7, "randomize", 12, 5, "heun", "normal", 0.5]`, "").Node("8", "LatentUpscale", `["bilinear", 1280, 960, "disabled"]`, "")
	b.Node("5", "KSampler", `[7, "randomize", 30, 7.5, "heun", "normal", 1]`, "").Node("4", "EmptyLatentImage", `[640, 480, 1]`, "").Node("7", "SaveImage", `["x"]`, "")
	wantTargets(t, define(t, b.String(), graphtest.ObjectInfo(t)), map[string]string{"width": "4.width", "width2": "8.width", "steps": "5.steps", "steps2": "9.steps", "denoise": "5.denoise"})
}

// A tool that makes a film of an empty latent has no picture of its own to vary.
func TestNoPictureOfAFilm(t *testing.T) {
	t.Parallel()
	for _, saver := range []string{"VHS_VideoCombine", "SaveAnimatedWEBP"} {
		b := painting()
		b.Nodes = b.Nodes[:6]
		b.Node("7", saver, `{}`, "")
		d := define(t, b.String(), graphtest.ObjectInfo(t))
		if _, ok := d.Tool.InputSchema.Get(ownPicture); ok || d.Tool.Category != "text-to-video" {
			t.Errorf("%s: category %q, inputs %v", saver, d.Tool.Category, summary(d))
		}
	}
}

// What a workflow shows in words on the way comes after what it makes.
func TestTextsLast(t *testing.T) {
	t.Parallel()
	b := painting()
	b.Nodes = b.Nodes[:6]
	b.Link(20, "2", 0, "8", "source", "*")
	b.Node("8", "PreviewAny", `[]`, "").Node("7", "SaveImage", `["x"]`, "")
	if out := define(t, b.String(), nil).Binding.Outputs; len(out) != 2 || out[0].Type != graph.KindImage || out[1].Type != graph.KindText {
		t.Errorf("outputs %v, want the picture first", out)
	}
}

// A whole number in the file does not make a widget one of whole numbers where its type or its name says otherwise.
func TestUndeclaredFractions(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "images", "IMAGE").Link(2, "3", 0, "1", "gain", "FLOAT")
	b.Node("1", "Warper", `[1, 2, 3]`, `"inputs": [{"name": "bend", "type": "FLOAT", "widget": {"name": "bend"}}, {"name": "end_at", "type": "*", "widget": {"name": "end_at"}}, {"name": "rows", "type": "INT", "widget": {"name": "rows"}}, {"name": "gain", "type": "FLOAT", "link": 2}],`)
	b.Node("2", "SaveImage", `["x"]`, "").Node("3", "FloatConstant", `[1]`, `"title": "Gain",`)
	d := define(t, b.String(), nil)
	for name, whole := range map[string]bool{"bend": false, "end_at": false, "rows": true, "gain": false} {
		if f, ok := d.Tool.InputSchema.Get(name); !ok || f.Integer != whole {
			t.Errorf("%s takes whole numbers alone: %v, want %v; all: %v", name, f.Integer, whole, summary(d))
		}
	}
}

// A text behind a switch is that of the way that the switch is set to, and one that is put into a template counts before the template.
func TestTextsBehindSwitches(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]string{"false": "20.value", "true": "23.value"} {
		b := painting()
		b.Link(20, "21", 0, "2", "text", "STRING").Link(21, "20", 0, "21", "on_false", "STRING").Link(22, "22", 0, "21", "on_true", "STRING").Link(23, "23", 0, "22", "replace", "STRING")
		b.Nodes[1] = ""
		b.Nodes = append(b.Nodes[:1], b.Nodes[2:]...)
		b.Node("2", "CLIPTextEncode", `[""]`, "").Node("20", "PrimitiveStringMultiline", `["a red bicycle"]`, "").Node("21", "ComfySwitchNode", `[`+way+`]`, "")
		b.Node("22", "StringReplace", `["You are a painter. Paint: USER", "USER", ""]`, "").Node("23", "PrimitiveStringMultiline", `["a dog"]`, "")
		wantTargets(t, define(t, b.String(), graphtest.ObjectInfo(t)), map[string]string{"prompt": want, "negative_prompt": "3.text"})
	}
}

// What no link leads to is found by what it is: words to avoid by their node's title, the prompt beside them, and never a number.
func TestTextsThatNothingLeadsTo(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "3", "pos", "CONDITIONING").Link(2, "2", 0, "3", "neg", "CONDITIONING").Link(3, "3", 0, "4", "images", "IMAGE").Link(4, "5", 0, "3", "guide", "GUIDE")
	b.Node("5", "Director", `["0"]`, `"inputs": [{"name": "prompt", "type": "STRING", "widget": {"name": "prompt"}}],`)
	b.Node("1", "CLIPTextEncode", `["a cat"]`, "").Node("2", "CLIPTextEncode", `["ugly"]`, `"title": "CLIP Text Encode (Negative Prompt)",`).Node("3", "Foreign", `[]`, "").Node("4", "SaveImage", `["x"]`, "")
	wantTargets(t, define(t, b.String(), graphtest.ObjectInfo(t)), map[string]string{"prompt": "1.text", "negative_prompt": "2.text"})
}

// A sound that moves a picture makes a tool of its own kind.
func TestSoundsBecomeVideos(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "audio", "AUDIO").Link(2, "2", 0, "3", "video", "VIDEO")
	b.Node("1", "LoadAudio", `["a.mp3"]`, "").Node("2", "Singer", `[]`, "").Node("3", "SaveVideo", `["x", "auto", "auto"]`, "")
	if d := define(t, b.String(), graphtest.ObjectInfo(t)); d.Tool.Category != "audio-to-video" {
		t.Errorf("category %q of %v", d.Tool.Category, summary(d))
	}
}

// What a switch that nobody declared hands on is known by what the file says of its other end.
func TestPromptBehindAnUndeclaredSwitch(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "any_03", "CONDITIONING").Link(2, "2", 0, "3", "positive", "CONDITIONING").Link(3, "3", 0, "4", "samples", "LATENT").Link(4, "4", 0, "5", "images", "IMAGE").Link(5, "6", 0, "1", "conditioning", "CONDITIONING")
	b.Node("6", "CLIPTextEncode", `["a cat"]`, "").Node("1", "Referring", `[]`, `"outputs": [{"name": "CONDITIONING", "type": "CONDITIONING"}],`)
	b.Node("2", "Any Switch (rgthree)", `[]`, `"outputs": [{"name": "*", "type": "CONDITIONING"}],`).Node("3", "KSampler", `[7, "randomize", 30, 7.5, "heun", "normal", 1]`, "").Node("4", "VAEDecode", `[]`, "").Node("5", "SaveImage", `["x"]`, "")
	wantTargets(t, define(t, b.String(), nil), map[string]string{"prompt": "6.text"})
}

// A node that is told not to save only shows.
func TestOnlyShown(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "images", "IMAGE").Link(2, "1", 0, "3", "images", "IMAGE")
	b.Node("1", "Maker", `[]`, "")
	b.Node("2", "VHS_VideoCombine", `{"frame_rate": 16, "loop_count": 0, "format": "video/h264-mp4", "save_output": false}`, "").Node("3", "VHS_VideoCombine", `{"frame_rate": 16, "loop_count": 0, "format": "video/h264-mp4", "save_output": true}`, "")
	if out := define(t, b.String(), nil).Binding.Outputs; len(out) != 1 || out[0].Node != "3" {
		t.Errorf("outputs %v, want the saved film alone", out)
	}
	b.Nodes = append(b.Nodes[:2], b.Nodes[3:]...)
	if out := define(t, b.String(), nil).Binding.Outputs; len(out) != 1 || out[0].Node != "2" {
		t.Errorf("outputs %v, want the film that is shown where none is saved", out)
	}
}

// What nobody declared shows the shape that is made, beside the preview of a mask on the way.
func TestMeshBesideThePreviewOfItsPicture(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 1, "2", "mask", "MASK").Link(2, "1", 0, "3", "image", "IMAGE").Link(3, "3", 0, "4", "trimesh", "TRIMESH").Link(4, "3", 0, "5", "trimesh", "TRIMESH")
	b.Node("1", "LoadImage", `["a.png", "image"]`, "").Node("2", "MaskPreview", `[]`, "").Node("3", "Sculptor", `[]`, "").Node("4", "GeomPackPreviewMeshVTK", `[]`, "").Node("5", "Remesher", `[]`, "")
	d := define(t, b.String(), nil)
	if out := d.Binding.Outputs; len(out) != 2 || out[1].Node != "4" || d.Tool.Category != "3d" {
		t.Errorf("outputs %v, category %q, want the mesh beside the mask", out, d.Tool.Category)
	}
}

// A file's name that a text holds is no prompt, and a picture among the results is marked as any other.
func TestFilesInTexts(t *testing.T) {
	t.Parallel()
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "file_path", "STRING")
	b.Node("1", "PrimitiveString", `["cannon_generated.glb"]`, "").Node("2", "MeshAudit", `[]`, "")
	if f, ok := define(t, b.String(), graphtest.ObjectInfo(t)).Tool.InputSchema.Get("prompt"); ok {
		t.Errorf("the file is asked for as a prompt: %v", f)
	}
	b = new(graphtest.Graph)
	b.Link(1, "1", 1, "2", "mask", "MASK").Link(2, "1", 0, "2", "pixels", "IMAGE").Link(3, "2", 0, "3", "images", "IMAGE")
	b.Node("1", "LoadImageOutput", `["a.png [output]"]`, "").Node("2", "Filler", `[]`, "").Node("3", "SaveImage", `["x"]`, "")
	if f, ok := define(t, b.String(), graphtest.ObjectInfo(t)).Tool.InputSchema.Get("image"); !ok || f.Mask != registry.MaskWithin {
		t.Errorf("mask %q, want %q", f.Mask, registry.MaskWithin)
	}
}

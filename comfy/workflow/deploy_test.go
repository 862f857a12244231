package workflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
)

func TestDeployNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, class, values, more, want string }{
		{"text", "Text", `["what", "a cat", "What", "Say what"]`, "", `what string ="a cat" > 1.default_value`},
		{"text without default is required", "Text", `["what", "", "", ""]`, "", `what string required > 1.default_value`},
		{"text on one line", "TextSingleLine", `["what", "x"]`, "", `what string ="x" > 1.default_value`},
		{"any text", "TextAny", `["what", "x"]`, "", `what string ="x" > 1.default_value`},
		{"list of texts", "TextList", `["list", "[\"a\", \"b\"]"]`, "", `list string multiple =["a","b"] > 1.text json`},
		{"image", "Image", `["pic", "", "", ""]`, "", `pic image required > 1.default_value load-image`},
		{"image with a default address", "Image", `["pic", "", "", "https://a.example/x.png", "image"]`, "", `pic image ="https://a.example/x.png" > 1.default_value load-image`},
		{"image with an address that nobody may use", "Image", `["pic", "", "", "http://10.0.0.1/x.png"]`, "", `pic image > 1.default_value load-image`},
		{"image with alpha", "ImageAlpha", `["pic", "", ""]`, "", `pic image required > 1.default_value load-image-alpha`},
		{"images", "ImageBatch", `["pics", "[]"]`, "", `pics image required multiple > 1.default_value load-image`},
		{"number", "Number", `["n", 0.5, "", ""]`, "", `n number =0.5 [-2147483647 2147483647] > 1.default_value`},
		{"integer", "NumberInt", `["n", 5]`, "", `n number integer =5 [-2147483647 2147483647] > 1.default_value`},
		{"slider", "NumberSlider", `["n", 0.5, 0.1, 0.9]`, "", `n number =0.5 [0.1 0.9] > 1.default_value`},
		{"slider by its other name", "Slider", `["n", 0.5]`, "", `n number =0.5 [0 1] > 1.default_value`},
		{"slider outside its range", "NumberSlider", `["n", 2.5, 0, 1]`, "", `n number =2.5 [0 2.5] > 1.default_value`},
		{"integer slider", "NumberSliderInt", `["n", 3, 1, 8]`, "", `n number integer =3 [1 8] > 1.default_value`},
		{"boolean", "Boolean", `["on", true]`, "", `on boolean =true > 1.default_value`},
		{"seed", "Seed", `["s", -1, 1, 4294967295]`, "", `s number seed =-1 [1 4294967295] > 1.default_value`},
		{"choice", "Enum", `["size", "small", "[\"small\", \"large\"]"]`, "", `size string ="small" |small |large > 1.default_value`},
		{"choice on lines", "Enum", `["size", "", "small\nlarge"]`, "", `size string required |small |large > 1.default_value`},
		{"choice with a default of its own", "Enum", `["size", "huge", "[\"small\"]"]`, "", `size string ="huge" |huge |small > 1.default_value`},
		{"lora", "Lora", `["style", "a.safetensors", "", "", "", "", "bearer-secret"]`, "", `style file > 1.lora_url url`},
		{"checkpoint", "Checkpoint", `["model", ""]`, "", `model file required > 1.default_value`},
		{"face model", "FaceModel", `["face", "", "", "", "", ""]`, "", `face file required > 1.face_model_url url`},
		{"file", "File", `["file", "", "", ""]`, "", `file file required > 1.file_url url`},
		{"audio", "Audio", `["sound", "", "", ""]`, "", `sound audio required > 1.audio_file`},
		{"picture of floats", "EXR", `["exr", "", "sRGB"]`, "", `exr file required > 1.exr_file`},
		{"short video", "Vid", `["vid", "a.mp4"]`, "", `vid video > 1.default_value`},
		{"video by names", "Video", `{"input_id": "vid", "default_video": "", "frame_load_cap": 5}`, "", `vid video required > 1.default_video`},
		{"an older version by names", "Image", `{"name": "pic"}`, "", `pic image required > 1.default_value load-image`},
		{"a class of tomorrow", "Angle", `["a", 90]`, `"inputs": [{"name": "input_id", "widget": {"name": "input_id"}}, {"name": "default_value", "widget": {"name": "default_value"}}],`, `a number =90 > 1.default_value`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := define(t, new(graphtest.Graph).Node("1", graph.DeployPrefix+c.class, c.values, c.more).String(), nil)
			wantSummary(t, d, c.want)
		})
	}
	t.Run("label and description come along", func(t *testing.T) {
		t.Parallel()
		f := define(t, new(graphtest.Graph).Node("1", graph.DeployPrefix+"Text", `["what", "a", "What", "Say <b>what</b>"]`, "").String(), nil).Tool.InputSchema[0]
		if f.DisplayName != "What" || f.Description != "Say what" || !f.Multiline {
			t.Errorf("%+v", f)
		}
	})
	t.Run("a linked default makes a picture optional and its loader is no input", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "default_value", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", graph.DeployPrefix+"Image", `["pic", "", "", ""]`, `"inputs": [{"name": "default_value", "type": "IMAGE", "link": 1}],`).Node("3", "SaveImage", `["x"]`, "")
		d := define(t, b.String(), nil)
		wantSummary(t, d, `pic image > 2.default_value load-image`)
		applied, err := d.Binding.Apply(nil, map[string][]string{"pic": {"mine.png"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := applied.Prompt.Node("2").Inputs.Get("default_value"); v != (graph.Ref{Node: "upload-1"}) {
			t.Errorf("the socket holds %v", v)
		}
		if v, _ := applied.Prompt.Node("2").Inputs.Get("input_id"); v != "pic" {
			t.Errorf("input_id became %v", v)
		}
		if v, _ := applied.Prompt.Node("upload-1").Inputs.Get("image"); v != "mine.png" {
			t.Errorf("the loader has %v", v)
		}
	})
	t.Run("a server without the pack gets the values themselves", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "default_value", "IMAGE").Link(2, "2", 0, "4", "image", "IMAGE").Link(3, "3", 0, "4", "radius", "INT").Link(4, "4", 0, "5", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", graph.DeployPrefix+"Image", `["pic", "", "", ""]`, `"inputs": [{"name": "default_value", "type": "IMAGE", "link": 1}],`)
		b.Node("3", graph.DeployPrefix+"NumberInt", `["soft", 5]`, "").Node("4", "Blur", `[1, 2]`, "").Node("5", "SaveImage", `["x"]`, "")
		info := graphtest.Mini(t)
		d := define(t, b.String(), info)
		wantSummary(t, d, `pic image > 4.image load-image`, `soft number integer =5 [-2147483647 2147483647] > 4.radius`)
		want := `{"1":{"class_type":"LoadImage","inputs":{"image":"a.png"},"_meta":{"title":"Load Image"}},"4":{"class_type":"Blur","inputs":{"radius":5,"sigma":2,"image":["1",0]},"_meta":{"title":"Blur"}},` +
			`"5":{"class_type":"SaveImage","inputs":{"filename_prefix":"x","images":["4",0]},"_meta":{"title":"Save Image"}}}`
		if diff := cmp.Diff(want, string(d.Binding.Prompt)); diff != "" {
			t.Error(diff)
		}
		if len(d.Needs.Classes) != 3 || hasCode(d, "unknown-node") {
			t.Errorf("needs %v, findings %v", d.Needs.Classes, graphtest.Codes(d.Findings))
		}
	})
	t.Run("one id used twice is one input of both", func(t *testing.T) {
		t.Parallel()
		d := define(t, new(graphtest.Graph).Node("1", graph.DeployPrefix+"Text", `["what", "a"]`, "").Node("2", graph.DeployPrefix+"Text", `["what", "b"]`, "").String(), nil)
		wantSummary(t, d, `what string ="a" > 1.default_value > 2.default_value`)
		if !hasCode(d, "duplicate-input-id") {
			t.Errorf("findings %v", graphtest.Codes(d.Findings))
		}
	})
	t.Run("a choice without options is reported", func(t *testing.T) {
		t.Parallel()
		d := define(t, new(graphtest.Graph).Node("1", graph.DeployPrefix+"Enum", `["size", "a", ""]`, "").String(), nil)
		if !hasCode(d, "enum-without-options") {
			t.Errorf("findings %v", graphtest.Codes(d.Findings))
		}
	})
	t.Run("output nodes keep their ids", func(t *testing.T) {
		t.Parallel()
		b := new(graphtest.Graph)
		b.Link(1, "1", 0, "2", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png"]`, "").Node("2", "ComfyDeployOutputImage", `["x", "png", 90, "poster"]`, "")
		d := define(t, b.String(), nil)
		if diff := cmp.Diff([]binding.Output{{Name: "poster", Type: "image", Node: "2"}}, d.Binding.Outputs); diff != "" {
			t.Error(diff)
		}
	})
}

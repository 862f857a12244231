package binding

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/registry"
)

func TestApplyMedia(t *testing.T) {
	t.Parallel()
	bound := func(class, input string, mode Mode, multiple bool) *Binding {
		return &Binding{
			Prompt: json.RawMessage(`{"1":{"class_type":"` + class + `","inputs":{"` + input + `":"old"}}}`),
			Inputs: []Input{{Field: registry.InputField{Name: "pic", Type: registry.TypeImage, Required: true, Multiple: multiple}, Targets: []Target{{Node: "1", Input: input, Mode: mode}}}},
		}
	}
	for _, c := range []struct {
		name  string
		b     *Binding
		files []string
		want  string
	}{
		{"a loader", bound("LoadImage", "image", ModeValue, false), []string{"a.png", "b.png"}, `{"1":{"class_type":"LoadImage","inputs":{"image":"a.png"}}}`},
		{"a loader by path", bound("VHS_LoadVideoPath", "video", ModePath, false), []string{"a.mp4"}, `{"1":{"class_type":"VHS_LoadVideoPath","inputs":{"video":"input/a.mp4"}}}`},
		{"a loader of bytes becomes one of files", bound("ETN_LoadImageBase64", "image", ModeReplaceLoader, false), []string{"a.png"}, `{"1":{"class_type":"LoadImage","inputs":{"image":"a.png"}}}`},
		{"an external node with alpha", bound("X", "in", ModeLoadImageAlpha, false), []string{"a.png"},
			`{"1":{"class_type":"X","inputs":{"in":["upload-2",0]}},"upload-1":{"class_type":"LoadImage","inputs":{"image":"a.png"}},"upload-2":{"class_type":"JoinImageWithAlpha","inputs":{"image":["upload-1",0],"alpha":["upload-1",1]}}}`},
		{"several pictures", bound("X", "in", ModeLoadImage, true), []string{"a.png", "b.png"},
			`{"1":{"class_type":"X","inputs":{"in":["upload-3",0]}},"upload-1":{"class_type":"LoadImage","inputs":{"image":"a.png"}},"upload-2":{"class_type":"LoadImage","inputs":{"image":"b.png"}},"upload-3":{"class_type":"ImageBatch","inputs":{"image1":["upload-1",0],"image2":["upload-2",0]}}}`},
		{"an address of our own", bound("X", "in", ModeURL, false), []string{"https://files.example/a"}, `{"1":{"class_type":"X","inputs":{"in":"https://files.example/a"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, err := c.b.Apply(nil, map[string][]string{"pic": c.files}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Prompt.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, bad := range []string{"", ".", "/etc/passwd", "../x.png", `a\b.png`, "x.png [output]", "https://evil.example/x", "C:x"} {
		if _, err := bound("LoadImage", "image", ModeValue, false).Apply(nil, map[string][]string{"pic": {bad}}, nil); err == nil {
			t.Errorf("the upload name %q is accepted", bad)
		}
	}
	if _, err := bound("LoadImage", "image", ModeValue, false).Apply(nil, nil, nil); err == nil {
		t.Error("a missing picture is accepted")
	}
}

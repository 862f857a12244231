package modelhub_test

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

func TestSchemas(t *testing.T) {
	t.Parallel()
	var all modelhub.Schemas
	err := decimal.Unmarshal([]byte(`{
		"Loop": {"anyOf": [{"$ref": "#/x/Loop"}, {"$ref": "#/x/Loop"}]},
		"Input": {"type": "object", "required": ["b"], "properties": {
			"loop": {"$ref": "#/x/Loop"}, "none": {"$ref": "#/x/None"}, "b": {"type": "string"}, "a": {"type": "string", "default": 7},
			"video_url": {"type": "string"}, "voice": {"type": "string", "format": "uri"}, "tags": {"type": "array", "items": {"type": "string"}, "default": ["x"]},
			"step": {"type": "integer", "minimum": 1, "default": 0}
		}}
	}`), &all)
	if err != nil {
		t.Fatal(err)
	}
	inputs := all.Inputs(all["Input"])
	tool := modelhub.Model{Service: "host", Label: "Host", ID: "ann/My.Model/v2", Inputs: inputs, Price: modelhub.Price{USD: "0.1", Per: modelhub.PerHardwareSecond}}.Tool()
	if err := validate.Tool(tool); err != nil || tool.CommandName != "/my_model_v2" {
		t.Errorf("%v, command %s", err, tool.CommandName)
	}
	if inputs[0].Name != "b" || inputs[1].Name != "a" {
		t.Errorf("the required one comes first, the others by name: %+v", inputs)
	}
	kinds := map[string]registry.InputType{"loop": registry.TypeString, "none": registry.TypeString, "video_url": registry.TypeVideo, "voice": registry.TypeAudio, "tags": registry.TypeString}
	for name, kind := range kinds {
		if f, ok := inputs.Get(name); !ok || f.Type != kind {
			t.Errorf("%s is %+v", name, f)
		}
	}
	for name, want := range map[string]bool{"a": false, "step": false, "tags": true} {
		if f, _ := inputs.Get(name); (f.Default != nil) != want {
			t.Errorf("the default of %s is %v; one that the input does not take is none", name, f.Default)
		}
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result string
		bare   bool
		kinds  []string
		text   string
	}{
		"bare addresses":              {`["https://x.example/a.png", "https://x.example/b.mp3"]`, true, []string{"image", "audio"}, ""},
		"addresses that are text":     {`["see ", "https://x.example/a.png"]`, false, []string{"text"}, "see https://x.example/a.png"},
		"objects, in order of name":   {`{"z": {"url": "https://x.example/v.mp4"}, "a": [{"url": "https://x.example/m.glb"}]}`, false, []string{"file", "video"}, ""},
		"an address without a scheme": {`{"url": "javascript:alert(1)"}`, true, []string{"text"}, `{"url":"javascript:alert(1)"}`},
		"nothing":                     {`null`, true, nil, ""},
		"an object without members":   {`{}`, false, nil, ""},
		"pieces that are no text":     {`[1, 2]`, true, []string{"text"}, "[1,2]"},
	} {
		var value any
		if err := decimal.Unmarshal([]byte(c.result), &value); err != nil {
			t.Fatal(err)
		}
		outputs := modelhub.Outputs(nil, value, c.bare)
		var kinds []string
		for _, o := range outputs {
			kinds = append(kinds, o.Type)
		}
		got, _ := json.Marshal(kinds)
		want, _ := json.Marshal(c.kinds)
		if string(got) != string(want) || len(outputs) > 0 && outputs[0].Text != c.text {
			t.Errorf("%s: got %+v", name, outputs)
		}
	}
}

package workflow

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

func define(t *testing.T, text string, info *objectinfo.Info) *Definition {
	t.Helper()
	d, err := Define(graphtest.Parse(t, text), Options{FileName: "Big Poster.json", ObjectInfo: info})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func hasCode(d *Definition, code string) bool {
	for _, f := range d.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

func checkReadable(t *testing.T, p graph.Prompt) {
	t.Helper()
	raw, err := p.MarshalJSON()
	if err != nil || !json.Valid(raw) {
		t.Fatalf("the prompt is no JSON: %v %q", err, raw)
	}
}

// checkTool makes sure that the registry takes the tool and that the binding works with what it asks for.
func checkTool(t *testing.T, d *Definition) {
	t.Helper()
	if err := validate.Tool(d.Tool); err != nil {
		t.Fatalf("A10 the registry refuses the tool: %v", err)
	}
	values, media := map[string]any{}, map[string][]string{}
	for _, in := range d.Binding.Inputs {
		f := in.Field
		switch {
		case !f.Required:
		case f.Type.IsMedia():
			media[f.Name] = []string{"upload.png"}
			if in.Targets[0].Mode == binding.ModeURL {
				media[f.Name] = []string{"https://files.example/x.bin"}
			}
		case len(f.Choices) > 0:
			values[f.Name] = f.Choices[0].Value
		case f.Type == registry.TypeNumber:
			values[f.Name] = json.Number("1")
			if f.Min != "" {
				values[f.Name] = f.Min
			}
		case f.Type == registry.TypeBoolean:
			values[f.Name] = true
		default:
			values[f.Name] = "some text"
		}
		if f.Multiple && values[f.Name] != nil {
			values[f.Name] = []any{values[f.Name]}
		}
	}
	applied, err := d.Binding.Apply(values, media, nil)
	if err != nil {
		t.Fatalf("the binding refuses what it asks for: %v", err)
	}
	checkReadable(t, applied.Prompt)
}

package pages

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
)

func TestShapes(t *testing.T) {
	t.Parallel()
	side := func(name, usual, low, high, step string) registry.InputField {
		return registry.InputField{Name: name, Type: registry.TypeNumber, Integer: true, Default: json.Number(usual), Min: json.Number(low), Max: json.Number(high), Step: json.Number(step)}
	}
	for name, c := range map[string]struct {
		inputs registry.InputSchema
		want   []string
	}{
		"as large as by itself, in the tool's steps": {
			registry.InputSchema{side("width", "1024", "256", "2048", "64"), side("height", "1024", "256", "2048", "64")},
			[]string{"16:9 1344x768", "3:2 1280x832", "4:3 1152x896", "1:1 1024x1024", "3:4 896x1152", "2:3 832x1280", "9:16 768x1344"},
		},
		"what the bounds don't let be is not offered": {
			registry.InputSchema{side("width", "512", "512", "512", "8"), side("height", "512", "256", "768", "8")},
			[]string{"1:1 512x512"},
		},
		"a tool without a height has none": {registry.InputSchema{side("width", "512", "64", "2048", "8")}, nil},
		"nor has one without usual sizes":  {registry.InputSchema{{Name: "width", Type: registry.TypeNumber, Integer: true}, {Name: "height", Type: registry.TypeNumber, Integer: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range shapes(c.inputs) {
				got = append(got, fmt.Sprintf("%s %dx%d", s.Name, s.Width, s.Height))
				if s.X < 0 || s.Y < 0 || s.X+s.W > 24 || s.Y+s.H > 24 {
					t.Errorf("the picture of %s leaves its square: %+v", s.Name, s)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// What people type into an area of text says how: JSON like that of its schema, or one value a line.
func TestAllowedTellsHowToWriteAValue(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		field registry.InputField
		want  string
	}{
		"an object":        {registry.InputField{Type: registry.TypeString, Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}, `written as JSON, like {"city":"..."}`},
		"a list of choice": {registry.InputField{Type: registry.TypeString, Multiple: true, Choices: []registry.Choice{{Value: "gift"}, {Value: "fragile"}}}, "one a line: gift, fragile"},
		"a text of a form": {registry.InputField{Type: registry.TypeString, Schema: json.RawMessage(`{"type":"string","format":"date"}`)}, ""},
		"one of several":   {registry.InputField{Type: registry.TypeString, Choices: []registry.Choice{{Value: "gift"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := allowed(texts.Voice("en"), c.field); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

package input

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// canvasTool takes a text and a size in steps of 16.
func canvasTool() *registry.Tool {
	side := func(name string, least, most, usual json.Number) registry.InputField {
		return registry.InputField{Name: name, Type: registry.TypeNumber, Integer: true, Min: least, Max: most, Step: "16", Default: usual}
	}
	return &registry.Tool{ToolID: "canvas", InputSchema: registry.InputSchema{
		{Name: "prompt", Type: registry.TypeString, Required: true},
		{Name: "negative_prompt", Type: registry.TypeString},
		side("width", "256", "2048", "1024"), side("height", "256", "1536", "1024"),
		{Name: "steps", Type: registry.TypeNumber, Integer: true},
		{Name: "noise_seed", Type: registry.TypeNumber, Integer: true, Seed: true},
	}}
}

// read gives what a person's words become.
func read(t *testing.T, tool *registry.Tool, words string) (values map[string]any, d Draft) {
	t.Helper()
	if err := d.Read(tool, words, nil); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return d.Values[runs.FromArgument], d
}

func TestFormatsAreUnderstood(t *testing.T) {
	t.Parallel()
	size := func(prompt string, w, h json.Number) map[string]any {
		return map[string]any{"prompt": prompt, "width": w, "height": h}
	}
	for words, want := range map[string]map[string]any{
		"a red bicycle, square":                 size("a red bicycle", "1024", "1024"),
		"a red bicycle --ar 16:9":               size("a red bicycle", "1360", "768"),
		"--ar 9:16 a red bicycle":               size("a red bicycle", "768", "1360"),
		"a red bicycle —ar 16:9, at night":      size("a red bicycle at night", "1360", "768"),
		"a red bicycle in 16:9":                 size("a red bicycle", "1360", "768"),
		"a red bicycle 3:4":                     size("a red bicycle", "880", "1184"),
		"a red bicycle, 512x768":                size("a red bicycle", "512", "768"),
		"a red bicycle, phone, at night":        size("a red bicycle, at night", "768", "1360"),
		"a red bicycle for my phone":            size("a red bicycle for my phone", "768", "1360"),
		"ein rotes Fahrrad im Hochformat":       size("ein rotes Fahrrad im Hochformat", "832", "1248"),
		"ein rotes Fahrrad, Querformat":         size("ein rotes Fahrrad", "1248", "832"),
		"una bicicleta roja, cuadrada":          size("una bicicleta roja", "1024", "1024"),
		"una bicicleta roja para el móvil":      size("una bicicleta roja para el móvil", "768", "1360"),
		"красный велосипед, квадрат":            size("красный велосипед", "1024", "1024"),
		"обои, красный велосипед":               size("красный велосипед", "1360", "768"),
		"一辆红色自行车，竖版":                            size("一辆红色自行车", "832", "1248"),
		"一辆红色自行车手机壁纸":                           size("一辆红色自行车手机壁纸", "768", "1360"),
		"a red bicycle --ar 8:1":                size("a red bicycle", "2048", "256"),
		"oil, portrait, a king":                 size("oil, portrait, a king", "832", "1248"),
		"square":                                {"prompt": "square"},
		"a portrait of a woman":                 {"prompt": "a portrait of a woman"},
		"a landscape with trees":                {"prompt": "a landscape with trees"},
		"a clock that shows 12:30":              {"prompt": "a clock that shows 12:30"},
		"the phone is ringing":                  {"prompt": "the phone is ringing"},
		"a red bicycle, square width=512":       {"prompt": "a red bicycle, square", "width": "512"},
		"a red bicycle --ar wide-ish":           {"prompt": "a red bicycle --ar wide-ish"},
		"a cat --no hands, text --steps 20":     {"prompt": "a cat", "negative_prompt": "hands, text", "steps": "20"},
		"a cat --seed 3 --no dogs":              {"prompt": "a cat", "negative_prompt": "dogs", "noise_seed": "3"},
		"a cat, steps=5, dog":                   {"prompt": "a cat, dog", "steps": "5"},
		`a cat --no "dogs, birds" in the grass`: {"prompt": "a cat in the grass", "negative_prompt": "dogs, birds"},
	} {
		got, _ := read(t, canvasTool(), words)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", words, diff)
		}
	}
}

func TestFormatsAsChoices(t *testing.T) {
	t.Parallel()
	choice := func(name string, values ...any) *registry.Tool {
		f := registry.InputField{Name: name, Type: registry.TypeString}
		for _, v := range values {
			f.Choices = append(f.Choices, registry.Choice{Value: v})
		}
		return &registry.Tool{InputSchema: registry.InputSchema{{Name: "prompt", Type: registry.TypeString, Required: true}, f}}
	}
	ratios := choice("aspect_ratio", "1:1", "16:9", "9:16", "4:3")
	named := choice("image_size", "square_hd", "portrait_16_9", "landscape_16_9")
	pixels := choice("size", "1024x1024", "1536x1024", "1024x1536", "auto")
	for _, c := range []struct {
		tool  *registry.Tool
		words string
		want  any
	}{
		{ratios, "a cat --ar 16:9", "16:9"}, {ratios, "a cat, phone", "9:16"}, {named, "a cat, phone", "portrait_16_9"}, {named, "a cat, square", "square_hd"},
		{pixels, "a cat, vertical", "1024x1536"}, {pixels, "a cat --ar 3:2", "1536x1024"},
	} {
		got, d := read(t, c.tool, c.words)
		if name := c.tool.InputSchema[1].Name; got[name] != c.want || got["prompt"] != "a cat" || d.Format == nil {
			t.Errorf("%q: %v, want %s=%v", c.words, got, name, c.want)
		}
	}
	if got, d := read(t, ratios, "a cat --ar 2:1"); d.Format != nil || got["aspect_ratio"] != "2:1" {
		t.Errorf("a ratio that the tool has not is to be refused by its name: %v", got)
	}
}

package registry_test

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

func TestAToolIsReadInALanguage(t *testing.T) {
	t.Parallel()
	tool, err := registry.DecodeTool([]byte(`{"toolId":"a","service":"s","displayName":"Wallpaper","description":"Paints.","inputSchema":{
		"colors":{"type":"number","required":false,"displayName":"Colours","description":"How many."},"seed":{"type":"number","required":false},
		"edges":{"type":"string","required":false,"choices":["soft",{"value":"hard","label":"Sharp"}]},"of":{"type":"number","required":false,"choices":[1,2.50]}},
		"outputSchema":{"picture":{"type":"image","description":"The wallpaper"},"second":{"type":"image","description":"Another"}},
		"localized":{"de":{"displayName":"Hintergrundbild","inputs":{"colors":{"displayName":"Farben"},"edges":{"choices":{"soft":"weich"}},"of":{"choices":{"2.50":"zweieinhalb"}}},
		"outputs":{"picture":"Das Hintergrundbild"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	german := tool.In("de-AT")
	colors, _ := german.InputSchema.Get("colors")
	if german.DisplayName != "Hintergrundbild" || german.Description != "Paints." || colors.Label() != "Farben" || colors.Description != "How many." {
		t.Errorf("in German it is %q, %q with %q, %q", german.DisplayName, german.Description, colors.Label(), colors.Description)
	}
	if edges, _ := german.InputSchema.Get("edges"); registry.Allowed(edges) != "weich, Sharp" {
		t.Errorf("the choices in German are %s", registry.Allowed(edges))
	}
	if of, _ := german.InputSchema.Get("of"); registry.Allowed(of) != "1, zweieinhalb" {
		t.Errorf("the choices that are numbers in German are %s", registry.Allowed(of))
	}
	if out := german.OutputSchema; out[0].Description != "Das Hintergrundbild" || out[1].Description != "Another" {
		t.Errorf("the outputs in German are %+v", out)
	}
	for _, typed := range []string{"weich", "soft"} {
		edges, _ := german.InputSchema.Get("edges")
		if value, err := registry.CheckValue(edges, typed); err != nil || value != "soft" {
			t.Errorf("who types %s gives %v, %v", typed, value, err)
		}
	}
	edges, _ := tool.InputSchema.Get("edges")
	if before, _ := tool.InputSchema.Get("colors"); before.Label() != "Colours" || tool.DisplayName != "Wallpaper" || registry.Allowed(edges) != "soft, Sharp" || tool.OutputSchema[0].Description != "The wallpaper" {
		t.Error("reading a tool in a language has changed it")
	}
	if tool.In("fr") != &tool || tool.In("") != &tool {
		t.Error("in a language that it has no words in it is itself")
	}
	if err := validate.Tool(tool); err != nil {
		t.Error(err)
	}
	for what, words := range map[string]registry.Words{
		"an input":  {Inputs: map[string]registry.InputWords{"colours": {DisplayName: "Farben"}}},
		"a choice":  {Inputs: map[string]registry.InputWords{"edges": {Choices: map[string]string{"round": "rund"}}}},
		"an output": {Outputs: map[string]string{"image": "Bild"}},
	} {
		tool.Localized["de"] = words
		if validate.Tool(tool) == nil {
			t.Errorf("words for %s that there is not are accepted", what)
		}
	}
}

func TestLabelsAreWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"prompt": "prompt", "batch_size": "Pictures", "noise_seed": "Seed", "negative_prompt": "Negative prompt", "aspectRatio": "Aspect ratio",
		"clip.strength": "Clip strength", "upscale_method": "Resampling", "LoRA": "LoRA",
	} {
		if got := (registry.InputField{Name: name}).Label(); got != want {
			t.Errorf("the label of %s is %q, want %q", name, got, want)
		}
	}
	if got := (registry.InputField{Name: "batch_size", DisplayName: "How many"}).Label(); got != "How many" {
		t.Errorf("an author's label becomes %q", got)
	}
}

package registry_test

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestAToolIsReadInALanguage(t *testing.T) {
	t.Parallel()
	tool, err := registry.DecodeTool([]byte(`{"toolId":"a","service":"s","displayName":"Wallpaper","description":"Paints.","inputSchema":{
		"colors":{"type":"number","required":false,"displayName":"Colours","description":"How many."},"seed":{"type":"number","required":false}},
		"localized":{"de":{"displayName":"Hintergrundbild","inputs":{"colors":{"displayName":"Farben"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	german := tool.In("de-AT")
	colors, _ := german.InputSchema.Get("colors")
	if german.DisplayName != "Hintergrundbild" || german.Description != "Paints." || colors.Label() != "Farben" || colors.Description != "How many." {
		t.Errorf("in German it is %q, %q with %q, %q", german.DisplayName, german.Description, colors.Label(), colors.Description)
	}
	if before, _ := tool.InputSchema.Get("colors"); before.Label() != "Colours" || tool.DisplayName != "Wallpaper" {
		t.Error("reading a tool in a language has changed it")
	}
	if tool.In("fr") != &tool || tool.In("") != &tool {
		t.Error("in a language that it has no words in it is itself")
	}
	if err := registry.Validate(tool); err != nil {
		t.Error(err)
	}
	tool.Localized["de"].Inputs["colours"] = registry.InputWords{DisplayName: "Farben"}
	if registry.Validate(tool) == nil {
		t.Error("words for an input that there is not are accepted")
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

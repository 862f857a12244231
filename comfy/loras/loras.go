// Package loras tells what LoRAs are called and by which words they are triggered: as the operator says, or else as their files do.
package loras

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Lora is what an operator knows of a LoRA's file.
type Lora struct {
	Label string `json:"label"` // for people; empty: the file's name
	// Words trigger it, as they stand in a prompt. None: those that the file itself names; empty: no words.
	Words *string `json:"words"`
}

// Parse reads what is known of LoRAs: {"detail.safetensors": {"label": "More detail", "words": "intricate detail"}}. A file in
// a folder is named with it, or without where the name is only there once.
func Parse(data []byte) (map[string]Lora, error) {
	var loras map[string]Lora
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&loras); err != nil {
		return nil, fmt.Errorf(`expected {"detail.safetensors": {"label": "More detail", "words": "intricate detail"}}: %w`, err)
	}
	return loras, nil
}

// Describe labels the choices of a tool that are known LoRAs, and has the words that trigger them go into the prompt: the operator's, else those that
// trigger gives for a file.
func Describe(tool *registry.Tool, known map[string]Lora, trigger func(file string) string) {
	prompt := promptOf(tool.InputSchema)
	places, _ := tool.Metadata[registry.InputPlaces].(map[string]any)
	for i := range tool.InputSchema {
		f := &tool.InputSchema[i]
		place, _ := places[f.Name].(string)
		words := map[string]string{}
		for j := range f.Choices {
			file, _ := f.Choices[j].Value.(string)
			lora, ok := known[file]
			if !ok {
				lora = known[file[strings.LastIndexAny(file, `/\`)+1:]]
			}
			if lora.Label != "" {
				f.Choices[j].Label = lora.Label
			}
			switch {
			case lora.Words != nil:
				words[file] = *lora.Words
			case strings.HasSuffix(place, ".lora_name") && path.Ext(file) == ".safetensors":
				words[file] = trigger(file)
			}
		}
		maps.DeleteFunc(words, func(_, text string) bool { return text == "" })
		if len(words) > 0 && prompt != "" && prompt != f.Name {
			f.Words = &registry.ChoiceWords{Into: prompt, Of: words}
		}
	}
}

// promptOf is the input that takes the prompt: that of this name, else the first one that takes any text.
func promptOf(schema registry.InputSchema) string {
	if f, ok := schema.Get("prompt"); ok && f.Type == registry.TypeString && len(f.Choices) == 0 {
		return f.Name
	}
	for _, f := range schema {
		if f.Type == registry.TypeString && len(f.Choices) == 0 {
			return f.Name
		}
	}
	return ""
}

package comfy

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Lora is what an operator knows of a LoRA's file.
type Lora struct {
	Label string `json:"label"` // for people; empty: the file's name
	Words string `json:"words"` // by which it is triggered, as they stand in a prompt
}

// ParseLoras reads what is known of LoRAs: {"detail.safetensors": {"label": "More detail", "words": "intricate detail"}}. A file in
// a folder is named with it, or without where the name is only there once.
func ParseLoras(data []byte) (map[string]Lora, error) {
	var loras map[string]Lora
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&loras); err != nil {
		return nil, fmt.Errorf(`expected {"detail.safetensors": {"label": "More detail", "words": "intricate detail"}}: %w`, err)
	}
	return loras, nil
}

// describeLoras labels the choices that are known LoRAs, and has their words go into the prompt.
func describeLoras(tool *registry.Tool, loras map[string]Lora) {
	if len(loras) == 0 {
		return
	}
	prompt := promptOf(tool.InputSchema)
	for i := range tool.InputSchema {
		f := &tool.InputSchema[i]
		words := map[string]string{}
		for j := range f.Choices {
			file, _ := f.Choices[j].Value.(string)
			known, ok := loras[file]
			if !ok {
				known, ok = loras[path.Base(strings.ReplaceAll(file, `\`, "/"))] // a server on Windows names folders so
			}
			if !ok {
				continue
			}
			if known.Label != "" {
				f.Choices[j].Label = known.Label
			}
			if known.Words != "" {
				words[file] = known.Words
			}
		}
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

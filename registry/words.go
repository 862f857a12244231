package registry

import (
	"slices"
	"strings"
	"unicode"
)

// Words are what people read of a tool in a language. What is empty is read as the definition has it.
type Words struct {
	DisplayName string                `json:"displayName,omitempty"`
	Description string                `json:"description,omitempty"`
	Inputs      map[string]InputWords `json:"inputs,omitempty"`  // by input name
	Outputs     map[string]string     `json:"outputs,omitempty"` // descriptions, by output name
}

// InputWords are what people read of an input in a language.
type InputWords struct {
	DisplayName string            `json:"displayName,omitempty"`
	Description string            `json:"description,omitempty"`
	Choices     map[string]string `json:"choices,omitempty"` // labels, by value; numbers as they are written
}

// In gives the tool as people read it in a language, a BCP 47 tag: t itself where it has no words in it.
func (t *Tool) In(language string) *Tool {
	base, _, _ := strings.Cut(language, "-")
	words, ok := t.Localized[strings.ToLower(base)]
	if !ok {
		return t
	}
	read := *t
	read.DisplayName = or(words.DisplayName, t.DisplayName)
	read.Description = or(words.Description, t.Description)
	read.InputSchema = slices.Clone(t.InputSchema)
	for i, f := range read.InputSchema {
		own := words.Inputs[f.Name]
		read.InputSchema[i].DisplayName = or(own.DisplayName, f.DisplayName)
		read.InputSchema[i].Description = or(own.Description, f.Description)
		read.InputSchema[i].Choices = own.choices(f.Choices)
	}
	read.OutputSchema = slices.Clone(t.OutputSchema)
	for i, f := range read.OutputSchema {
		read.OutputSchema[i].Description = or(words.Outputs[f.Name], f.Description)
	}
	return &read
}

// choices gives the choices of an input their labels.
func (w InputWords) choices(list []Choice) []Choice {
	if len(w.Choices) == 0 {
		return list
	}
	read := slices.Clone(list)
	for i, c := range read {
		read[i].Label = or(w.Choices[choiceValueText(c)], c.Label)
	}
	return read
}

func or(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// labelOf makes a label of an input's name: words for names that only engineers know, and blanks and a capital for those of
// several words. A name of one word is a label as it is.
func labelOf(name string) string {
	switch strings.ToLower(name) {
	case "batch_size", "num_images", "num_outputs", "n":
		return "Pictures"
	case "upscale_method", "interpolation":
		return "Resampling"
	case "noise_seed", "rand_seed":
		return "Seed"
	case "cfg", "cfg_scale":
		return "CFG scale"
	case "guidance_scale":
		return "Guidance"
	case "ckpt_name", "unet_name", "model_name":
		return "Model"
	case "sampler_name":
		return "Sampler"
	case "num_inference_steps":
		return "Steps"
	case "denoise", "denoising_strength":
		return "Strength"
	case "lora_name":
		return "Style"
	}
	words := strings.FieldsFunc(spaced(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	if len(words) < 2 {
		return name
	}
	label := []rune(strings.ToLower(strings.Join(words, " ")))
	label[0] = unicode.ToUpper(label[0])
	return string(label)
}

// spaced puts a blank before each capital that begins a word: "aspectRatio" is "aspect Ratio".
func spaced(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && i+1 < len(letters) && unicode.IsUpper(r) && unicode.IsLower(letters[i-1]) && unicode.IsLower(letters[i+1]) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

package input

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/registry"
)

// OptionName is how an input's name or label is compared.
func OptionName(s string) string {
	return strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(s))
}

// FieldNamed finds an input by its name or, where no name fits, its label.
func FieldNamed(schema registry.InputSchema, name string) (registry.InputField, bool) {
	for _, f := range schema {
		if f.Name == name {
			return f, true
		}
	}
	for _, f := range schema {
		if OptionName(f.Name) == OptionName(name) {
			return f, true
		}
	}
	for _, f := range schema {
		if OptionName(f.Label()) == OptionName(name) {
			return f, true
		}
	}
	return registry.InputField{}, false
}

// nearestField gives the input's name that comes nearest to a word, as a suggestion, or "".
func nearestField(schema registry.InputSchema, word string) string {
	if len(word) < 3 {
		return ""
	}
	candidates := make([]string, len(schema))
	for i, f := range schema {
		candidates[i] = OptionName(f.Name)
	}
	return edit.Nearest(OptionName(word), candidates)
}

// MistakenFor gives the input's name that a word is so near to that it can hardly be meant as text: one slip
// away, or two where the name is long enough for two. Otherwise it gives "".
func MistakenFor(schema registry.InputSchema, word string) string {
	near := nearestField(schema, word)
	slips := 1
	if len(near) > 4 {
		slips = 2
	}
	if near == "" || !within(slips, []rune(OptionName(word)), []rune(near)) {
		return ""
	}
	return near
}

// within reports whether a becomes b by at most so many slips: letters left out, added, changed, or swapped
// with their neighbours.
func within(slips int, a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a)+len(b) <= slips
	case slips == 0:
		return false
	case within(slips-1, a[1:], b), within(slips-1, a, b[1:]), within(slips-1, a[1:], b[1:]):
		return true
	}
	return len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && within(slips-1, a[2:], b[2:])
}

// TextInput is the input that takes free text: the first required one, else the first that is not
// advanced, else the first. Choices are named, not written.
func TextInput(schema registry.InputSchema) (registry.InputField, bool) {
	best, rank := registry.InputField{}, 0
	for _, f := range schema.Ordered() {
		if !f.IsText() {
			continue
		}
		r := 1
		if !f.Advanced {
			r = 2
		}
		if f.Required {
			r = 3
		}
		if r > rank {
			best, rank = f, r
		}
	}
	return best, rank > 0
}

// FreeInput is the input that text without a name is meant for: the text input or, in a tool without
// one, the first required value that can be typed.
func FreeInput(schema registry.InputSchema) (registry.InputField, bool) {
	if f, ok := TextInput(schema); ok {
		return f, true
	}
	for _, f := range schema.Ordered() {
		if f.Required && !f.Type.IsMedia() {
			return f, true
		}
	}
	return registry.InputField{}, false
}

// fileInput is the input that a file without a name is meant for.
func fileInput(schema registry.InputSchema) (registry.InputField, bool) {
	for _, f := range schema.Ordered() {
		if f.Type.IsMedia() {
			return f, true
		}
	}
	return registry.InputField{}, false
}

// WithPresetOption adds the option that names a preset to what can be typed for a tool, unless the tool has an input of
// that name.
func WithPresetOption(schema registry.InputSchema) registry.InputSchema {
	if _, own := FieldNamed(schema, PresetWord); own {
		return schema
	}
	// A choice is never what free text is meant for.
	any := []registry.Choice{{Value: ""}}
	return append(slices.Clone(schema), registry.InputField{Name: PresetWord, Type: registry.TypeString, Advanced: true, Choices: any})
}

// PresetWord names the option that takes a preset's values into a run.
const PresetWord = "preset"

func numberNamed(schema registry.InputSchema, name string) (registry.InputField, bool) {
	for _, f := range schema {
		if OptionName(f.Name) == name && f.Type == registry.TypeNumber {
			return f, true
		}
	}
	return registry.InputField{}, false
}

package input

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// ExampleOf gives a value that an input takes, or "".
func ExampleOf(f registry.InputField) string {
	switch {
	case f.Type.IsMedia():
		return ""
	case len(f.Choices) > 0:
		return (registry.Choice{Value: f.Choices[0].Value}).Text() // as programs know it: a label may be a sentence
	case f.Type == registry.TypeBoolean:
		return "yes"
	case f.Seed:
		return "42" // any number does: the largest one would look like a rule
	}
	if shown := ShowValue(f, f.Default); shown != "" && len(shown) <= 120 {
		return shown
	}
	switch {
	case f.Type == registry.TypeNumber && f.Min != "":
		return f.Min.String()
	case f.Type == registry.TypeNumber && f.Max != "":
		return f.Max.String()
	case f.Type == registry.TypeNumber:
		return "1"
	}
	return "a red bicycle in the rain"
}

// ShowValue writes a value for people: the label of a choice, yes and no, numbers as they are.
func ShowValue(f registry.InputField, value any) string {
	for _, c := range f.Choices {
		if fmt.Sprint(c.Value) == fmt.Sprint(value) {
			return c.Text()
		}
	}
	switch x := value.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case []any:
		shown := make([]string, len(x))
		one := f
		one.Multiple = false
		for i, item := range x {
			shown[i] = ShowValue(one, item)
		}
		return strings.Join(shown, ", ")
	}
	return fmt.Sprint(value)
}

// IsTyped reports whether an input's value is one that people type, rather than choose or send.
func IsTyped(f registry.InputField) bool {
	return !f.Type.IsMedia() && len(f.Choices) == 0 && f.Type != registry.TypeBoolean
}

// IsAdult reports whether a tool's metadata say that its results are for adults.
func IsAdult(tool *registry.Tool) bool {
	return tool.Metadata["adult"] == true || tool.Metadata["nsfw"] == true
}

// IsCurrent compares values as people see them; for inputs that take several, one is enough.
func IsCurrent(current, value any) bool {
	if list, ok := current.([]any); ok {
		for _, one := range list {
			if fmt.Sprint(one) == fmt.Sprint(value) {
				return true
			}
		}
		return false
	}
	return current != nil && fmt.Sprint(current) == fmt.Sprint(value)
}

// WithOrWithout adds a value to a list, or removes it.
func WithOrWithout(list, value any) any {
	old, _ := list.([]any)
	kept := []any{}
	for _, one := range old {
		if fmt.Sprint(one) != fmt.Sprint(value) {
			kept = append(kept, one)
		}
	}
	if len(kept) == len(old) {
		kept = append(kept, value)
	}
	return kept
}

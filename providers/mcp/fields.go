package mcp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// questionFields draws fields from the JSON Schema of a flat object, in the order of its properties. Beside what registry.SchemaInputs
// reads it knows choices with titles (oneOf, enumNames) and lists of choices.
func questionFields(raw json.RawMessage) ([]registry.InputField, error) {
	fields, err := registry.SchemaInputs(raw)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if len(fields[i].Schema) > 0 {
			titledChoices(&fields[i])
		}
	}
	return fields, nil
}

// titled is a property that offers choices.
type titled struct {
	Type      string   `json:"type"`
	Enum      []string `json:"enum"`
	EnumNames []string `json:"enumNames"`
	OneOf     []option `json:"oneOf"`
	AnyOf     []option `json:"anyOf"`
	Items     *titled  `json:"items"`
	MinItems  *int     `json:"minItems"`
	MaxItems  *int     `json:"maxItems"`
}

type option struct {
	Const *string `json:"const"`
	Title string  `json:"title"`
}

// titledChoices makes choices of a property that offers some, in whichever form; any other keeps its schema.
func titledChoices(f *registry.InputField) {
	var p titled
	if json.Unmarshal(f.Schema, &p) != nil {
		return
	}
	choices := p.choices()
	if p.Type == "array" && p.Items != nil {
		choices = p.Items.choices()
	}
	if len(choices) == 0 {
		return
	}
	f.Choices, f.Multiple = choices, p.Type == "array"
	if p.MinItems == nil && p.MaxItems == nil {
		f.Schema = nil
	}
}

func (p titled) choices() []registry.Choice {
	var choices []registry.Choice
	for i, value := range p.Enum {
		c := registry.Choice{Value: value}
		if len(p.EnumNames) == len(p.Enum) {
			c.Label = p.EnumNames[i]
		}
		choices = append(choices, c)
	}
	for _, o := range slices.Concat(p.OneOf, p.AnyOf) {
		if o.Const == nil {
			return nil // says more than a choice can
		}
		choices = append(choices, registry.Choice{Value: *o.Const, Label: cmp.Or(o.Title, *o.Const)})
	}
	return choices
}

func cut(text string) string { return shorter(text, maxMessage) }

func shorter(text string, most int) string {
	if runes := []rune(strings.TrimSpace(text)); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return strings.TrimSpace(text)
}

package registry

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/ordered"
)

// JSONSchema describes the inputs as JSON Schema (2020-12), for models, OpenAPI documents and MCP
// (A57, A61): an object whose properties stand in the order people see them. What CheckValue takes
// from JSON and what this schema takes are the same, but for the leniency that CheckValue shows to
// texts.
func (s InputSchema) JSONSchema() (json.RawMessage, error) {
	return s.JSONSchemaWithMedia(mediaPattern)
}

// mediaPattern is how a file is given to CheckValue.
const mediaPattern = `^(asset:[0-9a-f]{64}|https://.+)$`

// JSONSchemaWithMedia is JSONSchema for who takes files in more ways than CheckValue: pattern is the regular expression of the
// texts that it takes for one.
func (s InputSchema) JSONSchemaWithMedia(pattern string) (json.RawMessage, error) {
	properties := orderedObject{}
	required := []string{}
	for _, f := range s.Ordered() {
		schema, err := f.jsonSchema(pattern)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", f.Name, err)
		}
		properties = append(properties, orderedMember{f.Name, schema})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return ordered.Marshal(orderedObject{
		{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false},
	})
}

// orderedObject is a JSON object that keeps its order; members with a nil value are left out.
type orderedObject []orderedMember

type orderedMember struct {
	name  string
	value any
}

// MarshalJSON writes the members as they stand.
func (o orderedObject) MarshalJSON() ([]byte, error) {
	kept := new(ordered.Object)
	for _, m := range o {
		if m.value != nil {
			kept.Add(m.name, m.value)
		}
	}
	return kept.MarshalJSON()
}

func (f InputField) jsonSchema(media string) (orderedObject, error) {
	about := orderedObject{{"title", orNil(f.DisplayName)}, {"description", orNil(f.describe())}, {"default", f.Default}}
	if f.SchemaOfList() {
		list, err := f.nestedSchema()
		return append(list, about...), err
	}
	value, err := f.valueSchema(media)
	if err != nil {
		return nil, err
	}
	if !f.Multiple {
		return append(value, about...), nil
	}
	list := orderedObject{{"type", "array"}, {"items", value}, {"maxItems", MaxListLength}}
	if f.Required {
		list = append(list, orderedMember{"minItems", 1})
	}
	return append(list, about...), nil
}

func (f InputField) valueSchema(media string) (orderedObject, error) {
	if len(f.Schema) > 0 {
		return f.nestedSchema()
	}
	switch {
	case f.Type.IsMedia():
		return orderedObject{{"type", "string"}, {"pattern", media}}, nil
	case len(f.Choices) > 0:
		return orderedObject{{"type", f.jsonType()}, {"enum", f.choiceValues()}}, nil
	case f.Type == TypeString && f.Required:
		return orderedObject{{"type", "string"}, {"minLength", 1}, {"maxLength", MaxTextBytes}}, nil
	case f.Type == TypeString:
		return orderedObject{{"type", "string"}, {"maxLength", MaxTextBytes}}, nil
	case f.Type == TypeNumber && f.Seed:
		return orderedObject{{"anyOf", []any{f.numberSchema(), orderedObject{{"const", RandomSeed}}}}}, nil
	case f.Type == TypeNumber:
		return f.numberSchema(), nil
	}
	return orderedObject{{"type", f.jsonType()}}, nil
}

func (f InputField) nestedSchema() (orderedObject, error) {
	nested, err := ordered.Parse(f.Schema)
	if err != nil {
		return nil, err
	}
	return orderedObject{{"allOf", []any{json.RawMessage(ordered.Compact(nested))}}}, nil
}

func (f InputField) jsonType() string {
	if f.Type == TypeNumber && (f.Integer || f.Seed) {
		return "integer"
	}
	return string(f.Type)
}

func (f InputField) numberSchema() orderedObject {
	return orderedObject{
		{"type", f.jsonType()}, {"minimum", numberOrNil(f.Min)}, {"maximum", numberOrNil(f.Max)}, {"multipleOf", f.multipleOf()},
	}
}

// multipleOf counts from zero, unlike Step, which counts from Min; and a default beside the steps is
// allowed. Where the two differ the schema says nothing and the description does.
func (f InputField) multipleOf() any {
	step, ok := decimal.Optional(f.Step)
	if !ok || step.Sign() <= 0 {
		return nil
	}
	for _, n := range []json.Number{f.Min, asNumber(f.Default)} {
		if r, ok := decimal.Optional(n); ok && !new(big.Rat).Quo(r, step).IsInt() {
			return nil
		}
	}
	return f.Step
}

func asNumber(v any) json.Number {
	n, _ := v.(json.Number)
	return n
}

func (f InputField) choiceValues() []any {
	values := make([]any, len(f.Choices))
	for i, c := range f.Choices {
		values[i] = c.Value
	}
	return values
}

// describe adds to the description what the schema cannot say.
func (f InputField) describe() string {
	text := f.Description
	add := func(more string) {
		if text != "" {
			text += " "
		}
		text += more
	}
	if f.Type.IsMedia() {
		add("(" + article(f.Type) + `: the reference of an upload, "asset:" and 64 hex digits, or an https address)`)
	}
	if f.Step != "" && f.multipleOf() == nil {
		add("(in steps of " + f.Step.String() + ")")
	}
	if f.Seed {
		add("(-1 for a random one)")
	}
	return text
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func numberOrNil(n json.Number) any {
	if n == "" {
		return nil
	}
	return n
}

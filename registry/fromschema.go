package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/ordered"
)

// Schema is a compiled JSON Schema (2020-12 where it does not say). It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// ParseSchema compiles a JSON Schema. It reads nothing from anywhere: a reference to another document is an
// error.
func ParseSchema(raw json.RawMessage) (*Schema, error) {
	compiled, err := compileSchema(raw)
	if invalid := new(jsonschema.SchemaValidationError); errors.As(err, &invalid) {
		err = errors.New(schemaFailure(invalid.Err))
	}
	if err != nil {
		return nil, fmt.Errorf("it is no usable JSON Schema: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	return &Schema{compiled}, nil
}

// Check judges a JSON value, whose numbers are json.Number. The error is one line: where in the value, and
// what was expected there.
func (s *Schema) Check(v any) error {
	if err := s.compiled.Validate(v); err != nil {
		return fmt.Errorf("%s", schemaFailure(err))
	}
	return nil
}

// SchemaInputs draws inputs from the JSON Schema of an object, in the order of its properties: the inverse of
// InputSchema.JSONSchema. A property that says more than an input can, such as a pattern or nested values,
// keeps its schema in the input. What the object says as a whole is for Schema.Check.
func SchemaInputs(raw json.RawMessage) (InputSchema, error) {
	v, err := ordered.Parse(raw)
	if err != nil {
		return nil, err
	}
	schema, _ := v.(*ordered.Object)
	if schema.Get("type") != "object" {
		return nil, fmt.Errorf(`it is not the schema of an object: it needs "type": "object"`)
	}
	properties, _ := schema.Get("properties").(*ordered.Object)
	required, _ := schema.Get("required").([]any)
	inputs := InputSchema{}
	for _, m := range properties.Members() {
		property, _ := m.Value.(*ordered.Object)
		f := schemaField(strings.Clone(m.Name), property, schema)
		f.Required = slices.Contains(required, any(m.Name))
		inputs = append(inputs, f)
	}
	return inputs, nil
}

// plainKeywords are those that an input says with its own members, by type.
var plainKeywords = map[string][]string{
	"string":  {"enum"},
	"number":  {"enum", "minimum", "maximum"},
	"integer": {"enum", "minimum", "maximum"},
	"boolean": nil,
}

// notes are keywords that judge no value.
var notes = []string{"type", "title", "description", "default", "examples", "$comment", "deprecated"}

// schemaField draws one input. root is where references lead.
func schemaField(name string, property, root *ordered.Object) InputField {
	f := InputField{Name: name, Type: TypeString}
	f.Description, f.DisplayName = textOf(property, "description"), textOf(property, "title")
	kind := textOf(property, "type")
	switch kind {
	case "number", "integer":
		f.Type, f.Integer = TypeNumber, kind == "integer"
	case "boolean":
		f.Type = TypeBoolean
	}
	f.Default = ordered.Plain(property.Get("default"))
	if !isPlain(property, kind) {
		f.Type, f.Integer, f.Schema = TypeString, false, withDefinitions(property, root)
		return f
	}
	f.Min, _ = ordered.Plain(property.Get("minimum")).(json.Number)
	f.Max, _ = ordered.Plain(property.Get("maximum")).(json.Number)
	choices, _ := property.Get("enum").([]any)
	for _, c := range choices {
		f.Choices = append(f.Choices, Choice{Value: ordered.Plain(c)})
	}
	return f
}

func textOf(o *ordered.Object, name string) string {
	text, _ := o.Get(name).(string)
	return strings.Clone(text)
}

func isPlain(property *ordered.Object, kind string) bool {
	known, simple := plainKeywords[kind]
	return simple && !slices.ContainsFunc(property.Members(), func(m ordered.Member) bool {
		return !slices.Contains(notes, m.Name) && !slices.Contains(known, m.Name)
	})
}

// withDefinitions is a property's schema by itself, with the definitions that it may refer to.
func withDefinitions(property, root *ordered.Object) json.RawMessage {
	alone := ordered.Of(slices.Clone(property.Members())...)
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		if root.Has(key) && !property.Has(key) {
			alone.Add(key, root.Get(key))
		}
	}
	return json.RawMessage(ordered.Compact(alone))
}

// CanonicalJSON writes a JSON value in the one form in which equal values are equal bytes: keys sorted, no
// blanks, numbers digit by digit as they came.
func CanonicalJSON(v any) ([]byte, error) {
	raw, err := ordered.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	return ordered.Marshal(plain)
}

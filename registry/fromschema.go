package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
	n, err := parseNode(raw)
	if err != nil {
		return nil, err
	}
	if kind, _ := n.get("type"); n.kind != kindObject || kind.text != "object" {
		return nil, fmt.Errorf(`it is not the schema of an object: it needs "type": "object"`)
	}
	properties, _ := n.get("properties")
	required, _ := n.get("required")
	inputs := InputSchema{}
	for _, m := range properties.members {
		f := schemaField(m.key, m.value, n)
		f.Required = slices.ContainsFunc(required.items, func(r node) bool { return r.text == m.key })
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
func schemaField(name string, property, root node) InputField {
	f := InputField{Name: name, Type: TypeString}
	description, _ := property.get("description")
	title, _ := property.get("title")
	f.Description, f.DisplayName = description.text, title.text
	kind, _ := property.get("type")
	switch kind.text {
	case "number", "integer":
		f.Type, f.Integer = TypeNumber, kind.text == "integer"
	case "boolean":
		f.Type = TypeBoolean
	}
	if value, given := property.get("default"); given && value.kind != kindNull {
		f.Default = value.value()
	}
	if !isPlain(property, kind.text) {
		f.Type, f.Integer, f.Schema = TypeString, false, withDefinitions(property, root)
		return f
	}
	low, _ := property.get("minimum")
	high, _ := property.get("maximum")
	f.Min, f.Max = json.Number(low.text), json.Number(high.text)
	choices, _ := property.get("enum")
	for _, c := range choices.items {
		f.Choices = append(f.Choices, Choice{Value: c.value()})
	}
	return f
}

func isPlain(property node, kind string) bool {
	known, simple := plainKeywords[kind]
	return simple && !slices.ContainsFunc(property.members, func(m member) bool {
		return !slices.Contains(notes, m.key) && !slices.Contains(known, m.key)
	})
}

// withDefinitions is a property's schema by itself, with the definitions that it may refer to.
func withDefinitions(property, root node) json.RawMessage {
	alone := node{kind: kindObject, members: slices.Clone(property.members)}
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		_, own := property.get(key)
		if shared, there := root.get(key); there && !own {
			alone.members = append(alone.members, member{key, shared})
		}
	}
	return json.RawMessage(alone.compact())
}

// CanonicalJSON writes a JSON value in the one form in which equal values are equal bytes: keys sorted, no
// blanks, numbers digit by digit as they came.
func CanonicalJSON(v any) ([]byte, error) {
	raw, err := marshalPlain(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	return marshalPlain(plain)
}

package canvas

import (
	_ "embed" // the inputs
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

//go:embed inputs.json
var inputsFile []byte

// library are the JSON Schemas of all inputs, by name. Tools pick theirs.
type library map[string]json.RawMessage

func readLibrary() (library, error) {
	var l library
	if err := json.Unmarshal(inputsFile, &l); err != nil {
		return nil, fmt.Errorf("inputs.json: %w", err)
	}
	return l, nil
}

// object is the schema of an object with members of the library, in the order of names. A name may say which schema it takes: "shapeIds=two".
// What ends with an exclamation mark is required.
func (l library) object(names, description string) (json.RawMessage, error) {
	properties, required := ordered.Of(), []string{}
	for name := range strings.FieldsSeq(names) {
		name, must := strings.CutSuffix(name, "!")
		name, key, other := strings.Cut(name, "=")
		if !other {
			key = name
		}
		raw, ok := l[key]
		if !ok {
			return nil, fmt.Errorf("there is no input %q", key)
		}
		schema, err := ordered.Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
		properties.Add(name, schema)
		if must {
			required = append(required, name)
		}
	}
	schema := ordered.Of(ordered.Member{Name: "type", Value: "object"}, ordered.Member{Name: "properties", Value: properties},
		ordered.Member{Name: "additionalProperties", Value: false}, ordered.Member{Name: "required", Value: required})
	if description != "" {
		schema.Add("description", description)
	}
	return ordered.Marshal(schema)
}

// fields are a tool's inputs: those of the library, an object of properties to modify where there is one, and the scene.
func (l library) fields(names, modify string) (registry.InputSchema, error) {
	object, err := l.object(names, "")
	if err != nil {
		return nil, err
	}
	fields, err := registry.SchemaInputs(object)
	if err != nil {
		return nil, err
	}
	if modify != "" {
		key, members, _ := strings.Cut(modify, ": ")
		key, must := strings.CutSuffix(key, "!")
		schema, err := l.object(members, "What to change: "+strings.Join(strings.Fields(members), ", ")+".")
		if err != nil {
			return nil, err
		}
		fields = append(fields, registry.InputField{Name: key, Type: registry.TypeString, Required: must, Schema: schema, Description: "What to change: " + strings.Join(strings.Fields(members), ", ") + "."})
	}
	for i := range fields {
		if fields[i].Name == "backgroundImage" {
			fields[i].Type = registry.TypeImage
		}
	}
	return append(fields, registry.InputField{
		Name: "scene", Type: registry.TypeString, Advanced: true, DisplayName: "Scene", Description: "Id of the drawing; without one that of this conversation, which begins with the first shape.",
	}), nil
}

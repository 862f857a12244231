// Package apitable is the compact table of facts about the Discord API that the strict test server
// checks requests against: which operations there are and which JSON bodies they take. It holds names,
// types and numbers only. The committed copy is api.json; Derive makes it anew from the official OpenAPI
// description (see the gen folder).
package apitable

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Table is what is known of one version of the API.
type Table struct {
	// Version names the state of the description.
	Version string `json:"version"`
	// Operations lists every operation of the API as method, space and path template.
	Operations []string `json:"operations"`
	// Schemas are the bodies' JSON Schemas by name, with what they refer to.
	Schemas map[string]any `json:"schemas"`
}

//go:embed api.json
var committed []byte

// Load returns the committed table, which is read once: nobody changes it.
var Load = sync.OnceValues(func() (*Table, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(committed))
	if err != nil {
		return nil, fmt.Errorf("api.json of the Discord test server: %w", err)
	}
	var t Table
	if err := json.Unmarshal(committed, &t); err != nil {
		return nil, fmt.Errorf("api.json of the Discord test server: %w", err)
	}
	// The schema compiler wants numbers undecoded.
	t.Schemas, _ = value.(map[string]any)["schemas"].(map[string]any)
	return &t, nil
})

// Committed checks bodies against the committed table, for all servers of a test program.
var Committed = sync.OnceValues(func() (*Validator, error) {
	t, err := Load()
	if err != nil {
		return nil, err
	}
	return NewValidator(t)
})

// Known reports whether the API has an operation such as "GET /channels/{channel_id}".
func (t *Table) Known(operation string) bool { return slices.Contains(t.Operations, operation) }

// Validator compiles schemas of a table as they are asked for.
type Validator struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const location = "mem:///discord"

// NewValidator makes a Validator over the table's schemas.
func NewValidator(t *Table) (*Validator, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(location, map[string]any{"$defs": t.Schemas}); err != nil {
		return nil, fmt.Errorf("schemas of the Discord test server: %w", err)
	}
	return &Validator{compiler: c, compiled: map[string]*jsonschema.Schema{}}, nil
}

// Validate checks a body, decoded with numbers as json.Number, against the schema of that name. Unknown
// properties without a value are let pass.
func (v *Validator) Validate(name string, body any) ([]Fault, error) {
	schema, err := v.schema(name)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(faults(schema.Validate(body)), func(f Fault) bool { return f.Unknown && empty(at(body, f.Path)) }), nil
}

func (v *Validator) schema(name string) (*jsonschema.Schema, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.compiled[name]; ok {
		return known, nil
	}
	schema, err := v.compiler.Compile(location + "#/$defs/" + name)
	if err != nil {
		return nil, fmt.Errorf("schema %s of the Discord test server: %w", name, err)
	}
	v.compiled[name] = schema
	return schema, nil
}

// empty reports whether a value says nothing: libraries send such for properties that do not apply.
func empty(v any) bool {
	items, isList := v.([]any)
	return v == nil || v == false || v == "" || isList && len(items) == 0
}

// at finds the value that a path leads to.
func at(v any, path []string) any {
	for _, step := range path {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(inner) {
				return nil
			}
			v = inner[n]
		}
	}
	return v
}

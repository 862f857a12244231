package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// inputsOf draws a tool's inputs from their schema. Where all that it takes is one object with named members, they are the inputs, and
// wrapped is its name. What a server says that can't be, such as a default that its own schema refuses, is left out.
func inputsOf(schema json.RawMessage) (inputs registry.InputSchema, wrapped string, err error) {
	if text := string(bytes.TrimSpace(schema)); text == "" || text == "null" || text == "{}" {
		return registry.InputSchema{}, "", nil
	}
	inputs, err = registry.SchemaInputs(schema)
	if err != nil {
		return registry.InputSchema{}, "", err
	}
	if len(inputs) == 1 && inputs[0].Required && len(inputs[0].Schema) > 0 && !inputs[0].Multiple {
		if inner, err := registry.SchemaInputs(inputs[0].Schema); err == nil && len(inner) > 0 {
			inputs, wrapped = inner, inputs[0].Name
		}
	}
	for i := range inputs {
		f := &inputs[i]
		if len(f.Schema) > 0 {
			if _, err := registry.ParseSchema(f.Schema); err != nil {
				f.Schema, f.Multiple = json.RawMessage(`{}`), false // the server judges
			}
		}
		if f.Default != nil {
			optional := *f
			optional.Required = false
			fitting, bad := registry.CheckValue(optional, f.Default)
			if f.Default = fitting; bad != nil {
				f.Default = nil
			}
		}
	}
	slices.SortStableFunc(inputs, requiredFirst)
	return inputs, wrapped, nil
}

// requiredFirst is the order of inputs in which those that must be given come first.
func requiredFirst(a, b registry.InputField) int {
	switch {
	case a.Required == b.Required:
		return 0
	case a.Required:
		return -1
	}
	return 1
}

func cut(text string) string { return shorter(text, maxMessage) }

func shorter(text string, most int) string {
	if runes := []rune(strings.TrimSpace(text)); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return strings.TrimSpace(text)
}

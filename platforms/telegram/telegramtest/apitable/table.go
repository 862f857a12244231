// Package apitable is the compact table of facts about the Telegram Bot API that the strict test
// server checks requests against: which methods there are, which parameters they take, of which type,
// within which limits. It holds names and numbers only. The committed copy is api.json; Derive makes
// it anew from the machine-readable descriptions (see the gen folder).
package apitable

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Table is what is known of one version of the Bot API.
type Table struct {
	// Version names the Bot API release the facts come from.
	Version string `json:"version"`
	// Aliases maps old method names to the present ones.
	Aliases map[string]string `json:"aliases"`
	// Legacy lists parameters that are no longer documented and still accepted.
	Legacy []string `json:"legacy"`
	// Updates lists the kinds of updates, OffByDefault those that must be asked for by name.
	Updates      []string `json:"updates"`
	OffByDefault []string `json:"offByDefault"`
	// Methods and Types map a name to its parameters and fields.
	Methods map[string]Fields `json:"methods"`
	Types   map[string]Fields `json:"types"`
	// Unions maps a type that stands for one of several to their names.
	Unions map[string][]string `json:"unions"`
}

// Fields are the parameters of a method or the fields of a type, by name.
type Fields map[string]Field

// Field is one parameter or field.
type Field struct {
	// Types are the accepted types: Integer, String, Boolean, Float, a name in Types or Unions, or
	// "Array of" one of these.
	Types []string `json:"t"`
	// Required says that it must be present.
	Required bool `json:"r,omitempty"`
	// Min and Max bound the length, number or count, in Unit: characters, bytes, items or value.
	Min  *int   `json:"min,omitempty"`
	Max  *int   `json:"max,omitempty"`
	Unit string `json:"u,omitempty"`
	// AfterEntities says that markup does not count towards the length.
	AfterEntities bool `json:"ae,omitempty"`
	// OneOf lists the allowed values, Regex the allowed form.
	OneOf []string       `json:"of,omitempty"`
	Regex *regexp.Regexp `json:"re,omitempty"`
}

//go:embed api.json
var committed []byte

// Load returns the committed table, which is read once: nobody changes it.
var Load = sync.OnceValues(func() (*Table, error) {
	var t Table
	if err := json.Unmarshal(committed, &t); err != nil {
		return nil, fmt.Errorf("api.json of the Telegram test server: %w", err)
	}
	return &t, nil
})

// Method finds a method regardless of case and by its old names; ok is false where there is none.
func (t *Table) Method(name string) (canonical string, fields Fields, ok bool) {
	for old, now := range t.Aliases {
		if strings.EqualFold(old, name) {
			name = now
		}
	}
	if f, found := t.Methods[name]; found {
		return name, f, true
	}
	for m, f := range t.Methods {
		if strings.EqualFold(m, name) {
			return m, f, true
		}
	}
	return "", nil, false
}

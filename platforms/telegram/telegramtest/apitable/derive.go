package apitable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type specField struct {
	Name     string   `json:"name"`
	Types    []string `json:"types"`
	Required bool     `json:"required"`
}

type specEntry struct {
	Fields   []specField `json:"fields"`
	Subtypes []string    `json:"subtypes"`
}

type spec struct {
	Version string               `json:"version"`
	Methods map[string]specEntry `json:"methods"`
	Types   map[string]specEntry `json:"types"`
}

type constraint struct {
	Min   *int           `json:"min"`
	Max   *int           `json:"max"`
	Unit  string         `json:"unit"`
	After bool           `json:"after_entities"`
	OneOf []string       `json:"one_of"`
	Const string         `json:"const"`
	Regex *regexp.Regexp `json:"regex"`
}

type constraintFile struct {
	Constraints  map[string]constraint `json:"constraints"`
	Updates      []string              `json:"update_types"`
	OffByDefault []string              `json:"updates_off_by_default"`
}

type behaviourFile struct {
	Aliases map[string]string `json:"method_aliases"`
	Legacy  map[string]string `json:"legacy_parameters"`
}

// Derive makes the table from telegram-bot-api.json, telegram-constraints.json and
// telegram-server-behaviour.json in dir. Only types that requests can carry are kept.
func Derive(dir string) (*Table, error) {
	t, api, limits, err := read(dir)
	if err != nil {
		return nil, err
	}
	for name, m := range api.Methods {
		t.Methods[name] = fieldsOf(name, m, limits)
		t.addTypes(m, api, limits)
	}
	return t, nil
}

// DeriveAnswers makes a table of the types that answers and updates carry, without methods. It is for
// checking what the test server says; it is too large to be committed.
func DeriveAnswers(dir string) (*Table, error) {
	t, api, limits, err := read(dir)
	if err != nil {
		return nil, err
	}
	for name, entry := range api.Types {
		t.addTypes(specEntry{Subtypes: []string{name}}, api, limits)
		t.addTypes(entry, api, limits)
	}
	return t, nil
}

// read loads the descriptions and makes a table without methods and types.
func read(dir string) (*Table, spec, map[string]constraint, error) {
	var api spec
	var limits constraintFile
	var behaviour behaviourFile
	for name, into := range map[string]any{
		"telegram-bot-api.json":          &api,
		"telegram-constraints.json":      &limits,
		"telegram-server-behaviour.json": &behaviour,
	} {
		if err := readJSON(filepath.Join(dir, name), into); err != nil {
			return nil, api, nil, err
		}
	}
	t := &Table{
		Version: api.Version, Aliases: behaviour.Aliases, Legacy: slices.Sorted(maps.Keys(behaviour.Legacy)),
		Updates: limits.Updates, OffByDefault: limits.OffByDefault,
		Methods: map[string]Fields{}, Types: map[string]Fields{}, Unions: map[string][]string{},
	}
	return t, api, limits.Constraints, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

func fieldsOf(owner string, e specEntry, limits map[string]constraint) Fields {
	out := Fields{}
	for _, f := range e.Fields {
		c := limits[owner+"."+f.Name]
		if c.Const != "" {
			c.OneOf = []string{c.Const}
		}
		out[f.Name] = Field{
			Types: f.Types, Required: f.Required, Min: c.Min, Max: c.Max, Unit: c.Unit,
			AfterEntities: c.After, OneOf: c.OneOf, Regex: c.Regex,
		}
	}
	return out
}

// addTypes keeps every type that the fields of e lead to.
func (t *Table) addTypes(e specEntry, api spec, limits map[string]constraint) {
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Types...)
	}
	for _, name := range append(names, e.Subtypes...) {
		name = ElementType(name)
		entry, known := api.Types[name]
		if !known || t.Types[name] != nil || t.Unions[name] != nil {
			continue
		}
		if len(entry.Subtypes) > 0 {
			t.Unions[name] = entry.Subtypes
		} else {
			t.Types[name] = fieldsOf(name, entry, limits)
		}
		t.addTypes(entry, api, limits)
	}
}

// ElementType strips every "Array of" from a type name.
func ElementType(name string) string {
	for strings.HasPrefix(name, "Array of ") {
		name = strings.TrimPrefix(name, "Array of ")
	}
	return name
}

// Encode writes the table as JSON with one method or type a line, in the same order every time.
func (t *Table) Encode() ([]byte, error) {
	var b bytes.Buffer
	head, err := json.Marshal(struct {
		Version      string            `json:"version"`
		Aliases      map[string]string `json:"aliases"`
		Legacy       []string          `json:"legacy"`
		Updates      []string          `json:"updates"`
		OffByDefault []string          `json:"offByDefault"`
	}{t.Version, t.Aliases, t.Legacy, t.Updates, t.OffByDefault})
	if err != nil {
		return nil, err
	}
	b.Write(head[:len(head)-1])
	for _, section := range []struct {
		name    string
		entries map[string]any
	}{{"methods", anyMap(t.Methods)}, {"types", anyMap(t.Types)}, {"unions", anyMap(t.Unions)}} {
		fmt.Fprintf(&b, ",\n%q:{\n", section.name)
		for i, name := range slices.Sorted(maps.Keys(section.entries)) {
			if i > 0 {
				b.WriteString(",\n")
			}
			line, err := json.Marshal(section.entries[name])
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%q:%s", name, line)
		}
		b.WriteString("}")
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

func anyMap[V any](m map[string]V) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

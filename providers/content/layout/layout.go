// Package layout has the templates of sections: files that say which fields a section has and how they become HTML.
//
// A template is a file KEY.html. It begins with a description in YAML between two lines of three hyphens: name, description and
// fields. What follows is an html/template, whose data are the fields by name: text and url are texts, markdown is HTML that was made
// safe, image is a *Picture, list is a list of the same, entries are those of a collection. The templates of an operator's folder
// come over those that come with the program.
package layout

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
)

//go:embed templates/*.html
var builtin embed.FS

// Template is a kind of section.
type Template struct {
	ID          string  `json:"id" yaml:"-"`  // follows from Key
	Key         string  `json:"key" yaml:"-"` // createSection's templateKey
	Name        string  `json:"name" yaml:"name"`
	Description string  `json:"description" yaml:"description"`
	Fields      []Field `json:"fields" yaml:"fields"`

	body *template.Template
}

// Field is one value of a section.
type Field struct {
	Name        string    `json:"name" yaml:"name"`
	Type        FieldType `json:"type" yaml:"type"`
	Description string    `json:"description,omitempty" yaml:"description"`
	Default     any       `json:"default,omitempty" yaml:"default"` // shown where there is no value
	Fields      []Field   `json:"fields,omitempty" yaml:"fields"`   // of each item of a list
}

// FieldType is what a field holds.
type FieldType string

// The types of fields.
const (
	Text     FieldType = "text"
	Markdown FieldType = "markdown"
	Image    FieldType = "image" // an image's id
	URL      FieldType = "url"   // http, https, mailto, tel, or a path of this site
	Boolean  FieldType = "boolean"
	Number   FieldType = "number"
	List     FieldType = "list"    // of objects with Fields
	Entries  FieldType = "entries" // a collection's slug: its latest entries
)

// Set is all templates. It never changes.
type Set struct {
	byKey map[string]Template
	keys  []string
}

// Load reads the templates that come with the program, and those of the folder templates of own over them; own may be nil.
func Load(own fs.FS) (*Set, error) {
	s := &Set{byKey: map[string]Template{}}
	for _, source := range []fs.FS{builtin, own} {
		if source == nil {
			continue
		}
		files, err := fs.Glob(source, "templates/*.html")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := fs.ReadFile(source, file)
			if err != nil {
				return nil, fmt.Errorf("template %s: %w", file, err)
			}
			t, err := parse(strings.TrimSuffix(path.Base(file), ".html"), raw)
			if err != nil {
				return nil, fmt.Errorf("template %s: %w", file, err)
			}
			s.byKey[t.Key] = t
		}
	}
	s.keys = slices.Sorted(maps.Keys(s.byKey))
	return s, nil
}

var keyForm = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,63}$`)

// namespace is that of the ids of templates.
var namespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("signalbox section template"))

// parse reads one file.
func parse(key string, raw []byte) (Template, error) {
	t := Template{Key: key, ID: uuid.NewSHA1(namespace, []byte(key)).String()}
	if !keyForm.MatchString(key) {
		return t, fmt.Errorf("the name %q must be letters and digits that begin with a small letter", key)
	}
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	rest, opened := bytes.CutPrefix(raw, []byte("---\n"))
	head, body, closed := bytes.Cut(rest, []byte("\n---\n"))
	if !opened || !closed {
		return t, errors.New("it must begin with a description between two lines of three hyphens")
	}
	if err := yaml.UnmarshalWithOptions(head, &t, yaml.Strict()); err != nil {
		return t, fmt.Errorf("its description: %w", err)
	}
	if t.Name == "" {
		return t, errors.New("its description has no name")
	}
	if err := checkFields(t.Fields, true); err != nil {
		return t, err
	}
	var err error
	t.body, err = template.New(key).Option("missingkey=zero").Parse(string(body))
	return t, err
}

var fieldTypes = []FieldType{Text, Markdown, Image, URL, Boolean, Number, List, Entries}

func checkFields(fields []Field, top bool) error {
	seen := map[string]bool{}
	for _, f := range fields {
		switch {
		case !keyForm.MatchString(f.Name):
			return fmt.Errorf("the field %q must be named by letters and digits that begin with a small letter", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("there are two fields %s", f.Name)
		case !slices.Contains(fieldTypes, f.Type):
			return fmt.Errorf("the field %s has the type %q; allowed are %v", f.Name, f.Type, fieldTypes)
		case (f.Type == List) != (len(f.Fields) > 0) || f.Type == List && !top:
			return fmt.Errorf("the field %s: lists, and only they, have fields of their own, and no list is in a list", f.Name)
		}
		seen[f.Name] = true
		if err := checkFields(f.Fields, false); err != nil {
			return err
		}
	}
	return nil
}

// All gives the templates by their keys.
func (s *Set) All() []Template {
	all := make([]Template, len(s.keys))
	for i, key := range s.keys {
		all[i] = s.byKey[key]
	}
	return all
}

// ByKey finds a template by its key.
func (s *Set) ByKey(key string) (Template, bool) {
	t, ok := s.byKey[key]
	return t, ok
}

// ByID finds a template by its id.
func (s *Set) ByID(id string) (Template, bool) {
	for _, t := range s.byKey {
		if t.ID == id {
			return t, true
		}
	}
	return Template{}, false
}

// Keys gives the keys in alphabetical order.
func (s *Set) Keys() []string { return s.keys }

// Names gives the names of the fields.
func (t Template) Names() []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

// Field finds a field by its name.
func (t Template) Field(name string) (Field, bool) { return fieldOf(t.Fields, name) }

func fieldOf(fields []Field, name string) (Field, bool) {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return fields[i], true
}

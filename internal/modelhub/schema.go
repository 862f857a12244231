package modelhub

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Schemas are the named JSON Schemas of a model that a service hosts, as in an OpenAPI document's components.
type Schemas map[string]Schema

// Schema is what matters here of a JSON Schema.
type Schema struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"` // a word, or several
	Format      string            `json:"format"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Default     any               `json:"default"`
	Minimum     json.Number       `json:"minimum"`
	Maximum     json.Number       `json:"maximum"`
	Enum        []any             `json:"enum"`
	AllOf       []Schema          `json:"allOf"`
	AnyOf       []Schema          `json:"anyOf"`
	Items       *Schema           `json:"items"`
	Properties  map[string]Schema `json:"properties"`
	Required    []string          `json:"required"`
	Order       *int              `json:"x-order"`                // of a property, at Replicate
	Ordered     []string          `json:"x-fal-order-properties"` // of an object, at fal
}

// Document is what matters here of the OpenAPI document of a model that a service hosts.
type Document struct {
	Info struct {
		Description string `json:"description"`
	} `json:"info"`
	Paths map[string]struct {
		Post *struct {
			Body struct {
				Content map[string]struct {
					Schema Schema `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"post"`
	} `json:"paths"`
	Components struct {
		Schemas Schemas `json:"schemas"`
	} `json:"components"`
}

// Inputs draws a tool's inputs from what is posted to a path; false: nothing is.
func (d Document) Inputs(path string) (registry.InputSchema, bool) {
	post := d.Paths[path].Post
	if post == nil {
		return nil, false
	}
	return d.Components.Schemas.Inputs(post.Body.Content["application/json"].Schema), true
}

const (
	maxDepth   = 16 // of references
	maxChoices = 200
	basics     = 5 // inputs that are not advanced
)

// Resolve follows references, and takes of alternatives the one that says most: a fixed list, else the first that is
// not null. What is said beside a reference counts more than what it leads to.
func (all Schemas) Resolve(s Schema) Schema { return all.resolve(s, 0) }

func (all Schemas) resolve(s Schema, depth int) Schema {
	var inner Schema
	others := slices.DeleteFunc(append(slices.Clone(s.AllOf), s.AnyOf...), func(o Schema) bool { return o.Type == "null" })
	switch {
	case depth > maxDepth:
		return s
	case s.Ref != "":
		inner = all.named(s.Ref)
	case len(others) > 0:
		inner = others[max(0, slices.IndexFunc(others, func(o Schema) bool { return len(o.Enum) > 0 || len(all.named(o.Ref).Enum) > 0 }))]
	default:
		return s
	}
	inner = all.resolve(inner, depth+1)
	inner.Title, inner.Description = cmp.Or(s.Title, inner.Title), cmp.Or(s.Description, inner.Description)
	if s.Default != nil {
		inner.Default = s.Default
	}
	if s.Order != nil {
		inner.Order = s.Order
	}
	return inner
}

// named is what a reference leads to, or nothing.
func (all Schemas) named(ref string) Schema {
	return all[ref[strings.LastIndex(ref, "/")+1:]]
}

// Inputs draws a tool's inputs from the schema of a model's input, in its order.
func (all Schemas) Inputs(object Schema) registry.InputSchema {
	object = all.Resolve(object)
	names := slices.Sorted(maps.Keys(object.Properties))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(all.place(object, a), all.place(object, b)) })
	var inputs registry.InputSchema
	for _, name := range names {
		f := all.input(name, all.Resolve(object.Properties[name]))
		f.Required = slices.Contains(object.Required, name)
		f.Advanced = !f.Required && (len(inputs) >= basics || f.Seed)
		inputs = append(inputs, f)
	}
	return inputs
}

// place is where a property comes: as the schema says; the required ones first where it says nothing.
func (all Schemas) place(object Schema, name string) int {
	if order := all.Resolve(object.Properties[name]).Order; order != nil {
		return *order
	}
	if i := slices.Index(object.Ordered, name); i >= 0 {
		return i
	}
	if slices.Contains(object.Required, name) {
		return len(object.Properties)
	}
	return len(object.Properties) + 1
}

func (all Schemas) input(name string, s Schema) registry.InputField {
	f := registry.InputField{Name: name, DisplayName: cmp.Or(s.Title, strings.ReplaceAll(name, "_", " ")), Description: strings.TrimSpace(s.Description)}
	if s.Type == "array" && s.Items != nil {
		item := all.Resolve(*s.Items)
		if item.Type == "string" || item.Type == "integer" || item.Type == "number" {
			f.Multiple = true
			item.Default = s.Default
			s = item
		}
	}
	switch {
	case s.Type == "boolean":
		f.Type = registry.TypeBoolean
	case s.Type == "integer", s.Type == "number":
		f.Type, f.Integer, f.Min, f.Max = registry.TypeNumber, s.Type == "integer", s.Minimum, s.Maximum
		f.Seed = f.Integer && name == "seed"
	case s.Type == "string" && len(s.Enum) == 0 && isFile(name, s):
		f.Type = mediaType(name + " " + s.Description)
	case s.Type == "string":
		f.Type, f.Multiline = registry.TypeString, strings.Contains(name, "prompt")
	default: // nested: as JSON
		f.Type, f.Schema = registry.TypeString, json.RawMessage(`{"type": ["object", "array"]}`)
	}
	if len(s.Enum) <= maxChoices {
		for _, value := range s.Enum {
			f.Choices = append(f.Choices, registry.Choice{Value: value})
		}
	}
	if _, refused := registry.CheckValue(f, s.Default); s.Default != nil && s.Default != "" && refused == nil && !f.Type.IsMedia() {
		f.Default = s.Default
	}
	return f
}

// isFile reports whether a text is the address of a file.
func isFile(name string, s Schema) bool {
	return s.Format == "uri" || strings.HasSuffix(name, "_url") || strings.HasSuffix(name, "_urls")
}

// mediaType guesses the kind of a file by the words about it.
func mediaType(words string) registry.InputType {
	words = strings.ToLower(words)
	for _, kind := range []struct {
		kind  registry.InputType
		signs []string
	}{
		{registry.TypeVideo, []string{"video"}}, {registry.TypeAudio, []string{"audio", "voice", "speech", "song", "music"}},
		{registry.TypeImage, []string{"image", "picture", "photo", "mask", "img", "frame"}},
	} {
		if slices.ContainsFunc(kind.signs, func(sign string) bool { return strings.Contains(words, sign) }) {
			return kind.kind
		}
	}
	return registry.TypeFile
}

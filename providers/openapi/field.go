package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// builder makes a tool of one operation.
type builder struct {
	doc      *document
	op       operation
	lookup   func(string) (string, bool)
	tool     registry.Tool
	spec     spec
	findings []Finding
}

func (b *builder) warn(format string, args ...any) {
	b.findings = append(b.findings, Finding{Document: b.doc.name, Operation: b.op.String(), Message: fmt.Sprintf(format, args...)})
}

func (b *builder) refuse(format string, args ...any) {
	b.findings = append(b.findings, Finding{Document: b.doc.name, Operation: b.op.String(), Refused: true, Message: fmt.Sprintf(format, args...)})
}

const (
	longText    = 300 // a text that may be longer gets several lines
	fewInputs   = 8   // a tool with more folds away those that nobody must fill in
	maxNameText = 80  // runes of a display name
)

// field makes an input of a schema. What InputField can't say goes into its Schema, so that every value is
// judged as the document has it before anything is sent.
func (b *builder) field(name string, schema any, required bool) registry.InputField {
	s := b.doc.simple(schema)
	f := registry.InputField{Name: name, Required: required, Type: registry.TypeString, Description: cmp.Or(s.Text("description"), s.Text("title"))}
	if own, _ := schema.(*ordered.Object); own.Text("description") != "" { // beside a reference
		f.Description = own.Text("description")
	}
	if f.Description == "" {
		b.warn("the input %s has no description: people and models have to guess what it is", name)
	}
	kind := typeOf(s)
	switch {
	case fileType(s) != "":
		f.Type = fileType(s)
	case kind == "array" && b.isPlainList(s):
		f = b.field(name, s.Get("items"), required)
		f.Multiple, f.Multiline = true, false
		if text := s.Text("description"); text != "" {
			f.Description = text
		}
	default:
		b.scalar(&f, s, kind)
	}
	b.setDefault(&f, s)
	return f
}

// fileType is the type of an input for files, "" for all other schemas.
func fileType(s *ordered.Object) registry.InputType {
	format, media := s.Text("format"), s.Text("contentMediaType")
	encoded := s.Text("contentEncoding") == "base64" || media != "" && outputType(media) != "text"
	if typeOf(s) != "string" && !encoded || format != "binary" && format != "byte" && !encoded {
		return ""
	}
	return mediaType(s.Text("contentMediaType"))
}

// mediaType is the type of input that takes files of a media type.
func mediaType(media string) registry.InputType {
	switch kind, _, _ := strings.Cut(media, "/"); kind {
	case "image":
		return registry.TypeImage
	case "video":
		return registry.TypeVideo
	case "audio":
		return registry.TypeAudio
	}
	return registry.TypeFile
}

// isPlainList reports whether a list's values can be given one by one.
func (b *builder) isPlainList(s *ordered.Object) bool {
	if slices.ContainsFunc([]string{"minItems", "maxItems", "uniqueItems", "prefixItems", "contains"}, s.Has) {
		return false
	}
	item := b.doc.simple(s.Get("items"))
	return fileType(item) != "" || slices.Contains([]string{"string", "number", "integer", "boolean"}, typeOf(item))
}

func (b *builder) scalar(f *registry.InputField, s *ordered.Object, kind string) {
	values := s.List("enum")
	if s.Has("const") {
		values = []any{s.Get("const")}
	}
	switch kind {
	case "boolean":
		f.Type = registry.TypeBoolean
		if values != nil {
			b.setSchema(f, s)
		}
		return
	case "number", "integer":
		f.Type = registry.TypeNumber
		f.Integer = kind == "integer"
		b.numbers(f, s)
	case "string":
		b.texts(f, s)
	default:
		b.setSchema(f, s)
		return
	}
	for _, v := range values {
		if typeOfValue(v) != "" && f.Schema == nil {
			f.Choices = append(f.Choices, registry.Choice{Value: v})
		}
	}
}

func (b *builder) numbers(f *registry.InputField, s *ordered.Object) {
	f.Min, f.Max, f.Step = s.Number("minimum"), s.Number("maximum"), s.Number("multipleOf")
	if exclusive(s.Get("exclusiveMinimum")) || exclusive(s.Get("exclusiveMaximum")) || f.Step != "" && f.Min != "" {
		f.Min, f.Max, f.Step = "", "", ""
		b.setSchema(f, s)
	}
}

// exclusive reports whether a bound is one that values must not reach: a number, or true in OpenAPI 3.0.
func exclusive(v any) bool { return v != nil && v != false }

func (b *builder) texts(f *registry.InputField, s *ordered.Object) {
	longest, err := s.Number("maxLength").Int64()
	f.Multiline = err == nil && longest > longText
	if s.Has("minLength") || s.Has("maxLength") || s.Has("pattern") {
		b.setSchema(f, s)
	}
}

// setSchema gives an input the schema itself.
func (b *builder) setSchema(f *registry.InputField, s *ordered.Object) {
	raw, known := b.doc.written[s]
	if !known {
		var err error
		if raw, err = b.write(f.Name, s); err != nil {
			b.refuse("the input %s: its schema can't be written: %v", f.Name, err)
			return
		}
		if len(b.doc.lost) == 0 {
			b.doc.written[s] = raw
		}
	}
	f.Schema = raw
	if err := b.doc.compiled(raw).err; err != nil {
		b.refuse("the input %s: %v", f.Name, err)
	}
}

// write writes an input's schema out as one that stands alone.
func (b *builder) write(name string, s *ordered.Object) (json.RawMessage, error) {
	w := inliner{doc: b.doc, left: maxSchema, note: func(format string, args ...any) {
		b.warn("the input %s: %s", name, fmt.Sprintf(format, args...))
	}}
	written, isObject := w.inline(s).(*ordered.Object)
	if !isObject {
		return json.RawMessage(`{}`), nil
	}
	for _, about := range []string{"description", "title", "default"} {
		written.Drop(about)
	}
	return json.Marshal(written)
}

// setDefault gives an input its default. Services live well with defaults that don't fit; people would be
// offered a value that is refused.
func (b *builder) setDefault(f *registry.InputField, s *ordered.Object) {
	value := ordered.Plain(s.Get("default"))
	if value == nil || f.Type.IsMedia() {
		return
	}
	if !b.fits(*f, value) {
		b.warn("the default of the input %s does not fit its schema and is left out", f.Name)
		return
	}
	f.Default = value
}

func (b *builder) fits(f registry.InputField, value any) bool {
	if f.Schema != nil {
		judged := b.doc.compiled(f.Schema)
		return judged.err == nil && judged.schema.Check(value) == nil
	}
	f.Required = false
	_, refused := registry.CheckValue(f, value)
	kind := map[registry.InputType]string{registry.TypeString: "string", registry.TypeNumber: "number", registry.TypeBoolean: "boolean"}[f.Type]
	return refused == nil && (f.Multiple || value == "" || typeOfValue(value) == kind)
}

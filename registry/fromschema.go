package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/decimal"
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
// InputSchema.JSONSchema. References, null beside something else, lists of single values and choices with titles are read as what
// people take them for. A property that says more than an input can, such as a pattern or nested values, keeps its schema in the
// input. What the object says as a whole is for Schema.Check.
func SchemaInputs(raw json.RawMessage) (InputSchema, error) {
	v, err := ordered.Parse(raw)
	if err != nil {
		return nil, err
	}
	d := &drawing{left: maxSchema}
	d.root, _ = v.(*ordered.Object)
	o := object{properties: new(ordered.Object), required: map[string]bool{}}
	if !d.collect(&o, d.root, 0) {
		return nil, fmt.Errorf(`it is not the schema of an object: it needs "type": "object"`)
	}
	inputs := InputSchema{}
	for _, m := range o.properties.Members() {
		property, _ := m.Value.(*ordered.Object)
		inputs = append(inputs, d.field(strings.Clone(m.Name), property, o.required[m.Name]))
	}
	return inputs, nil
}

// drawing draws inputs from the schema root, where references lead.
type drawing struct {
	root *ordered.Object
	left int // of the schemas that an object may be made of
}

// object is what the schema of an object says of its members.
type object struct {
	properties *ordered.Object
	required   map[string]bool
}

// maxChain bounds how far references and schemas around schemas are followed.
const maxChain = 20

// collect adds the members of an object's schema: its own, those of all that it is made of, and those of its alternatives, of which
// only what all need is needed. It gives false where the schema is no object's.
func (d *drawing) collect(o *object, s *ordered.Object, depth int) bool {
	if d.left--; d.left < 0 || depth > maxChain || s == nil {
		return false
	}
	s = d.simple(s)
	is := s.Get("type") == "object" || !s.Has("type") && s.Has("properties")
	if s.Has("type") && !is {
		return false
	}
	for _, m := range s.Object("properties").Members() {
		if !o.properties.Has(m.Name) {
			o.properties.Add(m.Name, m.Value)
		}
	}
	for _, name := range s.List("required") {
		if text, isText := name.(string); isText {
			o.required[text] = true
		}
	}
	for _, part := range s.List("allOf") {
		one, _ := part.(*ordered.Object)
		is = d.collect(o, one, depth+1) || is
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var all map[string]bool
		for _, part := range s.List(key) {
			one, _ := part.(*ordered.Object)
			branch := object{o.properties, map[string]bool{}}
			is = d.collect(&branch, one, depth+1) || is
			if all == nil {
				all = branch.required
			}
			maps.DeleteFunc(all, func(name string, _ bool) bool { return !branch.required[name] })
		}
		maps.Copy(o.required, all)
	}
	return is
}

// simple follows a reference and takes off what adds nothing: a combination of one schema, and null beside one.
func (d *drawing) simple(s *ordered.Object) *ordered.Object {
	for range maxChain {
		inner := d.inner(s)
		if inner == nil {
			break
		}
		s = around(inner, s, wrappers...)
	}
	kinds := s.List("type")
	if kinds = slices.DeleteFunc(slices.Clone(kinds), func(k any) bool { return k == "null" }); len(kinds) == 1 {
		s = ordered.Of(slices.Clone(s.Members())...)
		s.Set("type", kinds[0])
	}
	return s
}

var wrappers = []string{"$ref", "allOf", "anyOf", "oneOf"}

// pointed is what a reference within the root leads to; nil where that is no schema.
func (d *drawing) pointed(ref string) *ordered.Object {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	var at any = d.root
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := at.(type) {
		case *ordered.Object:
			at = in.Get(step)
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in) {
				return nil
			}
			at = in[n]
		}
	}
	found, _ := at.(*ordered.Object)
	return found
}

// inner is the schema that s is by way of one of the wrappers; nil where s says something by itself.
func (d *drawing) inner(s *ordered.Object) *ordered.Object {
	if ref := s.Text("$ref"); ref != "" {
		return d.pointed(ref)
	}
	if s.Has("properties") {
		return nil
	}
	for _, key := range wrappers[1:] {
		list := s.List(key)
		rest := list
		if key != "allOf" {
			rest = slices.DeleteFunc(slices.Clone(list), func(one any) bool { o, _ := one.(*ordered.Object); return o.Text("type") == "null" })
		}
		if len(rest) == 1 && !slices.ContainsFunc(wrappers, func(other string) bool { return other != key && s.Has(other) }) {
			only, _ := rest[0].(*ordered.Object)
			return only
		}
	}
	return nil
}

// judging are the keywords that judge the values of a type. Others say nothing about it.
var judging = map[string][]string{
	"string":  {"enum", "const", "minLength", "maxLength", "pattern", "format"},
	"number":  {"enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"integer": {"enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"boolean": {"enum", "const"},
	"array":   {"items", "minItems", "maxItems", "uniqueItems", "contains", "prefixItems", "unevaluatedItems", "enum", "const"},
}

// combining are the keywords that judge values of any type.
var combining = []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if"}

// field draws one input.
func (d *drawing) field(name string, property *ordered.Object, required bool) InputField {
	s := d.simple(property)
	f := InputField{Name: name, Type: TypeString, Required: required, Description: textOf(s, "description"), DisplayName: textOf(s, "title")}
	f.Default = ordered.Plain(s.Get("default"))
	var more []string // what it says and the input has not said yet
	for _, m := range s.Members() {
		if slices.Contains(combining, m.Name) || slices.Contains(judging[typeOf(s)], m.Name) {
			more = append(more, m.Name)
		}
	}
	plain := func(keywords ...string) {
		more = slices.DeleteFunc(more, func(k string) bool { return slices.Contains(keywords, k) })
	}
	switch kind := typeOf(s); kind {
	case "string":
		if n, err := s.Number("maxLength").Int64(); err == nil {
			f.Multiline = n > longText
			if n >= MaxTextBytes {
				plain("maxLength")
			}
		}
		if n := s.Number("minLength"); n == "0" || n == "1" && required {
			plain("minLength")
		}
	case "number", "integer":
		f.Type, f.Integer = TypeNumber, kind == "integer"
		d.numbers(&f, s, plain)
	case "boolean":
		f.Type = TypeBoolean
	case "array":
		if d.list(&f, s, plain) {
			break
		}
		fallthrough
	default:
		more = []string{"type"}
	}
	if choices := choicesOf(s); len(choices) > 0 && !f.Multiple && f.Type != TypeBoolean {
		f.Choices, f.Multiline = choices, false
		plain("enum", "const", "oneOf", "anyOf")
	}
	if s.Has("const") && f.Default == nil && required {
		f.Default = ordered.Plain(s.Get("const"))
	}
	switch {
	case f.Multiple && len(more) > 0:
		f.Schema = d.alone(s)
	case len(more) > 0 || !f.Multiple && !required && d.clears(property):
		f.Schema = d.alone(property)
	}
	return f
}

const longText = 300 // characters; a text that may be longer gets several lines

// clears reports whether null is a value of an optional property that is not the same as none: no default says so.
func (d *drawing) clears(property *ordered.Object) bool {
	null := slices.Contains(property.List("type"), any("null"))
	for _, key := range []string{"anyOf", "oneOf"} {
		null = null || slices.ContainsFunc(property.List(key), func(one any) bool { o, _ := one.(*ordered.Object); return o.Text("type") == "null" })
	}
	return null && !property.Has("default")
}

// numbers takes bounds and steps, as far as an input has them.
func (d *drawing) numbers(f *InputField, s *ordered.Object, plain func(...string)) {
	f.Min, f.Max = s.Number("minimum"), s.Number("maximum")
	plain("minimum", "maximum")
	if !f.Integer {
		return
	}
	for _, bound := range []struct {
		keyword string
		into    *json.Number
		by      int64
	}{{"exclusiveMinimum", &f.Min, 1}, {"exclusiveMaximum", &f.Max, -1}} {
		if n, err := s.Number(bound.keyword).Int64(); err == nil && *bound.into == "" && n > -1<<53 && n < 1<<53 {
			*bound.into = json.Number(strconv.FormatInt(n+bound.by, 10))
			plain(bound.keyword)
		}
	}
}

// list makes of a list of single values an input that takes several of them, and gives false for any other.
func (d *drawing) list(f *InputField, s *ordered.Object, plain func(...string)) bool {
	items, _ := s.Get("items").(*ordered.Object)
	if slices.ContainsFunc([]string{"contains", "prefixItems", "enum", "const"}, s.Has) || items == nil {
		return false
	}
	kind := typeOf(d.simple(items))
	if _, known := judging[kind]; !known || kind == "array" {
		return false
	}
	one := d.field(f.Name, items, f.Required)
	f.Type, f.Integer, f.Min, f.Max, f.Choices, f.Multiple = one.Type, one.Integer, one.Min, one.Max, one.Choices, true
	f.Description = cmp.Or(f.Description, one.Description)
	if len(one.Schema) == 0 {
		plain("items")
	}
	if s.Number("minItems") == "0" || s.Number("minItems") == "1" && f.Required {
		plain("minItems")
	}
	if n, err := s.Number("maxItems").Int64(); err == nil && n >= MaxListLength {
		plain("maxItems")
	}
	if s.Get("uniqueItems") == false {
		plain("uniqueItems")
	}
	return true
}

// typeOf is the type of a schema: the one it names, or that of all its values; else "".
func typeOf(s *ordered.Object) string {
	if kind := s.Text("type"); kind != "" || s.Has("type") {
		return kind
	}
	kind := ""
	for i, c := range choicesOf(s) {
		one := map[bool]string{true: "string"}[isString(c.Value)]
		if _, isNumber := c.Value.(json.Number); isNumber {
			one = "number"
		}
		if i > 0 && one != kind {
			return ""
		}
		kind = one
	}
	return kind
}

func isString(v any) bool { _, is := v.(string); return is }

// choicesOf are the values that a schema lists, in whichever form; nil where it lists none, or says more of them.
func choicesOf(s *ordered.Object) []Choice {
	var choices []Choice
	add := func(v any, label string) {
		if value := ordered.Plain(v); value != nil && !slices.ContainsFunc(choices, func(c Choice) bool { return SameValue(c.Value, value) }) {
			choices = append(choices, Choice{Value: value, Label: strings.Clone(label)})
		}
	}
	values, names := s.List("enum"), s.List("enumNames")
	if s.Has("const") {
		values = []any{s.Get("const")}
	}
	for i, v := range values {
		label := ""
		if len(names) == len(values) {
			label, _ = names[i].(string)
		}
		add(v, label)
	}
	if len(values) > 0 {
		return choices
	}
	for _, one := range slices.Concat(s.List("oneOf"), s.List("anyOf")) {
		o, _ := one.(*ordered.Object)
		switch {
		case o.Text("type") == "null":
		case o.Has("const"):
			label := textOf(o, "title")
			if text, isText := o.Get("const").(string); isText && label == "" {
				label = strings.Clone(text)
			}
			add(o.Get("const"), label)
		default:
			return nil // says more than a choice can
		}
	}
	return choices
}

func textOf(o *ordered.Object, name string) string {
	text, _ := o.Get(name).(string)
	return strings.Clone(text)
}

// maxSchema bounds the nodes of one property's schema: references written out can multiply.
const maxSchema = 5000

// alone is a property's schema by itself: what it refers to is written out, so that it stands in any document.
func (d *drawing) alone(property *ordered.Object) json.RawMessage {
	left := maxSchema
	written := ordered.Of(slices.Clone(d.written(property, &left, nil).(*ordered.Object).Members())...)
	if d.root.Has("$schema") && !property.Has("$schema") {
		written.Add("$schema", d.root.Get("$schema"))
	}
	return json.RawMessage(ordered.Compact(written))
}

// written is a schema with its references written out. One that leads back into itself, and what is beyond the bound, is any value.
func (d *drawing) written(v any, left *int, within []string) any {
	if *left--; *left < 0 {
		return new(ordered.Object)
	}
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = d.written(one, left, within)
		}
		return list
	case *ordered.Object:
		if ref := v.Text("$ref"); ref != "" {
			found := d.pointed(ref)
			if found != nil {
				if slices.Contains(within, ref) {
					return new(ordered.Object)
				}
				return d.written(around(found, v, "$ref"), left, append(slices.Clone(within), ref))
			}
		}
		o := new(ordered.Object)
		for _, m := range v.Members() {
			switch m.Name {
			case "$defs", "definitions":
			case "enum", "const", "default", "examples":
				o.Add(m.Name, m.Value)
			default:
				o.Add(m.Name, d.written(m.Value, left, within))
			}
		}
		return o
	}
	return v
}

// around is a schema with what stands beside the members that led to it.
func around(inner, outer *ordered.Object, without ...string) *ordered.Object {
	merged := ordered.Of(slices.Clone(inner.Members())...)
	for _, m := range outer.Members() {
		if !slices.Contains(without, m.Name) {
			merged.Set(m.Name, m.Value)
		}
	}
	return merged
}

// CanonicalJSON writes a JSON value in the one form in which equal values are equal bytes: keys sorted, no
// blanks, numbers digit by digit as they came.
func CanonicalJSON(v any) ([]byte, error) {
	raw, err := ordered.Marshal(v)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := decimal.Unmarshal(raw, &plain); err != nil {
		return nil, err
	}
	return ordered.Marshal(plain)
}

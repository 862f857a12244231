package openapi

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// maxSchema bounds the nodes of one input's schema: references written out can multiply.
const maxSchema = 5000

// maxAnswer bounds the nodes of an answer's schema, which models read with the list of all tools.
const maxAnswer = 100

// inliner writes a schema of the document out as JSON Schema 2020-12 that stands alone.
type inliner struct {
	doc   *document
	left  int
	loose bool     // see shape
	stack []string // the references that are being written out
	note  func(format string, args ...any)
}

// inline gives the schema with its references written out. One that leads back into itself, and what is beyond
// the bound, becomes true: any value.
func (w *inliner) inline(v any) any {
	o, isObject := v.(*ordered.Object)
	if w.left--; !isObject || o == nil || w.left < 0 {
		if allowed, isBool := v.(bool); isBool {
			return allowed
		}
		return true
	}
	if ref := o.Text("$ref"); ref != "" {
		if w.loose { // what all kinds have in common says enough of an answer
			ref = strings.TrimSuffix(ref, kindsOf)
		}
		if more := w.doc.besides(o); more != nil {
			return w.inline(more)
		}
		if slices.Contains(w.stack, ref) || len(w.stack) > ordered.MaxDepth {
			return true
		}
		w.stack = append(w.stack, ref)
		defer func() { w.stack = w.stack[:len(w.stack)-1] }()
		return w.inline(w.doc.pointed(ref))
	}
	written := &ordered.Object{}
	for _, m := range o.Members() {
		if !w.loose && (m.Name == "oneOf" || m.Name == "anyOf") {
			m.Value = discriminated(o, m.Value)
		}
		if w.loose {
			w.shape(written, m)
		} else {
			w.keyword(written, m)
		}
	}
	if w.loose {
		return written
	}
	modernise(written, o)
	w.withoutReadOnly(written, o)
	return written
}

// shape writes what a keyword says of an answer's members and their types. Services live well with documents that promise more than
// their answers keep: which members there are always, null, bounds and choices are not judged.
func (w *inliner) shape(into *ordered.Object, m ordered.Member) {
	switch m.Name {
	case "properties", "items", "allOf", "anyOf":
		w.keyword(into, m)
	case "oneOf":
		w.keyword(into, ordered.Member{Name: "anyOf", Value: m.Value})
	case "type":
		kinds, isList := m.Value.([]any)
		if !isList {
			kinds = []any{m.Value}
		}
		if !slices.Contains(kinds, any("null")) {
			kinds = append(slices.Clone(kinds), "null")
		}
		into.Set(m.Name, kinds)
	}
}

// answerSchema is the schema of an answer in JSON; nil where the document says nothing of its shape.
func (d *document) answerSchema(v any) json.RawMessage {
	lost := d.lost
	defer func() { d.lost = lost }() // a reference that leads nowhere costs a description, not the operation
	w := inliner{doc: d, left: maxAnswer, loose: true}
	v = mere(v)
	written, isObject := w.inline(v).(*ordered.Object)
	if !isObject || len(written.Members()) == 0 {
		return nil
	}
	if s, _ := d.open(v); s.Text("type") == "object" {
		written.Set("type", "object")
	}
	raw, err := json.Marshal(written)
	if err != nil || d.compiled(raw).err != nil {
		return nil
	}
	return raw
}

// keyword writes one keyword. What says nothing about which values are right is left out.
func (w *inliner) keyword(into *ordered.Object, m ordered.Member) {
	switch m.Name {
	case "properties", "patternProperties", "dependentSchemas":
		schemas := &ordered.Object{}
		named, _ := m.Value.(*ordered.Object)
		for _, one := range named.Members() {
			schemas.Set(one.Name, w.inline(one.Value))
		}
		into.Set(m.Name, schemas)
	case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		into.Set(m.Name, w.inline(m.Value))
	case "allOf", "anyOf", "oneOf", "prefixItems":
		list, _ := m.Value.([]any)
		schemas := make([]any, len(list))
		for i, one := range list {
			schemas[i] = w.inline(one)
		}
		into.Set(m.Name, schemas)
	case "pattern":
		text, _ := m.Value.(string)
		if _, err := regexp.Compile(text); err != nil {
			w.note("the pattern %.60q can't be used here and is not checked", text)
			return
		}
		into.Set(m.Name, text)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties":
		if text, isText := m.Value.(string); isText { // of YAML, whose numbers have no end
			w.note("its %s is the text %.60q and is not checked", m.Name, text)
			return
		}
		into.Set(m.Name, m.Value)
	case "type", "enum", "const",
		"uniqueItems", "required", "dependentRequired",
		"title", "description", "default", "format":
		into.Set(m.Name, m.Value)
	}
}

// modernise turns what OpenAPI 3.0 says, and documents that call themselves 3.1 say too, into JSON Schema.
func modernise(written, o *ordered.Object) {
	if kind := o.Text("type"); o.Bool("nullable") && kind != "" {
		written.Set("type", []any{kind, "null"})
		if values := o.List("enum"); values != nil && !slices.Contains(values, nil) {
			written.Set("enum", append(slices.Clone(values), nil))
		}
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		is, isBool := o.Get(exclusive).(bool)
		switch {
		case isBool && is && o.Has(bound):
			written.Set(exclusive, o.Get(bound))
		case isBool:
			written.Drop(exclusive)
		}
	}
}

// withoutReadOnly leaves out members that only the service sets.
func (w *inliner) withoutReadOnly(written, o *ordered.Object) {
	properties, isObject := written.Get("properties").(*ordered.Object)
	if !isObject {
		return
	}
	var needed []any
	for _, name := range o.List("required") {
		key, _ := name.(string)
		if !w.doc.isReadOnly(o.Object("properties").Get(key)) {
			needed = append(needed, name)
		}
	}
	for _, p := range o.Object("properties").Members() {
		if w.doc.isReadOnly(p.Value) {
			properties.Drop(p.Name)
		}
	}
	written.Drop("required")
	if len(needed) > 0 {
		written.Set("required", needed)
	}
}

func (d *document) isReadOnly(schema any) bool {
	own, _ := schema.(*ordered.Object)
	o, _ := d.open(schema)
	return own.Bool("readOnly") || o.Bool("readOnly")
}

// typeOf is the type of a schema: the one it names beside null, or that of its values, or "".
func typeOf(s *ordered.Object) string {
	switch kind := s.Get("type").(type) {
	case string:
		return kind
	case []any:
		named := slices.DeleteFunc(slices.Clone(kind), func(k any) bool { return k == "null" })
		if len(named) == 1 {
			only, _ := named[0].(string)
			return only
		}
		return ""
	}
	values := s.List("enum")
	if s.Has("const") {
		values = []any{s.Get("const")}
	}
	if len(values) == 0 {
		return ""
	}
	kind := ""
	for _, v := range values {
		if one := typeOfValue(v); v != nil && kind != "" && one != kind {
			return ""
		} else if v != nil {
			kind = one
		}
	}
	return kind
}

func typeOfValue(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	}
	return ""
}

// describing are keywords that say nothing of which values are right.
var describing = []string{"$ref", "$comment", "summary", "title", "description", "example", "examples", "deprecated", "readOnly", "writeOnly", "externalDocs", "xml", "nullable"}

// besides writes a reference that has keywords of its own beside it as a schema that applies both; nil where there are none. Before 3.1
// what stands beside a reference means nothing.
func (d *document) besides(o *ordered.Object) *ordered.Object {
	if o.Len() < 2 || !o.Has("$ref") || strings.HasPrefix(d.root.Text("openapi"), "3.0") {
		return nil
	}
	rest := &ordered.Object{}
	for _, m := range o.Members() {
		if !slices.Contains(describing, m.Name) && !strings.HasPrefix(m.Name, "x-") {
			rest.Set(m.Name, m.Value)
		}
	}
	if rest.Len() == 0 {
		return nil
	}
	rest.Set("allOf", append([]any{ordered.Of(ordered.Member{Name: "$ref", Value: o.Get("$ref")})}, rest.List("allOf")...))
	return rest
}

// discriminated has each case say by which word it is named, where the document has a discriminator: cases that are alike but for
// the word can't be told apart otherwise.
func discriminated(o *ordered.Object, v any) any {
	about := o.Object("discriminator")
	name, cases := about.Text("propertyName"), o.List("oneOf")
	if cases == nil {
		cases = o.List("anyOf")
	}
	if name == "" || cases == nil {
		return v
	}
	told := make([]any, len(cases))
	for i, one := range cases {
		schema, _ := one.(*ordered.Object)
		ref := schema.Text("$ref")
		if ref == "" {
			return v
		}
		var named []any
		implicit := ref[strings.LastIndexAny(ref, "/#")+1:]
		for _, m := range about.Object("mapping").Members() {
			if to, _ := m.Value.(string); to == ref || to == implicit || strings.HasSuffix(to, "/"+implicit) {
				named = append(named, m.Name)
			}
		}
		if named == nil {
			named = []any{implicit}
		}
		word := ordered.Of(ordered.Member{Name: "type", Value: "object"}, ordered.Member{Name: "required", Value: []any{name}},
			ordered.Member{Name: "properties", Value: ordered.Of(ordered.Member{Name: name, Value: ordered.Of(ordered.Member{Name: "enum", Value: named})})})
		told[i] = ordered.Of(ordered.Member{Name: "allOf", Value: []any{one, word}})
	}
	return told
}

// simple opens a schema and takes off what adds nothing: an allOf of one, an anyOf of something and null.
func (d *document) simple(v any) *ordered.Object {
	if o, _ := v.(*ordered.Object); d.besides(o) != nil {
		v = d.besides(o)
	}
	s, _ := d.open(v)
	for range maxChain {
		inner, wrapped := lone(s)
		if !wrapped {
			return s
		}
		next, _ := d.open(inner)
		merged := &ordered.Object{}
		for _, m := range next.Members() {
			merged.Set(m.Name, m.Value)
		}
		for _, m := range s.Members() {
			if m.Name != "allOf" && m.Name != "anyOf" && m.Name != "oneOf" {
				merged.Set(m.Name, m.Value)
			}
		}
		s = merged
	}
	return nil
}

// lone gives the only schema that means something in a combination of them.
func lone(s *ordered.Object) (any, bool) {
	if all := s.List("allOf"); len(all) == 1 && !s.Has("properties") {
		return all[0], true
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		rest := slices.DeleteFunc(slices.Clone(s.List(key)), func(one any) bool {
			o, _ := one.(*ordered.Object)
			return o.Text("type") == "null"
		})
		if len(rest) == 1 && len(s.List(key)) == 2 {
			return rest[0], true
		}
	}
	return nil, false
}

// properties lists an object schema's members as one flat list, those of allOf included. It gives false
// where the schema is no object with named members.
func (d *document) properties(v any) ([]property, bool) {
	left := maxSchema
	found, ok := d.merged(v, &left)
	s := d.simple(v)
	free := typeOf(s) != "object" || s.Has("additionalProperties") || s.Has("patternProperties")
	return found, ok && (len(found) > 0 || !free)
}

func (d *document) merged(v any, left *int) ([]property, bool) {
	s := d.simple(v)
	if *left--; *left < 0 || s == nil || s.Has("anyOf") || s.Has("oneOf") || (typeOf(s) != "object" && typeOf(s) != "") {
		return nil, false
	}
	var found []property
	for _, part := range s.List("allOf") {
		more, ok := d.merged(part, left)
		if !ok {
			return nil, false
		}
		for _, p := range more {
			found = withProperty(found, p)
		}
	}
	for _, p := range s.Object("properties").Members() {
		if !d.isReadOnly(p.Value) {
			found = withProperty(found, property{name: p.Name, schema: p.Value})
		}
	}
	for i, p := range found {
		found[i].required = p.required || slices.Contains(s.List("required"), any(p.name))
	}
	return found, true
}

// withProperty adds a property, or puts it in the place of the one of that name.
func withProperty(list []property, p property) []property {
	i := slices.IndexFunc(list, func(o property) bool { return o.name == p.name })
	if i < 0 {
		return append(list, p)
	}
	p.required = p.required || list[i].required
	list[i] = p
	return list
}

type property struct {
	name     string
	schema   any
	required bool
}

// sentence is the first line of a text, for names.
func sentence(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(strings.TrimSpace(line), ".")
}

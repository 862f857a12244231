package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/said"
)

// DecodeTool reads one ToolDefinition strictly: unknown and repeated keys and values of another type
// are errors that name the tool and the field. It does not judge the content, see package validate.
// The error is of type Problems, or tells where the text is no JSON.
func DecodeTool(data []byte) (Tool, error) {
	v, err := ordered.Parse(data)
	return decodeTool(v, err, decoder{})
}

// DecodeToolText is DecodeTool of a text that is kept anyway: the tool's strings share its memory.
func DecodeToolText(text string) (Tool, error) {
	v, err := ordered.ParseText(text)
	return decodeTool(v, err, decoder{})
}

// DecodeStoredTool is DecodeTool of what a program of this house wrote, perhaps one of a later version beside this one: keys that
// this version does not know are passed over.
func DecodeStoredTool(data []byte) (Tool, error) {
	v, err := ordered.Parse(data)
	return decodeTool(v, err, decoder{stored: true})
}

func decodeTool(v any, err error, d decoder) (Tool, error) {
	if err != nil {
		return Tool{}, err
	}
	t := d.tool(v, "definition")
	return t, d.problems.Err()
}

// DecodeTools reads an object, an array of objects or {"tools": [...]}, each object as DecodeTool
// does. Beside an error of type Problems it returns the tools that were good, in the text's order.
func DecodeTools(data []byte) ([]Tool, error) {
	v, err := ordered.Parse(data)
	if err != nil {
		return nil, err
	}
	var d decoder
	tools := d.document(v)
	return tools, d.problems.Err()
}

// UnmarshalJSON decodes as DecodeTool does.
func (t *Tool) UnmarshalJSON(data []byte) error {
	decoded, err := DecodeTool(data)
	if err != nil {
		return err
	}
	*t = decoded
	return nil
}

// UnmarshalJSON reads an object and keeps its order.
func (s *InputSchema) UnmarshalJSON(data []byte) error {
	return unmarshal(data, s, "inputSchema", decoder{})
}

// UnmarshalJSON reads an object and keeps its order.
func (s *OutputSchema) UnmarshalJSON(data []byte) error {
	return unmarshal(data, s, "outputSchema", decoder{})
}

// UnmarshalJSON reads one input; numbers inside stay json.Number.
func (f *InputField) UnmarshalJSON(data []byte) error { return unmarshal(data, f, "", decoder{}) }

// UnmarshalJSON reads the bare value or {"value": ..., "label": ...}.
func (c *Choice) UnmarshalJSON(data []byte) error { return unmarshal(data, c, "choice", decoder{}) }

// UnmarshalJSON reads a question that a program of this house wrote, as DecodeStoredTool does a tool.
func (q *Question) UnmarshalJSON(data []byte) error {
	return unmarshal(data, q, "question", decoder{stored: true})
}

func unmarshal[T any](data []byte, to *T, path string, d decoder) error {
	v, err := ordered.Parse(data)
	if err != nil {
		return err
	}
	d.value(v, reflect.ValueOf(to).Elem(), path)
	return d.problems.Err()
}

// decoder collects what is wrong while it reads one document.
type decoder struct {
	stored   bool // unknown keys are a later version's
	toolID   string
	problems Problems
	structs  map[reflect.Type][]structMember // of those met so far: finding out is dear, and a tool has many inputs
}

// structMember is a field of a struct that has a name in JSON.
type structMember struct {
	name  string
	index []int
}

// members are those of a struct.
func (d *decoder) members(of reflect.Type) []structMember {
	list, known := d.structs[of]
	if known {
		return list
	}
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			list = append(list, structMember{name, f.Index})
		}
	}
	if d.structs == nil {
		d.structs = map[reflect.Type][]structMember{}
	}
	d.structs[of] = list
	return list
}

// selfDecoder is a type whose JSON is not what its Go type says.
type selfDecoder interface {
	decode(d *decoder, v any, path string)
}

func (d *decoder) bad(field, format string, args ...any) {
	d.problems = append(d.problems, Problem{ToolID: d.toolID, Field: field, Message: fmt.Sprintf(format, args...)})
}

// wrong reports a value of another kind than wanted.
func (d *decoder) wrong(path, want string, v any) {
	d.bad(path, "must be of type %s, found %s", want, excerpt(v))
}

func (d *decoder) document(v any) []Tool {
	if list, is := v.([]any); is {
		return d.tools(list)
	}
	o, _ := v.(*ordered.Object)
	if !o.Has("tools") {
		return d.tools([]any{v})
	}
	for _, m := range o.Members() {
		if m.Name != "tools" {
			d.bad(m.Name, "unknown key%s", didYouMean(m.Name, []string{"tools"}))
		}
	}
	list, is := o.Get("tools").([]any)
	if !is && o.Get("tools") != nil {
		d.wrong("tools", "array", o.Get("tools"))
	}
	return d.tools(list)
}

func (d *decoder) tools(items []any) []Tool {
	tools := make([]Tool, 0, len(items))
	seen := make(map[string]Tool, len(items))
	for i, item := range items {
		before := len(d.problems)
		t := d.tool(item, "tool "+strconv.Itoa(i+1))
		if first, taken := seen[t.ToolID]; taken && t.ToolID != "" {
			if len(d.problems) == before && first.Equal(&t) {
				continue // a copy that says the same is no mistake (A4)
			}
			d.bad("toolId", "appears twice in one document; the first one counts")
		} else {
			seen[t.ToolID] = t
		}
		if len(d.problems) == before {
			tools = append(tools, t)
		}
	}
	d.toolID = ""
	return tools
}

// tool reads one definition; without an id it is called by its place in the messages.
func (d *decoder) tool(v any, place string) (t Tool) {
	d.toolID = place
	o, _ := v.(*ordered.Object)
	if id, _ := o.Get("toolId").(string); id != "" {
		d.toolID = id
	}
	if repeats(v) {
		d.refuseRepeated(v, "")
	}
	d.fields(v, reflect.ValueOf(&t).Elem(), "")
	return t
}

// repeats reports whether there is a key twice in some object.
func repeats(v any) bool {
	switch v := v.(type) {
	case *ordered.Object:
		return v.Repeats() || slices.ContainsFunc(v.Members(), func(m ordered.Member) bool { return repeats(m.Value) })
	case []any:
		return slices.ContainsFunc(v, repeats)
	}
	return false
}

// refuseRepeated looks through the whole definition, free-form parts too: of two equal keys one
// would silently be lost.
func (d *decoder) refuseRepeated(v any, path string) {
	switch v := v.(type) {
	case *ordered.Object:
		seen := make(map[string]bool, v.Len())
		for _, m := range v.Members() {
			at := joinPath(path, m.Name)
			if seen[m.Name] {
				d.bad(at, "the key appears twice")
			}
			seen[m.Name] = true
			d.refuseRepeated(m.Value, at)
		}
	case []any:
		for i, item := range v {
			d.refuseRepeated(item, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

// value reads v into to, by to's type.
func (d *decoder) value(v any, to reflect.Value, path string) {
	if own, is := to.Addr().Interface().(selfDecoder); is {
		own.decode(d, v, path)
		return
	}
	if text, is := to.Addr().Interface().(*said.Text); is {
		if err := text.UnmarshalJSON([]byte(ordered.Compact(v))); err != nil {
			d.bad(path, "%v", err)
		}
		return
	}
	switch to.Kind() {
	case reflect.Struct:
		d.fields(v, to, path)
	case reflect.Pointer:
		if _, is := v.(*ordered.Object); !is {
			d.wrong(path, "object", v)
			return
		}
		to.Set(reflect.New(to.Type().Elem()))
		d.value(v, to.Elem(), path)
	case reflect.Slice:
		d.list(v, to, path)
	case reflect.Map:
		d.byName(v, to, path)
	case reflect.Interface:
		if plain := ordered.Plain(v); plain != nil {
			to.Set(reflect.ValueOf(plain))
		}
	default:
		d.single(v, to, path)
	}
}

// single reads a value that holds no others.
func (d *decoder) single(v any, to reflect.Value, path string) {
	want := "string"
	switch number, isNumber := v.(json.Number); {
	case to.Type() == reflect.TypeFor[json.Number]():
		if want = "number"; isNumber {
			to.SetString(strings.Clone(string(number)))
			return
		}
	case to.Kind() == reflect.String:
		if text, is := v.(string); is {
			to.SetString(strings.Clone(text))
			return
		}
	case to.Kind() == reflect.Bool:
		want = "boolean"
		if truth, is := v.(bool); is {
			to.SetBool(truth)
			return
		}
	default: // int and int64
		if want = "number"; isNumber {
			i, err := strconv.ParseInt(string(number), 10, to.Type().Bits())
			if err != nil {
				d.bad(path, "must be a whole number, found %s", number)
			}
			to.SetInt(i)
			return
		}
	}
	d.wrong(path, want, v)
}

func (d *decoder) list(v any, to reflect.Value, path string) {
	if to.Type() == reflect.TypeFor[json.RawMessage]() {
		to.SetBytes([]byte(ordered.Compact(v)))
		return
	}
	items, is := v.([]any)
	if !is {
		d.wrong(path, "array", v)
	}
	if len(items) == 0 {
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(item, to.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
}

func (d *decoder) byName(v any, to reflect.Value, path string) {
	o, is := v.(*ordered.Object)
	if !is {
		d.wrong(path, "object", v)
		return
	}
	if plain, is := to.Addr().Interface().(*map[string]any); is {
		*plain, _ = ordered.Plain(o).(map[string]any)
		return
	}
	if o.Len() == 0 {
		return
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), o.Len()))
	for _, m := range o.Members() {
		one := reflect.New(to.Type().Elem()).Elem()
		d.value(m.Value, one, joinPath(path, m.Name))
		to.SetMapIndex(reflect.ValueOf(m.Name), one)
	}
}

// fields reads an object into the fields of a struct by their JSON names. Absent and null members leave them as they are.
func (d *decoder) fields(v any, to reflect.Value, path string) {
	o, is := v.(*ordered.Object)
	if !is {
		d.bad(path, "must be an object, found %s", kindOf(v))
		return
	}
	members := d.members(to.Type())
	for _, f := range members {
		if member := o.Get(f.name); member != nil {
			d.value(member, to.FieldByIndex(f.index), joinPath(path, f.name))
		}
	}
	for _, m := range o.Members() {
		if d.stored || slices.ContainsFunc(members, func(f structMember) bool { return f.name == m.Name }) {
			continue
		}
		var known []string
		for _, f := range members {
			known = append(known, f.name)
		}
		d.bad(joinPath(path, m.Name), "unknown key%s", didYouMean(m.Name, known))
	}
}

func (s *InputSchema) decode(d *decoder, v any, path string) {
	*s = fieldsByName(d, v, path, "inputs", func(f *InputField) *string { return &f.Name })
}

func (s *OutputSchema) decode(d *decoder, v any, path string) {
	*s = fieldsByName(d, v, path, "outputs", func(f *OutputField) *string { return &f.Name })
}

// fieldsByName reads an object whose members are fields in the order that counts. A field may leave its name to its key.
func fieldsByName[F any](d *decoder, v any, path, what string, name func(*F) *string) []F {
	o, is := v.(*ordered.Object)
	if !is {
		d.bad(path, "must be an object of %s by name, found %s", what, kindOf(v))
	}
	list := make([]F, o.Len())
	for i, m := range o.Members() {
		at, own := joinPath(path, m.Name), name(&list[i])
		*own = strings.Clone(m.Name)
		d.value(m.Value, reflect.ValueOf(&list[i]).Elem(), at)
		if *own != m.Name {
			d.bad(joinPath(at, "name"), "is %q but its key in the schema is %q; they must be equal", *own, m.Name)
		}
	}
	return list
}

// decode reads a bare value, or an object as the labelled form.
func (c *Choice) decode(d *decoder, v any, path string) {
	o, is := v.(*ordered.Object)
	if !is {
		c.Value = ordered.Plain(v)
		return
	}
	if !o.Has("value") {
		d.bad(path, `a choice is a bare value or {"value": ..., "label": "..."}; value is missing`)
	}
	var labelled struct {
		Value any    `json:"value"`
		Label string `json:"label"`
	}
	d.value(v, reflect.ValueOf(&labelled).Elem(), path)
	c.Value, c.Label = labelled.Value, labelled.Label
}

// decode takes also the older form {"rateSource": "static", "staticCost": {"amount": n, "unit": u}} as rate and unit (A89).
func (m *CostingModel) decode(d *decoder, v any, path string) {
	var form struct {
		CostingModel
		Static *struct {
			Amount json.Number `json:"amount"`
			Unit   CostUnit    `json:"unit"`
		} `json:"staticCost"`
	}
	d.fields(v, reflect.ValueOf(&form).Elem(), path)
	*m = form.CostingModel
	if form.Static == nil {
		return
	}
	if m.Rate != "" || m.Unit != "" {
		d.bad(joinPath(path, "staticCost"), "cannot stand beside rate and unit; keep one of the two forms")
	}
	m.Rate, m.Unit = form.Static.Amount, form.Static.Unit
	switch m.Unit {
	case "", "run", "image", "generation", "fixed":
		m.Unit = UnitRequest
	}
	m.RateSource = cmp.Or(m.RateSource, RateStatic)
}

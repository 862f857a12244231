package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// ObjectInfo holds the node declarations of one server, as GET /object_info gives them. It is not
// modified after ParseObjectInfo and may be shared.
type ObjectInfo struct {
	classes map[string]*ClassInfo
}

// ClassInfo declares one node class.
type ClassInfo struct {
	Name, DisplayName, Description, Category string
	Module                                   string      // python_module, e.g. "custom_nodes.ComfyUI-KJNodes"
	Inputs                                   []InputSpec // required ones first, in the order of the declaration
	Outputs                                  []string    // types
	OutputNames                              []string
	OutputNode                               bool        // its result is a result of the workflow
	APINode                                  bool        // calls a paid service
	GivesLists                               bool        // what follows runs once for each item
	Price                                    *PriceBadge // nil where none is declared
}

// PriceBadge is the price of a partner's node as its class declares it: an expression in JSONata.
type PriceBadge struct {
	Expression string
	Widgets    []BadgeWidget // whose values it knows
	Inputs     []string      // of which it knows whether they are connected
	Groups     []string      // of inputs that repeat, of which it knows how many are connected
}

// BadgeWidget is a widget that an expression knows, "model.duration" if it belongs to a choice of a dynamic combo.
type BadgeWidget struct{ Name, Type string }

// InputSpec declares one input.
type InputSpec struct {
	Name     string
	Type     string // COMBO also for the old form, a list of options
	Required bool
	Options  []any // of a combo, as declared
	Default  any   // nil where none is declared
	Min      json.Number
	Max      json.Number // up to 2^64-1
	Step     json.Number
	Upload   string // image, video, audio or file, where the editor offers an upload

	Multiline, Advanced, ForceInput, Remote bool

	Branches []Branch  // of a COMFY_DYNAMICCOMBO_V3
	Formats  []Branch  // of a combo of formats, whose inputs have names of their own
	Grow     *Autogrow // of a COMFY_AUTOGROW_V3

	control controlMark
	Widget  bool
	Choices []registry.Choice // of Options; shared by all tools, never modified
}

// Branch is one option of a dynamic combo with the inputs that it brings along.
type Branch struct {
	Key    string
	Inputs []InputSpec
}

// Autogrow is an input that repeats, numbered or under the given Names.
type Autogrow struct {
	Input    InputSpec
	Names    []string
	Min, Max int
}

// controlMark says whether the editor adds a control_after_generate widget.
type controlMark int8

const (
	controlUnsaid controlMark = iota
	controlYes
	controlNo
)

const (
	TypeDynamicCombo = "COMFY_DYNAMICCOMBO_V3"
	typeAutogrow     = "COMFY_AUTOGROW_V3"
	typeMatch        = "COMFY_MATCHTYPE_V3" // of whatever is linked to it
)

// Class finds a declaration. It may be called on nil.
func (o *ObjectInfo) Class(name string) (*ClassInfo, bool) {
	if o == nil {
		return nil, false
	}
	c, ok := o.classes[name]
	return c, ok
}

// Len is the number of classes. It may be called on nil.
func (o *ObjectInfo) Len() int {
	if o == nil {
		return 0
	}
	return len(o.classes)
}

// Classes gives all names, sorted.
func (o *ObjectInfo) Classes() []string {
	if o == nil {
		return nil
	}
	out := make([]string, 0, len(o.classes))
	for name := range o.classes {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// ParseObjectInfo reads the body of GET /object_info. Classes whose declaration makes no sense are left
// out; a body without any class is an error.
func ParseObjectInfo(data []byte) (*ObjectInfo, error) {
	v, err := decodeLimited(data, MaxObjectInfo, 4*maxValues)
	if err != nil {
		return nil, fmt.Errorf("object_info: %w", err)
	}
	root, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("object_info: a JSON object is expected, this is %s", kindOf(v))
	}
	info := &ObjectInfo{classes: make(map[string]*ClassInfo, root.Len())}
	for _, m := range root.Members() {
		if o, ok := m.Value.(*object); ok && o.Has("input") {
			info.classes[strings.Clone(m.Name)] = newClassInfo(m.Name, o)
		}
	}
	if len(info.classes) == 0 {
		return nil, fmt.Errorf("object_info: no node class found, expected the body of GET /object_info")
	}
	return info, nil
}

func newClassInfo(name string, o *object) *ClassInfo {
	c := &ClassInfo{
		Name: strings.Clone(name), DisplayName: cloneString(o.Get("display_name")), Description: cloneString(o.Get("description")),
		Category: cloneString(o.Get("category")), Module: cloneString(o.Get("python_module")),
		OutputNode: asBool(o.Get("output_node")), APINode: asBool(o.Get("api_node")),
	}
	c.GivesLists = slices.Contains(asArray(o.Get("output_is_list")), any(true))
	c.Price = priceBadge(asObject(o.Get("price_badge")))
	in, order := asObject(o.Get("input")), asObject(o.Get("input_order"))
	c.Inputs = append(specs(asObject(in.Get("required")), order.Get("required"), true, 0), specs(asObject(in.Get("optional")), order.Get("optional"), false, 0)...)
	for _, t := range asArray(o.Get("output")) {
		c.Outputs = append(c.Outputs, strings.Clone(slotType(t)))
	}
	for _, n := range asArray(o.Get("output_name")) {
		c.OutputNames = append(c.OutputNames, cloneString(n))
	}
	return c
}

// priceBadge is nil for one that is written in another language.
func priceBadge(o *object) *PriceBadge {
	b := &PriceBadge{Expression: cloneString(o.Get("expr"))}
	if engine := asString(o.Get("engine")); b.Expression == "" || engine != "" && engine != "jsonata" {
		return nil
	}
	depends := asObject(o.Get("depends_on"))
	for _, v := range asArray(depends.Get("widgets")) {
		w := asObject(v)
		b.Widgets = append(b.Widgets, BadgeWidget{Name: cloneString(w.Get("name")), Type: strings.ToUpper(cloneString(w.Get("type")))})
	}
	for _, v := range asArray(depends.Get("inputs")) {
		b.Inputs = append(b.Inputs, cloneString(v))
	}
	for _, v := range asArray(depends.Get("input_groups")) {
		b.Groups = append(b.Groups, cloneString(v))
	}
	return b
}

func cloneString(v any) string { return strings.Clone(asString(v)) }

// specs reads one section of a declaration in the given order, or in document order.
func specs(section *object, order any, required bool, depth int) []InputSpec {
	if section == nil || depth > 8 {
		return nil
	}
	out := make([]InputSpec, 0, section.Len())
	add := func(name string, v any) {
		if decl := asArray(v); len(decl) > 0 {
			out = append(out, newSpec(strings.Clone(name), decl, required, depth))
		}
	}
	if list := asArray(order); len(list) == section.Len() {
		for _, n := range list {
			add(asString(n), section.Get(asString(n)))
		}
		return out
	}
	for _, m := range section.Members() {
		add(m.Name, m.Value)
	}
	return out
}

func newSpec(name string, decl []any, required bool, depth int) InputSpec {
	s := InputSpec{Name: name, Required: required}
	var opts *object
	if len(decl) > 1 {
		opts = asObject(decl[1])
	}
	switch t := decl[0].(type) {
	case string:
		s.Type = strings.Clone(t)
		if t == TypeDynamicCombo {
			s.Branches = branches(opts, depth)
		} else if list := asArray(opts.Get("options")); list != nil {
			s.Options = ordered.Plain(list).([]any)
		}
	case []any:
		s.Type, s.Options = "COMBO", ordered.Plain(t).([]any)
	}
	if list := asObject(opts.Get("formats")); list != nil && s.Type == "COMBO" {
		s.Formats = formats(list, depth)
	}
	if s.Type == typeAutogrow {
		s.Grow = newAutogrow(opts, depth)
	}
	s.options(opts)
	s.Widget = s.isWidget(opts)
	s.Choices = s.newChoices()
	return s
}

func (s *InputSpec) options(o *object) {
	s.Default = ordered.Plain(o.Get("default"))
	s.Min, s.Max, s.Step = cloneNumber(o.Get("min")), cloneNumber(o.Get("max")), cloneNumber(o.Get("step"))
	s.Multiline, s.Advanced, s.ForceInput = asBool(o.Get("multiline")), asBool(o.Get("advanced")), asBool(o.Get("forceInput"))
	s.Remote = o.Get("remote") != nil
	for _, kind := range []string{"image", "video", "audio", "file"} {
		if asBool(o.Get(kind + "_upload")) {
			s.Upload = kind
		}
	}
	if asBool(o.Get("animated_image_upload")) {
		s.Upload = KindImage
	}
	switch v := o.Get("control_after_generate").(type) {
	case bool:
		if s.control = controlNo; v {
			s.control = controlYes
		}
	case string:
		s.control = controlYes
	}
}

// MaxObjectInfo bounds the declarations of a server: those with many model files are large.
const MaxObjectInfo = 128 << 20

// maxChoices bounds the choices of a field.
const maxChoices = 300

// newChoices makes the choices of a field: the distinct options of the sort the first one has.
func (s *InputSpec) newChoices() []registry.Choice {
	var out []registry.Choice
	seen := map[any]bool{}
	for _, v := range s.Options {
		switch v.(type) {
		case string, json.Number, bool:
			if !seen[v] && kindOf(v) == kindOf(s.Options[0]) {
				seen[v] = true
				out = append(out, registry.Choice{Value: v})
			}
		}
	}
	if len(out) < 2 || len(out) > maxChoices {
		return nil
	}
	return slices.Clip(out)
}

func cloneNumber(v any) json.Number {
	n, _ := v.(json.Number)
	return json.Number(strings.Clone(string(n)))
}

// isWidget says whether the input has a place among the widget values of a saved graph.
func (s *InputSpec) isWidget(o *object) bool {
	switch s.Type {
	case "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", TypeDynamicCombo, "COLOR", "CURVE", "RANGE", "BOUNDING_BOX", "MARKDOWN", "IMAGEUPLOAD", "FILEUPLOAD",
		"TREESELECT", "CHART", "GALLERIA", "TEXTAREA", "LOAD_3D", "LOAD_3D_ANIMATION", "WEBCAM", "AUDIO_RECORD", "AUDIO_UI", "IMAGECOMPARE", "PAINTER":
		return true
	}
	return o.Get("widgetType") != nil
}

// hasControl says whether a control value follows this input's value.
func (s *InputSpec) hasControl() bool {
	if s.control == controlUnsaid {
		return s.Type == "INT" && (s.Name == "seed" || s.Name == "noise_seed")
	}
	return s.control == controlYes
}

func branches(o *object, depth int) []Branch {
	var out []Branch
	for _, v := range asArray(o.Get("options")) {
		b := asObject(v)
		in := asObject(b.Get("inputs"))
		out = append(out, Branch{
			Key:    cloneString(b.Get("key")),
			Inputs: append(specs(asObject(in.Get("required")), nil, true, depth+1), specs(asObject(in.Get("optional")), nil, false, depth+1)...),
		})
	}
	return out
}

// formats reads what Video Helper Suite declares beside its combo of formats: for each the widgets it brings along,
// as [name, type, options].
func formats(o *object, depth int) []Branch {
	var out []Branch
	for _, m := range o.Members() {
		b := Branch{Key: strings.Clone(m.Name)}
		for _, v := range asArray(m.Value) {
			if w := asArray(v); len(w) > 1 && asString(w[0]) != "" && depth < 8 {
				b.Inputs = append(b.Inputs, newSpec(cloneString(w[0]), w[1:], false, depth+1))
			}
		}
		out = append(out, b)
	}
	return out
}

// format finds the inputs that a format brings along.
func (s *InputSpec) format(v any) []InputSpec {
	for _, b := range s.Formats {
		if any(b.Key) == v {
			return b.Inputs
		}
	}
	return nil
}

func newAutogrow(o *object, depth int) *Autogrow {
	t := asObject(o.Get("template"))
	g := &Autogrow{}
	g.Min, _ = asInt(t.Get("min"))
	g.Max, _ = asInt(t.Get("max"))
	for _, n := range asArray(t.Get("names")) {
		g.Names = append(g.Names, cloneString(n))
	}
	in := asObject(t.Get("input"))
	for _, section := range []string{"required", "optional"} {
		if list := specs(asObject(in.Get(section)), nil, section == "required", depth+1); len(list) > 0 {
			g.Input = list[0]
			break
		}
	}
	return g
}

// fallback is the value an input has when the file says nothing; ok is false where there is none.
func (s *InputSpec) fallback() (v any, ok bool) {
	if s.Default != nil {
		return s.Default, true
	}
	switch s.Type {
	case "COMBO":
		if len(s.Options) > 0 {
			return s.Options[0], true
		}
	case TypeDynamicCombo:
		if len(s.Branches) > 0 {
			return s.Branches[0].Key, true
		}
	case "STRING":
		return "", true
	case "BOOLEAN":
		return false, true
	case "INT", "FLOAT":
		return json.Number("0"), true
	}
	return nil, false
}

// branch finds the inputs that a dynamic combo's value brings along. Some servers declare an enumeration's
// member (ResizeType.SCALE_WIDTH) where files hold its value (scale width). ok is false for an option that the
// server lacks.
func (s *InputSpec) branch(v any) (inputs []InputSpec, ok bool) {
	key, _ := v.(string)
	for _, b := range s.Branches {
		if b.Key == key {
			return b.Inputs, true
		}
	}
	for _, b := range s.Branches {
		if memberName(b.Key) == memberName(key) {
			return b.Inputs, true
		}
	}
	return nil, false
}

func memberName(key string) string {
	key = key[strings.LastIndexByte(key, '.')+1:]
	return strings.ReplaceAll(strings.ToLower(key), "_", " ")
}

// Package objectinfo reads what a ComfyUI server declares of its nodes: the body of GET /object_info. It also knows the widgets of
// common classes, for graphs without a server and for those of older versions of node packs.
//
// A declaration is untrusted: its size and depth are bounded.
package objectinfo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// MaxBytes bounds the declarations of a server: those with many model files are large. maxValues bounds their JSON values.
const (
	MaxBytes  = 128 << 20
	maxValues = 8 << 20
)

// Info holds the node declarations of one server, as GET /object_info gives them. It is not
// modified after Parse and may be shared.
type Info struct {
	classes map[string]*Class
}

// Class declares one node class.
type Class struct {
	Name, DisplayName, Description, Category string
	Module                                   string   // python_module, e.g. "custom_nodes.ComfyUI-KJNodes"
	Inputs                                   []Input  // required ones first, in the order of the declaration
	Outputs                                  []string // types
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

// Input declares one input.
type Input struct {
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
	Inputs []Input
}

// Autogrow is an input that repeats, numbered or under the given Names.
type Autogrow struct {
	Input    Input
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

// Types of inputs with a meaning of their own.
const (
	TypeDynamicCombo = "COMFY_DYNAMICCOMBO_V3"
	typeAutogrow     = "COMFY_AUTOGROW_V3"
	TypeMatch        = "COMFY_MATCHTYPE_V3" // of whatever is linked to it
)

// Class finds a declaration. It may be called on nil.
func (o *Info) Class(name string) (*Class, bool) {
	if o == nil {
		return nil, false
	}
	c, ok := o.classes[name]
	return c, ok
}

// Len is the number of classes. It may be called on nil.
func (o *Info) Len() int {
	if o == nil {
		return 0
	}
	return len(o.classes)
}

// Classes gives all names, sorted.
func (o *Info) Classes() []string {
	if o == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(o.classes))
}

// Parse reads the body of GET /object_info. Classes whose declaration makes no sense are left
// out; a body without any class is an error.
func Parse(data []byte) (*Info, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("object_info: it has %d bytes, at most %d are read", len(data), MaxBytes)
	}
	if err := ordered.Mistaken(data); err != nil {
		return nil, fmt.Errorf("object_info: %w", err)
	}
	v, err := ordered.Limits{Values: maxValues}.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("object_info: %w", err)
	}
	root, ok := v.(*ordered.Object)
	if !ok {
		return nil, errors.New("object_info: a JSON object is expected, the body of GET /object_info")
	}
	info := &Info{classes: make(map[string]*Class, root.Len())}
	for _, m := range root.Members() {
		if o, ok := m.Value.(*ordered.Object); ok && o.Has("input") {
			info.classes[strings.Clone(m.Name)] = newClass(m.Name, o)
		}
	}
	if len(info.classes) == 0 {
		return nil, errors.New("object_info: no node class found, expected the body of GET /object_info")
	}
	return info, nil
}

func newClass(name string, o *ordered.Object) *Class {
	c := &Class{
		Name: strings.Clone(name), DisplayName: cloneString(o.Get("display_name")), Description: cloneString(o.Get("description")),
		Category: cloneString(o.Get("category")), Module: cloneString(o.Get("python_module")),
		OutputNode: o.Bool("output_node"), APINode: o.Bool("api_node"),
	}
	c.GivesLists = slices.Contains(o.List("output_is_list"), any(true))
	c.Price = priceBadge(o.Object("price_badge"))
	in, order := o.Object("input"), o.Object("input_order")
	c.Inputs = append(section(in.Object("required"), order.List("required"), true, 0), section(in.Object("optional"), order.List("optional"), false, 0)...)
	for _, t := range o.List("output") {
		c.Outputs = append(c.Outputs, strings.Clone(TypeOf(t)))
	}
	for _, n := range o.List("output_name") {
		c.OutputNames = append(c.OutputNames, cloneString(n))
	}
	return c
}

// priceBadge is nil for one that is written in another language.
func priceBadge(o *ordered.Object) *PriceBadge {
	b := &PriceBadge{Expression: cloneString(o.Get("expr"))}
	if engine := text(o.Get("engine")); b.Expression == "" || engine != "" && engine != "jsonata" {
		return nil
	}
	depends := o.Object("depends_on")
	for _, v := range depends.List("widgets") {
		w, _ := v.(*ordered.Object)
		b.Widgets = append(b.Widgets, BadgeWidget{Name: cloneString(w.Get("name")), Type: strings.ToUpper(cloneString(w.Get("type")))})
	}
	for _, v := range depends.List("inputs") {
		b.Inputs = append(b.Inputs, cloneString(v))
	}
	for _, v := range depends.List("input_groups") {
		b.Groups = append(b.Groups, cloneString(v))
	}
	return b
}

// TypeOf gives the type of a socket as it is declared or saved. A list is the options of an old combo.
func TypeOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		return "COMBO"
	}
	return ""
}

func cloneString(v any) string { return strings.Clone(text(v)) }

func text(v any) string { s, _ := v.(string); return s }

// section reads one section of a declaration in the given order, or in document order.
func section(o *ordered.Object, order []any, required bool, depth int) []Input {
	if o == nil || depth > 8 {
		return nil
	}
	out := make([]Input, 0, o.Len())
	add := func(name string, v any) {
		if decl, _ := v.([]any); len(decl) > 0 {
			out = append(out, newInput(strings.Clone(name), decl, required, depth))
		}
	}
	if len(order) == o.Len() {
		for _, n := range order {
			add(text(n), o.Get(text(n)))
		}
		return out
	}
	for _, m := range o.Members() {
		add(m.Name, m.Value)
	}
	return out
}

func newInput(name string, decl []any, required bool, depth int) Input {
	s := Input{Name: name, Required: required}
	var opts *ordered.Object
	if len(decl) > 1 {
		opts, _ = decl[1].(*ordered.Object)
	}
	switch t := decl[0].(type) {
	case string:
		s.Type = strings.Clone(t)
		if t == TypeDynamicCombo {
			s.Branches = branches(opts, depth)
		} else if list := opts.List("options"); list != nil {
			s.Options = ordered.Plain(list).([]any)
		}
	case []any:
		s.Type, s.Options = "COMBO", ordered.Plain(t).([]any)
	}
	if list := opts.Object("formats"); list != nil && s.Type == "COMBO" {
		s.Formats = formats(list, depth)
	}
	if s.Type == typeAutogrow {
		s.Grow = newAutogrow(opts, depth)
	}
	s.options(opts)
	s.Widget = s.isWidget(opts)
	s.Choices = Choices(s.Options)
	return s
}

func (s *Input) options(o *ordered.Object) {
	s.Default = ordered.Plain(o.Get("default"))
	s.Min, s.Max, s.Step = cloneNumber(o.Number("min")), cloneNumber(o.Number("max")), cloneNumber(o.Number("step"))
	s.Multiline, s.Advanced, s.ForceInput = o.Bool("multiline"), o.Bool("advanced"), o.Bool("forceInput")
	s.Remote = o.Get("remote") != nil
	for _, kind := range []string{"image", "video", "audio", "file"} {
		if o.Bool(kind + "_upload") {
			s.Upload = kind
		}
	}
	if o.Bool("animated_image_upload") {
		s.Upload = "image"
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

// MaxChoices bounds the choices of a field.
const MaxChoices = 300

// Choices are those of a field with these options: the distinct ones of the sort the first one has, nil for fewer than two and for
// more than MaxChoices.
func Choices(options []any) []registry.Choice {
	var out []registry.Choice
	seen := map[any]bool{}
	for _, v := range options {
		switch v.(type) {
		case string, json.Number, bool:
			if !seen[v] && reflect.TypeOf(v) == reflect.TypeOf(options[0]) {
				seen[v] = true
				out = append(out, registry.Choice{Value: v})
			}
		}
	}
	if len(out) < 2 || len(out) > MaxChoices {
		return nil
	}
	return slices.Clip(out)
}

func cloneNumber(v any) json.Number {
	n, _ := v.(json.Number)
	return json.Number(strings.Clone(string(n)))
}

// isWidget says whether the input has a place among the widget values of a saved graph.
func (s *Input) isWidget(o *ordered.Object) bool {
	switch s.Type {
	case "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", TypeDynamicCombo, "COLOR", "CURVE", "RANGE", "BOUNDING_BOX", "MARKDOWN", "IMAGEUPLOAD", "FILEUPLOAD",
		"TREESELECT", "CHART", "GALLERIA", "TEXTAREA", "LOAD_3D", "LOAD_3D_ANIMATION", "WEBCAM", "AUDIO_RECORD", "AUDIO_UI", "IMAGECOMPARE", "PAINTER":
		return true
	}
	return o.Get("widgetType") != nil
}

// HasControl says whether a control value follows this input's value.
func (s *Input) HasControl() bool {
	if s.control == controlUnsaid {
		return s.Type == "INT" && (s.Name == "seed" || s.Name == "noise_seed")
	}
	return s.control == controlYes
}

func branches(o *ordered.Object, depth int) []Branch {
	var out []Branch
	for _, v := range o.List("options") {
		b, _ := v.(*ordered.Object)
		in := b.Object("inputs")
		out = append(out, Branch{
			Key:    cloneString(b.Get("key")),
			Inputs: append(section(in.Object("required"), nil, true, depth+1), section(in.Object("optional"), nil, false, depth+1)...),
		})
	}
	return out
}

// formats reads what Video Helper Suite declares beside its combo of formats: for each the widgets it brings along,
// as [name, type, options].
func formats(o *ordered.Object, depth int) []Branch {
	var out []Branch
	for _, m := range o.Members() {
		b := Branch{Key: strings.Clone(m.Name)}
		list, _ := m.Value.([]any)
		for _, v := range list {
			if w, _ := v.([]any); len(w) > 1 && text(w[0]) != "" && depth < 8 {
				b.Inputs = append(b.Inputs, newInput(cloneString(w[0]), w[1:], false, depth+1))
			}
		}
		out = append(out, b)
	}
	return out
}

// Format finds the inputs that a format brings along.
func (s *Input) Format(v any) []Input {
	for _, b := range s.Formats {
		if any(b.Key) == v {
			return b.Inputs
		}
	}
	return nil
}

func newAutogrow(o *ordered.Object, depth int) *Autogrow {
	t := o.Object("template")
	g := &Autogrow{}
	g.Min, _ = ordered.Int(t.Get("min"))
	g.Max, _ = ordered.Int(t.Get("max"))
	for _, n := range t.List("names") {
		g.Names = append(g.Names, cloneString(n))
	}
	in := t.Object("input")
	for _, name := range []string{"required", "optional"} {
		if list := section(in.Object(name), nil, name == "required", depth+1); len(list) > 0 {
			g.Input = list[0]
			break
		}
	}
	return g
}

// Fallback is the value an input has when the file says nothing; ok is false where there is none.
func (s *Input) Fallback() (v any, ok bool) {
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

// Branch finds the inputs that a dynamic combo's value brings along. Some servers declare an enumeration's
// member (ResizeType.SCALE_WIDTH) where files hold its value (scale width). ok is false for an option that the
// server lacks.
func (s *Input) Branch(v any) (inputs []Input, ok bool) {
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

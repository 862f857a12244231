package node

import (
	"maps"
	"strconv"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// Spec declares a class as /object_info describes it.
type Spec struct {
	Class       string // the class_type of prompts
	DisplayName string // empty: Class
	Category    string
	Description string
	Module      string // python_module, e.g. "nodes" or "comfy_extras.nodes_mask"

	// Legacy marks the older declaration style ("V1"): bare ["IMAGE"] instead of ["IMAGE", {}], combos as lists, and
	// fewer members in /object_info.
	Legacy bool

	Required, Optional []Input
	Hidden             []Hidden
	Outputs            []Output

	OutputNode   bool // its results are a purpose of the prompt: execution starts from such nodes
	AcceptAll    bool // constants that it does not declare go along
	InputList    bool // Run gets whole lists instead of being called for each element
	Deprecated   bool
	Experimental bool
	Intermediate bool        // has_intermediate_output
	Partner      bool        // api_node: it calls a paid service, with the key in extra_data
	PriceBadge   *pyval.Dict // price_badge: what that costs; nil: it does not say

	SearchAliases []string
	Essentials    string // essentials_category
}

// Hidden is an input the engine fills itself: PROMPT, EXTRA_PNGINFO, UNIQUE_ID.
type Hidden struct{ Name, Type string }

// SaveHidden is what every saving node declares, to embed the prompt in its files.
func SaveHidden() []Hidden {
	return []Hidden{{"prompt", "PROMPT"}, {"extra_pnginfo", "EXTRA_PNGINFO"}}
}

// Output is one output slot.
type Output struct {
	Name    string // empty: Type
	Type    string
	List    ListKind
	Tooltip string
	MatchID string // template_id of a COMFY_MATCHTYPE_V3 output
}

// ListKind says whether an output is a list whose elements are processed one by one.
type ListKind int8

// The kinds of output. Unstated behaves like Single; a few real classes declare null.
const (
	Single ListKind = iota
	List
	Unstated
)

// Outs declares plain outputs by type, each named after it.
func Outs(types ...string) []Output {
	out := make([]Output, len(types))
	for i, t := range types {
		out[i] = Output{Type: t}
	}
	return out
}

// Dynamic types of the newer declaration style.
const (
	TypeDynamicCombo = "COMFY_DYNAMICCOMBO_V3"
	TypeAutogrow     = "COMFY_AUTOGROW_V3"
	TypeMatch        = "COMFY_MATCHTYPE_V3"
	TypeCombo        = "COMBO"
)

// Input is one declared input. Build it with the functions below; the methods return changed copies.
type Input struct {
	Name string
	Type string // "IMAGE", "INT", "COMBO", a comma list of types, "*", or one of the dynamic types

	// Attrs are the options as /object_info shows them: default, min, max, step, round, multiline, tooltip, ...
	// Numbers are int, int64, uint64 or float64.
	Attrs map[string]any

	Options []string              // of a combo
	Lister  func(*Files) []string // options read at request time, instead of Options
	OldList bool                  // combo in the older form [[options...], {...}]

	Choices  []Choice  // of a dynamic combo
	Template *Template // of an autogrow input
}

// Choice is one option of a dynamic combo with the inputs that belong to it. In prompts and in Call they are named
// "<combo>.<input>".
type Choice struct {
	Key                string
	Required, Optional []Input
}

// Template declares an autogrow input: the members are named "<input>.<Prefix><0..Max-1>" or "<input>.<Names[i]>".
type Template struct {
	Input    Input
	Prefix   string
	Names    []string
	Min, Max int  // Max is 0 with Names
	Optional bool // the template's input is declared optional
}

// Members lists the names, without the input's own, that an autogrow input can have.
func (t *Template) Members() []string {
	if len(t.Names) > 0 {
		return t.Names
	}
	names := make([]string, t.Max)
	for i := range names {
		names[i] = t.Prefix + strconv.Itoa(i)
	}
	return names
}

// Socket is an input that is normally linked: IMAGE, MASK, "*", "INT,FLOAT", ...
func Socket(name, typ string) Input { return Input{Name: name, Type: typ} }

// Int is a whole number. Pass int, int64 or uint64 bounds to Range.
func Int(name string) Input { return Input{Name: name, Type: "INT"} }

// Float is a number.
func Float(name string) Input { return Input{Name: name, Type: "FLOAT"} }

// Bool is a switch.
func Bool(name string) Input { return Input{Name: name, Type: "BOOLEAN"} }

// String is a one-line text.
func String(name string) Input {
	return Input{Name: name, Type: "STRING"}.With("multiline", false)
}

// Text is a text of several lines.
func Text(name string) Input {
	return Input{Name: name, Type: "STRING"}.With("multiline", true)
}

// Combo is a choice, declared in the newer style.
func Combo(name string, options ...string) Input {
	return Input{Name: name, Type: TypeCombo, Options: options}.With("multiselect", false)
}

// OldCombo is a choice, declared in the older style.
func OldCombo(name string, options ...string) Input {
	return Input{Name: name, Type: TypeCombo, Options: options, OldList: true}
}

// DynamicCombo is a choice that brings further inputs with it.
func DynamicCombo(name string, choices ...Choice) Input {
	return Input{Name: name, Type: TypeDynamicCombo, Choices: choices}
}

// Autogrow is a group of equal inputs that grows with its links: prefix0, prefix1, ... up to maximum.
func Autogrow(name string, member Input, prefix string, minimum, maximum int) Input {
	return Input{Name: name, Type: TypeAutogrow, Template: &Template{Input: member, Prefix: prefix, Min: minimum, Max: maximum}}
}

// AutogrowNamed is a group of equal inputs with given names.
func AutogrowNamed(name string, member Input, names []string, minimum int) Input {
	return Input{Name: name, Type: TypeAutogrow, Template: &Template{Input: member, Names: names, Min: minimum}}
}

// Match is a socket whose type is settled by its link; allowed is "*" or a comma list.
func Match(name, templateID, allowed string) Input {
	return Input{Name: name, Type: TypeMatch}.
		With("template", map[string]any{"template_id": templateID, "allowed_types": allowed})
}

// With sets an option as /object_info shows it.
func (in Input) With(key string, value any) Input {
	attrs := make(map[string]any, len(in.Attrs)+1)
	maps.Copy(attrs, in.Attrs)
	attrs[key] = value
	in.Attrs = attrs
	return in
}

// Braces shows an empty options object for an input without options, as some classes of the older style do.
func (in Input) Braces() Input {
	if in.Attrs == nil {
		in.Attrs = map[string]any{}
	}
	return in
}

// Default sets the default value.
func (in Input) Default(v any) Input { return in.With("default", v) }

// Range sets the inclusive bounds that validation enforces.
func (in Input) Range(lo, hi any) Input { return in.With("min", lo).With("max", hi) }

// Step sets the step of the widget; validation ignores it.
func (in Input) Step(v any) Input { return in.With("step", v) }

// Advanced hides the input in simple views.
func (in Input) Advanced() Input { return in.With("advanced", true) }

// Lazy marks an input that is computed only when the node's Lazy hook asks for it.
func (in Input) Lazy() Input { return in.With("lazy", true) }

// ForceInput makes a widget type a socket.
func (in Input) ForceInput() Input { return in.With("forceInput", true) }

// From makes the options a list read when asked for, such as the files of the input folder.
func (in Input) From(list func(*Files) []string) Input {
	in.Lister = list
	return in
}

// IsLazy reports whether the input is marked lazy.
func (in Input) IsLazy() bool {
	lazy, _ := in.Attrs["lazy"].(bool)
	return lazy
}

// OptionsIn gives the options of a combo, read from disk where they are dynamic.
func (in Input) OptionsIn(f *Files) []string {
	if in.Lister != nil {
		return in.Lister(f)
	}
	return in.Options
}

// Find looks up a declared top-level input.
func (s *Spec) Find(name string) (in Input, required, ok bool) {
	for _, in := range s.Required {
		if in.Name == name {
			return in, true, true
		}
	}
	for _, in := range s.Optional {
		if in.Name == name {
			return in, false, true
		}
	}
	return Input{}, false, false
}

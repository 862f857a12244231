package node

import (
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// Info renders the declaration as /object_info does. Dynamic options are read from the folders.
func (s *Spec) Info(files *Files) *pyval.Dict {
	input, order := s.inputInfo(files)
	types, lists, names, tips, matches := s.outputInfo()
	d := pyval.D(
		"input", input, "input_order", order, "is_input_list", s.InputList,
		"output", types, "output_is_list", lists, "output_name", names,
	)
	if !s.Legacy {
		d.Set("output_tooltips", tips)
		d.Set("output_matchtypes", matches)
	}
	d.Set("name", s.Class)
	d.Set("display_name", s.title())
	d.Set("description", s.Description)
	d.Set("python_module", s.Module)
	d.Set("category", s.Category)
	d.Set("output_node", s.OutputNode)
	if !s.Legacy {
		for _, flag := range []struct {
			name string
			on   bool
		}{{"deprecated", s.Deprecated}, {"experimental", s.Experimental}, {"dev_only", false}, {"api_node", s.Partner}} {
			d.Set(flag.name, flag.on)
		}
		d.Set("price_badge", nil)
		if s.PriceBadge != nil {
			d.Set("price_badge", s.PriceBadge)
		}
	}
	s.optionalInfo(d)
	d.Set("has_intermediate_output", s.Intermediate)
	return d
}

// optionalInfo adds the members that the older style leaves out when they are not set.
func (s *Spec) optionalInfo(d *pyval.Dict) {
	switch {
	case s.SearchAliases != nil || s.Legacy:
		d.Set("search_aliases", texts(s.SearchAliases))
	default:
		d.Set("search_aliases", nil)
	}
	switch {
	case s.Essentials != "":
		d.Set("essentials_category", s.Essentials)
	case !s.Legacy:
		d.Set("essentials_category", nil)
	}
	if s.Legacy && s.Deprecated {
		d.Set("deprecated", true)
	}
	if s.Legacy && s.Experimental {
		d.Set("experimental", true)
	}
}

// title is the name to show; only the older style falls back to the class.
func (s *Spec) title() any {
	if s.DisplayName == "" && s.Legacy {
		return s.Class
	}
	return orNull(s.DisplayName)
}

func (s *Spec) inputInfo(files *Files) (input, order *pyval.Dict) {
	input, order = &pyval.Dict{}, &pyval.Dict{}
	put := func(part string, inputs []Input) {
		d, names := s.describe(inputs, files)
		input.Set(part, d)
		order.Set(part, names)
	}
	if len(s.Required) > 0 || s.Legacy {
		put("required", s.Required)
	}
	if len(s.Optional) > 0 {
		put("optional", s.Optional)
	}
	if len(s.Hidden) > 0 {
		hidden, names := &pyval.Dict{}, []any{}
		for _, h := range s.Hidden {
			names = append(names, h.Name)
			if s.Legacy {
				hidden.Set(h.Name, h.Type)
			} else {
				hidden.Set(h.Name, []any{h.Type})
			}
		}
		input.Set("hidden", hidden)
		order.Set("hidden", names)
	}
	return input, order
}

func (s *Spec) describe(inputs []Input, files *Files) (*pyval.Dict, []any) {
	d, names := &pyval.Dict{}, []any{}
	for _, in := range inputs {
		typ, options := in.Config(files)
		if s.Legacy && in.Attrs == nil {
			d.Set(in.Name, []any{typ})
		} else {
			d.Set(in.Name, []any{typ, options})
		}
		names = append(names, in.Name)
	}
	return d, names
}

// Config gives the type of an input and its options as /object_info and validation errors show them. The type is a
// list of texts for a combo of the older style.
func (in Input) Config(files *Files) (typ any, options *pyval.Dict) {
	typ = in.Type
	options = pyval.Normalize(in.Attrs).(*pyval.Dict)
	switch {
	case in.Type == TypeCombo && in.OldList:
		typ = texts(in.OptionsIn(files))
	case in.Type == TypeCombo:
		options.Set("options", texts(in.OptionsIn(files)))
	case in.Type == TypeDynamicCombo:
		options.Set("options", in.choices(files))
	case in.Type == TypeAutogrow:
		options.Set("template", in.Template.describe(files))
	}
	return typ, options
}

func (in Input) choices(files *Files) []any {
	out := []any{}
	v3 := &Spec{}
	for _, c := range in.Choices {
		inputs := &pyval.Dict{}
		required, _ := v3.describe(c.Required, files)
		inputs.Set("required", required)
		if len(c.Optional) > 0 {
			optional, _ := v3.describe(c.Optional, files)
			inputs.Set("optional", optional)
		}
		out = append(out, pyval.D("key", c.Key, "inputs", inputs))
	}
	return out
}

func (t *Template) describe(files *Files) *pyval.Dict {
	member, _ := (&Spec{}).describe([]Input{t.Input}, files)
	part := "required"
	if t.Optional {
		part = "optional"
	}
	d := pyval.D("input", pyval.D(part, member))
	if len(t.Names) > 0 {
		d.Set("names", texts(t.Names))
		d.Set("min", int64(t.Min))
		return d
	}
	d.Set("prefix", t.Prefix)
	d.Set("min", int64(t.Min))
	d.Set("max", int64(t.Max))
	return d
}

func (s *Spec) outputInfo() (types, lists, names, tips []any, matches any) {
	types, lists, names, tips = []any{}, []any{}, []any{}, []any{}
	ids, matched := []any{}, false
	for _, o := range s.Outputs {
		types = append(types, o.Type)
		lists = append(lists, map[ListKind]any{Single: false, List: true, Unstated: nil}[o.List])
		names = append(names, o.Label())
		tips = append(tips, orNull(o.Tooltip))
		ids = append(ids, orNull(o.MatchID))
		matched = matched || o.MatchID != ""
	}
	if matched {
		matches = ids
	}
	return types, lists, names, tips, matches
}

// Label is the output's name, its type by default.
func (o Output) Label() string {
	if o.Name != "" {
		return o.Name
	}
	return o.Type
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

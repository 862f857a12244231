package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// maxChain bounds how many nodes may hang one behind the other, so that recursion stays within memory.
const maxChain = 5000

// verdict is what validation says about one node.
type verdict struct {
	ok     bool
	errors []any // *pyval.Dict each: type, message, details, extra_info
}

// validation walks a prompt from its output nodes upward. It coerces constant inputs in place.
type validation struct {
	e        *Engine
	prompt   *pyval.Dict
	done     map[string]verdict
	order    []string // of done
	visiting []string
}

// problem is an error as the protocol shows it: the "error" member of a refused prompt, or one about an input of a node.
func problem(kind, message, details string, info *pyval.Dict) *pyval.Dict {
	return pyval.D("type", kind, "message", message, "details", details, "extra_info", info)
}

// checkClasses finds the first node whose class is missing or unknown. The error is about a _meta that holds no title.
func (e *Engine) checkClasses(prompt *pyval.Dict) (*pyval.Dict, error) {
	for _, id := range prompt.Keys() {
		n := prompt.At(id).(*pyval.Dict)
		class, given := n.Get("class_type")
		if name, ok := class.(string); ok && e.classes[name] != nil {
			continue
		}
		title, message := class, "Node '%s' not found. The custom node may not be installed."
		if !given {
			title, message = nil, "Node '%s' has no class_type. The workflow may be corrupted or a custom node is missing."
		}
		if meta, ok := n.Get("_meta"); ok {
			d, ok := meta.(*pyval.Dict)
			if !ok {
				return nil, fmt.Errorf("the _meta of node %q is not an object", id)
			}
			if t, ok := d.Get("title"); ok {
				title = t
			}
		}
		name := pyval.Str(title)
		if !given && !pyval.Truth(title) {
			name = "ID #" + id
		}
		return problem("missing_node_type", fmt.Sprintf(message, name), fmt.Sprintf("Node ID '#%s'", id),
			pyval.D("node_id", id, "class_type", class, "node_title", title)), nil
	}
	return nil, nil
}

// judgement is the result of validating a prompt.
type judgement struct {
	refused *pyval.Dict // the error, or nil when at least one output can run
	outputs []string    // the outputs that can run
	nodes   *pyval.Dict // node_errors
}

// validate judges a prompt whose form was checked. wanted limits the outputs; nil takes all.
func (e *Engine) validate(prompt *pyval.Dict, wanted func(id string) bool) (judgement, error) {
	j := judgement{nodes: &pyval.Dict{}}
	var err error
	if j.refused, err = e.checkClasses(prompt); err != nil || j.refused != nil {
		return j, err
	}
	var outputs []string
	for _, id := range prompt.Keys() {
		if e.classes[classOf(prompt, id)].Spec.OutputNode && (wanted == nil || wanted(id)) {
			outputs = append(outputs, id)
		}
	}
	if len(outputs) == 0 {
		j.refused = problem("prompt_no_outputs", "Prompt has no outputs", "", &pyval.Dict{})
		return j, nil
	}
	v := &validation{e: e, prompt: prompt, done: map[string]verdict{}}
	var lines []string
	for _, id := range outputs {
		result, err := v.node(id)
		if err != nil {
			result = verdict{errors: []any{exception("exception_during_validation", "Exception when validating node", err, nil)}}
			v.settle(id, result)
		}
		if result.ok {
			j.outputs = append(j.outputs, id)
			continue
		}
		for _, e := range result.errors {
			d := e.(*pyval.Dict)
			lines = append(lines, pyval.Str(d.At("message"))+": "+pyval.Str(d.At("details")))
		}
		v.blame(id, j.nodes)
	}
	if len(j.outputs) == 0 {
		j.refused = problem("prompt_outputs_failed_validation", "Prompt outputs failed validation", strings.Join(lines, "\n"), &pyval.Dict{})
	}
	return j, nil
}

// blame lists all faulty nodes found so far as reasons why an output cannot run.
func (v *validation) blame(output string, nodes *pyval.Dict) {
	for _, id := range v.order {
		r := v.done[id]
		if r.ok || len(r.errors) == 0 {
			continue
		}
		known, ok := nodes.At(id).(*pyval.Dict)
		if !ok {
			known = pyval.D("errors", r.errors, "dependent_outputs", []any{}, "class_type", classOf(v.prompt, id))
			nodes.Set(id, known)
		}
		known.Set("dependent_outputs", append(known.At("dependent_outputs").([]any), output))
	}
}

func (v *validation) settle(id string, r verdict) {
	if _, ok := v.done[id]; !ok {
		v.order = append(v.order, id)
	}
	v.done[id] = r
}

// exception describes an error that broke off the validation of a node.
func exception(kind, message string, err error, info *pyval.Dict) *pyval.Dict {
	if info == nil {
		info = &pyval.Dict{}
	} else {
		info.Set("exception_message", err.Error())
	}
	info.Set("exception_type", exceptionType(err))
	info.Set("traceback", []any{err.Error()})
	return problem(kind, message, err.Error(), info)
}

// node judges one node and all it depends on. An error means that judging itself broke off.
func (v *validation) node(id string) (verdict, error) {
	if r, ok := v.done[id]; ok {
		return r, nil
	}
	if at := slices.Index(v.visiting, id); at >= 0 {
		v.cycle(append(slices.Clone(v.visiting[at:]), id))
		return v.done[id], nil
	}
	if len(v.visiting) >= maxChain {
		return verdict{}, &pyval.Error{Type: "RecursionError", Message: "maximum recursion depth exceeded: the chain of nodes is too long"}
	}
	v.visiting = append(v.visiting, id)
	defer func() { v.visiting = v.visiting[:len(v.visiting)-1] }()

	inputs, ok := v.prompt.At(id).(*pyval.Dict).At("inputs").(*pyval.Dict)
	if !ok {
		return verdict{}, &pyval.Error{Type: "KeyError", Message: "'inputs'"}
	}
	n := v.e.classes[classOf(v.prompt, id)]
	c := &check{v: v, node: n, inputs: inputs, ok: true}
	for _, in := range resolve(&n.Spec, inputs) {
		if err := c.input(in); err != nil {
			return verdict{}, err
		}
	}
	if err := c.custom(); err != nil {
		return verdict{}, err
	}
	if r, found := v.done[id]; found && !r.ok { // a cycle through this node was found on the way
		r.errors = append(slices.Clip(r.errors), c.errors...)
		v.settle(id, r)
		return r, nil
	}
	r := verdict{ok: c.ok && len(c.errors) == 0, errors: c.errors}
	v.settle(id, r)
	return r, nil
}

// cycle condemns all nodes of a circle; path begins and ends with the same one.
func (v *validation) cycle(path []string) {
	names := make([]string, len(path))
	for i, id := range path {
		names[i] = fmt.Sprintf("%s (%s)", id, classOf(v.prompt, id))
	}
	members := pyval.Normalize(path[:len(path)-1])
	for _, id := range path[:len(path)-1] {
		v.settle(id, verdict{errors: []any{problem("dependency_cycle", "Dependency cycle detected", strings.Join(names, " -> "),
			pyval.D("node_id", id, "cycle_nodes", members))}})
	}
}

// check judges the inputs of one node.
type check struct {
	v      *validation
	node   *node.Node
	inputs *pyval.Dict
	errors []any
	ok     bool // all nodes it depends on are fine
}

func (c *check) fail(p *pyval.Dict) { c.errors = append(c.errors, p) }

func (c *check) input(in declared) error {
	value, given := c.inputs.Get(in.name)
	if !given {
		if in.required {
			details := in.name
			if !c.node.Spec.Legacy {
				details = details[strings.LastIndex(details, ".")+1:]
			}
			c.fail(problem("required_input_missing", "Required input is missing", details, pyval.D("input_name", in.name)))
		}
		return nil
	}
	if list, ok := value.([]any); ok {
		return c.linked(in, list)
	}
	return c.constant(in, value)
}

// config is how errors show a declaration.
func (c *check) config(in declared) []any {
	typ, options := in.Config(c.v.e.files)
	return []any{typ, options}
}

func (c *check) linked(in declared, value []any) error {
	if len(value) != 2 {
		c.fail(problem("bad_linked_input", "Bad linked input, must be a length-2 list of [node_id, slot_index]", in.name,
			pyval.D("input_name", in.name, "input_config", c.config(in), "received_value", value)))
		return nil
	}
	from, typ, err := c.v.source(value)
	if err != nil {
		return err
	}
	config := c.config(in)
	if !fits(typ, config[0]) {
		c.fail(problem("return_type_mismatch", "Return type mismatch between linked nodes",
			fmt.Sprintf("%s, received_type(%s) mismatch input_type(%s)", in.name, typ, pyval.Str(config[0])),
			pyval.D("input_name", in.name, "input_config", config, "received_type", typ, "linked_node", value)))
		return nil
	}
	r, err := c.v.node(from)
	if err != nil {
		c.ok = false
		c.v.settle(from, verdict{errors: []any{exception("exception_during_inner_validation", "Exception when validating inner node", err,
			pyval.D("input_name", in.name, "input_config", config, "linked_node", value))}})
		return nil
	}
	c.ok = c.ok && r.ok
	return nil
}

// source finds the node and the output type that a link names, with the exceptions a real server runs into.
func (v *validation) source(pair []any) (id, typ string, err error) {
	id, ok := pair[0].(string)
	if _, found := v.prompt.Get(id); !ok || !found {
		return "", "", &pyval.Error{Type: "KeyError", Message: pyval.Repr(pair[0])}
	}
	outputs := v.e.classes[classOf(v.prompt, id)].Spec.Outputs
	switch pair[1].(type) {
	case int64, bool:
	default:
		return "", "", &pyval.Error{Type: "TypeError", Message: "tuple indices must be integers or slices, not " + pyval.TypeName(pair[1])}
	}
	l, _ := asLink(pair)
	slot, ok := l.pick(len(outputs))
	if !ok {
		return "", "", &pyval.Error{Type: "IndexError", Message: "tuple index out of range"}
	}
	return id, outputs[slot].Type, nil
}

// fits tells whether an output of type got may be linked to an input of type want, which is a list for old combos.
func fits(got string, want any) bool {
	wanted, ok := want.(string)
	if !ok {
		return got == node.TypeCombo || got == "*"
	}
	if got == wanted || got == "*" || wanted == "*" || got == node.TypeMatch || wanted == node.TypeMatch {
		return true
	}
	for g := range strings.SplitSeq(got, ",") {
		for w := range strings.SplitSeq(wanted, ",") {
			if g, w := strings.TrimSpace(g), strings.TrimSpace(w); g == w || g == "*" || w == "*" {
				return true
			}
		}
	}
	return false
}

func (c *check) constant(in declared, value any) error {
	if d, ok := value.(*pyval.Dict); ok {
		if inner, wrapped := d.Get("__value__"); wrapped {
			value = inner
			c.inputs.Set(in.name, value)
		}
	}
	coerced, err := coerce(in.Type, value)
	if err != nil {
		c.fail(problem("invalid_input_type", fmt.Sprintf("Failed to convert an input value to a %s value", in.Type),
			fmt.Sprintf("%s, %s, %s", in.name, pyval.Str(value), err),
			pyval.D("input_name", in.name, "input_config", c.config(in), "received_value", value, "exception_message", err.Error())))
		return nil
	}
	c.inputs.Set(in.name, coerced)
	if slices.Contains(c.node.Checks, in.name) {
		return nil
	}
	return c.bounds(in, coerced)
}

// coerce converts a constant to the type of its input, by Python's rules.
func coerce(typ string, value any) (any, error) {
	switch typ {
	case "INT":
		return pyval.ToInt(value)
	case "FLOAT":
		return pyval.ToFloat(value)
	case "STRING":
		return pyval.Str(value), nil
	case "BOOLEAN":
		return pyval.Truth(value), nil
	}
	return value, nil
}

// bounds judges a coerced constant by its declared range or list.
func (c *check) bounds(in declared, value any) error {
	for _, bound := range []struct {
		key, kind, word string
		bad             int
	}{{"min", "value_smaller_than_min", "smaller than min", -1}, {"max", "value_bigger_than_max", "bigger than max", 1}} {
		limit, ok := in.Attrs[bound.key]
		if !ok {
			continue
		}
		limit = asDeclared(in.Type, limit)
		if order, ok := pyval.Compare(value, limit); ok && order == bound.bad {
			c.fail(problem(bound.kind, fmt.Sprintf("Value %s %s of %s", pyval.Str(value), bound.word, pyval.Str(limit)), in.name,
				pyval.D("input_name", in.name, "input_config", c.config(in), "received_value", value)))
			return nil
		}
	}
	if in.Type == node.TypeCombo {
		c.choice(in, value)
	}
	return nil
}

// asDeclared shows a bound as the declaration's language would: the bound of a FLOAT written 1 here is 1.0 there.
func asDeclared(typ string, limit any) any {
	if n, ok := limit.(int); ok && typ == "FLOAT" {
		return float64(n)
	}
	return pyval.Normalize(limit)
}

func (c *check) choice(in declared, value any) {
	values := []any{value}
	if multi, _ := in.Attrs["multiselect"].(bool); multi {
		if list, ok := value.([]any); ok {
			values = list
		}
	}
	options := in.OptionsIn(c.v.e.files)
	var wrong []string
	for _, v := range values {
		if s, ok := v.(string); !ok || !slices.Contains(options, s) {
			wrong = append(wrong, pyval.Repr(v))
		}
	}
	if len(wrong) == 0 {
		return
	}
	// Long lists, such as all files of a folder, are not sent back.
	var config any = c.config(in)
	list := pyval.Repr(options)
	if len(options) > 20 {
		config, list = nil, fmt.Sprintf("(list of length %d)", len(options))
	}
	c.fail(problem("value_not_in_list", "Value not in list", fmt.Sprintf("%s: %s not in %s", in.name, strings.Join(wrong, ", "), list),
		pyval.D("input_name", in.name, "input_config", config, "received_value", value)))
}

// custom asks the node's own Validate about the inputs it checks. As on a real server, it breaks off over one that is not
// there, or is linked and so not known yet, or is no text.
func (c *check) custom() error {
	values := map[string]any{}
	for _, name := range c.node.Checks {
		value, given := c.inputs.Get(name)
		if !given {
			return &pyval.Error{Type: "TypeError", Message: fmt.Sprintf("%s.VALIDATE_INPUTS() missing 1 required positional argument: '%s'", c.node.Spec.Class, name)}
		}
		if _, isLink := asLink(value); isLink {
			value = nil
		}
		if _, ok := value.(string); !ok && c.node.Validate != nil {
			return &pyval.Error{Type: "AttributeError", Message: fmt.Sprintf("'%s' object has no attribute 'endswith'", pyval.TypeName(value))}
		}
		values[name] = value
	}
	if c.node.Validate == nil {
		return nil
	}
	if refused := c.node.Validate(node.NewCall(&c.node.Spec, c.v.e.files, values)); refused != nil {
		for _, name := range c.node.Checks {
			c.fail(problem("custom_validation_failed", "Custom validation failed for node", name+" - "+refused.Error(), pyval.D("input_name", name)))
		}
	}
	return nil
}

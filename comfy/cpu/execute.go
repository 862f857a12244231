package cpu

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// outcome is how a prompt ended.
type outcome struct {
	success  bool
	messages []any       // [event, data] pairs
	outputs  *pyval.Dict // ui by node
	meta     *pyval.Dict
}

// run executes one prompt.
type run struct {
	e        *Engine
	it       *item
	results  *cache
	graph    *graph
	client   string // where events go: an id, "" for none
	progress *progress
	messages []any
	outputs  *pyval.Dict
	meta     *pyval.Dict
	executed []any
	held     int64 // bytes of the results so far
}

func newRun(e *Engine, it *item, results *cache) *run {
	r := &run{e: e, it: it, results: results, client: clientOf(it.extra), outputs: &pyval.Dict{}, meta: &pyval.Dict{}, executed: []any{}}
	r.progress = newProgress(e.hub, r.client, it.id, e.cfg.Now)
	return r
}

// clientOf gives the socket id a prompt's events go to. "" means that none was given; an id that no socket can have
// gets a text that none has.
func clientOf(extra *pyval.Dict) string {
	switch id := extra.At("client_id").(type) {
	case nil:
		return ""
	case string:
		if id != "" {
			return id
		}
		return "\x00"
	default:
		return "\x00" + pyval.Repr(id)
	}
}

func (r *run) outcome(success bool) outcome {
	return outcome{success: success, messages: r.messages, outputs: r.outputs, meta: r.meta}
}

// message records an event in the history and sends it to the client; all of them if broadcast is set and there is no
// client.
func (r *run) message(event string, data *pyval.Dict, broadcast bool) {
	data.Set("timestamp", r.e.cfg.Now().UnixMilli())
	r.messages = append(r.messages, []any{event, data})
	if r.client != "" || broadcast {
		r.e.hub.send(r.client, event, data)
	}
}

func (r *run) execute(ctx context.Context) outcome {
	r.e.hub.started(r.client)
	defer r.e.hub.ended()
	r.message("execution_start", pyval.D("prompt_id", r.it.id), false)
	r.results.prepare(r.e, r.it.prompt)
	hits := []any{}
	for _, id := range r.it.prompt.Keys() {
		if r.results.get(id) != nil {
			hits = append(hits, id)
		}
	}
	r.message("execution_cached", pyval.D("nodes", hits, "prompt_id", r.it.id), false)
	return r.outcome(r.nodes(ctx))
}

// nodes runs what is needed, in order, and reports success.
func (r *run) nodes(ctx context.Context) bool {
	r.graph = newGraph(r.e, r.it.prompt, func(id string) bool { return r.results.get(id) != nil })
	for _, id := range r.it.outputs {
		if err := r.graph.add(id); err != nil {
			r.failed(id, err, nil)
			return false
		}
	}
	for len(r.graph.pending) > 0 {
		id, ok := r.graph.next()
		if !ok {
			// The real server calls a run that is stuck in a cycle a success, with this message in it.
			r.failed(r.graph.pending[0], &pyval.Error{Type: "comfy_execution.graph.DependencyCycleError", Message: "Dependency cycle detected"}, nil)
			return true
		}
		if !r.step(ctx, id) {
			return false
		}
	}
	r.message("execution_success", pyval.D("prompt_id", r.it.id), false)
	return true
}

// errInterrupted is the cause of a run that was stopped from outside.
var errInterrupted = errors.New("interrupted")

// errPending says that a node waits for lazy inputs.
var errPending = errors.New("waits for lazy inputs")

// step runs one node, or finds its result, and reports whether the run can go on.
func (r *run) step(ctx context.Context, id string) bool {
	if result := r.results.get(id); result != nil {
		r.reuse(id, result)
		r.graph.finish(id)
		return true
	}
	r.progress.start(id)
	n := r.e.classes[classOf(r.it.prompt, id)]
	x := &execution{run: r, id: id, node: n}
	err := x.execute(ctx)
	switch {
	case err == nil:
		r.progress.finish(id)
		r.executed = append(r.executed, id)
		r.graph.finish(id)
		return true
	case errors.Is(err, errPending):
		return true
	case errors.Is(err, errInterrupted):
		r.message("execution_interrupted", pyval.D("prompt_id", r.it.id, "node_id", id, "node_type", n.Spec.Class, "executed", r.executed), true)
		return false
	}
	var fell *panicked
	if errors.As(err, &fell) {
		r.e.cfg.Logger.Warn("a node panicked; only its run ends", "prompt_id", r.it.id, "node_id", id, "class", n.Spec.Class, "panic", fell.value, "stack", string(fell.stack))
	} else {
		r.e.cfg.Logger.Debug("node failed", "prompt_id", r.it.id, "node_id", id, "class", n.Spec.Class, "error", err)
	}
	r.failed(id, err, x.shown())
	return false
}

// reuse shows a result that was there already. Without a client it is not even noted in the history, as on the real server.
func (r *run) reuse(id string, result *cached) {
	if r.client != "" {
		var output any
		if result.ui != nil {
			output = result.ui
			r.show(id, result.ui)
		}
		r.e.hub.send(r.client, "executed", pyval.D("node", id, "display_node", id, "output", output, "prompt_id", r.it.id))
	}
	r.progress.finish(id)
}

func (r *run) show(id string, ui *pyval.Dict) {
	r.outputs.Set(id, ui)
	r.meta.Set(id, pyval.D("node_id", id, "display_node", id, "parent_node", nil, "real_node_id", id))
}

func (r *run) failed(id string, err error, inputs any) {
	if inputs == nil {
		inputs = []any{}
	}
	class := classOf(r.it.prompt, id)
	r.message("execution_error", pyval.D(
		"prompt_id", r.it.id, "node_id", id, "node_type", class, "executed", r.executed,
		"exception_message", err.Error()+"\n", "exception_type", exceptionType(err),
		"traceback", []any{fmt.Sprintf("node %s (%s): %s\n", id, class, err)},
		"current_inputs", inputs, "current_outputs", pyval.Normalize(r.it.prompt.Keys()),
	), false)
}

// exceptionType is the name under which an error shows.
func exceptionType(err error) string {
	var raised *node.Exception
	var python *pyval.Error
	switch {
	case errors.As(err, &raised) && raised.Type != "":
		return raised.Type
	case errors.As(err, &python):
		return python.Type
	}
	return "RuntimeError"
}

// execution is one node at work.
type execution struct {
	*run
	id   string
	node *node.Node

	names  []string
	values map[string][]any // by input: the elements of its list
	absent map[string]bool  // linked inputs whose value is not there
}

func (x *execution) execute(ctx context.Context) error {
	x.gather()
	x.e.hub.executing(x.id, x.it.id)
	if x.node.Lazy != nil {
		if err := x.askLazy(ctx); err != nil {
			return err
		}
	}
	if err := x.checkNames(); err != nil {
		return err
	}
	outputs, ui, err := x.mapped(ctx)
	if err != nil {
		return err
	}
	if err := x.weigh(outputs); err != nil {
		return err
	}
	result := &cached{outputs: outputs}
	if ui != nil && ui.Len() > 0 {
		result.ui = ui
		x.show(x.id, ui)
		if x.client != "" {
			x.e.hub.send(x.client, "executed", pyval.D("node", x.id, "display_node", x.id, "output", ui, "prompt_id", x.it.id))
		}
	}
	x.results.set(x.id, result)
	return nil
}

// maxList bounds the elements of one output list: lists of lists can multiply with every node.
const maxList = 1 << 17

// weigh adds up what the results of a run take, and stops it when that is too much.
func (x *execution) weigh(outputs [][]any) error {
	for _, list := range outputs {
		if len(list) > maxList {
			return node.Raise("MemoryError", "a list of %d elements is longer than this engine allows (%d)", len(list), maxList)
		}
		for _, v := range list {
			x.held += weight(v)
		}
	}
	if x.held > x.e.cfg.MaxMemory {
		return node.Raise("MemoryError", "the results of this prompt take more than the %d bytes this engine allows: use smaller pictures or fewer nodes", x.e.cfg.MaxMemory)
	}
	return nil
}

// weight is about how many bytes a value takes.
func weight(v any) int64 {
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case *tensor.Image:
		return 4 * int64(len(v.Pix))
	case *tensor.Mask:
		return 4 * int64(len(v.Pix))
	case *node.Audio:
		return 4 * int64(len(v.Wave)) * int64(v.Channels()) * int64(v.Samples())
	case []any:
		var sum int64
		for _, item := range v {
			sum += weight(item)
		}
		return sum
	}
	return 16
}

// gather collects the input values: constants that are declared, and all that is linked.
func (x *execution) gather() {
	x.names, x.values, x.absent = nil, map[string][]any{}, map[string]bool{}
	inputs := inputsOf(x.it.prompt, x.id)
	known := map[string]bool{}
	for _, in := range resolve(&x.node.Spec, inputs) {
		known[in.name] = true
	}
	for _, name := range inputs.Keys() {
		value := inputs.At(name)
		l, linked := asLink(value)
		switch {
		case linked:
			x.names = append(x.names, name)
			x.values[name], x.absent[name] = x.output(l)
		case known[name] || x.node.Spec.AcceptAll:
			x.names = append(x.names, name)
			x.values[name] = []any{value}
		}
	}
}

// output gives the list of values a link brings.
func (x *execution) output(l link) (list []any, absent bool) {
	if result := x.results.get(l.from); result != nil {
		if i, ok := l.pick(len(result.outputs)); ok {
			return result.outputs[i], false
		}
	}
	return []any{nil}, true
}

// checkNames refuses inputs that are linked but not declared, and required ones that are missing.
func (x *execution) checkNames() error {
	known := map[string]bool{}
	for _, in := range x.node.Spec.Required {
		if in.Type == node.TypeDynamicCombo {
			if _, ok := inputsOf(x.it.prompt, x.id).Get(in.Name); !ok {
				return &pyval.Error{Type: "TypeError", Message: fmt.Sprintf("%s.execute() missing 1 required positional argument: '%s'", x.node.Spec.Class, in.Name)}
			}
		}
	}
	for _, in := range resolve(&x.node.Spec, inputsOf(x.it.prompt, x.id)) {
		known[in.name] = true
		if _, given := x.values[in.name]; in.required && !given {
			return &pyval.Error{Type: "TypeError", Message: fmt.Sprintf("%s.execute() missing 1 required positional argument: '%s'", x.node.Spec.Class, in.name)}
		}
	}
	for _, name := range x.names {
		if !known[name] && !x.node.Spec.AcceptAll {
			return &pyval.Error{Type: "TypeError", Message: fmt.Sprintf("%s.execute() got an unexpected keyword argument '%s'", x.node.Spec.Class, name)}
		}
	}
	for _, in := range x.node.Spec.Required {
		if in.Type == node.TypeDynamicCombo && !known[in.Name] {
			return &pyval.Error{Type: "KeyError", Message: fmt.Sprintf("'%s' has no such option", in.Name)}
		}
	}
	return nil
}

// askLazy finds out which lazy inputs are needed, and has them computed first.
func (x *execution) askLazy(ctx context.Context) error {
	wanted := map[string]bool{}
	err := x.each(ctx, func(values map[string]any) error {
		c := node.NewCall(&x.node.Spec, x.e.files, values)
		return guard(func() error {
			for _, name := range x.node.Lazy(c) {
				wanted[name] = true
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	waiting := false
	for name := range wanted {
		if x.absent[name] {
			waiting = true
			if err := x.graph.need(x.id, name); err != nil {
				return err
			}
		}
	}
	if waiting {
		return errPending
	}
	return nil
}

// each calls fn for every element of the input lists; the shorter lists repeat their last element. A node that takes
// lists is called once. The interrupt is looked at before each call.
func (x *execution) each(ctx context.Context, fn func(values map[string]any) error) error {
	longest := 0
	for _, list := range x.values {
		longest = max(longest, len(list))
	}
	switch {
	case x.node.Spec.InputList || len(x.values) == 0:
		longest = 1
	case longest == 0:
		return &pyval.Error{Type: "TypeError", Message: x.node.Spec.Class + ".execute() got only empty lists"}
	}
	types := map[string]declared{}
	for _, in := range resolve(&x.node.Spec, inputsOf(x.it.prompt, x.id)) {
		types[in.name] = in
	}
	for i := range longest {
		if x.e.queue.takeInterrupt() || ctx.Err() != nil {
			return errInterrupted
		}
		values, err := x.slice(types, i)
		if err != nil {
			return err
		}
		if err := fn(values); err != nil {
			return err
		}
	}
	return nil
}

// slice gives the inputs of one call.
func (x *execution) slice(types map[string]declared, i int) (map[string]any, error) {
	values := map[string]any{}
	for name, list := range x.values {
		if x.absent[name] && types[name].IsLazy() {
			continue
		}
		if x.node.Spec.InputList {
			converted := make([]any, len(list))
			for j, v := range list {
				var err error
				if converted[j], err = typed(types[name], v); err != nil {
					return nil, err
				}
			}
			values[name] = converted
			continue
		}
		if len(list) == 0 {
			return nil, &pyval.Error{Type: "IndexError", Message: "list index out of range"}
		}
		v, err := typed(types[name], list[min(i, len(list)-1)])
		if err != nil {
			return nil, err
		}
		if v != nil || types[name].required || types[name].member { // a group has members without a value, too
			values[name] = v
		}
	}
	return values, nil
}

// typed makes sure that a value has the Go type of its declared input. Links may bring others where an any-type is between.
func typed(in declared, v any) (any, error) {
	wrong := func() error {
		if v == nil {
			return &pyval.Error{Type: "TypeError", Message: "'NoneType' object is not subscriptable"}
		}
		return &pyval.Error{Type: "TypeError", Message: fmt.Sprintf("input '%s' takes %s, got %s", in.name, in.Type, kindOf(v))}
	}
	if v == nil && !in.required && !in.member {
		return nil, nil
	}
	switch in.Type {
	case "IMAGE":
		switch v := v.(type) {
		case *tensor.Image:
			return v, nil
		case *tensor.Mask:
			return grey(v), nil
		}
		return nil, wrong()
	case "MASK":
		if _, ok := v.(*tensor.Mask); !ok {
			return nil, wrong()
		}
	case "AUDIO":
		if _, ok := v.(*node.Audio); !ok {
			return nil, wrong()
		}
	case "INT":
		switch v := v.(type) {
		case int64, *big.Int, bool:
			return v, nil
		case float64:
			return pyval.ToInt(v)
		}
		return nil, wrong()
	case "FLOAT":
		if f, ok := pyval.Float(v); ok {
			return f, nil
		}
		return nil, wrong()
	case "STRING", node.TypeCombo:
		if _, ok := v.(string); !ok {
			return nil, wrong()
		}
	case "BOOLEAN":
		return pyval.Truth(v), nil
	}
	return v, nil
}

// grey shows a mask as a picture; a mask can reach an IMAGE input through an output of changing type.
func grey(m *tensor.Mask) *tensor.Image {
	img := &tensor.Image{B: m.B, H: m.H, W: m.W, C: 3, Pix: make([]float32, 3*len(m.Pix))}
	for i, v := range m.Pix {
		img.Pix[3*i], img.Pix[3*i+1], img.Pix[3*i+2] = v, v, v
	}
	return img
}

func kindOf(v any) string {
	switch v.(type) {
	case *tensor.Image:
		return "an IMAGE"
	case *tensor.Mask:
		return "a MASK"
	case *node.Audio:
		return "an AUDIO"
	}
	return pyval.TypeName(v)
}

// mapped runs the node for every element and joins what comes back.
func (x *execution) mapped(ctx context.Context) ([][]any, *pyval.Dict, error) {
	outputs := make([][]any, len(x.node.Spec.Outputs))
	for i := range outputs {
		outputs[i] = []any{}
	}
	ui := &pyval.Dict{}
	files := x.e.files.ForRun()
	err := x.each(ctx, func(values map[string]any) error {
		c := x.call(values, files)
		var result *node.Result
		if err := guard(func() (err error) { result, err = x.node.Run(ctx, c); return err }); err != nil {
			return err
		}
		if result == nil {
			return nil
		}
		return x.join(outputs, ui, result)
	})
	return outputs, ui, err
}

// join appends one call's result to those of the calls before.
func (x *execution) join(outputs [][]any, ui *pyval.Dict, result *node.Result) error {
	if len(result.Outputs) > len(outputs) {
		return fmt.Errorf("%s gave %d outputs, declares %d", x.node.Spec.Class, len(result.Outputs), len(outputs))
	}
	for i, v := range result.Outputs {
		v = pyval.Normalize(v)
		if x.node.Spec.Outputs[i].List != node.List {
			outputs[i] = append(outputs[i], v)
			continue
		}
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s gave %T for the list output %d", x.node.Spec.Class, v, i)
		}
		outputs[i] = append(outputs[i], list...)
	}
	for key, items := range result.UI {
		earlier, _ := ui.At(key).([]any)
		ui.Set(key, append(append([]any{}, earlier...), items...))
	}
	return nil
}

func (x *execution) call(values map[string]any, files *node.Files) *node.Call {
	c := node.NewCall(&x.node.Spec, files, values)
	c.NodeID, c.PromptID, c.MaxPixels = x.id, x.it.id, x.e.cfg.MaxPixels
	c.Meta = x.meta()
	c.OnProgress = func(value, limit int) { x.progress.update(x.id, value, limit, nil, 0) }
	c.OnPreview = func(value, limit int, format node.PreviewFormat, picture []byte) {
		x.progress.update(x.id, value, limit, picture, format)
	}
	c.OnNote = func(text string) { x.e.hub.note(x.id, text) }
	return c
}

// meta is what saved files carry: the prompt, and the members of extra_pnginfo.
func (x *execution) meta() []node.MetaText {
	var hidden bool
	for _, h := range x.node.Spec.Hidden {
		hidden = hidden || h.Type == "PROMPT"
	}
	if !hidden {
		return nil
	}
	texts := []node.MetaText{{Key: "prompt", Text: pyval.Dumps(x.it.prompt)}}
	if info, ok := x.it.extra.At("extra_pnginfo").(*pyval.Dict); ok {
		for _, key := range info.Keys() {
			texts = append(texts, node.MetaText{Key: key, Text: pyval.Dumps(info.At(key))})
		}
	}
	return texts
}

// guard turns a panic of a node into an error, so that a bad picture cannot end the server.
func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{value: p, stack: debug.Stack()}
		}
	}()
	return fn()
}

// panicked is a node's panic; the stack is for the log only.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprint(p.value) }

// shown are the inputs as error messages show them.
func (x *execution) shown() *pyval.Dict {
	d := &pyval.Dict{}
	for _, name := range x.names {
		list := make([]any, len(x.values[name]))
		for i, v := range x.values[name] {
			list[i] = shownValue(v)
		}
		d.Set(name, list)
	}
	for _, h := range x.node.Spec.Hidden {
		switch h.Type {
		case "PROMPT":
			d.Set(h.Name, []any{pyval.Str(x.it.prompt)})
		case "EXTRA_PNGINFO":
			d.Set(h.Name, []any{shownValue(x.it.extra.At("extra_pnginfo"))})
		case "UNIQUE_ID":
			d.Set(h.Name, []any{x.id})
		}
	}
	return d
}

func shownValue(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, *big.Int, string:
		return v
	case *tensor.Image:
		return fmt.Sprintf("IMAGE [%d, %d, %d, %d]", v.B, v.H, v.W, v.C)
	case *tensor.Mask:
		return fmt.Sprintf("MASK [%d, %d, %d]", v.B, v.H, v.W)
	case *node.Audio:
		return fmt.Sprintf("AUDIO [%d, %d, %d] at %d Hz", len(v.Wave), v.Channels(), v.Samples(), v.Rate)
	case []any, *pyval.Dict:
		return pyval.Str(v)
	}
	return fmt.Sprintf("%T", v)
}

package graph

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
)

// readWidgets fills n.Inputs with the values of its widgets, in the order of the declaration.
func (f *Flat) readWidgets(n *FlatNode) {
	switch values := n.Node.values.(type) {
	case *object:
		f.readNamed(n, values)
	case []any:
		if n.readCustomCombo(values) || n.readLoraRows(values) {
			return
		}
		named := asObject(n.Node.raw.Get("widgets_values_named"))
		switch {
		case n.Spec != nil && !n.Builtin():
			n.readDeclared(values, named)
		case named != nil:
			n.takeNamed(named, "")
		case n.Spec == nil:
			f.readUndeclared(n, values)
		case !n.readListed(values):
			n.readDeclared(values, nil)
		}
	default:
		if n.Spec != nil {
			n.readDeclared(nil, nil)
		}
	}
}

// Builtin says whether the declaration is this package's own: names without defaults, perhaps of another
// version than the file's.
func (n *FlatNode) Builtin() bool { return n.Spec != nil && n.Spec == objectinfo.Builtin(n.Class) }

// readListed maps a value list by the sockets of a newer file, which name every widget of the node's own version.
func (n *FlatNode) readListed(values []any) bool {
	names := n.Node.widgetNames()
	if len(names) < 2 {
		return false
	}
	out, control, ok := nameValues(names, values)
	if ok {
		n.Inputs, n.control = out, control
	}
	return ok
}

// listed gives the values by the names that the sockets of a newer file have for all of them, or nil. An older file
// has sockets only for some widgets, in the order in which they were made: what is out of order is none of those.
func (n *FlatNode) listed(values []any) *object {
	names := n.Node.widgetNames()
	out, control, ok := nameValues(names, values)
	if !ok || len(names) < 2 {
		return nil
	}
	named, last := new(object), -1
	for _, in := range out {
		at := slices.IndexFunc(n.Spec.Inputs, func(s objectinfo.Input) bool { return s.Name == in.Name })
		if at >= 0 && at < last {
			return nil
		}
		last = max(last, at)
		named.Add(in.Name, unwrap(in.Value))
	}
	n.control = control
	return named
}

func (n *Node) widgetNames() []string {
	var names []string
	for _, in := range n.Inputs {
		if in.Widget != "" {
			names = append(names, in.Widget)
		}
	}
	return names
}

// readDeclared maps a value list by the declaration. Old files hold values for inputs that have since
// become sockets (forceInput): when only the count with those fits, their places are dropped. Where the list
// does not fit the declaration, the file's own names count: the newest files keep them beside the values, others in
// the sockets.
func (n *FlatNode) readDeclared(values []any, named *object) {
	r := widgetReader{values: values, lax: n.Builtin()}
	r.read(n.Spec.Inputs, "")
	if !r.exact() && hasForced(n.Spec.Inputs) {
		old := widgetReader{values: values, forced: true}
		if old.read(n.Spec.Inputs, ""); old.exact() {
			r = old
		}
	}
	if named == nil && !r.exact() {
		named = n.listed(values)
	}
	if named != nil && !r.exact() {
		n.namedDeclared(named, n.Spec.Inputs, "")
		return
	}
	n.Inputs, n.control = r.out, r.control
}

func hasForced(list []objectinfo.Input) bool {
	for i := range list {
		if list[i].ForceInput && list[i].Widget {
			return true
		}
	}
	return false
}

// widgetReader takes values one after the other. It never shifts: what is missing gets the declared default,
// what is left over is ignored.
type widgetReader struct {
	values  []any
	next    int
	short   bool // a value was missing
	lost    bool // an option was chosen that the declaration lacks, so that the values after it can't be told
	lax     bool // the declaration knows no defaults
	forced  bool // the list also has values for forceInput sockets
	out     Inputs
	control map[string]string
}

// exact says whether every value was used and none was missing.
func (r *widgetReader) exact() bool { return !r.short && !r.lost && r.next == len(r.values) }

func (r *widgetReader) read(list []objectinfo.Input, prefix string) {
	upload := ""
	for i := range list {
		s := &list[i]
		if s.Upload != "" {
			upload = s.Upload
		}
		if !s.Widget || s.ForceInput && !r.forced {
			continue
		}
		r.skipButtons(s)
		v, ok := r.take()
		if s.ForceInput {
			continue
		}
		if !ok {
			r.short = true
			if v, ok = r.missing(s); !ok {
				continue
			}
		}
		name := prefix + s.Name
		r.out = append(r.out, Input{Name: name, Value: wrapFor(s, v)})
		if s.Type == objectinfo.TypeDynamicCombo {
			inputs, ok := s.Branch(v)
			r.lost = r.lost || !ok
			r.read(inputs, name+".")
		}
		r.skipControl(s, name)
		if lastRequired(list, i) {
			r.skipUpload(upload)
		}
	}
}

func lastRequired(list []objectinfo.Input, i int) bool {
	return i+1 == len(list) || list[i].Required && !list[i+1].Required
}

func (r *widgetReader) take() (any, bool) {
	if r.next >= len(r.values) {
		return nil, false
	}
	v := r.values[r.next]
	r.next++
	return v, v != nil
}

// missing gives the value of a widget that the file is too old to have. A combo's first option counts only
// where the node had other values: a node saved without any had no widgets, and complete sees to what a
// server insists on.
func (r *widgetReader) missing(s *objectinfo.Input) (any, bool) {
	if r.lax || s.Default == nil && (!s.Required || len(r.values) == 0) {
		return nil, false
	}
	return s.Fallback()
}

// skipControl passes over the control_after_generate value that follows a seed. Packs that take the widget away
// leave null in its place.
func (r *widgetReader) skipControl(s *objectinfo.Input, name string) {
	if !s.HasControl() || r.next >= len(r.values) {
		return
	}
	mode, ok := controlMode(r.values[r.next])
	if ok || r.values[r.next] == nil {
		r.next++
	}
	if !ok {
		return
	}
	if r.control == nil {
		r.control = map[string]string{}
	}
	r.control[name] = mode
	if s.Type == "COMBO" && r.next < len(r.values) && (r.values[r.next] == nil || r.values[r.next] == "") {
		r.next++ // the filter of the options to walk through
	}
}

// controlMode reads fixed, increment, decrement, randomize and their kin; very old files have a boolean.
func controlMode(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		switch v {
		case "fixed", "increment", "decrement", "randomize", "increment-wrap":
			return v, true
		}
	case bool:
		if v {
			return "randomize", true
		}
		return "fixed", true
	}
	return "", false
}

// skipUpload passes over the upload button that loaders keep among their values.
func (r *widgetReader) skipUpload(kind string) {
	if kind == "" || r.next >= len(r.values) {
		return
	}
	switch v := r.values[r.next].(type) {
	case nil:
		r.next++
	case string:
		if v == "" || v == kind || v == KindImage {
			r.next++
		}
	}
}

// skipButtons passes over the buttons that the editor keeps before the value of a 3D view.
func (r *widgetReader) skipButtons(s *objectinfo.Input) {
	if !strings.HasPrefix(s.Type, "LOAD_3D") {
		return
	}
	for r.next < len(r.values) {
		switch r.values[r.next] {
		case "upload3dmodel", "uploadExtraResources", "clear":
			r.next++
		default:
			return
		}
	}
}

// Complete adds the required widgets that are still missing, with the first option or an empty value, so
// that a server accepts a file older than its nodes.
func (f *Flat) Complete() {
	for _, n := range f.Nodes {
		if n.Spec == nil || n.Builtin() {
			continue
		}
		n.completeFrom(n.Spec.Inputs, "")
	}
}

func (n *FlatNode) completeFrom(list []objectinfo.Input, prefix string) {
	for i := range list {
		s := &list[i]
		if !s.Required || !s.Widget || s.ForceInput {
			continue
		}
		v, has := n.Inputs.Get(prefix + s.Name)
		if !has {
			if v, has = s.Fallback(); !has {
				continue
			}
			n.Inputs = append(n.Inputs, Input{Name: prefix + s.Name, Value: wrapFor(s, v)})
		}
		if inputs, ok := s.Branch(v); ok && s.Type == objectinfo.TypeDynamicCombo {
			n.completeFrom(inputs, prefix+s.Name+".")
		}
	}
}

// readNamed maps an object of values by name. Names that are no inputs are the editor's own and left out.
func (f *Flat) readNamed(n *FlatNode, values *object) {
	if n.Spec != nil && !n.Builtin() {
		n.namedDeclared(values, n.Spec.Inputs, "")
		return
	}
	known := map[string]bool{}
	for _, in := range n.Node.Inputs {
		if in.Widget != "" {
			known[in.Widget] = true
		}
	}
	for _, m := range values.Members() {
		if len(known) > 0 && len(known) >= values.Len()/2 && !known[m.Name] || editorValue(m.Name) {
			continue
		}
		n.Inputs.Set(m.Name, wrapArray(m.Value))
	}
}

func editorValue(name string) bool {
	switch name {
	case "videopreview", "upload", "choose file to upload", "control_after_generate", "choose video to upload", "choose folder to upload", "speak_and_recognation":
		return true
	}
	return strings.HasPrefix(name, "$$")
}

func (n *FlatNode) namedDeclared(values *object, list []objectinfo.Input, prefix string) {
	for i := range list {
		s := &list[i]
		if !s.Widget || s.ForceInput {
			continue
		}
		name := prefix + s.Name
		v := values.Get(name)
		if v == nil {
			var ok bool
			if v, ok = s.Fallback(); !ok {
				continue
			}
		}
		n.Inputs = append(n.Inputs, Input{Name: name, Value: wrapFor(s, v)})
		n.namedDeclared(values, s.Format(v), prefix)
		if s.Type != objectinfo.TypeDynamicCombo {
			continue
		}
		if inputs, ok := s.Branch(v); ok {
			n.namedDeclared(values, inputs, name+".")
		} else {
			n.takeNamed(values, name+".")
		}
	}
}

// takeNamed takes all values whose names start so, except those of the editor's own widgets.
func (n *FlatNode) takeNamed(values *object, prefix string) {
	for _, m := range values.Members() {
		if strings.HasPrefix(m.Name, prefix) && !editorValue(m.Name) {
			n.Inputs.Set(m.Name, wrapArray(m.Value))
		}
	}
}

// readUndeclared maps a value list of a class nobody declared: by the prompt saved beside the graph, else by
// the sockets that stand for widgets, which newer files list completely, else by what is known of its pack.
func (f *Flat) readUndeclared(n *FlatNode, values []any) {
	if sib, ok := f.sibling[n.ID]; ok && sib.Class == n.Class {
		for _, in := range sib.Inputs {
			if _, link := in.Value.(Ref); !link {
				n.Inputs = append(n.Inputs, in)
			}
		}
		return
	}
	if out, control, ok := nameValues(n.Node.widgetNames(), values); ok {
		n.Inputs, n.control = out, control
		return
	}
	if n.readPack(values) {
		return
	}
	if OutputKind(n.Class) != KindText { // those keep what they showed last
		n.unnamed = len(values)
	}
}

// nameValues pairs names and values, with the control values that follow seeds left out. It fails rather
// than guess when they do not fit.
func nameValues(names []string, values []any) (Inputs, map[string]string, bool) {
	var out Inputs
	control := map[string]string{}
	next := 0
	for i, name := range names {
		if next >= len(values) {
			return nil, nil, false
		}
		v := values[next]
		next++
		out = append(out, Input{Name: name, Value: wrapArray(v)})
		spare := len(values) - next - (len(names) - i - 1)
		if _, number := v.(json.Number); number && spare > 0 && next < len(values) {
			if mode, ok := controlMode(values[next]); ok && kindOf(values[next]) == kindOf("") {
				control[name] = mode
				next++
			}
		}
	}
	for ; next < len(values); next++ {
		if s, text := values[next].(string); values[next] != nil && (!text || s != "" && s != KindImage) {
			return nil, nil, false
		}
	}
	return out, control, len(names) > 0
}

// unwrap takes a list out of its {"__value__": ...} wrapper.
func unwrap(v any) any {
	if o, ok := v.(*object); ok && o.Has("__value__") {
		return o.Get("__value__")
	}
	return v
}

// IsControl tells the words of a control_after_generate widget.
func IsControl(v any) bool {
	s, text := v.(string)
	_, control := controlMode(v)
	return text && control && s != ""
}

// wrapFor is wrapArray for a value of an input. Curves name their type.
func wrapFor(s *objectinfo.Input, v any) any {
	if list, ok := v.([]any); ok && s.Type == "CURVE" {
		return ordered.Of(ordered.Member{Name: "__type__", Value: s.Type}, ordered.Member{Name: "__value__", Value: list})
	}
	return wrapArray(v)
}

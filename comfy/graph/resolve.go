package graph

import (
	"strings"

	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// Bounds of the way from an input to its origin through reroutes, bypasses and subgraphs, and of all ways.
const (
	maxHops    = 10_000
	maxAllHops = 2_000_000
)

// resolved is what an input gets: a link, a literal value (from a primitive or a promoted widget), or nothing.
type resolved struct {
	found   bool
	value   bool
	literal any
	ref     Ref
}

// walk is a position on the way upward.
type walk struct {
	sc   *scope
	node string
	slot int
	want string
}

// wants goes on with the type of an input passed on the way: behind a bypassed node and outside an instance that one
// counts. Where the file has none, the last one stays.
func (w *walk) wants(typ string) {
	if typ != "" {
		w.want = typ
	}
}

// resolve follows the link with this id, as seen from inside sc.
func (f *Flat) resolve(sc *scope, linkID, want string) resolved {
	if linkID == "" {
		return resolved{}
	}
	l := sc.g.links[linkID]
	if l == nil {
		return resolved{}
	}
	return f.follow(sc, l.Origin, l.OriginSlot, want)
}

// follow goes upward from an output until it finds a node that executes.
func (f *Flat) follow(sc *scope, origin string, slot int, want string) resolved {
	w := walk{sc, origin, slot, want}
	for range maxHops {
		if f.hops++; f.hops > maxAllHops {
			return resolved{}
		}
		r, next := f.step(w)
		if next == nil {
			return r
		}
		w = *next
	}
	f.AddFinding("link-cycle", SeverityError, "", "a link runs in a circle near node "+w.sc.prefix+w.node, "remove one of the links of the circle")
	return resolved{}
}

// step looks at one origin: it gives the answer, or where to look next.
func (f *Flat) step(w walk) (resolved, *walk) {
	if w.sc.def != nil && w.node == w.sc.def.inputNode {
		return f.leave(w)
	}
	n := w.sc.g.nodes[w.node]
	switch {
	case n == nil || n.Mode == ModeMuted:
		return resolved{}, nil
	case n.Mode == ModeBypassed:
		in := f.bypassInput(n, w.slot, w.want)
		if in == nil {
			return resolved{}, nil
		}
		w.wants(in.Type)
		return throughInput(w, in)
	case n.Type == "Reroute" || n.Type == "Reroute (rgthree)" || n.Type == "ReroutePrimitive|pysssss":
		return through(w, n, 0)
	case n.Type == "PrimitiveNode":
		return primitiveValue(w.sc, n), nil
	case n.Type == "GetNode" || n.Type == "easy getNode":
		return f.getter(w, n)
	case n.Type == "SetNode" || n.Type == "easy setNode":
		return through(w, n, 0)
	}
	if child := w.sc.children[n]; child != nil {
		return enter(child, w)
	}
	return resolved{found: true, ref: Ref{Node: w.sc.path(n), Slot: w.slot}}, nil
}

// through goes on from an input of n; slot -1 is a dead end.
func through(w walk, n *Node, slot int) (resolved, *walk) {
	if slot < 0 || slot >= len(n.Inputs) {
		return resolved{}, nil
	}
	return throughInput(w, &n.Inputs[slot])
}

func throughInput(w walk, in *Slot) (resolved, *walk) {
	l := w.sc.g.links[in.Link]
	if l == nil {
		return resolved{}, nil
	}
	return resolved{}, &walk{w.sc, l.Origin, l.OriginSlot, w.want}
}

// primitiveValue is what the instance around it sets, else the primitive's own first value.
func primitiveValue(sc *scope, n *Node) resolved {
	for _, p := range sc.promoted.inner[n.ID] {
		if p.widget == "value" {
			return resolved{found: true, value: true, literal: p.value}
		}
	}
	if list, ok := n.values.([]any); ok && len(list) > 0 && list[0] != nil {
		return resolved{found: true, value: true, literal: list[0]}
	}
	return resolved{}
}

// getter finds the Set node with the same name, here or further out. Its mode does not count: it only names a link.
func (f *Flat) getter(w walk, n *Node) (resolved, *walk) {
	name := firstText(n)
	for sc := w.sc; sc != nil; sc = sc.parent {
		if set := sc.setter(name); set != nil && len(set.Inputs) > 0 {
			if l := sc.g.links[set.Inputs[0].Link]; l != nil {
				return resolved{}, &walk{sc, l.Origin, l.OriginSlot, w.want}
			}
		}
	}
	return resolved{}, nil
}

func (s *scope) setter(name string) *Node {
	if s.setters == nil {
		s.setters = map[string]*Node{}
		for _, n := range s.g.Nodes {
			if _, twice := s.setters[firstText(n)]; !twice && (n.Type == "SetNode" || n.Type == "easy setNode") {
				s.setters[firstText(n)] = n
			}
		}
	}
	return s.setters[name]
}

func firstText(n *Node) string {
	if list, ok := n.values.([]any); ok && len(list) > 0 {
		return asString(list[0])
	}
	return ""
}

// leave goes from a subgraph's input out to the instance.
func (f *Flat) leave(w walk) (resolved, *walk) {
	if w.slot < 0 || w.slot >= len(w.sc.def.In) {
		return resolved{}, nil
	}
	port := w.sc.def.In[w.slot]
	in := w.sc.inst.Input(port.Name)
	if in == nil && len(w.sc.inst.Inputs) == len(w.sc.def.In) { // the port was renamed since
		in = &w.sc.inst.Inputs[w.slot]
	}
	if in != nil && in.Link != "" {
		if l := w.sc.parent.g.links[in.Link]; l != nil {
			w.wants(in.Type)
			return resolved{}, &walk{w.sc.parent, l.Origin, l.OriginSlot, w.want}
		}
	}
	if v := f.portValue(w.sc, w.slot); v != nil {
		return resolved{found: true, value: true, literal: v}, nil
	}
	return resolved{}, nil
}

// portValue is the one value that a subgraph's input has when nothing is linked to it, for all that it leads to: what
// the instance says, else what the first widget behind it holds. It is nil where there is no such widget.
func (f *Flat) portValue(sc *scope, slot int) any {
	port := &sc.def.In[slot]
	if v := sc.promoted.ports[port.Name]; v != nil || !port.widget {
		return v
	}
	if v, ok := sc.firsts[slot]; ok {
		return v
	}
	if sc.firsts == nil {
		sc.firsts = map[int]any{}
	}
	sc.firsts[slot] = nil
	for _, id := range port.links {
		if v := f.widgetBehind(sc, sc.g.links[id]); v != nil {
			sc.firsts[slot] = v
			break
		}
	}
	return sc.firsts[slot]
}

// widgetBehind gives the value of the widget that a link inside a subgraph ends at, perhaps further in.
func (f *Flat) widgetBehind(sc *scope, l *Link) any {
	if l == nil || sc.g.nodes[l.Target] == nil {
		return nil
	}
	n := sc.g.nodes[l.Target]
	for _, in := range n.Inputs {
		if in.Link != l.ID || in.Widget == "" {
			continue
		}
		if child := f.childOf(sc, n); child != nil {
			for i := range child.def.In {
				if child.def.In[i].Name == in.Name {
					return f.portValue(child, i)
				}
			}
			return nil
		}
		fn := f.ByID[sc.path(n)]
		if fn == nil && !isVirtual(n.Type) {
			fn = f.newNode(sc, n) // bypassed or muted: it does not run, but holds the value all the same
		}
		if fn != nil {
			v, _ := fn.Inputs.Get(in.Widget)
			if _, link := v.(Ref); !link {
				return v
			}
		}
	}
	return nil
}

// childOf is the inside of an instance, also of one that does not run.
func (f *Flat) childOf(sc *scope, n *Node) *scope {
	if child := sc.children[n]; child != nil || n.Active() || sc.depth >= maxSubDepth {
		return child
	}
	if child := sc.idle[n]; child != nil {
		return child
	}
	f.hops++
	def := f.definition(sc, n)
	if def == nil || f.hops > maxAllHops {
		return nil
	}
	if sc.idle == nil {
		sc.idle = map[*Node]*scope{}
	}
	sc.idle[n] = newScope(sc, n, def)
	return sc.idle[n]
}

// enter goes from an instance's output into the subgraph.
func enter(child *scope, w walk) (resolved, *walk) {
	if l := child.outLink(w.slot); l != nil {
		return resolved{}, &walk{child, l.Origin, l.OriginSlot, w.want}
	}
	return resolved{}, nil
}

// outLink finds the inner link that ends at output slot of the subgraph.
func (s *scope) outLink(slot int) *Link {
	if slot >= 0 && slot < len(s.def.Out) {
		for _, id := range s.def.Out[slot].links {
			if l := s.g.links[id]; l != nil && l.Target == s.def.outputNode {
				return l
			}
		}
	}
	if s.outs == nil {
		s.outs = map[int]*Link{}
		for _, l := range s.g.Links {
			if _, twice := s.outs[l.TargetSlot]; l.Target == s.def.outputNode && !twice {
				s.outs[l.TargetSlot] = l
			}
		}
	}
	return s.outs[slot]
}

// bypassInput chooses the input that a bypassed node passes on for an output: the one in the same place if its type
// fits, else the first that does, in the order of the declaration. It is nil where none fits.
func (f *Flat) bypassInput(n *Node, slot int, want string) *Slot {
	inputs, out := f.slotsOf(n), f.outputType(n, slot)
	if want == "" || want == "*" {
		if len(inputs) == 0 {
			return nil
		}
		if slot < 0 || slot >= len(inputs) {
			slot = 0
		}
		return &inputs[slot]
	}
	fits := func(in *Slot) bool { return typesFit(in.Type, out) && typesFit(in.Type, want) }
	if slot >= 0 && slot < len(inputs) && fits(&inputs[slot]) {
		return &inputs[slot]
	}
	for i := range inputs {
		if inputs[i].Type == want {
			return &inputs[i]
		}
	}
	for i := range inputs {
		if fits(&inputs[i]) {
			return &inputs[i]
		}
	}
	return nil
}

// outputType is the type of an output, as declared or else as the file has it.
func (f *Flat) outputType(n *Node, slot int) string {
	if spec, ok := f.info.Class(f.currentClass(n.Type)); ok && slot >= 0 && slot < len(spec.Outputs) && spec.Outputs[slot] != objectinfo.TypeMatch {
		return spec.Outputs[slot]
	}
	if slot >= 0 && slot < len(n.Outputs) {
		return n.Outputs[slot].Type
	}
	return ""
}

// slotsOf gives the inputs of a node as an editor makes them: the declared sockets, the declared widgets, and what only
// the file has. Files list fewer, old ones in the order in which widgets were made sockets.
func (f *Flat) slotsOf(n *Node) []Slot {
	spec, ok := f.info.Class(f.currentClass(n.Type))
	if !ok {
		return n.Inputs
	}
	out, used := make([]Slot, 0, len(n.Inputs)), map[string]bool{}
	for _, widgets := range []bool{false, true} {
		for i := range spec.Inputs {
			s := &spec.Inputs[i]
			if (s.Widget && !s.ForceInput) != widgets || s.Grow != nil {
				continue
			}
			slot := Slot{Name: s.Name, Type: s.Type}
			if in := n.Input(s.Name); in != nil {
				if slot = *in; s.Type != objectinfo.TypeMatch {
					slot.Type = s.Type
				}
			}
			used[s.Name] = true
			out = append(out, slot)
		}
	}
	for _, in := range n.Inputs {
		if !used[in.Name] {
			out = append(out, in)
		}
	}
	return out
}

// wanted is the type that an input asks for. One that takes the type of whatever is linked to it asks for that.
func (f *Flat) wanted(sc *scope, n *FlatNode, in *Slot) string {
	s := n.SpecOf(in.Name)
	if s == nil && in.Type != "*" || s != nil && s.Type != objectinfo.TypeMatch {
		return in.Type
	}
	l := sc.g.links[in.Link]
	if l == nil {
		return in.Type
	}
	if origin := sc.g.nodes[l.Origin]; origin != nil {
		if typ := f.outputType(origin, l.OriginSlot); typ != "" && typ != "*" {
			return typ
		}
	}
	if l.Type != "" {
		return l.Type
	}
	return in.Type
}

// typesFit tells whether two socket types can be connected.
func typesFit(a, b string) bool {
	if a == "" || b == "" || a == "*" || b == "*" || strings.EqualFold(a, b) {
		return true
	}
	if !strings.Contains(a, ",") && !strings.Contains(b, ",") {
		return false
	}
	for x := range strings.SplitSeq(a, ",") {
		for y := range strings.SplitSeq(b, ",") {
			if strings.EqualFold(strings.TrimSpace(x), strings.TrimSpace(y)) {
				return true
			}
		}
	}
	return false
}

package graph

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
)

// Flat is a workflow reduced to the nodes that execute, with every link resolved. Convert prints it and
// Define reads it.
type Flat struct {
	w        *Workflow
	info     *objectinfo.Info
	Nodes    []*FlatNode
	ByID     map[string]*FlatNode
	scopes   map[string]*scope // by path of the instance, "" for the root
	paths    []string          // of the instances, in document order
	Findings []Finding
	sibling  map[string]PromptNode // of a prompt saved beside the graph, for names of unknown widgets
	drawn    map[string]*object    // links of the use-everywhere nodes, by input
	grouped  int                   // inner nodes of group nodes so far
	hops     int                   // links followed so far
	looked   int                   // links searched for those of primitives so far
}

// FlatNode is one node to execute.
type FlatNode struct {
	PromptNode
	Spec    *objectinfo.Class // nil for a class nobody declared
	Node    *Node             // nil in the prompt form
	sc      *scope            // nil in the prompt form
	control map[string]string // control_after_generate by widget
	unnamed int               // widget values whose names are unknown
	Gave    string            // kind of what it gave in a run, where its class is not known
}

// scope is one level of the graph form at one place: the root, or the inside of one instance.
type scope struct {
	g        *Graph
	def      *Subgraph // nil for the root
	parent   *scope
	inst     *Node // the instance in parent
	prefix   string
	children map[*Node]*scope
	idle     map[*Node]*scope // of instances that do not run, as far as their values were asked for
	promoted promotion
	setters  map[string]*Node // Set nodes by name
	outs     map[int]*Link    // inner links to the outputs, by slot
	firsts   map[int]any      // values of the first widgets behind inputs, by slot
	depth    int
}

// newScope is the inside of an instance.
func newScope(parent *scope, inst *Node, def *Subgraph) *scope {
	sc := &scope{g: &def.Graph, def: def, parent: parent, inst: inst, prefix: parent.path(inst) + ":", depth: parent.depth + 1}
	sc.promoted = promotionOf(sc)
	return sc
}

func (s *scope) path(n *Node) string { return s.prefix + n.ID }

// Flatten reduces w to its executable nodes. info may be nil.
func Flatten(w *Workflow, info *objectinfo.Info) *Flat {
	f := &Flat{w: w, info: info, scopes: map[string]*scope{}}
	if w.Graph == nil {
		f.takePrompt(w.Prompt)
		return f
	}
	f.Nodes = make([]*FlatNode, 0, len(w.Graph.Nodes))
	if sib := w.Graph.raw.Get("workflow_api"); sib != nil {
		f.sibling = siblingPrompt(sib)
	}
	root := &scope{g: w.Graph}
	f.scopes[""] = root
	f.collect(root)
	f.ByID = make(map[string]*FlatNode, len(f.Nodes))
	for _, n := range f.Nodes {
		f.ByID[n.ID] = n
	}
	for _, n := range f.Nodes {
		f.resolveInputs(n)
		n.placeChoice()
	}
	if f.hops > maxAllHops {
		f.AddFinding("too-many-links", SeverityError, "", "the links run through too many reroutes and subgraphs to follow", "link the nodes more directly")
	}
	f.dropMissing()
	return f
}

func siblingPrompt(v any) map[string]PromptNode {
	if text, ok := v.(string); ok && len(text) <= maxTextInside {
		v, _ = decodeJSON([]byte(text))
	}
	nodes := map[string]PromptNode{}
	if o := asObject(v); o != nil {
		for _, n := range promptOf(o) {
			nodes[n.ID] = n
		}
	}
	return nodes
}

func (f *Flat) takePrompt(p Prompt) {
	f.ByID = make(map[string]*FlatNode, len(p))
	for _, n := range p.Clone() {
		f.takeCurrent(&n)
		fn := &FlatNode{PromptNode: n, Spec: f.class(n.Class)}
		f.Nodes = append(f.Nodes, fn)
		f.ByID[n.ID] = fn
	}
}

// class finds a declaration: the server's, else the small table of this package.
func (f *Flat) class(name string) *objectinfo.Class {
	if c, ok := f.info.Class(name); ok {
		return c
	}
	return objectinfo.Builtin(name)
}

// oldClasses are classes that live on under another name, with their inputs that were renamed. Those that live on as
// another node, ImageBatch for one, are still there.
var oldClasses = map[string]struct {
	now    string
	inputs map[string]string
}{
	"ConditioningAverage ":     {now: "ConditioningAverage"},
	"SDV_img2vid_Conditioning": {now: "SVD_img2vid_Conditioning"},
	"T2IAdapterLoader":         {now: "ControlNetLoader", inputs: map[string]string{"t2i_adapter_name": "control_net_name"}},
	"Load3DAnimation":          {now: "Load3D"},
	"Preview3DAnimation":       {now: "Preview3D"},
}

// currentClass is the name that a class has today. A server that still has the old one keeps it.
func (f *Flat) currentClass(name string) string {
	if _, declared := f.info.Class(name); declared {
		return name
	}
	if old, ok := oldClasses[name]; ok {
		return old.now
	}
	return strings.TrimSpace(name)
}

// takeCurrent renames the class of a prompt's node, and its inputs.
func (f *Flat) takeCurrent(n *PromptNode) {
	class := f.currentClass(n.Class)
	if class == n.Class {
		return
	}
	for i := range n.Inputs {
		if name := oldClasses[n.Class].inputs[n.Inputs[i].Name]; name != "" {
			n.Inputs[i].Name = name
		}
	}
	n.Class = class
}

// collect walks one level in document order and descends into its active instances.
func (f *Flat) collect(sc *scope) {
	sc.children = map[*Node]*scope{}
	for _, n := range sc.g.Nodes {
		if !n.Active() || isVirtual(n.Type) || f.isEditorOnly(n) {
			continue
		}
		if len(f.Nodes) > maxExpanded {
			return
		}
		if sc.g.nodes[n.ID] != n {
			f.AddFinding("duplicate-id", SeverityWarning, sc.path(n), "two nodes have this id, only the last one counts", "open the workflow in ComfyUI and save it again")
			continue
		}
		if def := f.definition(sc, n); def != nil {
			child := newScope(sc, n, def)
			sc.children[n] = child
			f.scopes[sc.path(n)] = child
			f.paths = append(f.paths, sc.path(n))
			f.collect(child)
			continue
		}
		f.Nodes = append(f.Nodes, f.newNode(sc, n))
	}
}

// definition gives what an instance stands for: a subgraph, or an old group node made into one. Parse has
// bounded the former, the latter are bounded here.
func (f *Flat) definition(sc *scope, n *Node) *Subgraph {
	if def := f.w.def(n); def != nil {
		return def
	}
	name, ok := groupNodeName(n.Type)
	if !ok || sc.depth >= maxSubDepth || f.grouped > maxExpanded {
		return nil
	}
	def := f.w.groupNode(n, name)
	if def != nil {
		f.grouped += len(def.Nodes)
	}
	return def
}

// isEditorOnly tells nodes of known packs that only exist in the editor.
func (f *Flat) isEditorOnly(n *Node) bool {
	switch n.Type {
	case "SetNode", "GetNode", "easy setNode", "easy getNode", "Anything Everywhere", "Anything Everywhere?", "Anything Everywhere3", "Prompts Everywhere", "Seed Everywhere",
		"Fast Groups Muter (rgthree)", "Fast Groups Bypasser (rgthree)", "Fast Muter (rgthree)", "Fast Bypasser (rgthree)", "Fast Actions Button (rgthree)",
		"Mute / Bypass Relay (rgthree)", "Mute / Bypass Repeater (rgthree)", "Node Collector (rgthree)", "Random Unmuter (rgthree)",
		"Label (rgthree)", "Bookmark (rgthree)", "Reroute (rgthree)", "ReroutePrimitive|pysssss", "Note Plus (mtb)", "LabelNode", "workflowStart":
		_, declared := f.info.Class(n.Type)
		return !declared
	}
	return false
}

func (f *Flat) newNode(sc *scope, n *Node) *FlatNode {
	class := f.currentClass(n.Type)
	fn := &FlatNode{Node: n, sc: sc, Spec: f.class(class)}
	fn.ID, fn.Class, fn.Title = sc.path(n), class, n.Title
	if fn.Title == "" && fn.Spec != nil && fn.Spec.DisplayName != "" {
		fn.Title = fn.Spec.DisplayName
	}
	fn.Title = cmp.Or(fn.Title, class)
	f.readWidgets(fn)
	for _, p := range sc.promoted.inner[n.ID] {
		fn.override(p.widget, p.value)
	}
	return fn
}

// override puts a promoted value in place of the stored one, unless it has an impossible type.
func (n *FlatNode) override(name string, v any) {
	old, ok := n.Inputs.Get(name)
	if !ok || !sameSort(n.SpecOf(name), old, v) {
		return
	}
	n.Inputs.Set(name, wrapArray(v))
}

// sameSort guards against promoted values that slipped to another widget.
func sameSort(spec *objectinfo.Input, old, v any) bool {
	if v == nil {
		return false
	}
	if spec != nil {
		switch spec.Type {
		case "INT", "FLOAT":
			return kindOf(v) == "a number"
		case "BOOLEAN":
			return kindOf(v) == kindOf(true)
		case "STRING":
			return kindOf(v) == kindOf("")
		}
	}
	return old == nil || kindOf(old) == kindOf(v)
}

// SpecOf finds the declaration of an input, also of one behind a dynamic combo.
func (n *FlatNode) SpecOf(name string) *objectinfo.Input {
	if n.Spec == nil {
		return nil
	}
	return n.findSpec(n.Spec.Inputs, "", name)
}

func (n *FlatNode) findSpec(list []objectinfo.Input, prefix, name string) *objectinfo.Input {
	for i := range list {
		s := &list[i]
		full := prefix + s.Name
		if full == name {
			return s
		}
		if s.Formats != nil {
			chosen, _ := n.Inputs.Get(full)
			if found := n.findSpec(s.Format(chosen), prefix, name); found != nil {
				return found
			}
		}
		if !strings.HasPrefix(name, full+".") {
			continue
		}
		if s.Grow != nil {
			return &s.Grow.Input
		}
		if chosen, ok := n.Inputs.Get(full); ok {
			inputs, _ := s.Branch(chosen)
			if found := n.findSpec(inputs, full+".", name); found != nil {
				return found
			}
		}
	}
	return nil
}

// resolveInputs adds the links of a graph node: they win over widget values of the same name.
func (f *Flat) resolveInputs(n *FlatNode) {
	for i := range n.Node.Inputs {
		in := &n.Node.Inputs[i]
		r := f.resolve(n.sc, in.Link, f.wanted(n.sc, n, in))
		if in.Link == "" {
			r = f.everywhere(n, i)
		}
		switch {
		case r.found && r.value:
			n.Inputs.Set(in.Name, wrapArray(r.literal))
		case r.found:
			n.Inputs.Set(in.Name, r.ref)
		}
	}
}

// everywhere resolves the links that the use-everywhere nodes drew, kept in extra.ue_links of the root.
func (f *Flat) everywhere(n *FlatNode, slot int) resolved {
	if n.sc.def != nil {
		return resolved{}
	}
	if f.drawn == nil {
		f.drawn = map[string]*object{}
		for _, v := range asArray(n.sc.g.extra.Get("ue_links")) {
			if at, ok := ordered.Int(asObject(v).Get("downstream_slot")); ok {
				f.drawn[Spot(asID(asObject(v).Get("downstream")), strconv.Itoa(at))] = asObject(v)
			}
		}
	}
	o := f.drawn[Spot(n.Node.ID, strconv.Itoa(slot))]
	if o == nil {
		return resolved{}
	}
	out, _ := ordered.Int(o.Get("upstream_slot"))
	return f.follow(n.sc, asID(o.Get("upstream")), out, n.Node.Inputs[slot].Type)
}

// dropMissing deletes inputs that point at nodes which are not in the result.
func (f *Flat) dropMissing() {
	for _, n := range f.Nodes {
		kept := n.Inputs[:0]
		for _, in := range n.Inputs {
			if r, ok := in.Value.(Ref); ok && f.ByID[r.Node] == nil {
				continue
			}
			kept = append(kept, in)
		}
		n.Inputs = kept
	}
}

// Prompt copies the result out.
func (f *Flat) Prompt() Prompt {
	p := make(Prompt, len(f.Nodes))
	for i, n := range f.Nodes {
		p[i] = n.PromptNode
		p[i].Inputs = append(Inputs(nil), n.Inputs...)
	}
	return p
}

// Spot is one widget as a map key.
func Spot(node, input string) string { return node + "\x00" + input }

package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
)

// Limits of what a graph may hold.
const (
	maxNodes      = 20_000 // in one file, all levels
	maxNodeInputs = 2_000  // of one node, and its widget values by name
	maxExpanded   = 20_000 // nodes left after replacing every instance by its definition
	maxSubgraphs  = 2_000
	maxSubDepth   = 32
	maxEnvelopes  = 5
	maxTextInside = 4 << 20 // of a workflow kept as text inside another JSON value
)

// Parse reads a workflow file in any of its forms; the form is told by the content. The error wraps
// ErrNotWorkflow and is one line that says what was found and what to do.
func Parse(data []byte) (*Workflow, error) {
	v, err := decodeJSON(data)
	if err != nil {
		return nil, refuse("%w", err)
	}
	return parseValue(v, 0)
}

// parseValue finds the workflow in v, opening envelopes on the way.
func parseValue(v any, depth int) (*Workflow, error) {
	if depth > maxEnvelopes {
		return nil, refuse("more than %d envelopes around it", maxEnvelopes)
	}
	if text, ok := v.(string); ok && depth > 0 && len(text) <= maxTextInside && strings.HasPrefix(strings.TrimSpace(text), "{") {
		inner, err := decodeJSON([]byte(text))
		if err != nil {
			return nil, refuse("the workflow kept as text inside is broken: %w", err)
		}
		v = inner
	}
	o, ok := v.(*object)
	if !ok {
		return nil, refuse("a JSON object is expected, this is %s", kindOf(v))
	}
	if _, ok := o.Get("nodes").([]any); ok {
		if joint := foreignJoint(o); joint != "" {
			return nil, refuse("its nodes are joined by %q, as those of other programs are (n8n and the like): save the workflow in ComfyUI", joint)
		}
		return parseGraph(o)
	}
	if countClasses(o) > 0 {
		return parsePrompt(o)
	}
	return openEnvelope(o, depth)
}

// foreignJoint names the member that joins the nodes in a graph of another program, which also has nodes with types.
func foreignJoint(o *object) string {
	if _, ok := o.Get("links").([]any); ok {
		return ""
	}
	for _, key := range []string{"connections", "edges"} {
		switch o.Get(key).(type) {
		case *object, []any:
			return key
		}
	}
	return ""
}

// openEnvelope looks for the workflow under the names that exports and APIs use. The graph comes first: it
// has the notes and the defaults.
func openEnvelope(o *object, depth int) (*Workflow, error) {
	var firstErr error
	for _, key := range []string{"workflow", "prompt", "input", "output", "workflow_api", "workflow_json", "data", "graph", "content"} {
		inner := o.Get(key)
		if inner == nil || !looksNested(inner) {
			continue
		}
		w, err := parseValue(inner, depth+1)
		if err != nil {
			firstErr = errors.Join(firstErr, err)
			continue
		}
		if w.Format != FormatUI {
			w.Format = envelopeFormat(key, w.Format)
		}
		return w, nil
	}
	if firstErr != nil {
		return nil, firstOf(firstErr)
	}
	if o.Len() == 0 {
		return nil, refuse("the object is empty")
	}
	return nil, refuse("neither nodes nor entries with class_type were found; the top has %s", listKeys(o))
}

func firstOf(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok && len(j.Unwrap()) > 0 {
		return firstOf(j.Unwrap()[0])
	}
	return err
}

func looksNested(v any) bool {
	switch v := v.(type) {
	case *object:
		return true
	case string:
		return strings.HasPrefix(strings.TrimSpace(v), "{")
	}
	return false
}

func envelopeFormat(key string, inner Format) Format {
	if key == "input" {
		return FormatRunpod
	}
	if inner == FormatAPI && key == "prompt" {
		return FormatAPIWrapped
	}
	if inner == FormatAPI {
		return FormatAPIWrapped
	}
	return inner
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "something else"
}

func listKeys(o *object) string {
	var names []string
	for _, m := range o.Members() {
		if len(names) == 5 {
			return strings.Join(names, ", ") + " and more"
		}
		names = append(names, fmt.Sprintf("%q", plain.Cut(m.Name, 30)))
	}
	return strings.Join(names, ", ")
}

// countClasses counts the entries that look like nodes of the prompt form.
func countClasses(o *object) int {
	n := 0
	for _, m := range o.Members() {
		if entry, ok := m.Value.(*object); ok {
			if _, ok := entry.Get("class_type").(string); ok {
				n++
			}
		}
	}
	return n
}

func parsePrompt(o *object) (*Workflow, error) {
	if o.Len() > maxNodes {
		return nil, refuse("%d nodes, at most %d are read", o.Len(), maxNodes)
	}
	w := &Workflow{Format: FormatAPI, Prompt: promptOf(o)}
	for _, n := range w.Prompt {
		if len(n.Inputs) > maxNodeInputs {
			return nil, refuse("node %s has %d inputs, at most %d are read", plain.Quote(n.ID), len(n.Inputs), maxNodeInputs)
		}
	}
	return w, nil
}

func parseGraph(o *object) (*Workflow, error) {
	w := &Workflow{Format: FormatUI, defs: map[string]*Subgraph{}}
	b := &builder{w: w}
	w.Graph = new(Graph)
	if err := b.fill(w.Graph, o); err != nil {
		return nil, err
	}
	if len(w.Graph.Nodes) == 0 {
		return nil, refuse("the graph has no nodes")
	}
	if err := b.definitions(o, 0); err != nil {
		return nil, err
	}
	if err := b.checkExpansion(); err != nil {
		return nil, err
	}
	return w, nil
}

// builder makes the typed graph out of decoded JSON.
type builder struct {
	w     *Workflow
	nodes int
}

func (b *builder) fill(g *Graph, o *object) error {
	list := o.List("nodes")
	if b.nodes += len(list); b.nodes > maxNodes {
		return refuse("more than %d nodes", maxNodes)
	}
	g.raw, g.extra = o, o.Object("extra")
	g.Nodes = make([]*Node, 0, len(list))
	g.nodes = make(map[string]*Node, len(list))
	for _, v := range list {
		n := newNode(asObject(v))
		if n == nil {
			continue
		}
		if n.tooLarge() {
			return refuse("node %s has more than %d inputs", plain.Quote(n.ID), maxNodeInputs)
		}
		g.Nodes = append(g.Nodes, n)
		g.nodes[n.ID] = n
	}
	if len(list) > 0 && len(g.Nodes) == 0 {
		return refuse("the entries of nodes have no type")
	}
	g.Links, g.links = newLinks(o.List("links"))
	return nil
}

func newNode(o *object) *Node {
	typ, ok := o.Get("type").(string)
	if !ok || typ == "" {
		return nil
	}
	n := &Node{ID: asID(o.Get("id")), Type: typ, Title: asString(o.Get("title")), raw: o}
	n.Mode, _ = ordered.Int(o.Get("mode"))
	n.X, n.Y = position(o.Get("pos"))
	n.Inputs = slots(o.List("inputs"))
	n.Outputs = slots(o.List("outputs"))
	n.props = o.Object("properties")
	switch v := o.Get("widgets_values").(type) {
	case []any:
		n.values = v
	case *object:
		n.values = v
	}
	return n
}

func (n *Node) tooLarge() bool {
	named, _ := n.values.(*object)
	return len(n.Inputs) > maxNodeInputs || named.Len() > maxNodeInputs
}

func position(v any) (x, y float64) {
	switch v := v.(type) {
	case []any:
		if len(v) > 1 {
			return asFloat(v[0]), asFloat(v[1])
		}
	case *object:
		return asFloat(v.Get("0")), asFloat(v.Get("1"))
	}
	return 0, 0
}

func slots(list []any) []Slot {
	if len(list) == 0 {
		return nil
	}
	out := make([]Slot, 0, len(list))
	for _, v := range list {
		o := asObject(v)
		s := Slot{}
		if o != nil {
			s = Slot{Name: asString(o.Get("name")), Label: asString(o.Get("label")), Type: objectinfo.TypeOf(o.Get("type"))}
			s.Link = asID(o.Get("link"))
			s.Widget = asString(o.Object("widget").Get("name"))
		}
		out = append(out, s)
	}
	return out
}

func newLinks(list []any) ([]*Link, map[string]*Link) {
	links := make([]*Link, 0, len(list))
	byID := make(map[string]*Link, len(list))
	for _, v := range list {
		l := newLink(v)
		if l == nil {
			continue
		}
		links = append(links, l)
		byID[l.ID] = l
	}
	return links, byID
}

func newLink(v any) *Link {
	switch v := v.(type) {
	case []any:
		l := new(Link)
		if len(v) >= 5 {
			l.ID, l.Origin, l.Target = asID(v[0]), asID(v[1]), asID(v[3])
			l.OriginSlot, _ = ordered.Int(v[2])
			l.TargetSlot, _ = ordered.Int(v[4])
		}
		if len(v) > 5 {
			l.Type = objectinfo.TypeOf(v[5])
		}
		return l
	case *object:
		l := &Link{ID: asID(v.Get("id")), Origin: asID(v.Get("origin_id")), Target: asID(v.Get("target_id")), Type: objectinfo.TypeOf(v.Get("type"))}
		l.OriginSlot, _ = ordered.Int(v.Get("origin_slot"))
		l.TargetSlot, _ = ordered.Int(v.Get("target_slot"))
		return l
	}
	return nil
}

// definitions reads definitions.subgraphs of o, nested ones right after their holder.
func (b *builder) definitions(o *object, depth int) error {
	list := asArray(o.Object("definitions").Get("subgraphs"))
	if len(list) > 0 && depth > maxSubDepth {
		return refuse("subgraph definitions nested more than %d deep", maxSubDepth)
	}
	for _, v := range list {
		d := asObject(v)
		if d == nil {
			continue
		}
		s := &Subgraph{
			ID: asID(d.Get("id")), Name: asString(d.Get("name")), Description: asString(d.Get("description")),
			In: ports(d.Get("inputs")), Out: ports(d.Get("outputs")),
			inputNode: nodeIDOr(d.Get("inputNode"), "-10"), outputNode: nodeIDOr(d.Get("outputNode"), "-20"),
		}
		if err := b.fill(&s.Graph, d); err != nil {
			return err
		}
		s.markWidgets()
		b.w.Subgraphs = append(b.w.Subgraphs, s)
		if len(b.w.Subgraphs) > maxSubgraphs {
			return refuse("more than %d subgraph definitions", maxSubgraphs)
		}
		if b.w.defs[s.ID] == nil {
			b.w.defs[s.ID] = s
		}
		if err := b.definitions(d, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func nodeIDOr(v any, fallback string) string {
	if id := asID(asObject(v).Get("id")); id != "" {
		return id
	}
	return fallback
}

func ports(v any) []Port {
	var out []Port
	for _, e := range asArray(v) {
		o := asObject(e)
		p := Port{Name: asString(o.Get("name")), Label: asString(o.Get("label")), Type: objectinfo.TypeOf(o.Get("type"))}
		for _, id := range o.List("linkIds") {
			p.links = append(p.links, asID(id))
		}
		out = append(out, p)
	}
	return out
}

// markWidgets finds the inputs of the definition that lead to widgets.
func (s *Subgraph) markWidgets() {
	for _, n := range s.Nodes {
		for i := range n.Inputs {
			l := s.Graph.links[n.Inputs[i].Link]
			if n.Inputs[i].Widget != "" && l != nil && l.Origin == s.inputNode && l.OriginSlot >= 0 && l.OriginSlot < len(s.In) {
				s.In[l.OriginSlot].widget = true
			}
		}
	}
}

// checkExpansion refuses definitions that contain themselves and files that unfold into too many nodes.
func (b *builder) checkExpansion() error {
	sizes := map[*Subgraph]int{}
	for _, s := range b.w.Subgraphs {
		if _, err := b.w.expandedSize(s, sizes, nil); err != nil {
			return err
		}
	}
	total := 0
	for _, n := range b.w.Graph.Nodes {
		total += 1 + sizes[b.w.defs[n.Type]]
		if total > maxExpanded {
			return refuse("its subgraphs unfold into more than %d nodes", maxExpanded)
		}
	}
	return nil
}

func (w *Workflow) expandedSize(s *Subgraph, sizes map[*Subgraph]int, path []*Subgraph) (int, error) {
	if slices.Contains(path, s) {
		return 0, refuse("subgraph %q contains itself", plain.Cut(s.Name, 60))
	}
	if len(path) > maxSubDepth {
		return 0, refuse("subgraphs nested more than %d deep", maxSubDepth)
	}
	if n, ok := sizes[s]; ok {
		return n, nil
	}
	total := 0
	for _, n := range s.Nodes {
		total++
		inner := w.defs[n.Type]
		if inner == nil {
			continue
		}
		size, err := w.expandedSize(inner, sizes, append(path, s))
		if err != nil {
			return 0, err
		}
		if total = min(total+size, 10*maxExpanded); total > maxExpanded && len(path) == 0 {
			continue
		}
	}
	sizes[s] = total
	return total, nil
}

// def gives the definition a node is an instance of, or nil.
func (w *Workflow) def(n *Node) *Subgraph { return w.defs[n.Type] }

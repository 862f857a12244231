package graph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
)

// Use is one link as seen from its origin.
type Use struct {
	Node  *FlatNode
	Input string
	Slot  int
}

// Uses lists by node who takes its outputs.
func (f *Flat) Uses() map[string][]Use {
	out := make(map[string][]Use, len(f.Nodes))
	for _, n := range f.Nodes {
		for _, in := range n.Inputs {
			if r, ok := in.Value.(Ref); ok {
				out[r.Node] = append(out[r.Node], Use{n, in.Name, r.Slot})
			}
		}
	}
	return out
}

// Reached gives the nodes that some result depends on: a server executes no others. Nodes at the end whose
// class nobody declared may be results and count as such. Without any result everything counts.
func (f *Flat) Reached(uses map[string][]Use) map[string]bool {
	seen := make(map[string]bool, len(f.Nodes))
	var todo []*FlatNode
	for _, n := range f.Nodes {
		if n.IsResult() || n.Spec == nil && len(uses[n.ID]) == 0 && n.HasLink() {
			todo = append(todo, n)
		}
	}
	todo = append(todo, f.openEnds()...)
	if len(todo) == 0 {
		todo = slices.Clone(f.Nodes)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		for _, in := range n.Inputs {
			if r, ok := in.Value.(Ref); ok && f.ByID[r.Node] != nil && !seen[r.Node] {
				todo = append(todo, f.ByID[r.Node])
			}
		}
	}
	return seen
}

// HasLink says whether something is linked to the node.
func (n *FlatNode) HasLink() bool {
	for _, in := range n.Inputs {
		if _, ok := in.Value.(Ref); ok {
			return true
		}
	}
	return false
}

// OutputName is what an output is called, by the declaration or else the file, or empty.
func (n *FlatNode) OutputName(slot int) string {
	switch {
	case n.Spec != nil && slot < len(n.Spec.OutputNames):
		return n.Spec.OutputNames[slot]
	case n.Node != nil && slot < len(n.Node.Outputs):
		return n.Node.Outputs[slot].Name
	}
	return ""
}

// OutputType is the type of an output: the declared one, or that of the file where none is declared or it takes after what is linked, or empty.
func (n *FlatNode) OutputType(slot int) string {
	declared := ""
	if n.Spec != nil && slot < len(n.Spec.Outputs) {
		declared = n.Spec.Outputs[slot]
	}
	if (declared == "" || AnyType(declared)) && n.Node != nil && slot < len(n.Node.Outputs) {
		return n.Node.Outputs[slot].Type
	}
	return declared
}

// AnyType tells types that take after what is linked: those of switches.
func AnyType(kind string) bool { return kind == "*" || strings.HasPrefix(kind, "COMFY_MATCHTYPE") }

// IsResult says whether the node gives a result of the workflow.
func (n *FlatNode) IsResult() bool {
	return n.Spec != nil && n.Spec.OutputNode || OutputKind(n.Class) != ""
}

// ResultKind says what kind of result the node gives: by its class, else by what it gave before, else by its name and what
// it takes.
func (n *FlatNode) ResultKind() string {
	if k := OutputKind(n.Class); k != "" {
		return k
	}
	if n.Gave != "" {
		return n.Gave
	}
	lower := strings.ToLower(n.Class)
	for _, c := range []struct{ word, kind string }{
		{"video", KindVideo}, {"gif", KindVideo}, {"audio", KindAudio}, {"voice", KindAudio}, {"3d", Kind3D}, {"mesh", Kind3D}, {"glb", Kind3D}, {"tomodel", Kind3D}, {"rig", Kind3D},
		{"text", KindText}, {"string", KindText}, {"image", KindImage}, {"mask", KindImage},
	} {
		if strings.Contains(lower, c.word) {
			return c.kind
		}
	}
	for _, typ := range n.resultTypes() {
		switch {
		case typ == "IMAGE" || typ == "MASK":
			return KindImage
		case typ == "VIDEO":
			return KindVideo
		case typ == "AUDIO":
			return KindAudio
		case typ == "STRING":
			return KindText
		case strings.Contains(typ, "MESH"):
			return Kind3D
		}
	}
	return KindFile
}

// resultTypes are the types of what the node takes and may show, and where nobody declared it of what is linked to it and
// what it gives.
func (n *FlatNode) resultTypes() (types []string) {
	switch {
	case n.Spec != nil:
		for _, s := range n.Spec.Inputs {
			if !s.Widget || s.ForceInput {
				types = append(types, s.Type)
			}
		}
	case n.Node != nil:
		for _, s := range n.Node.Inputs {
			if s.Link != "" {
				types = append(types, s.Type)
			}
		}
		for _, s := range n.Node.Outputs {
			types = append(types, s.Type)
		}
	}
	return types
}

// WrittenTitle is the title as it stands in the file, also one that every node of the class has.
func (n *FlatNode) WrittenTitle() string {
	if n.Node != nil {
		return n.Node.Title
	}
	return n.Title
}

// AuthorTitle is the title the author gave the node, or "".
func (n *FlatNode) AuthorTitle() string {
	title := n.WrittenTitle()
	if title == "" || title == n.Class || n.Spec != nil && title == n.Spec.DisplayName {
		return ""
	}
	title = plain.Clip(plain.Line(title), 60)
	bare := roleWords.ReplaceAllString(title, "")
	if sameWords(bare, n.Class) || n.Spec != nil && sameWords(bare, roleWords.ReplaceAllString(n.Spec.DisplayName, "")) || genericTitle(title) {
		return ""
	}
	return title
}

// roleWords are what people add to a class's own name to tell two nodes apart.
var roleWords = regexp.MustCompile(`(?i)\b(positive|negative|prompt)\b`)

// sameWords compares names by their letters and digits.
func sameWords(a, b string) bool {
	return strings.ReplaceAll(plain.Slug(a, ""), "_", "") == strings.ReplaceAll(plain.Slug(b, ""), "_", "")
}

// genericTitle tells titles that a language pack or an old version gave, which say nothing about the use.
func genericTitle(title string) bool {
	switch strings.ToLower(title) {
	case "clip text encode (prompt)", "clip text encode (positive prompt)", "clip text encode (negative prompt)", "load image", "load video", "load audio", "primitive", "int", "float",
		"string", "boolean", "text", "prompt", "positive prompt", "negative prompt", "positive", "negative", "ksampler", "save image", "preview image", "seed", "text (multiline)", "string (multiline)":
		return true
	}
	return false
}

// Literal follows an input to the widget that sets it: the input itself, or, where a primitive is linked to
// it, that primitive's own widget.
func (f *Flat) Literal(n *FlatNode, input string) (*FlatNode, string, any, bool) {
	for range 6 {
		v, ok := n.Inputs.Get(input)
		if !ok {
			if s := n.SpecOf(input); s != nil && s.Widget && !s.ForceInput {
				v, _ = s.Fallback()
				return n, input, v, true
			}
			return nil, "", nil, false
		}
		r, link := v.(Ref)
		if !link {
			return n, input, v, true
		}
		origin := f.ByID[r.Node]
		if origin == nil || r.Slot != 0 {
			return nil, "", nil, false
		}
		widget, ok := origin.Primitive()
		if !ok {
			return nil, "", nil, false
		}
		n, input = origin, widget
	}
	return nil, "", nil, false
}

// Primitive gives the one widget of a node that does nothing but hold a value.
func (n *FlatNode) Primitive() (string, bool) {
	if strings.HasPrefix(n.Class, DeployPrefix) {
		return "", false
	}
	known := strings.HasPrefix(n.Class, "Primitive") || strings.HasPrefix(n.Class, "LayerUtility: ") || strings.HasPrefix(n.Class, "Impact") || strings.Contains(n.Class, "Constant") ||
		strings.HasPrefix(n.Class, "easy ") || strings.HasPrefix(n.Class, "CR ") || strings.HasPrefix(n.Class, "mx") || strings.HasSuffix(n.Class, "Literal")
	if !known && !(n.Spec != nil && len(n.Spec.Inputs) == 1) || len(n.Inputs) == 0 || len(n.Inputs) > 3 {
		return "", false
	}
	for _, name := range []string{"value", "string", "text", "int", "float", "number", "seed", "boolean", "Number", "Text"} {
		if _, ok := n.Inputs.Get(name); ok {
			return name, true
		}
	}
	if _, link := n.Inputs[0].Value.(Ref); len(n.Inputs) == 1 && !link && known {
		return n.Inputs[0].Name, true
	}
	return "", false
}

// FoundWidget is a widget found by an author's words.
type FoundWidget struct {
	Node  *FlatNode
	Input string
	Value any
}

// Plain is the value as plain JSON.
func (p FoundWidget) Plain() any { return ordered.Plain(unwrap(p.Value)) }

// Locate finds the widget that @input and linearData name: by id, by path, or by title. An instance stands
// for the widgets inside that it shows.
func (f *Flat) Locate(node, widget string) []FoundWidget {
	if n := f.ByID[node]; n != nil {
		if found, input, v, ok := f.Literal(n, widget); ok {
			return []FoundWidget{{found, input, v}}
		}
		return nil
	}
	if sc := f.scopes[node]; sc != nil && node != "" {
		return f.inside(sc, widget, 0)
	}
	if places := f.behindPrimitive(f.scopes[""], node, 0); len(places) > 0 {
		return places
	}
	for _, n := range f.Nodes {
		if strings.EqualFold(n.Title, node) {
			if found, input, v, ok := f.Literal(n, widget); ok {
				return []FoundWidget{{found, input, v}}
			}
		}
	}
	for _, path := range f.paths {
		if sc := f.scopes[path]; strings.EqualFold(sc.inst.Title, node) || strings.EqualFold(sc.def.Name, node) {
			return f.inside(sc, widget, 0)
		}
	}
	return nil
}

// inside finds the inner widgets behind an instance's input or promoted widget.
func (f *Flat) inside(sc *scope, widget string, depth int) []FoundWidget {
	if depth > maxSubDepth {
		return nil
	}
	for slot, port := range sc.def.In {
		if port.Name != widget && !strings.EqualFold(port.Label, widget) {
			continue
		}
		var out []FoundWidget
		for _, l := range sc.g.Links {
			if l.Origin == sc.def.inputNode && l.OriginSlot == slot {
				out = append(out, f.innerPlace(sc, l, depth)...)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	for _, p := range sc.promoted.list {
		if p.widget == widget && p.node != "" {
			return f.atNode(sc, p.node, widget, depth)
		}
	}
	return nil
}

func (f *Flat) innerPlace(sc *scope, l *Link, depth int) []FoundWidget {
	n := sc.g.nodes[l.Target]
	if n == nil {
		return nil
	}
	for _, in := range n.Inputs {
		if in.Link == l.ID {
			return f.atNode(sc, n.ID, in.Name, depth)
		}
	}
	return nil
}

func (f *Flat) atNode(sc *scope, id, widget string, depth int) []FoundWidget {
	if child := f.scopes[sc.prefix+id]; child != nil {
		return f.inside(child, widget, depth+1)
	}
	if n := f.ByID[sc.prefix+id]; n != nil {
		if found, input, v, ok := f.Literal(n, widget); ok {
			return []FoundWidget{{found, input, v}}
		}
	}
	return f.behindPrimitive(sc, id, depth)
}

// maxLooked bounds the links that are searched for those of primitives.
const maxLooked = 5_000_000

// behindPrimitive finds the widgets that a PrimitiveNode, named by id or title, sets.
func (f *Flat) behindPrimitive(sc *scope, name string, depth int) []FoundWidget {
	if sc == nil || depth > maxSubDepth || f.looked > maxLooked {
		return nil
	}
	f.looked += len(sc.g.Links)
	var out []FoundWidget
	for _, l := range sc.g.Links {
		n, target := sc.g.nodes[l.Origin], sc.g.nodes[l.Target]
		if n != nil && n.Type == "PrimitiveNode" && n.Active() && target != nil && target.Type != "PrimitiveNode" && (n.ID == name || n.Title != "" && strings.EqualFold(n.Title, name)) {
			out = append(out, f.innerPlace(sc, l, depth)...)
		}
	}
	return out
}

// Drop takes nodes out, and what was found out about their classes.
func (f *Flat) Drop(gone map[string]bool) {
	nodes := f.Nodes[:0:0]
	for _, n := range f.Nodes {
		if gone[n.ID] {
			delete(f.ByID, n.ID)
			continue
		}
		nodes = append(nodes, n)
	}
	f.Nodes = nodes
	findings := f.Findings[:0:0]
	for _, found := range f.Findings {
		if found.Code != "unknown-node" || !gone[found.Node] {
			findings = append(findings, found)
		}
	}
	f.Findings = findings
}

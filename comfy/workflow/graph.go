package workflow

import (
	"regexp"
	"slices"
	"strings"
)

// use is one link as seen from its origin.
type use struct {
	node  *flatNode
	input string
	slot  int
}

// uses lists by node who takes its outputs.
func (f *flat) uses() map[string][]use {
	out := make(map[string][]use, len(f.nodes))
	for _, n := range f.nodes {
		for _, in := range n.Inputs {
			if r, ok := in.Value.(Ref); ok {
				out[r.Node] = append(out[r.Node], use{n, in.Name, r.Slot})
			}
		}
	}
	return out
}

// reached gives the nodes that some result depends on: a server executes no others. Nodes at the end whose
// class nobody declared may be results and count as such. Without any result everything counts.
func (f *flat) reached(uses map[string][]use) map[string]bool {
	seen := make(map[string]bool, len(f.nodes))
	var todo []*flatNode
	for _, n := range f.nodes {
		if n.isResult() || n.spec == nil && len(uses[n.ID]) == 0 && n.hasLink() {
			todo = append(todo, n)
		}
	}
	todo = append(todo, f.openEnds()...)
	if len(todo) == 0 {
		todo = slices.Clone(f.nodes)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		for _, in := range n.Inputs {
			if r, ok := in.Value.(Ref); ok && f.byID[r.Node] != nil && !seen[r.Node] {
				todo = append(todo, f.byID[r.Node])
			}
		}
	}
	return seen
}

func (n *flatNode) hasLink() bool {
	for _, in := range n.Inputs {
		if _, ok := in.Value.(Ref); ok {
			return true
		}
	}
	return false
}

// isResult says whether the node gives a result of the workflow.
func (n *flatNode) isResult() bool {
	return n.spec != nil && n.spec.OutputNode || outputKind(n.Class) != ""
}

// KnowsOutput says whether it is known what an output node of a class gives.
func KnowsOutput(class string) bool { return outputKind(class) != "" }

// resultKind says what kind of result the node gives: by its class, else by what it gave before, else by its name and what
// it takes.
func (n *flatNode) resultKind() string {
	if k := outputKind(n.Class); k != "" {
		return k
	}
	if n.gave != "" {
		return n.gave
	}
	lower := strings.ToLower(n.Class)
	for _, c := range []struct{ word, kind string }{
		{"video", kindVideo}, {"gif", kindVideo}, {"audio", kindAudio}, {"voice", kindAudio}, {"3d", kind3D}, {"mesh", kind3D}, {"glb", kind3D}, {"tomodel", kind3D}, {"rig", kind3D},
		{"text", kindText}, {"string", kindText}, {"image", kindImage}, {"mask", kindImage},
	} {
		if strings.Contains(lower, c.word) {
			return c.kind
		}
	}
	if n.spec != nil {
		for _, s := range n.spec.Inputs {
			switch s.Type {
			case "IMAGE", "MASK":
				return kindImage
			case "VIDEO":
				return kindVideo
			case "AUDIO":
				return kindAudio
			case "STRING":
				if s.ForceInput {
					return kindText
				}
			}
		}
	}
	return kindFile
}

// authorTitle is the title the author gave the node, or "".
func (n *flatNode) authorTitle() string {
	title := n.Title
	if n.node != nil {
		title = n.node.Title
	}
	if title == "" || title == n.Class || n.spec != nil && title == n.spec.DisplayName {
		return ""
	}
	title = clipRunes(cleanLine(title), 60)
	bare := roleWords.ReplaceAllString(title, "")
	if sameWords(bare, n.Class) || n.spec != nil && sameWords(bare, roleWords.ReplaceAllString(n.spec.DisplayName, "")) || genericTitle(title) {
		return ""
	}
	return title
}

// roleWords are what people add to a class's own name to tell two nodes apart.
var roleWords = regexp.MustCompile(`(?i)\b(positive|negative|prompt)\b`)

// sameWords compares names by their letters and digits.
func sameWords(a, b string) bool {
	return strings.ReplaceAll(slug(a, ""), "_", "") == strings.ReplaceAll(slug(b, ""), "_", "")
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

// literal follows an input to the widget that sets it: the input itself, or, where a primitive is linked to
// it, that primitive's own widget.
func (f *flat) literal(n *flatNode, input string) (*flatNode, string, any, bool) {
	for range 6 {
		v, ok := n.Inputs.Get(input)
		if !ok {
			if s := n.specOf(input); s != nil && s.widget && !s.ForceInput {
				v, _ = s.fallback()
				return n, input, v, true
			}
			return nil, "", nil, false
		}
		r, link := v.(Ref)
		if !link {
			return n, input, v, true
		}
		origin := f.byID[r.Node]
		if origin == nil || r.Slot != 0 {
			return nil, "", nil, false
		}
		widget, ok := origin.primitive()
		if !ok {
			return nil, "", nil, false
		}
		n, input = origin, widget
	}
	return nil, "", nil, false
}

// primitive gives the one widget of a node that does nothing but hold a value.
func (n *flatNode) primitive() (string, bool) {
	if strings.HasPrefix(n.Class, deployPrefix) {
		return "", false
	}
	known := strings.HasPrefix(n.Class, "Primitive") || strings.HasPrefix(n.Class, "LayerUtility: ") || strings.HasPrefix(n.Class, "Impact") || strings.Contains(n.Class, "Constant") ||
		strings.HasPrefix(n.Class, "easy ") || strings.HasPrefix(n.Class, "CR ") || strings.HasPrefix(n.Class, "mx") || strings.HasSuffix(n.Class, "Literal")
	if !known && !(n.spec != nil && len(n.spec.Inputs) == 1) || len(n.Inputs) == 0 || len(n.Inputs) > 3 {
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

// place is a widget found by an author's words.
type place struct {
	node  *flatNode
	input string
	value any
}

// locate finds the widget that @input and linearData name: by id, by path, or by title. An instance stands
// for the widgets inside that it shows.
func (f *flat) locate(node, widget string) []place {
	if n := f.byID[node]; n != nil {
		if found, input, v, ok := f.literal(n, widget); ok {
			return []place{{found, input, v}}
		}
		return nil
	}
	if sc := f.scopes[node]; sc != nil && node != "" {
		return f.inside(sc, widget, 0)
	}
	if places := f.behindPrimitive(f.scopes[""], node, 0); len(places) > 0 {
		return places
	}
	for _, n := range f.nodes {
		if strings.EqualFold(n.Title, node) {
			if found, input, v, ok := f.literal(n, widget); ok {
				return []place{{found, input, v}}
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
func (f *flat) inside(sc *scope, widget string, depth int) []place {
	if depth > maxSubDepth {
		return nil
	}
	for slot, port := range sc.def.In {
		if port.Name != widget && !strings.EqualFold(port.Label, widget) {
			continue
		}
		var out []place
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

func (f *flat) innerPlace(sc *scope, l *Link, depth int) []place {
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

func (f *flat) atNode(sc *scope, id, widget string, depth int) []place {
	if child := f.scopes[sc.prefix+id]; child != nil {
		return f.inside(child, widget, depth+1)
	}
	if n := f.byID[sc.prefix+id]; n != nil {
		if found, input, v, ok := f.literal(n, widget); ok {
			return []place{{found, input, v}}
		}
	}
	return f.behindPrimitive(sc, id, depth)
}

// maxLooked bounds the links that are searched for those of primitives.
const maxLooked = 5_000_000

// behindPrimitive finds the widgets that a PrimitiveNode, named by id or title, sets.
func (f *flat) behindPrimitive(sc *scope, name string, depth int) []place {
	if sc == nil || depth > maxSubDepth || f.looked > maxLooked {
		return nil
	}
	f.looked += len(sc.g.Links)
	var out []place
	for _, l := range sc.g.Links {
		n, target := sc.g.nodes[l.Origin], sc.g.nodes[l.Target]
		if n != nil && n.Type == "PrimitiveNode" && n.active() && target != nil && target.Type != "PrimitiveNode" && (n.ID == name || n.Title != "" && strings.EqualFold(n.Title, name)) {
			out = append(out, f.innerPlace(sc, l, depth)...)
		}
	}
	return out
}

package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Facts are counts and lists that describe a file, as the corpus defines them.
type Facts struct {
	Format          Format
	Notes           []Note // of the root graph, in reading order: by y, then x, then place in the file
	NotesInDocument []string
	SubgraphNotes   []Note
	Nodes           int // all root nodes, or all entries of a prompt
	ActiveNodes     int // without notes, muted and bypassed ones; an instance counts as one
	ExecutableNodes int // leaf nodes after expansion of subgraphs, without virtual, muted and bypassed ones
	Links           int // of the root
	LinksAll        int // with those inside all definitions
	DanglingLinks   int // root links with an end that does not exist
	ClassTypes      []string
	ClassTypesAll   []string // with those inside all definitions
	OutputTypes     []string // image, video, audio, 3d, text, file
	InputKinds      []string // image, mask, video, audio, 3d, deploy:<kind>
	Muted, Bypassed int      // on all levels
	MaxDepth        int      // of subgraphs
}

// Note is a text an author left on the canvas.
type Note struct {
	ID       string
	Type     string // Note or MarkdownNote
	Title    string // set by the author, or empty
	Mode     int
	Text     string // as written
	Subgraph string // name of the definition it lies in, empty for the root
}

// IsNote tells the two note classes.
func IsNote(class string) bool { return class == "Note" || class == "MarkdownNote" }

// isVirtual tells the classes the editor resolves itself.
func isVirtual(class string) bool {
	return IsNote(class) || class == "Reroute" || class == "PrimitiveNode"
}

// Facts computes the facts of the file.
func (w *Workflow) Facts() Facts {
	if w.Graph == nil {
		return w.promptFacts()
	}
	f := Facts{Format: w.Format, Notes: w.Graph.notes(""), Nodes: len(w.Graph.Nodes), Links: len(w.Graph.Links)}
	f.LinksAll = f.Links
	for _, n := range w.Graph.Nodes {
		if IsNote(n.Type) && strings.TrimSpace(n.noteText()) != "" {
			f.NotesInDocument = append(f.NotesInDocument, n.ID)
		}
		if !IsNote(n.Type) && n.Active() {
			f.ActiveNodes++
		}
	}
	for _, s := range w.Subgraphs {
		f.SubgraphNotes = append(f.SubgraphNotes, s.notes(s.Name)...)
		f.LinksAll += len(s.Links)
	}
	for _, l := range w.Graph.Links {
		if w.Graph.nodes[l.Origin] == nil || w.Graph.nodes[l.Target] == nil {
			f.DanglingLinks++
		}
	}
	w.classFacts(&f)
	w.modeFacts(&f)
	return f
}

func (w *Workflow) classFacts(f *Facts) {
	root, all, active := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range w.Graph.Nodes {
		if w.def(n) == nil {
			root[n.Type], all[n.Type] = true, true
		}
	}
	for _, s := range w.Subgraphs {
		for _, n := range s.Nodes {
			if w.def(n) == nil {
				all[n.Type] = true
			}
		}
	}
	f.ExecutableNodes = w.leaves(w.Graph.Nodes, active)
	f.ClassTypes, f.ClassTypesAll = sorted(root), sorted(all)
	f.OutputTypes, f.InputKinds = kindsOf(active)
}

// leaves counts the executable nodes below nodes and collects their classes. Parse has bounded the size.
func (w *Workflow) leaves(nodes []*Node, classes map[string]bool) int {
	count := 0
	for _, n := range nodes {
		switch {
		case !n.Active() || isVirtual(n.Type):
		case w.def(n) != nil:
			count += w.leaves(w.def(n).Nodes, classes)
		default:
			count++
			classes[n.Type] = true
		}
	}
	return count
}

func (w *Workflow) modeFacts(f *Facts) {
	count := func(nodes []*Node) {
		for _, n := range nodes {
			switch n.Mode {
			case ModeMuted:
				f.Muted++
			case ModeBypassed:
				f.Bypassed++
			}
		}
	}
	count(w.Graph.Nodes)
	for _, s := range w.Subgraphs {
		count(s.Nodes)
	}
	f.MaxDepth = w.depth(w.Graph.Nodes, map[*Subgraph]int{})
}

func (w *Workflow) depth(nodes []*Node, known map[*Subgraph]int) int {
	deepest := 0
	for _, n := range nodes {
		s := w.def(n)
		if s == nil {
			continue
		}
		d, ok := known[s]
		if !ok {
			d = 1 + w.depth(s.Nodes, known)
			known[s] = d
		}
		deepest = max(deepest, d)
	}
	return deepest
}

func (w *Workflow) promptFacts() Facts {
	f := Facts{Format: w.Format, Nodes: len(w.Prompt), ActiveNodes: len(w.Prompt), ExecutableNodes: len(w.Prompt)}
	ids, classes := make(map[string]bool, len(w.Prompt)), map[string]bool{}
	for _, n := range w.Prompt {
		ids[n.ID] = true
		classes[n.Class] = true
	}
	for _, n := range w.Prompt {
		for _, in := range n.Inputs {
			if r, ok := in.Value.(Ref); ok && ids[r.Node] {
				f.Links++
			}
		}
	}
	f.LinksAll = f.Links
	f.ClassTypes = sorted(classes)
	f.ClassTypesAll = f.ClassTypes
	f.OutputTypes, f.InputKinds = kindsOf(classes)
	return f
}

// noteText is the text of a note node: the first text among its values.
func (n *Node) noteText() string {
	switch v := n.values.(type) {
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				return s
			}
		}
	case *object:
		for _, key := range []string{"text", "value"} {
			if s, ok := v.Get(key).(string); ok {
				return s
			}
		}
	}
	return ""
}

// notes gives the notes of one level that say something, in reading order.
func (g *Graph) notes(subgraph string) []Note {
	var nodes []*Node
	for _, n := range g.Nodes {
		if IsNote(n.Type) && strings.TrimSpace(n.noteText()) != "" {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b *Node) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	notes := make([]Note, 0, len(nodes))
	for _, n := range nodes {
		notes = append(notes, Note{ID: n.ID, Type: n.Type, Title: n.Title, Mode: n.Mode, Text: n.noteText(), Subgraph: subgraph})
	}
	return notes
}

func sorted(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

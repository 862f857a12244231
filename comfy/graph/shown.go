package graph

import (
	"strings"

	"github.com/signalbox/signalbox/internal/plain"
)

// maxShown bounds how many widgets of all instances are looked for.
const maxShown = 500

// Shown gives what the instances at the root show of their inside: what its author thought worth
// setting. The value is the label, or "" where the author gave none.
func (f *Flat) Shown() map[string]string {
	shown := map[string]string{}
	looked := 0
	for _, path := range f.paths {
		sc := f.scopes[path]
		if sc.depth != 1 {
			continue
		}
		if looked += len(sc.promoted.list) + len(sc.def.In); looked > maxShown {
			break
		}
		for _, p := range sc.promoted.list {
			if p.node == "" {
				continue // an input, see labelPorts
			}
			for _, at := range f.atNode(sc, p.node, p.widget, 0) {
				if strings.HasPrefix(at.Node.ID, sc.prefix) {
					shown[Spot(at.Node.ID, at.Input)] = ""
				}
			}
		}
		f.labelPorts(sc, shown)
	}
	return shown
}

// labelPorts adds the widgets behind the inputs of an instance, with the labels of the inputs.
func (f *Flat) labelPorts(sc *scope, shown map[string]string) {
	seen := map[string]bool{}
	for i := range sc.def.In {
		port := &sc.def.In[i]
		if !port.holdsValue() || seen[port.Name] {
			continue
		}
		seen[port.Name] = true
		for _, at := range f.inside(sc, port.Name, 0) {
			if strings.HasPrefix(at.Node.ID, sc.prefix) {
				shown[Spot(at.Node.ID, at.Input)] = plain.Clip(plain.Line(port.Label), 60)
			}
		}
	}
}

// openEnds gives the nodes behind the outputs of instances at the root that lead nowhere yet: what a subgraph
// saved alone is for.
func (f *Flat) openEnds() []*FlatNode {
	var out []*FlatNode
	root := f.scopes[""]
	if root == nil {
		return nil
	}
	used := map[string]bool{}
	for _, l := range root.g.Links {
		used[l.Origin] = true
	}
	for _, path := range f.paths {
		sc := f.scopes[path]
		if sc.depth != 1 || used[sc.inst.ID] {
			continue
		}
		for slot := range sc.def.Out {
			if r := f.follow(root, sc.inst.ID, slot, sc.def.Out[slot].Type); r.found && !r.value && f.ByID[r.ref.Node] != nil {
				out = append(out, f.ByID[r.ref.Node])
			}
		}
	}
	return out
}

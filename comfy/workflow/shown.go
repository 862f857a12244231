package workflow

import "strings"

// maxShown bounds how many widgets of all instances are looked for.
const maxShown = 500

// shownWidgets gives what the instances at the root show of their inside: what its author thought worth
// setting. The value is the label, or "" where the author gave none.
func (f *flat) shownWidgets() map[string]string {
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
				if strings.HasPrefix(at.node.ID, sc.prefix) {
					shown[spot(at.node.ID, at.input)] = ""
				}
			}
		}
		f.labelPorts(sc, shown)
	}
	return shown
}

// labelPorts adds the widgets behind the inputs of an instance, with the labels of the inputs.
func (f *flat) labelPorts(sc *scope, shown map[string]string) {
	seen := map[string]bool{}
	for i := range sc.def.In {
		port := &sc.def.In[i]
		if !port.holdsValue() || seen[port.Name] {
			continue
		}
		seen[port.Name] = true
		for _, at := range f.inside(sc, port.Name, 0) {
			if strings.HasPrefix(at.node.ID, sc.prefix) {
				shown[spot(at.node.ID, at.input)] = clipRunes(cleanLine(port.Label), 60)
			}
		}
	}
}

// openEnds gives the nodes behind the outputs of instances at the root that lead nowhere yet: what a subgraph
// saved alone is for.
func (f *flat) openEnds() []*flatNode {
	var out []*flatNode
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
			if r := f.follow(root, sc.inst.ID, slot, sc.def.Out[slot].Type); r.found && !r.value && f.byID[r.ref.Node] != nil {
				out = append(out, f.byID[r.ref.Node])
			}
		}
	}
	return out
}

// onlyShown leaves out the texts that the instances around them keep to themselves, if they show any.
func (d *definer) onlyShown(groups [][]place) [][]place {
	var kept [][]place
	for _, g := range groups {
		for _, p := range g {
			if _, ok := d.shown[spot(p.node.ID, p.input)]; ok || !strings.Contains(p.node.ID, ":") {
				kept = append(kept, g)
				break
			}
		}
	}
	if len(kept) == 0 {
		return groups
	}
	return kept
}

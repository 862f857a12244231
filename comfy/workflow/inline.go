package workflow

import (
	"encoding/json"

	"github.com/signalbox/signalbox/registry"
)

// inlineDeploy takes ComfyUI-Deploy's external nodes out of the prompt where the server does not have them:
// they only hold values, so the values can go straight to whoever takes them. Texts, numbers, switches and
// choices become literals, pictures become loaders. Nodes that download models stay, and with them the need
// for the pack.
func (d *definer) inlineDeploy() {
	if d.f.info.Len() == 0 {
		return
	}
	gone := map[string]bool{}
	for _, f := range d.fields {
		if f.source != sourceDeploy {
			continue
		}
		var targets []Target
		for _, t := range f.targets {
			n := d.f.byID[t.Node]
			if _, declared := d.f.info.Class(n.Class); declared || !d.canInline(n, f, t) {
				targets = append(targets, t)
				continue
			}
			gone[n.ID] = true
			targets = append(targets, d.inline(n, f, t)...)
		}
		f.targets = targets
	}
	d.forget(gone)
}

// canInline says whether the node's only output holds what the field does.
func (d *definer) canInline(n *flatNode, f *field, t Target) bool {
	uses := d.uses[n.ID]
	for _, u := range uses {
		if u.slot != 0 {
			return false
		}
	}
	literal := t.Mode == ModeValue && !f.Type.IsMedia() && !f.Multiple
	return len(uses) > 0 && (literal || t.Mode == ModeLoadImage || t.Mode == ModeLoadImageAlpha)
}

// inline gives every use of n what n would have given: the stored value or the default picture's link.
func (d *definer) inline(n *flatNode, f *field, t Target) []Target {
	var out []Target
	stored, has := n.Inputs.Get(t.Input)
	for _, u := range d.uses[n.ID] {
		switch {
		case has:
			u.node.Inputs.Set(u.input, stored)
		case t.Mode != ModeValue:
			u.node.Inputs.remove(u.input)
		default:
			u.node.Inputs.Set(u.input, zeroOf(f))
		}
		out = append(out, Target{Node: u.node.ID, Input: u.input, Mode: t.Mode})
	}
	return out
}

func zeroOf(f *field) any {
	switch f.Type {
	case registry.TypeNumber:
		return json.Number("0")
	case registry.TypeBoolean:
		return false
	}
	return ""
}

func (in *Inputs) remove(name string) {
	kept := (*in)[:0]
	for _, i := range *in {
		if i.Name != name {
			kept = append(kept, i)
		}
	}
	*in = kept
}

// forget drops inlined nodes, and what was found out about their classes.
func (d *definer) forget(gone map[string]bool) {
	if len(gone) == 0 {
		return
	}
	nodes := d.f.nodes[:0:0]
	for _, n := range d.f.nodes {
		if gone[n.ID] {
			delete(d.f.byID, n.ID)
			continue
		}
		nodes = append(nodes, n)
	}
	d.f.nodes = nodes
	findings := d.f.findings[:0:0]
	for _, f := range d.f.findings {
		if f.Code != "unknown-node" || !gone[f.Node] {
			findings = append(findings, f)
		}
	}
	d.f.findings = findings
	d.uses = d.f.uses()
}

package workflow

import (
	"encoding/json"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/registry"
)

// inlineDeploy takes ComfyUI-Deploy's external nodes out of the prompt where the server does not have them:
// they only hold values, so the values can go straight to anyone who takes them. Texts, numbers, switches and
// choices become literals, pictures become loaders. Nodes that download models stay, and with them the need
// for the pack.
func (d *definer) inlineDeploy() {
	if d.o.ObjectInfo.Len() == 0 {
		return
	}
	gone := map[string]bool{}
	for _, f := range d.fields {
		if f.source != sourceDeploy {
			continue
		}
		var targets []binding.Target
		for _, t := range f.targets {
			n := d.f.ByID[t.Node]
			if _, declared := d.o.ObjectInfo.Class(n.Class); declared || !d.canInline(n, f, t) {
				targets = append(targets, t)
				continue
			}
			gone[n.ID] = true
			targets = append(targets, d.inline(n, f, t)...)
		}
		f.targets = targets
	}
	if len(gone) > 0 {
		d.f.Drop(gone)
		d.uses = d.f.Uses()
	}
}

// canInline says whether the node's only output holds what the field does.
func (d *definer) canInline(n *graph.FlatNode, f *field, t binding.Target) bool {
	uses := d.uses[n.ID]
	for _, u := range uses {
		if u.Slot != 0 {
			return false
		}
	}
	literal := t.Mode == binding.ModeValue && !f.Type.IsMedia() && !f.Multiple
	return len(uses) > 0 && (literal || t.Mode == binding.ModeLoadImage || t.Mode == binding.ModeLoadImageAlpha)
}

// inline gives every use of n what n would have given: the stored value or the default picture's link.
func (d *definer) inline(n *graph.FlatNode, f *field, t binding.Target) []binding.Target {
	var out []binding.Target
	stored, has := n.Inputs.Get(t.Input)
	for _, u := range d.uses[n.ID] {
		switch {
		case has:
			u.Node.Inputs.Set(u.Input, stored)
		case t.Mode != binding.ModeValue:
			u.Node.Inputs.Remove(u.Input)
		default:
			u.Node.Inputs.Set(u.Input, zeroOf(f))
		}
		out = append(out, binding.Target{Node: u.Node.ID, Input: u.Input, Mode: t.Mode})
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

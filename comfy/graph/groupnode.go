package graph

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// groupNodeName tells an old group node and gives its name.
func groupNodeName(class string) (string, bool) {
	for _, prefix := range []string{"workflow>", "workflow/"} {
		if name, ok := strings.CutPrefix(class, prefix); ok {
			return name, true
		}
	}
	return "", false
}

// groupNode makes the definition of an old group node into a subgraph, with the instance's widget values
// given to the inner nodes. It is nil where the file lacks the definition.
func (w *Workflow) groupNode(inst *Node, name string) *Subgraph {
	o := asObject(asObject(w.Graph.extra.Get("groupNodes")).Get(name))
	if o == nil {
		return nil
	}
	g := groupBuilder{inst: inst, config: o.Object("config"), def: &Subgraph{ID: inst.Type, Name: name, inputNode: "-10", outputNode: "-20"}}
	g.def.nodes, g.def.links, g.def.raw = map[string]*Node{}, map[string]*Link{}, o
	g.takeNodes(o.List("nodes"))
	for _, v := range o.List("links") {
		g.innerLink(asArray(v))
	}
	g.outerInputs()
	g.outerOutputs(o.List("external"))
	return g.def
}

type groupBuilder struct {
	inst   *Node
	config *object
	def    *Subgraph
}

// takeNodes copies the inner nodes. The instance lists the widget values of all of them one after the other.
func (g *groupBuilder) takeNodes(list []any) {
	values, _ := g.inst.values.([]any)
	for i, v := range list {
		n := newNode(asObject(v))
		if n == nil {
			continue
		}
		n.ID = strconv.Itoa(i)
		if id, ok := ordered.Int(n.raw.Get("index")); ok {
			n.ID = strconv.Itoa(id)
		}
		for j := range n.Inputs {
			n.Inputs[j].Link = ""
		}
		if own, ok := n.values.([]any); ok && !isVirtual(n.Type) && len(own) <= len(values) {
			n.values, values = values[:len(own):len(own)], values[len(own):]
		}
		g.def.Nodes = append(g.def.Nodes, n)
		g.def.nodes[n.ID] = n
	}
}

// innerLink adds [from, slot, to, slot, ...]. Links whose origin is null come from outside.
func (g *groupBuilder) innerLink(v []any) {
	if len(v) < 4 || v[0] == nil {
		return
	}
	from, to := asID(v[0]), asID(v[2])
	out, _ := ordered.Int(v[1])
	in, _ := ordered.Int(v[3])
	target := g.def.nodes[to]
	if target == nil || in < 0 || in >= len(target.Inputs) {
		return
	}
	g.connect(from, out, target, in)
}

func (g *groupBuilder) connect(from string, out int, target *Node, in int) {
	id := strconv.Itoa(len(g.def.Links) + 1)
	l := &Link{ID: id, Origin: from, OriginSlot: out, Target: target.ID, TargetSlot: in, Type: target.Inputs[in].Type}
	g.def.Links = append(g.def.Links, l)
	g.def.links[id] = l
	target.Inputs[in].Link = id
}

// outerInputs gives every inner input that is still free a port, in order. The instance lists the same
// sockets, some under other names: by config, or numbered where two inner nodes share a name.
func (g *groupBuilder) outerInputs() {
	used := map[string]bool{}
	at := 0
	for _, n := range g.def.Nodes {
		for i := range n.Inputs {
			in := &n.Inputs[i]
			if in.Link != "" || in.Widget != "" && g.inst.Input(in.Name) == nil {
				continue
			}
			name := g.outerName(n, in, used, at)
			if name == "" {
				continue
			}
			used[name] = true
			at++
			g.def.In = append(g.def.In, Port{Name: name, Type: in.Type})
			g.connect(g.def.inputNode, len(g.def.In)-1, n, i)
		}
	}
}

func (g *groupBuilder) outerName(n *Node, in *Slot, used map[string]bool, at int) string {
	conf := asObject(asObject(asObject(g.config.Get(n.ID)).Get("input")).Get(in.Name))
	if v, ok := conf.Get("visible").(bool); ok && !v {
		return ""
	}
	candidates := []string{asString(conf.Get("name")), in.Name, n.Title + " " + in.Name, n.Type + " " + in.Name}
	for _, c := range candidates {
		if c != "" && !used[c] && g.inst.Input(c) != nil {
			return c
		}
	}
	if at < len(g.inst.Inputs) && !used[g.inst.Inputs[at].Name] && typesFit(g.inst.Inputs[at].Type, in.Type) {
		return g.inst.Inputs[at].Name
	}
	return ""
}

// outerOutputs gives a port to the outputs of inner nodes that config shows, and, where it says nothing, to those that
// lead nowhere inside or are marked external.
func (g *groupBuilder) outerOutputs(external []any) {
	marked := map[string]bool{}
	for _, v := range external {
		if e := asArray(v); len(e) > 1 {
			index, _ := ordered.Int(asObject(e[0]).Get("index"))
			slot, _ := ordered.Int(e[1])
			marked[strconv.Itoa(index)+"/"+strconv.Itoa(slot)] = true
		}
	}
	inside := map[string]bool{}
	for _, l := range g.def.Links {
		inside[l.Origin+"/"+strconv.Itoa(l.OriginSlot)] = true
	}
	for _, n := range g.def.Nodes {
		for slot := range n.Outputs {
			key := n.ID + "/" + strconv.Itoa(slot)
			conf := asObject(asObject(asObject(g.config.Get(n.ID)).Get("output")).Get(strconv.Itoa(slot)))
			visible, said := conf.Get("visible").(bool)
			if !said {
				visible = !inside[key] || marked[key]
			}
			if !visible || isVirtual(n.Type) && n.Type != "Reroute" {
				continue
			}
			g.def.Out = append(g.def.Out, Port{Name: n.Outputs[slot].Name, Type: n.Outputs[slot].Type})
			g.def.Links = append(g.def.Links, &Link{Origin: n.ID, OriginSlot: slot, Target: g.def.outputNode, TargetSlot: len(g.def.Out) - 1})
		}
	}
}

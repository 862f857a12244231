package workflow

import (
	"strings"
)

// promotion holds the values an instance sets for widgets inside its subgraph.
type promotion struct {
	ports map[string]any            // by subgraph input
	inner map[string]map[string]any // by inner node id, then widget
	list  []promoted                // in the order the instance shows them
}

// promoted is one widget of the inside that the instance shows. node is "" for a subgraph input.
type promoted struct {
	node, widget, source string
}

func promotionOf(sc *scope) promotion {
	p := promotion{ports: map[string]any{}, inner: map[string]map[string]any{}}
	entries := asArray(proxyWidgets(sc.inst))
	if entries == nil {
		p.fromPorts(sc)
	}
	values, _ := sc.inst.values.([]any)
	named, _ := sc.inst.values.(*object)
	for i, e := range entries {
		entry, ok := newPromoted(asArray(e))
		if !ok {
			continue
		}
		p.list = append(p.list, entry)
		var v any
		if i < len(values) {
			v = values[i]
		} else if named != nil {
			v = named.get(entry.widget)
		}
		p.set(entry, v)
	}
	p.fromParent(sc)
	return p
}

// proxyWidgets gives the list, which some versions keep as JSON text.
func proxyWidgets(n *Node) any {
	v := n.props.get("proxyWidgets")
	if text, ok := v.(string); ok && len(text) <= maxTextInside {
		v, _ = decodeJSON([]byte(text))
	}
	return v
}

func newPromoted(pair []any) (promoted, bool) {
	if len(pair) < 2 {
		return promoted{}, false
	}
	p := promoted{node: asID(pair[0]), widget: asString(pair[1])}
	if len(pair) > 2 {
		p.source = asID(pair[2])
	}
	if p.node == "-1" {
		p.node = ""
	} else if rest, ok := strings.CutPrefix(p.widget, p.node+": "); ok {
		p.widget = rest
	}
	return p, p.widget != ""
}

func (p *promotion) set(e promoted, v any) {
	if v == nil {
		return
	}
	if e.node == "" {
		p.ports[e.widget] = v
		return
	}
	if p.inner[e.node] == nil {
		p.inner[e.node] = map[string]any{}
	}
	p.inner[e.node][e.widget] = v
}

// fromPorts reads files without proxyWidgets: the instance's values are those of its inputs that stand for
// widgets, or of the definition's, in order. Where the counts differ the inner values stay.
func (p *promotion) fromPorts(sc *scope) {
	var shown, defined []string
	for _, in := range sc.inst.Inputs {
		if in.Widget != "" && holdsValue(in.Type) {
			shown = append(shown, in.Name)
		}
	}
	for _, port := range sc.def.In {
		if holdsValue(port.Type) {
			defined = append(defined, port.Name)
			p.list = append(p.list, promoted{widget: port.Name})
		}
	}
	values, _ := sc.inst.values.([]any)
	for _, names := range [][]string{shown, defined} {
		if len(names) != len(values) {
			continue
		}
		for i, name := range names {
			p.set(promoted{widget: name}, values[i])
		}
		return
	}
}

// holdsValue tells the types of sockets that a widget can fill.
func holdsValue(typ string) bool {
	switch typ {
	case "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO":
		return true
	}
	return false
}

// fromParent lets an outer instance override what this one, nested in it, says.
func (p *promotion) fromParent(sc *scope) {
	for widget, v := range sc.parent.promoted.inner[sc.inst.ID] {
		done := false
		for _, port := range sc.def.In {
			if port.Name == widget {
				p.ports[widget], done = v, true
			}
		}
		for _, e := range p.list {
			if !done && e.widget == widget && e.node != "" {
				p.set(e, v)
			}
		}
	}
}

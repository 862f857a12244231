package graph

import (
	"encoding/json"
	"strings"
)

// maxPromoted bounds what one instance shows of its inside.
const maxPromoted = 256

// promotion holds the values an instance sets for widgets inside its subgraph.
type promotion struct {
	ports map[string]any             // by subgraph input
	inner map[string][]promotedValue // by inner node id
	list  []promoted                 // in the order the instance shows them
}

// promoted is one widget of the inside that the instance shows. node is "" for a subgraph input. source is the
// node further in that owns the widget, where the file says so.
type promoted struct {
	node, widget, source string
}

type promotedValue struct {
	promoted
	value any
}

func promotionOf(sc *scope) promotion {
	p := promotion{ports: map[string]any{}, inner: map[string][]promotedValue{}}
	entries := asArray(proxyWidgets(sc.inst))
	if entries == nil {
		p.fromPorts(sc)
	}
	values, _ := sc.inst.values.([]any)
	named, _ := sc.inst.values.(*object)
	for i, e := range entries[:min(len(entries), maxPromoted)] {
		entry, ok := newPromoted(asArray(e))
		if !ok {
			continue
		}
		p.list = append(p.list, entry)
		var v any
		if i < len(values) {
			v = values[i]
		} else if named != nil {
			v = named.Get(entry.widget)
		}
		p.set(entry, v)
	}
	p.fromParent(sc)
	return p
}

// proxyWidgets gives the list, which some versions keep as JSON text.
func proxyWidgets(n *Node) any {
	v := n.props.Get("proxyWidgets")
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
		return p, p.widget != ""
	}
	p.cutPrefixes()
	return p, p.widget != ""
}

// cutPrefixes reads the old form of a name, "6: 3: text": the nodes on the way in stand before it.
func (p *promoted) cutPrefixes() {
	for {
		id, rest, ok := strings.Cut(p.widget, ": ")
		if !ok || id == "" || strings.Trim(id, "0123456789") != "" {
			return
		}
		if p.widget = rest; id != p.node {
			p.source = id
		}
	}
}

func (p *promotion) set(e promoted, v any) {
	if v == nil {
		return
	}
	if e.node == "" {
		p.ports[e.widget] = v
		return
	}
	p.inner[e.node] = append(p.inner[e.node], promotedValue{e, v})
}

// fromPorts reads files without proxyWidgets: the instance's values are those of its inputs that stand for
// widgets, or of the definition's, in order; some versions keep the control values of seeds among them. Where the
// counts differ the inner values stay.
func (p *promotion) fromPorts(sc *scope) {
	var shown, defined []string
	for _, in := range sc.inst.Inputs {
		if port := sc.def.port(in.Name); in.Widget != "" && holdsValue(in.Type) || port != nil && port.widget {
			shown = append(shown, in.Name)
		}
	}
	for i := range sc.def.In {
		if port := &sc.def.In[i]; port.holdsValue() {
			defined = append(defined, port.Name)
			p.list = append(p.list, promoted{widget: port.Name})
		}
	}
	values, _ := sc.inst.values.([]any)
	for _, values := range [][]any{values, withoutControls(values)} {
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
}

// withoutControls leaves out the control values that stand behind numbers.
func withoutControls(values []any) []any {
	var out []any
	for i, v := range values {
		if _, control := controlMode(v); control && i > 0 && kindOf(v) == kindOf("") && kindOf(values[i-1]) == kindOf(json.Number("")) {
			continue
		}
		out = append(out, v)
	}
	return out
}

// holdsValue tells the ports that a widget can fill.
func (p *Port) holdsValue() bool { return p.widget || holdsValue(p.Type) }

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
	for _, outer := range sc.parent.promoted.inner[sc.inst.ID] {
		if e, ok := p.owned(outer.promoted); ok {
			p.set(e, outer.value)
			continue
		}
		if sc.def.port(outer.widget) != nil {
			p.ports[outer.widget] = outer.value
			continue
		}
		for _, e := range p.list {
			if e.widget == outer.widget && e.node != "" {
				p.set(e, outer.value)
			}
		}
	}
}

// owned finds the entry for the very widget that an outer instance means, where it names the owner.
func (p *promotion) owned(outer promoted) (promoted, bool) {
	for _, e := range p.list {
		if outer.source != "" && e.widget == outer.widget && e.node != "" && (e.node == outer.source || e.source == outer.source) {
			return e, true
		}
	}
	return promoted{}, false
}

func (s *Subgraph) port(name string) *Port {
	for i := range s.In {
		if s.In[i].Name == name {
			return &s.In[i]
		}
	}
	return nil
}

package graph

import "iter"

// App gives what the author chose for the editor's app mode: the inputs as pairs of node and widget, and the nodes of
// the outputs.
func (w *Workflow) App() (inputs [][2]string, outputs []string) {
	chosen := asObject(w.extra().Get("linearData"))
	for _, v := range chosen.List("inputs") {
		if pair := asArray(v); len(pair) >= 2 {
			inputs = append(inputs, [2]string{asID(pair[0]), asString(pair[1])})
		}
	}
	for _, v := range chosen.List("outputs") {
		outputs = append(outputs, asID(v))
	}
	return inputs, outputs
}

// Title is the name that the file gives itself, or empty.
func (w *Workflow) Title() string {
	if title := asString(w.extra().Get("title")); title != "" || w.Graph == nil {
		return title
	}
	return asString(w.Graph.raw.Get("title"))
}

// Blueprint is what a subgraph blueprint says about itself, or empty.
func (w *Workflow) Blueprint() string {
	text := asString(w.extra().Get("BlueprintDescription"))
	if text == "" && w.Graph != nil && len(w.Graph.Nodes) == 1 {
		if def := w.def(w.Graph.Nodes[0]); def != nil {
			text = def.Description
		}
	}
	return text
}

func (w *Workflow) extra() *object {
	if w.Graph == nil {
		return nil
	}
	return w.Graph.extra
}

// Models are the names and addresses of the models that the file says where to get: in its own list, and in those of its
// nodes.
func (w *Workflow) Models() iter.Seq2[string, string] {
	return func(yield func(name, url string) bool) {
		if w.Graph == nil {
			return
		}
		lists := []any{w.Graph.raw.Get("models")}
		for _, n := range w.Graph.Nodes {
			lists = append(lists, n.props.Get("models"))
		}
		for _, s := range w.Subgraphs {
			for _, n := range s.Nodes {
				lists = append(lists, n.props.Get("models"))
			}
		}
		for _, list := range lists {
			for _, v := range asArray(list) {
				if o := asObject(v); !yield(asString(o.Get("name")), asString(o.Get("url"))) {
					return
				}
			}
		}
	}
}

// Pack is the pack of custom nodes that the file says the node comes from, or empty.
func (n *Node) Pack() string {
	if id := asString(n.props.Get("cnr_id")); id != "" {
		return id
	}
	return asString(n.props.Get("aux_id"))
}

// Texts are the texts among the node's widget values.
func (n *Node) Texts() []string {
	values, _ := n.values.([]any)
	if o, ok := n.values.(*object); ok {
		for _, m := range o.Members() {
			values = append(values, m.Value)
		}
	}
	var texts []string
	for _, v := range values {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

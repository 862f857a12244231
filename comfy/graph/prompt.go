package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/internal/ordered"
)

// Prompt is the form the server takes: nodes in document order. In JSON it is an object by node id.
type Prompt []PromptNode

// PromptNode is one node to execute.
type PromptNode struct {
	ID     string // a number as text, or a path like "12:5" inside subgraphs
	Class  string
	Title  string // _meta.title, or empty
	Inputs Inputs
}

// Inputs are the inputs of a node in order.
type Inputs []Input

// Input is one named value: nil, bool, string, json.Number, []any, an object, or a Ref for a link.
type Input struct {
	Name  string
	Value any
}

// Ref is a link to an output of another node. In JSON it is [node, slot].
type Ref struct {
	Node string
	Slot int
}

// MarshalJSON writes [node, slot].
func (r Ref) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// AppendJSON writes [node, slot].
func (r Ref) AppendJSON(b []byte) []byte {
	b = ordered.AppendString(append(b, '['), r.Node)
	return append(strconv.AppendInt(append(b, ','), int64(r.Slot), 10), ']')
}

// Node finds a node by its id, or gives nil. The node may be modified through the pointer.
func (p Prompt) Node(id string) *PromptNode {
	for i := range p {
		if p[i].ID == id {
			return &p[i]
		}
	}
	return nil
}

// Get gives the value of an input.
func (in Inputs) Get(name string) (any, bool) {
	for i := range in {
		if in[i].Name == name {
			return in[i].Value, true
		}
	}
	return nil, false
}

// Set replaces the value of an input or adds the input at the end.
func (in *Inputs) Set(name string, v any) {
	for i := range *in {
		if (*in)[i].Name == name {
			(*in)[i].Value = v
			return
		}
	}
	*in = append(*in, Input{Name: name, Value: v})
}

// Set writes a value that is no link. What a CustomCombo sends along with its choice goes along.
func (n *PromptNode) Set(input string, v any) {
	n.Inputs.Set(input, wrapArray(v))
	n.placeChoice()
}

// Remove takes an input out.
func (in *Inputs) Remove(name string) {
	kept := (*in)[:0]
	for _, i := range *in {
		if i.Name != name {
			kept = append(kept, i)
		}
	}
	*in = kept
}

// Clone gives a copy whose nodes and inputs can be changed without touching p. Values are shared: they
// are never modified in place.
func (p Prompt) Clone() Prompt {
	out := make(Prompt, len(p))
	for i, n := range p {
		n.Inputs = append(Inputs(nil), n.Inputs...)
		out[i] = n
	}
	return out
}

// MarshalJSON writes the object the server takes: same prompt, same bytes.
func (p Prompt) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, n := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(ordered.AppendString(b, n.ID), `:{"class_type":`...)
		b = append(ordered.AppendString(b, n.Class), `,"inputs":{`...)
		for j, in := range n.Inputs {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(ordered.AppendString(b, in.Name), ':')
			b = ordered.Append(b, in.Value)
		}
		b = append(b, '}')
		if n.Title != "" {
			b = append(b, `,"_meta":{"title":`...)
			b = append(ordered.AppendString(b, n.Title), '}')
		}
		b = append(b, '}')
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads the prompt form without any envelope. Order and numbers are kept.
func (p *Prompt) UnmarshalJSON(data []byte) error {
	v, err := decodeJSON(data)
	if err != nil {
		return err
	}
	o, ok := v.(*object)
	if !ok {
		return fmt.Errorf("prompt: a JSON object is expected, this is %s", kindOf(v))
	}
	*p = promptOf(o)
	return nil
}

// Indented is the JSON for people, with a newline at the end.
func (p Prompt) Indented() []byte {
	raw, _ := p.MarshalJSON()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return append(raw, '\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// promptOf reads the entries with a class_type; other members of the object are no nodes. Of repeated
// ids the last one counts, at the place of the first.
func promptOf(o *object) Prompt {
	p := make(Prompt, 0, o.Len())
	at := make(map[string]int, o.Len())
	for _, m := range o.Members() {
		id, entry := m.Name, asObject(m.Value)
		class, ok := entry.Get("class_type").(string)
		if !ok {
			continue
		}
		n := PromptNode{ID: id, Class: class, Title: asString(entry.Object("_meta").Get("title"))}
		n.Inputs = inputsOf(entry.Object("inputs"))
		if j, twice := at[id]; twice {
			p[j] = n
			continue
		}
		at[id] = len(p)
		p = append(p, n)
	}
	return p
}

func inputsOf(o *object) Inputs {
	if o == nil {
		return nil
	}
	in := make(Inputs, 0, o.Len())
	for _, m := range o.Members() {
		in = append(in, Input{Name: m.Name, Value: linkOr(m.Value)})
	}
	return in
}

// linkOr gives a Ref for a value of the form [node, slot], else the value itself. A slot is written without a
// fraction.
func linkOr(v any) any {
	pair, ok := v.([]any)
	if !ok || len(pair) != 2 {
		return v
	}
	number, _ := pair[1].(json.Number)
	slot, err := strconv.Atoi(string(number))
	node := asID(pair[0])
	if err != nil || node == "" {
		return v
	}
	return Ref{Node: node, Slot: slot}
}

// wrapArray protects a list value from being read as a link.
func wrapArray(v any) any {
	if list, ok := v.([]any); ok {
		return ordered.Of(ordered.Member{Name: "__value__", Value: list})
	}
	return v
}

package cpu

import (
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// link is an input that takes the output of another node. A negative slot counts from the end.
type link struct {
	from string
	slot int
}

// asLink reads an input value as a link as execution does: a pair of a text and a number.
func asLink(v any) (link, bool) {
	pair, ok := v.([]any)
	if !ok || len(pair) != 2 {
		return link{}, false
	}
	from, ok := pair[0].(string)
	if !ok {
		return link{}, false
	}
	slot, ok := pyval.Float(pair[1])
	return link{from, int(slot)}, ok
}

// pick gives the place of the slot among n outputs; ok is false when there is no such output.
func (l link) pick(n int) (i int, ok bool) {
	i = l.slot
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i < n
}

// classOf and inputsOf read one node of a validated prompt.
func classOf(prompt *pyval.Dict, id string) string {
	n, _ := prompt.At(id).(*pyval.Dict)
	if n == nil {
		return ""
	}
	class, _ := n.At("class_type").(string)
	return class
}

func inputsOf(prompt *pyval.Dict, id string) *pyval.Dict {
	if n, _ := prompt.At(id).(*pyval.Dict); n != nil {
		if inputs, _ := n.At("inputs").(*pyval.Dict); inputs != nil {
			return inputs
		}
	}
	return &pyval.Dict{}
}

// declared is one input as it stands for a given prompt, dynamic inputs resolved: name is the full name there.
type declared struct {
	node.Input
	name     string
	required bool
	member   bool // of an autogrow input
}

// resolve gives the inputs a node has for the values of a prompt: the choice of a dynamic combo decides which further
// inputs there are, and an autogrow input becomes its members. A dynamic combo without a known choice is left out, so that
// the node fails when it runs and not in validation, as on the real server.
func resolve(spec *node.Spec, values *pyval.Dict) []declared {
	var out []declared
	expand(spec.Required, "", true, values, &out)
	expand(spec.Optional, "", false, values, &out)
	return out
}

func expand(inputs []node.Input, prefix string, required bool, values *pyval.Dict, out *[]declared) {
	for _, in := range inputs {
		name := prefix + in.Name
		switch in.Type {
		case node.TypeDynamicCombo:
			key, _ := values.Get(name)
			for _, choice := range in.Choices {
				if choice.Key == key {
					*out = append(*out, declared{Input: in, name: name, required: required})
					expand(choice.Required, name+".", true, values, out)
					expand(choice.Optional, name+".", false, values, out)
				}
			}
		case node.TypeAutogrow:
			for i, member := range in.Template.Members() {
				*out = append(*out, declared{Input: in.Template.Input, name: name + "." + member, required: i < in.Template.Min && !in.Template.Optional, member: true})
			}
		default:
			*out = append(*out, declared{Input: in, name: name, required: required})
		}
	}
}

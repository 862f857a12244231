package graph

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/registry"
)

// CustomCombo is the class of a choice whose options the author wrote: the editor keeps them behind the choice and
// its place among them, and sends all of it. No server declares more than the choice, and each gives the place on
// as it came.
const CustomCombo = "CustomCombo"

// readCustomCombo reads choice, place, option, option ... The oldest files have no place.
func (n *FlatNode) readCustomCombo(values []any) bool {
	if n.Class != CustomCombo || len(values) < 2 || len(values) > objectinfo.MaxChoices {
		return false
	}
	n.Inputs = Inputs{{Name: "choice", Value: wrapArray(values[0])}, {Name: "index", Value: json.Number("0")}}
	options := values[1:]
	if _, ok := options[0].(json.Number); ok || options[0] == nil {
		options = options[1:]
	}
	for i, v := range options {
		n.Inputs = append(n.Inputs, Input{Name: "option" + strconv.Itoa(i+1), Value: wrapArray(v)})
	}
	return true
}

// placeChoice sets the place of a CustomCombo's choice, -1 for one that is not among its options. A choice that
// is linked is known only when the workflow runs.
func (n *PromptNode) placeChoice() {
	choice, _ := n.Inputs.Get("choice")
	text, ok := choice.(string)
	if n.Class != CustomCombo || !ok {
		return
	}
	place, options := -1, 0
	for _, in := range n.Inputs {
		if !strings.HasPrefix(in.Name, "option") {
			continue
		}
		if in.Value == any(text) && place < 0 {
			place = options
		}
		options++
	}
	if options > 0 {
		n.Inputs.Set("index", json.Number(strconv.Itoa(place)))
	}
}

// OwnChoices gives the options of a CustomCombo, without the empty one that waits for the author's next.
func (n *FlatNode) OwnChoices(input string) []registry.Choice {
	if n.Class != CustomCombo || input != "choice" {
		return nil
	}
	var options []any
	for _, in := range n.Inputs {
		if text, ok := in.Value.(string); ok && text != "" && strings.HasPrefix(in.Name, "option") {
			options = append(options, strings.Clone(text))
		}
	}
	return objectinfo.Choices(options)
}

// EditorsOwn tells inputs that only go along with another one.
func (n *FlatNode) EditorsOwn(input string) bool { return n.Class == CustomCombo && input != "choice" }

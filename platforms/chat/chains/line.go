package chains

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// chainOf writes a line of runs down. What a run made of the one before is an output of that leg; what its person said and the files they
// sent are inputs of the chain, texts with what was said as their default. Seeds are drawn anew.
func chainOf(line []runs.Run) missions.Chain {
	var c missions.Chain
	for i, run := range line {
		leg := missions.DraftLeg{Tool: run.Tool.ToolID, Order: i + 1, Inputs: map[string]any{}, DependsOn: []int{}} // outputs that it takes count by themselves
		for _, f := range run.Tool.InputSchema.Ordered() {
			value, given := run.Inputs[f.Name]
			from := run.Sources[f.Name]
			if !given || f.Seed || from == runs.FromDefault || from == runs.FromRandom {
				continue
			}
			value, own := made(value, line[:i])
			if !f.Type.IsMedia() || !own {
				leg.Inputs[f.Name] = value
			}
			if own && said(from) {
				c.Exposed = append(c.Exposed, missions.Exposed{Name: nameFor(c, line, f, leg), Leg: leg.Order, Input: f.Name})
			}
		}
		c.Legs = append(c.Legs, leg)
	}
	return c
}

// said reports whether a value is what the person has said for this run, and not a setting of theirs.
func said(from runs.Source) bool {
	return from == runs.FromArgument || from == runs.FromAnswer || from == runs.FromAttachment || from == runs.FromReply
}

// nameFor names an input of a chain. What was given to several legs alike is one input.
func nameFor(c missions.Chain, line []runs.Run, f registry.InputField, leg missions.DraftLeg) string {
	name := f.Name
	for _, e := range c.Exposed {
		other, _ := line[e.Leg-1].Tool.InputSchema.Get(e.Input)
		same := other.Type == f.Type && other.Multiple == f.Multiple && !f.Type.IsMedia()
		if same && e.Leg != leg.Order && reflect.DeepEqual(c.Legs[e.Leg-1].Inputs[e.Input], leg.Inputs[f.Name]) {
			return e.Name
		}
		if e.Name == f.Name {
			name = fmt.Sprintf("%s_%d", f.Name, leg.Order)
		}
	}
	return name
}

// made replaces a file that one of the runs before has made by that output. own tells that no part of the value is such a file.
func made(value any, before []runs.Run) (replaced any, own bool) {
	list := each(value)
	outputs := make([]any, len(list))
	own = true
	for i, one := range list {
		outputs[i] = one
		if leg, name := maker(one, before); leg >= 0 {
			outputs[i], own = missions.OutputOf(leg+1, name), false
		}
	}
	switch {
	case own:
		return value, true
	case len(list) > 1:
		return outputs, false
	}
	return outputs[0], false
}

// each are the values of an input that may take several.
func each(value any) []any {
	if list, several := value.([]any); several {
		return list
	}
	return []any{value}
}

// maker finds the last of some runs that made a file, and as which of its outputs; -1: none of them.
func maker(file any, list []runs.Run) (at int, name string) {
	ref := fmt.Sprint(file)
	for i, run := range slices.Backward(list) {
		for _, o := range run.Outputs {
			if o.Media != "" && string(o.Media) == ref {
				return i, o.Name
			}
		}
	}
	return -1, ""
}

// madeFor gives the runs among those known that made the files which a run was given.
func madeFor(run runs.Run, known []runs.Run) (found []runs.Run) {
	var before []runs.Run
	for _, r := range slices.Backward(known) { // newest first; here the newest comes last
		if r.CreatedAt.Before(run.CreatedAt) {
			before = append(before, r)
		}
	}
	for _, value := range run.Inputs {
		for _, one := range each(value) {
			if i, _ := maker(one, before); i >= 0 {
				found = append(found, before[i])
			}
		}
	}
	return found
}

package missions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs/store"
)

// StepsTool is the id of the tool by which a model proposes several calls at once, each of which may use what an earlier one makes. Its run
// waits for one word to all of them, as they are shown, and carries them out as a mission.
const StepsTool = "planSteps"

// maxSteps bounds a proposal: it has to be read.
const maxSteps = 8

// stepsSchema is the JSON Schema of the steps. A description here is read by models with every question.
const stepsSchema = `{"type":"array","minItems":1,"maxItems":8,"items":{"type":"object","required":["tool","inputs"],"additionalProperties":false,"properties":{` +
	`"tool":{"type":"string","description":"name of a tool"},` +
	`"inputs":{"type":"object","description":"its arguments; {\"$output\":{\"leg\":1}} is what step 1 makes"}}}}`

func stepsTool() registry.Tool {
	return registry.Tool{
		ToolID: StepsTool, Service: ChainService, DisplayName: "Several steps",
		Description:  "Propose calls that build on each other, such as enlarging a picture and then framing it. The person sees all of them with the total and approves once; nothing runs before.",
		Listing:      registry.Listing{Kind: ChainKind, Category: "chains", Visibility: registry.VisibilityHidden},
		Execution:    registry.Execution{Capability: registry.CapabilityWrite, TimeoutMs: chainTimeout.Milliseconds()},
		Policy:       registry.Policy{Confirmation: "structured-trip"},
		CostingModel: &registry.CostingModel{Rate: "0", Unit: registry.UnitRequest, RateSource: registry.RateAPI},
		InputSchema:  registry.InputSchema{{Name: "steps", Type: registry.TypeString, Required: true, Schema: json.RawMessage(stepsSchema)}},
		OutputSchema: registry.OutputSchema{},
		Localized: map[string]registry.Words{
			"de": {DisplayName: "Mehrere Schritte"}, "es": {DisplayName: "Varios pasos"}, "ru": {DisplayName: "Несколько шагов"}, "zh": {DisplayName: "多个步骤"},
		},
	}
}

// step is one call of a proposal.
type step struct {
	Tool   string         `json:"tool"`
	Inputs map[string]any `json:"inputs"`
}

// stepsOf reads the steps of a call.
func stepsOf(inputs map[string]any) ([]step, error) {
	raw, err := json.Marshal(inputs["steps"])
	var list []step
	if err == nil {
		err = decimal.Unmarshal(raw, &list)
	}
	if err != nil || len(list) == 0 || len(list) > maxSteps {
		return nil, refuse("steps", `expected 1 to %d steps such as {"tool":"upscale","inputs":{"image":"asset:..."}}`, maxSteps)
	}
	return list, nil
}

// StepTools are the tools that a call of StepsTool names. A call that can't be read names none: it is refused when it is planned.
func StepTools(inputs map[string]any) (ids []string) {
	list, _ := stepsOf(inputs)
	for _, one := range list {
		ids = append(ids, one.Tool)
	}
	return ids
}

// stepsDraft is the mission that a call proposes. What one word for all can't cover is refused: other missions, what passes on personal
// data, and a step that can't be taken back before one that can.
func (s *Service) stepsDraft(inputs map[string]any) (Draft, error) {
	list, err := stepsOf(inputs)
	if err != nil {
		return Draft{}, err
	}
	var d Draft
	var names []string
	tools := make([]registry.Tool, len(list))
	for i, one := range list {
		tool, there := s.cfg.Registry.Snapshot().Resolve(one.Tool)
		switch {
		case !there:
			return Draft{}, refuse(stepAt(i, "tool"), "there is no tool %.80q", one.Tool)
		case tool.Kind == ChainKind:
			return Draft{}, refuse(stepAt(i, "tool"), "%s has steps of its own: call it by itself", tool.ToolID)
		case len(tool.PIIRequired) > 0:
			return Draft{}, refuse(stepAt(i, "tool"), "%s passes on personal data, which is asked for call by call: call it by itself", tool.ToolID)
		}
		tools[i] = *tool
		leg := DraftLeg{Tool: tool.ToolID, Inputs: map[string]any{}, Order: i + 1, DependsOn: []int{}}
		for name, value := range one.Inputs {
			if leg.Inputs[name], err = named(value, *tool, name, tools[:i]); err != nil {
				return Draft{}, refuse(stepAt(i, "inputs."+name), "%s", err)
			}
		}
		d.Legs, names = append(d.Legs, leg), append(names, tool.DisplayName)
	}
	d.Title = store.Storable(strings.Join(names, " → "))
	d.Title = strings.ToValidUTF8(d.Title[:min(len(d.Title), maxText)], "")
	return d, nil
}

// stepAt names a member of a step in an error.
func stepAt(i int, member string) string { return fmt.Sprintf("steps.%d.%s", i+1, member) }

// named gives a value whose references to earlier steps say which output they mean: a model need not know how a tool calls what it makes
// where only one suits.
func named(value any, tool registry.Tool, input string, before []registry.Tool) (any, error) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			var err error
			if list[i], err = named(item, tool, input, before); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		ref, marked := v[outputKey].(map[string]any)
		if !marked || ref["name"] != nil || len(v) != 1 {
			return value, nil
		}
		field, _ := tool.InputSchema.Get(input)
		leg, name, err := suits(field, fmt.Sprint(ref["leg"]), before)
		return map[string]any{outputKey: map[string]any{"leg": leg, "name": name}}, err
	}
	return value, nil
}

// suits finds the output of an earlier step that an input takes.
func suits(f registry.InputField, place string, before []registry.Tool) (leg json.Number, name string, err error) {
	for i, from := range before {
		if place != fmt.Sprint(i+1) {
			continue
		}
		var outputs []string
		for _, o := range from.OutputSchema {
			if takes(f, output{Leg: 1, Name: o.Name}, from) == nil {
				return json.Number(place), o.Name, nil
			}
			outputs = append(outputs, o.Name+" ("+o.Type+")")
		}
		return "", "", fmt.Errorf("%s takes %s, and step %s gives %s", f.Name, f.Type, place, strings.Join(outputs, ", "))
	}
	return "", "", fmt.Errorf(`expected {"$output":{"leg":1}} with the number of an earlier step, found %.20q`, place)
}

// oneWord refuses steps that one word for all does not cover.
func (d *Document) oneWord() error {
	for i, leg := range d.Legs {
		if leg.Asks {
			return refuse(stepAt(i, "tool"), "%s can't be taken back and others follow it: make it the last step", leg.Tool.ID)
		}
	}
	return nil
}

// parts tell the steps of a mission as they would be carried out now.
func (s *Service) parts(doc Document) (_ []registry.Part, err error) {
	parts := make([]registry.Part, len(doc.Legs))
	for i, leg := range doc.Legs {
		tool, there := s.cfg.Registry.Snapshot().Resolve(leg.Tool.ID)
		if !there {
			return nil, registry.Say(registry.CodeUnavailable, said.Removed, "tool", leg.Tool.Name)
		}
		parts[i] = registry.Part{ToolID: leg.Tool.ID, Name: leg.Tool.Name, CostUSD: leg.Quote.High.Decimal(), Inputs: partInputs(leg, *tool)}
		if parts[i].Version, err = sum([]any{leg.Tool, leg.DependsOn, leg.Effect, leg.Preview}); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// partInputs are the values of a step that are not the defaults of its tool, in the order of the tool's inputs; of a list, each.
func partInputs(leg Leg, tool registry.Tool) (list []registry.PartInput) {
	for _, f := range tool.InputSchema.Ordered() {
		value, bound := leg.Inputs[f.Name]
		if !bound || f.Seed || fmt.Sprint(value) == fmt.Sprint(f.Default) {
			continue
		}
		items, several := value.([]any)
		if !several {
			items = []any{value}
		}
		for _, item := range items {
			list = append(list, partInput(f, item))
		}
	}
	return list
}

func partInput(f registry.InputField, value any) registry.PartInput {
	in := registry.PartInput{Label: f.Label(), Type: f.Type}
	if ref, is, err := outputRef(value); is && err == nil {
		in.From = ref.Leg
		return in
	}
	text, isText := value.(string)
	if !isText {
		raw, err := json.Marshal(value)
		if err != nil {
			return in
		}
		text = string(raw)
	}
	if !f.Type.IsMedia() || !strings.HasPrefix(text, "asset:") { // an address is told: something is fetched from there
		in.Value = store.Storable(text)
	}
	return in
}

// asShown refuses a call whose steps would do something else now than what its owner approved.
func (s *Service) asShown(doc Document, call registry.Call) error {
	now, err := s.parts(doc)
	if err != nil {
		return err
	}
	same := func(a, b registry.Part) bool { return a.ToolID == b.ToolID && a.Version == b.Version }
	if call.Preview == nil || !slices.EqualFunc(now, call.Preview.Parts, same) {
		return registry.Errorf(registry.CodeUnavailable, "a tool has changed since the steps were shown; nothing was begun: ask for them again")
	}
	return nil
}

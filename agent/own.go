package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// The agent's own tools. They are shown with every question, whatever other tools are (D12), and are no runs.
const (
	toolSearch      = "searchTools"
	toolAcknowledge = "acknowledgeRequest"
	toolFinal       = "finalAnswer"
	toolPlan        = "submit_edit_plan"
)

func ownTools() []Tool {
	text := func(name, about string) json.RawMessage {
		return json.RawMessage(`{"type":"object","required":["` + name + `"],"properties":{"` + name + `":{"type":"string","description":"` + about + `"}}}`)
	}
	return []Tool{
		{toolAcknowledge, "Acknowledge a request before the first tool is called, in one sentence that the person reads.", text("understanding", "what will be done, in the person's language")},
		{toolSearch, "Search tools by what they can do; returns names, descriptions and needs. What is found can be called from then on.",
			json.RawMessage(`{"type":"object","required":["query"],"properties":{"query":{"type":"string","description":"the task, in a few words"},` +
				`"has":{"type":"string","description":"what there is to work on, such as image,text"},"limit":{"type":"integer","minimum":1,"maximum":20}}}`)},
		{toolFinal, "Present the answer and complete the task. After a change, read the changed thing again first.", text("answer", "what was done and found, in the person's language")},
	}
}

// acknowledge tells the person what the model is about to do.
func (t *talk) acknowledge(_ context.Context, call Call) runs.Envelope {
	var in struct{ Understanding string }
	if err := read(call, &in); err != nil || strings.TrimSpace(in.Understanding) == "" {
		return t.refuse(`expected {"understanding":"what will be done"}`)
	}
	t.tell(Event{Kind: EventText, Text: in.Understanding})
	return runs.Envelope{OK: true, Data: map[string]any{"acknowledged": true}}
}

// searchTools finds tools, which can be called from then on.
func (t *talk) searchTools(ctx context.Context, call Call) runs.Envelope {
	var in struct {
		Query, Has string
		Limit      int
	}
	if err := read(call, &in); err != nil || strings.TrimSpace(in.Query) == "" {
		return t.refuse(`expected {"query":"the task, in a few words"}`)
	}
	o := catalog.SearchOptions{Audience: t.question.Audience, Limit: min(max(in.Limit, 0), maxTools), Near: t.agent.cfg.Near.Of(ctx, in.Query)}
	if in.Has != "" {
		kinds, err := catalog.ParseKinds(in.Has)
		if err != nil {
			return t.refuse(err.Error())
		}
		o.Has = kinds
	}
	briefs, tools := []catalog.Brief{}, []*registry.Tool{}
	for _, m := range t.agent.cfg.Registry.Snapshot().Search(in.Query, o) {
		if !t.agent.has(m.Tool.ToolID) {
			continue
		}
		briefs, tools = append(briefs, m.Brief()), append(tools, m.Tool)
	}
	described, err := describe(tools)
	if err != nil {
		return t.refuse("the tools can't be described")
	}
	t.show(described)
	return runs.Envelope{OK: true, Data: map[string]any{"tools": briefs}}
}

// finalAnswer ends the task, unless the answer has a flaw.
func (t *talk) finalAnswer(_ context.Context, call Call) runs.Envelope {
	var in struct{ Answer string }
	if err := read(call, &in); err != nil || strings.TrimSpace(in.Answer) == "" {
		return t.refuse(`expected {"answer":"what was done and found"}`)
	}
	if flaw := t.flaw(in.Answer); flaw != "" {
		t.sentBack = true
		return t.refuse(flaw)
	}
	t.final = &in.Answer
	return runs.Envelope{OK: true, Data: map[string]any{"presented": true}}
}

func (t *talk) refuse(why string) runs.Envelope {
	return runs.Refused(registry.Errorf(registry.CodeInvalidInput, "%s", why), t.question.Context.TraceID)
}

// read decodes a call's arguments, of which there may be none.
func read(call Call, into any) error {
	if strings.TrimSpace(call.Arguments) == "" {
		return nil
	}
	return json.Unmarshal([]byte(call.Arguments), into)
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Ask puts a question to the model and carries out what it asks for, until it answers. An error is the model's, see Model, or that of
// ctx; the Answer then holds what was done before.
func (a *Agent) Ask(ctx context.Context, q Question) (Answer, error) {
	if strings.TrimSpace(q.Text) == "" || len(q.Text) > maxText {
		return Answer{}, registry.Errorf(registry.CodeInvalidInput, "expected a question of at most %d bytes", maxText)
	}
	q.Context.PlannerProvider = a.cfg.Provider
	q.Context.TraceID = cmp.Or(q.Context.TraceID, uuid.NewString())
	q.Context.SessionID = cmp.Or(q.Context.SessionID, q.Conversation, uuid.NewString())
	t, err := a.newTalk(ctx, q)
	if err != nil {
		return Answer{Context: q.Context}, err
	}
	var bound *BoundError
	switch err = t.open(ctx); {
	case errors.As(err, &bound):
		t.stop(bound.Stop)
		return t.answer, nil
	case err != nil:
		return t.answer, err
	}
	err = t.converse(ctx)
	if keep := t.remember(ctx); err == nil {
		err = keep
	}
	t.close(ctx, err)
	return t.answer, err
}

func (a *Agent) newTalk(ctx context.Context, q Question) (*talk, error) {
	t := &talk{agent: a, question: q, answer: Answer{Context: q.Context}, known: map[string]bool{}}
	if err := t.recall(ctx); err != nil {
		return nil, err
	}
	t.own = map[string]func(context.Context, Call) runs.Envelope{
		toolSearch: t.searchTools, toolAcknowledge: t.acknowledge, toolFinal: t.finalAnswer,
	}
	own := ownTools()
	if len(q.PlanSchema) > 0 {
		plan, err := planTool(q.PlanSchema)
		if err != nil {
			return nil, err
		}
		own, t.own[toolPlan] = append(own, plan), t.submitPlan
	}
	offered, err := a.offer(ctx, q)
	if err != nil {
		return nil, err
	}
	steps, err := a.steps(t.question)
	if err != nil {
		return nil, err
	}
	t.with = Conversation{System: a.system(), Tools: own, Said: func(text string) { t.tell(Event{Kind: EventText, Text: text}) }}
	for _, tool := range own {
		t.known[tool.Name] = true
	}
	t.show(steps)
	t.show(offered)
	since, err := t.since(ctx)
	if err != nil {
		return nil, err
	}
	opening, err := t.opening()
	if err != nil {
		return nil, err
	}
	t.with.Turns = append(t.memory.turns(), Turn{By: Person, Text: since + opening})
	return t, nil
}

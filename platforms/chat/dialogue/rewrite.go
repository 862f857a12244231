package dialogue

import (
	"context"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Rewrite has the model improve a prompt, when it is its turn among the questions of the person.
func (d *Dialogue) Rewrite(ctx context.Context, t *turn.Turn, tool *registry.Tool, input registry.InputField, prompt string) (better string, refused chat.Text, err error) {
	if on, err := switchedOn(ctx, t); !on {
		return "", nil, err
	}
	if refused, err = t.Barred(ctx, tool); refused != nil || err != nil {
		return "", refused, err
	}
	if len(d.of(t.Account.ID)) >= mostOpen {
		return "", t.Say.Text("asked.full"), nil
	}
	q := d.begin(t)
	defer d.end(q)
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-q.stopped:
			stop(errStopped)
		case <-asking.Done():
		}
	}()
	answer, err := d.rewrite(asking, t, q, tool, input, prompt)
	switch {
	case ctx.Err() != nil:
		return "", nil, context.Cause(ctx)
	case q.wasStopped():
		return "", t.Say.Text("asked.stopped"), nil
	case err != nil:
		return "", d.failure(ctx, t, err), nil
	case answer.Stop != agent.StopAnswered:
		return "", bound(t, answer), nil
	}
	return plain.HideKeys(plain.Text(answer.Text)), nil, nil
}

func (d *Dialogue) rewrite(ctx context.Context, t *turn.Turn, q *question, tool *registry.Tool, input registry.InputField, prompt string) (agent.Answer, error) {
	if err := d.wait(ctx, q); err != nil {
		return agent.Answer{}, err
	}
	defer func() { <-d.slots }()
	where := store.Target{Chat: t.In.Chat, Request: t.In.Answers(), Language: t.Language(), Person: t.In.From.ExternalID, Asked: t.In.IDs[0]}
	return d.cfg.Agent.Rewrite(ctx, agent.Question{
		Text: prompt, AccountID: t.Account.ID, Language: t.Language(), Origin: runs.Origin{Platform: t.In.Platform, Target: where.Encode()},
	}, tool, input)
}

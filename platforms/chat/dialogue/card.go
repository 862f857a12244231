package dialogue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// yesAction is what the button that confirms a card does, and a yes that is typed.
const yesAction = "askyes"

// waiting gives the runs of an answer that wait for the person's word, each once.
func waiting(answer agent.Answer) []string {
	var ids []string
	for _, s := range answer.Steps {
		if s.Card != nil && !slices.Contains(ids, s.Card.RunID) {
			ids = append(ids, s.Card.RunID)
		}
	}
	return ids
}

// propose shows all runs that wait on one card, with what each would do, its price and the total. What is confirmed is the hashes of
// what it shows.
func (d *Dialogue) propose(ctx context.Context, t *turn.Turn, ids []string) error {
	k := t.Keyboard(store.KeyboardState{})
	var parts []chat.Text
	var total billing.NanoUSD
	for _, id := range ids {
		run, err := t.Services.Runs.Get(ctx, id)
		if err != nil {
			return fmt.Errorf("show what waits: %w", err)
		}
		if run.Status != runs.StatusAwaitingConfirmation {
			continue
		}
		k.State.Runs, k.State.Values = append(k.State.Runs, id), append(k.State.Values, run.Summary().Hash())
		parts = append(parts, t.Say.Proposal(run))
		total += run.Quote.High
	}
	if len(parts) == 0 {
		return nil
	}
	foot := t.Say.Text("confirm.life", "n", int(runs.SummaryLife.Minutes()))
	if len(parts) > 1 {
		foot = chat.Lines(t.Say.Text("asked.total", "price", total), foot)
	}
	p := store.Prompt{ID: store.NewID(), Platform: t.In.Platform, Chat: t.In.Chat.Chat, AccountID: t.Account.ID, State: store.PromptState{Card: k.ID}}
	k.State.Prompt = p.ID
	err := errors.Join(t.Services.Store.Keyboards.Save(ctx, k), start.ReplaceQuestion(ctx, t, ""), t.Services.Store.Prompts.Open(ctx, p, runs.SummaryLife))
	if err != nil {
		return err
	}
	pages := paged(append([]chat.Text{t.Say.Text("asked.card")}, parts...), foot, t.Out.Caps.TextLimit)
	for _, page := range pages[:len(pages)-1] {
		if _, err := t.Reply(ctx, page); err != nil {
			return err
		}
	}
	ref, err := t.Reply(ctx, pages[len(pages)-1], []chat.Button{
		{Label: t.Say.Line("button.confirm"), Data: k.Data(yesAction), Style: chat.ButtonPrimary}, {Label: t.Say.Line("button.cancel"), Data: k.Data("askno")},
	})
	if err != nil {
		return fmt.Errorf("show what waits: %w", err)
	}
	p.MessageID = ref.ID
	return t.Services.Store.Prompts.Asked(ctx, p)
}

// Confirm lets all runs of a card go ahead, as they were shown.
func (d *Dialogue) Confirm(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	done, refused, err := confirm(ctx, t, k)
	if err != nil {
		return err
	}
	if refused != nil {
		return errors.Join(t.Answer(ctx, refused.String(), true), turn.ErrNotDone)
	}
	return errors.Join(t.Note(ctx, "press.started"), settle(ctx, t, k, t.In.Message, done))
}

// Decline cancels all runs of a card.
func (d *Dialogue) Decline(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if err := cancel(ctx, t, k.State.Runs); err != nil {
		return err
	}
	return settle(ctx, t, k, t.In.Message, t.Say.Text("asked.declined"))
}

// cancel ends runs that wait.
func cancel(ctx context.Context, t *turn.Turn, ids []string) error {
	var failed error
	for _, id := range ids {
		run, err := t.Services.Runs.Get(ctx, id)
		if err == nil && run.Status == runs.StatusAwaitingConfirmation {
			_, err = t.Services.Runs.Cancel(ctx, id, t.Account.ID)
		}
		if err != nil && !errors.Is(err, runs.ErrNotFound) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Affirmed takes a yes, and nothing but a yes, as the answer to the card: in private where it is what is said next, elsewhere as a
// reply to it. Whatever else is said is a request of its own, after which a yes means that.
func (d *Dialogue) Affirmed(ctx context.Context, t *turn.Turn, p store.Prompt) (bool, error) {
	if len(t.In.Attachments) > 0 || !runs.Affirms(t.In.Text) || t.In.ReplyTo != nil && t.In.ReplyTo.Ref.ID != p.MessageID {
		_, err := t.Services.Store.Prompts.Close(ctx, p.ID)
		return false, err
	}
	k, err := t.Services.Store.Keyboards.Find(ctx, t.In.Platform, p.State.Card)
	if err != nil {
		return true, err
	}
	if mine, err := t.Services.Store.Keyboards.Use(ctx, k.ID, yesAction, t.In.IDs[0]); err != nil || !mine {
		return true, errors.Join(err, t.Tell(ctx, "press.used"))
	}
	done, refused, err := confirm(ctx, t, k)
	if err != nil || refused != nil {
		err = errors.Join(err, t.Services.Store.Keyboards.Release(context.WithoutCancel(ctx), k.ID, yesAction))
	}
	if err != nil {
		return true, err
	}
	if refused != nil {
		_, err = t.Reply(ctx, refused)
		return true, err
	}
	return true, settle(ctx, t, k, chat.MessageRef{Place: t.In.Chat.Place, ID: p.MessageID}, done)
}

// confirm lets the runs of a card go ahead, those that still wait: after a crash some already do. Either the person can pay for all of
// them or none begins. done says what became of each; refused why none goes ahead.
func confirm(ctx context.Context, t *turn.Turn, k store.Keyboard) (done, refused chat.Text, err error) {
	list, need, err := cardRuns(ctx, t, k)
	if err != nil {
		return nil, nil, err
	}
	balance, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	if err != nil {
		return nil, nil, err
	}
	if need > balance.Available {
		return nil, start.Insufficient(ctx, t, billing.ErrInsufficient{Need: need, Have: balance.Available}, t.ReadByOthers()), nil
	}
	began := false
	for i, run := range list {
		line := chat.Text{{Text: "✓ "}, {Style: chat.StyleBold, Text: t.Say.Read(run).Tool.DisplayName}}
		if run.ConfirmedAt == nil {
			hash, _ := k.State.Values[i].(string)
			run, err = t.Services.Runs.ConfirmSummary(ctx, run.ID, t.Account.ID, hash, nil)
			if refused, err = results.NotConfirmed(ctx, t, run, err); err != nil {
				return nil, nil, err
			}
			if refused != nil {
				line = chat.Join(" ", chat.Text{{Text: "✗ "}, {Style: chat.StyleBold, Text: t.Say.Read(list[i]).Tool.DisplayName}}, refused)
			}
		}
		if refused == nil {
			began = true
			follow(ctx, t, run)
		}
		done = chat.Lines(done, line)
	}
	if began {
		refused = nil
	}
	return done, refused, nil
}

// cardRuns gives the runs of a card, and what those that wait may cost together.
func cardRuns(ctx context.Context, t *turn.Turn, k store.Keyboard) (list []runs.Run, need billing.NanoUSD, err error) {
	for _, id := range k.State.Runs {
		run, err := t.Services.Runs.Get(ctx, id)
		if err != nil {
			return nil, 0, fmt.Errorf("confirm what was shown: %w", err)
		}
		if run.Status == runs.StatusAwaitingConfirmation {
			need += run.Quote.High
		}
		list = append(list, run)
	}
	return list, need, nil
}

// follow shows a sign of work as long as a run goes on.
func follow(ctx context.Context, t *turn.Turn, run runs.Run) {
	where, err := store.TargetOf(run)
	if err != nil {
		t.Services.Log.WarnContext(ctx, "a run is not followed", "run", run.ID, "error", err)
		return
	}
	t.Services.Progress.Follow(ctx, run, where, store.Keyboard{}, "")
}

// settle shows in place of a card what became of it, and waits for no yes any more.
func settle(ctx context.Context, t *turn.Turn, k store.Keyboard, card chat.MessageRef, became chat.Text) error {
	_, err := t.Services.Store.Prompts.Close(ctx, k.State.Prompt)
	_, shown := t.Change(ctx, card, chat.Message{To: t.In.Chat.Place, Text: became})
	return errors.Join(err, shown)
}

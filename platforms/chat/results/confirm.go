package results

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// PressConfirm lets a run that waits for it go ahead.
func PressConfirm(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	run, err := t.Services.Runs.Confirm(ctx, k.State.Run, t.Account.ID)
	refused, err := NotConfirmed(ctx, t, run, err)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return t.Answer(ctx, refused.String(), true)
	}
	return t.Note(ctx, "press.started")
}

// NotConfirmed is what a person is told whose run does not go ahead; nil: it does.
func NotConfirmed(ctx context.Context, t *turn.Turn, run runs.Run, err error) (chat.Text, error) {
	var short billing.ErrInsufficient
	var gate *runs.GateError
	switch {
	case errors.As(err, &gate) && gate.Reason == runs.NoPriorSummary:
		return t.Say.Text("press.over"), nil
	case errors.As(err, &gate):
		return t.Say.Text("press.expired", "n", int(runs.SummaryLife.Minutes())), nil
	case errors.As(err, &short):
		return start.Insufficient(ctx, t, short, false), nil
	case errors.Is(err, runs.ErrNotFound):
		return t.Say.Text("press.tooOld"), nil
	case err != nil:
		return nil, fmt.Errorf("confirm a run: %w", err)
	case run.Status.Final():
		return t.Say.Text("press.over"), nil
	}
	return nil, nil
}

// Affirm takes "yes", and what else says it and nothing more, as the answer to a run's question whether it may go ahead:
// to the one that is replied to, or in private to the only one that waits.
func Affirm(ctx context.Context, t *turn.Turn) (bool, error) {
	if len(t.In.Attachments) > 0 || !runs.Affirms(t.In.Text) {
		return false, nil
	}
	waiting, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Status: runs.StatusAwaitingConfirmation, Platform: t.In.Platform})
	if err != nil {
		return false, fmt.Errorf("find what waits for a confirmation: %w", err)
	}
	waiting = slices.DeleteFunc(waiting, func(run runs.Run) bool {
		where, err := store.TargetOf(run)
		if err != nil || where.Asked != "" || where.Chat.Chat != t.In.Chat.Chat {
			return true // one that a model asked for has a card
		}
		if t.In.ReplyTo != nil {
			return !repliedTo(t, where.Status)
		}
		return t.In.Chat.Kind != chat.ChatPrivate
	})
	if len(waiting) != 1 {
		return false, nil
	}
	summary := waiting[0].Summary()
	run, err := t.Services.Runs.ConfirmBy(ctx, waiting[0].ID, t.Account.ID, runs.Affirmation{Kind: summary.Kind, Hash: summary.Hash(), Latest: t.In.Text})
	refused, err := NotConfirmed(ctx, t, run, err)
	if err != nil {
		return true, err
	}
	if refused != nil {
		_, err = t.Reply(ctx, refused)
	}
	return true, err
}

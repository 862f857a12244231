package results

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// PressStop cancels the run of a status message.
func PressStop(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error { return stopRun(ctx, t, run) })
}

// stopRun cancels a run. The Deliverer then shows how it ended.
func stopRun(ctx context.Context, t *turn.Turn, run runs.Run) error {
	if run.Status.Final() {
		return t.Note(ctx, "press.over")
	}
	if err := t.Note(ctx, "press.canceling"); err != nil {
		return err
	}
	_, err := t.Services.Runs.Cancel(ctx, run.ID, t.Account.ID)
	return errs.Wrap(err, "cancel run %s", run.ID)
}

// PressOriginal sends a result's files as they are, without a platform's compression.
func PressOriginal(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithResult(ctx, k, func(run runs.Run) error {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		t.Working(ctx, chat.ActivityDocument)
		for i, o := range run.Outputs {
			if o.Media == "" {
				continue
			}
			if err := sendOriginal(ctx, t, run, i); err != nil {
				return tellRight(ctx, t, err)
			}
		}
		return nil
	})
}

// sendOriginal sends an output as it was stored or, where it is too large for that, says where it is.
func sendOriginal(ctx context.Context, t *turn.Turn, run runs.Run, i int) error {
	file, fits := t.Services.Deliverer.Original(t.Out.In(t.In.Chat), t.Say.Read(run), i)
	err := chat.ErrTooLarge
	if fits {
		_, err = t.Post(ctx, chat.Message{To: t.In.Chat.Place, ReplyTo: t.In.Message, Media: []chat.Media{file}})
	}
	if errors.Is(err, chat.ErrTooLarge) {
		_, err = t.Post(ctx, chat.Message{To: t.In.Chat.Place, ReplyTo: t.In.Message, Text: t.Services.Deliverer.Unsent(t.Say, run, i)})
	}
	return err
}

// PressDelete deletes a run with its files and removes it from the chat, for its requester. An admin removes what is shown
// here, as does anybody who removes one picture of a set that was shown by itself; the run stays in the requester's history.
func PressDelete(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	note, part := "press.deleted", k.State.Of > 0
	if part || !t.Owns(ctx, k) {
		note = "press.deletedHere"
	}
	if err := t.Note(ctx, note); err != nil {
		return err
	}
	stays := false
	for _, ref := range append(k.State.Refs, t.In.Message) {
		err := t.Out.Adapter.Delete(ctx, ref)
		if stays = stays || errors.Is(err, chat.ErrKept); err != nil && !errors.Is(err, chat.ErrKept) {
			return fmt.Errorf("delete a result: %w", err)
		}
	}
	if !part && t.Owns(ctx, k) && k.State.Run != "" {
		if err := t.Services.Runs.Delete(ctx, k.State.Run, t.Account.ID); err != nil && !errors.Is(err, runs.ErrNotFound) {
			return err
		}
	}
	if stays {
		return t.Aside().Refused(ctx, registry.Say(registry.CodeUnavailable, said.MessagesStay))
	}
	return nil
}

// PressShow shows a run's result again, as new messages.
func PressShow(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		return tellRight(ctx, t, showAgain(ctx, t, run))
	})
}

// tellRight tells whoever pressed which right is missing for what they want, and keeps the button; other errors stay errors.
func tellRight(ctx context.Context, t *turn.Turn, err error) error {
	if !errors.Is(err, chat.ErrNoRight) {
		return err
	}
	return errors.Join(t.Aside().Tell(ctx, "result.noRightYet", "right", err), turn.ErrNotDone)
}

// showAgain shows how a run ended, in the chat of this update.
func showAgain(ctx context.Context, t *turn.Turn, run runs.Run) error {
	if !run.Status.Final() {
		_, err := t.Reply(ctx, chat.Lines(chat.Text{{Style: chat.StyleBold, Text: t.Say.Read(run).Tool.DisplayName}}, t.Say.Stage(run)))
		return err
	}
	if hidden, err := hiddenHere(ctx, t, run); hidden || err != nil {
		return err
	}
	t.Working(ctx, show.ActivityOf(run.Tool))
	where := store.Target{Chat: t.In.Chat, Request: start.RequestOf(t, run), Language: t.Language(), Person: t.In.From.ExternalID}
	if asked, err := store.TargetOf(run); err == nil {
		where.Notes = asked.Notes
	}
	return t.Services.Deliverer.ShowAgain(ctx, t.Out, t.Say, run, where, &t.In.Incoming)
}

// PressMissed shows what could not be delivered before.
func PressMissed(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	for _, id := range k.State.Runs {
		run, err := t.Services.Runs.Get(ctx, id)
		if errors.Is(err, runs.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := showAgain(ctx, t, run); err != nil {
			return err
		}
		removeStatus(ctx, t, run)
		if err := errors.Join(t.Services.Store.Deliveries.Finish(ctx, id), t.Services.Runs.MarkDelivered(ctx, id)); err != nil {
			return err
		}
	}
	return nil
}

// removeStatus deletes the status message of a run that was shown elsewhere.
func removeStatus(ctx context.Context, t *turn.Turn, run runs.Run) {
	where, err := store.TargetOf(run)
	if err == nil && !where.Status.IsZero() {
		err = t.Out.Delete(ctx, where.Status)
	}
	if err != nil {
		t.Services.Log.DebugContext(ctx, "a status message stays", "run", run.ID, "error", err)
	}
}

// OfferMissed tells somebody who is back what could not be delivered. Only in private: results were not
// meant for anyone who reads along elsewhere.
func OfferMissed(ctx context.Context, t *turn.Turn) error {
	if t.In.Chat.Kind != chat.ChatPrivate {
		return nil
	}
	ids, err := t.Services.Store.Deliveries.Missed(ctx, t.Account.ID, t.In.Platform)
	if err != nil || len(ids) == 0 {
		return err
	}
	k := t.Keyboard(store.KeyboardState{Runs: ids})
	err = t.Services.Store.Keyboards.Save(ctx, k)
	if err == nil {
		_, err = t.Reply(ctx, t.Say.Text("missed.offer", "n", len(ids)), []chat.Button{{Label: t.Say.Line("button.show"), Data: k.Data("missed")}})
	}
	if err != nil {
		return errors.Join(err, t.Services.Store.Deliveries.Unoffer(context.WithoutCancel(ctx), ids))
	}
	return nil
}

// PressReceipt tells anyone who pressed exactly what a run cost, how that comes about, and the code under which support finds it.
func PressReceipt(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		text := chat.Lines(chat.Plain(t.Say.Read(run).Tool.DisplayName), t.Say.Receipt(run), t.Say.Text("support.code", "code", show.SupportCode(run.ID)))
		return t.Answer(ctx, text.String(), true)
	})
}

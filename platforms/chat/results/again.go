package results

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// PressFollowUp starts the tool that a follow-up action names. The inputs are a service's words, not the person's: what
// costs or changes something shows them with the price, and waits to be confirmed.
func PressFollowUp(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		actions := words.FollowUps(run)
		if n >= len(actions) {
			return t.Alert(ctx, "press.tooOld")
		}
		tool, ok := t.FindTool(actions[n].Tool)
		if !ok {
			return notFollowed(ctx, t, "card.noTool", "tool", chat.Brief(actions[n].Tool, 60))
		}
		if words.HoldsAsset(actions[n].Inputs) {
			return notFollowed(ctx, t, "file.gone") // stored files are given by hand, not by name
		}
		if err := t.Note(ctx, "press.started"); err != nil {
			return err
		}
		if refused, err := start.Refuse(ctx, t, tool); err != nil {
			return err
		} else if refused {
			return turn.ErrNotDone
		}
		d := start.PressDraft(t, tool)
		d.Approval = runs.ApproveWrites
		if tool.CostingModel != nil {
			d.Approval = runs.ApproveAll
		}
		for name, value := range actions[n].Inputs {
			if _, known := tool.InputSchema.Get(name); !known {
				d.Notes = append(d.Notes, t.Say.Line("card.noInput", "tool", tool.DisplayName, "input", chat.Brief(name, 60)))
				continue
			}
			d.Set(runs.FromArgument, name, value)
		}
		if !actions[n].InPlace {
			_, err := start.Proceed(ctx, t, d)
			return err
		}
		d.Replaces = t.In.Message
		if _, err := start.Proceed(ctx, t, d); err != nil {
			return err
		}
		return turn.ErrReplaces
	})
}

// notFollowed tells why a follow-up action can't be done; its button stays.
func notFollowed(ctx context.Context, t *turn.Turn, key string, pairs ...any) error {
	if err := t.Alert(ctx, key, pairs...); err != nil {
		return err
	}
	return turn.ErrNotDone
}

// PressAgain asks for the same once more: what chance decided is drawn anew, so that it gives something else, and what somebody chose stays.
func PressAgain(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		return repeat(ctx, t, k, run, againKey(t, k), func(d *input.Draft, _ *registry.Tool) { input.RedrawSeeds(d, run) })
	})
}

// PressRetry runs what a failed run was made of once more, as it was.
func PressRetry(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		return repeat(ctx, t, k, run, againKey(t, k), func(*input.Draft, *registry.Tool) {})
	})
}

func againKey(t *turn.Turn, k store.Keyboard) string { return t.In.Platform + ":" + k.ID + ":again" }

// repeat runs what an earlier run was made of once more, with the tool as it is now; change says how it
// differs. One that can't be run any more says so, and the button stays for when it can.
func repeat(ctx context.Context, t *turn.Turn, k store.Keyboard, run runs.Run, key string, change func(*input.Draft, *registry.Tool)) error {
	tool, ok := t.Tools.Resolve(run.Tool.ToolID)
	if !ok {
		return notFollowed(ctx, t, "tool.gone")
	}
	if err := t.Note(ctx, "press.started"); err != nil {
		return err
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return errors.Join(err, turn.ErrNotDone)
	}
	d := input.Repeat(run, start.RequestOf(t, run), key)
	d.Notes = t.Deprecation(tool)
	change(&d, tool)
	d.DropLost(tool.InputSchema)
	t.Working(ctx, show.ActivityOf(*tool))
	_, err := start.Proceed(ctx, t, d)
	return err
}

package turn

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/runs"
)

// RunOf gives the run that the buttons are about.
func (t *Turn) RunOf(ctx context.Context, k store.Keyboard) (runs.Run, error) {
	run, err := t.Services.Runs.Get(ctx, k.State.Run)
	if err == nil && run.AccountID != t.Account.ID {
		err = runs.ErrNotFound
	}
	return run, err
}

// WithRun does something with the buttons' run; a run that is gone is told.
func (t *Turn) WithRun(ctx context.Context, k store.Keyboard, do func(runs.Run) error) error {
	run, err := t.RunOf(ctx, k)
	if errors.Is(err, runs.ErrNotFound) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err != nil {
		return err
	}
	return do(run)
}

// WithResult does something with the run as if what the buttons are about were all that it made: one picture of its set, or
// all of it. What is gone is told.
func (t *Turn) WithResult(ctx context.Context, k store.Keyboard, do func(runs.Run) error) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		only, ok := show.Only(run, k.State.Of)
		if !ok {
			return t.Alert(ctx, "press.tooOld")
		}
		return do(only)
	})
}

// ErrNotDone: a button could not do its work, and the person was told. It may be pressed again.
var ErrNotDone = errors.New("nothing was done")

// ErrReplaces: what was pressed was done, and the message is going to change: its buttons are not marked.
var ErrReplaces = errors.New("the message is going to be replaced")

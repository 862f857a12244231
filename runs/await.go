package runs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Waiter is what Await needs of a Service.
type Waiter interface {
	Subscribe(runID string) (states <-chan Run, cancel func())
	Cancel(ctx context.Context, runID, accountID string) (Run, error)
}

// abandonedWithin bounds the canceling of a run that nobody waits for any more.
const abandonedWithin = 10 * time.Second

// ErrNotCanceled is in the chain of an error after which a run goes on although nobody waits for it.
var ErrNotCanceled = errors.New("a run that nobody waits for could not be canceled")

// Await follows a run to its end and gives its last state; each, which may be nil, gets those before. When ctx ends, nobody
// waits for the run any more: it is canceled, and the error is that of ctx, perhaps with ErrNotCanceled. A run that is still under way afterwards, without
// an error, goes on elsewhere.
func Await(ctx context.Context, w Waiter, run Run, each func(Run)) (Run, error) {
	if run.Status.Final() {
		return run, nil
	}
	states, stop := w.Subscribe(run.ID)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			after, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedWithin)
			defer cancel()
			if _, err := w.Cancel(after, run.ID, run.AccountID); err != nil {
				return run, errors.Join(ctx.Err(), fmt.Errorf("%w: %w", ErrNotCanceled, err))
			}
			return run, ctx.Err()
		case state, more := <-states:
			if !more {
				return run, nil
			}
			run = state
			if run.Status.Final() {
				return run, nil
			}
			if each != nil {
				each(run)
			}
		}
	}
}

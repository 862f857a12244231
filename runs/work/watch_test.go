package work

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/store"
)

// mute is a provider that does not answer polls.
type mute struct{ *runstest.Provider }

// Poll waits as long as it may.
func (mute) Poll(ctx context.Context, _ registry.Ticket) (registry.Progress, error) {
	<-ctx.Done()
	return registry.Progress{}, ctx.Err()
}

func TestPollsOfSlowServices(t *testing.T) {
	t.Parallel()
	t.Run("a service that is slow for longer than a poll takes does not end a run, however often", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			v := &watching{step: &step{s: &Worker{Env: &store.Env{Log: slog.New(slog.DiscardHandler)}}}, provider: mute{}}
			v.r.Notice = runs.NoticeSilent // the person has been told
			began := time.Now()
			for range 2 * pollFailures {
				if result, err, over := v.poll(t.Context()); over || err != nil || result != nil {
					t.Fatalf("over %t: %v, %v", over, result, err)
				}
			}
			if took := time.Since(began); took != 2*pollFailures*pollTimeout {
				t.Errorf("it was asked for %s", took)
			}
		})
	})
}

package runner

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// pollCounter is a streamer whose polls are counted.
type pollCounter struct {
	streamer
	polls *atomic.Int32
}

func (p pollCounter) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	defer p.polls.Add(1)
	return p.Provider.Poll(ctx, t)
}

func TestPollsKeepWhatTheStreamSaid(t *testing.T) {
	t.Parallel()
	var h *house
	var polls atomic.Int32
	over := make(chan struct{})
	stream := pollCounter{polls: &polls, streamer: streamer{
		Provider: &runstest.Provider{OnSubmit: manual},
		watch: func(ctx context.Context, ticket registry.Ticket, report func(registry.Progress)) error {
			h.provider.Report(ticket.ProviderID, registry.Progress{State: registry.RunRunning}) // all that polls know
			report(registry.Progress{State: registry.RunRunning, Stage: "chorus", Fraction: 0.5, HasFraction: true})
			select {
			case <-over:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	}}
	h = newHouse(t, func(c *runs.Config) { c.Providers = map[string]runs.Provider{"choir": {Submitter: stream}} })
	h.provider = stream.Provider
	h.start(t)
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	updates, cancel := h.Subscribe(run.ID)
	defer cancel()
	clocktest.Until(t, "the stream's progress is seen", func() bool {
		select {
		case now := <-updates:
			return now.Stage == "chorus" && now.Fraction != nil && *now.Fraction == 0.5
		case <-time.After(time.Second):
			return false
		}
	})
	polls.Store(0)
	clocktest.Until(t, "polls have come", func() bool { return polls.Load() >= 1 })
	for drained := false; !drained; {
		select {
		case now := <-updates:
			if now.Status == runs.StatusRunning && (now.Stage != "chorus" || now.Fraction == nil) {
				t.Errorf("a poll erased the progress: stage %q, fraction %v", now.Stage, now.Fraction)
			}
		default:
			drained = true
		}
	}
	h.provider.Finish(run.ID, registry.Usage{RunTime: time.Second})
	close(over)
	if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
		t.Errorf("ended %s", run.Status)
	}
}

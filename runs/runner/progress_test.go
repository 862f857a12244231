package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// streamer is a provider with a stream, and hardly any polls.
type streamer struct {
	*runstest.Provider
	watch func(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error
}

func (s streamer) Watch(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error {
	return s.watch(ctx, t, report)
}

func TestStream(t *testing.T) {
	t.Parallel()
	// Polls are so rare that only the stream, or its end, can bring the result in time.
	rare := func(c *runs.Config) { c.PollMin, c.PollMax = time.Hour, time.Hour }
	for name, watch := range map[string]func(*house) func(context.Context, registry.Ticket, func(registry.Progress)) error{
		"the stream tells of the end, the poll brings the result": func(h *house) func(context.Context, registry.Ticket, func(registry.Progress)) error {
			return func(_ context.Context, ticket registry.Ticket, report func(registry.Progress)) error {
				report(registry.Progress{State: registry.RunRunning, Stage: "chorus"})
				h.provider.Finish(ticket.RunID, registry.Usage{RunTime: time.Second})
				report(registry.Progress{State: registry.RunSucceeded})
				return nil
			}
		},
		"a stream that breaks is followed by a poll": func(h *house) func(context.Context, registry.Ticket, func(registry.Progress)) error {
			return func(_ context.Context, ticket registry.Ticket, _ func(registry.Progress)) error {
				h.provider.Finish(ticket.RunID, registry.Usage{RunTime: time.Second})
				return errors.New("the line is dead")
			}
		},
		"a stream that panics harms nobody": func(h *house) func(context.Context, registry.Ticket, func(registry.Progress)) error {
			return func(_ context.Context, ticket registry.Ticket, _ func(registry.Progress)) error {
				h.provider.Finish(ticket.RunID, registry.Usage{RunTime: time.Second})
				panic("no such note")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h *house
			stream := streamer{watch: func(ctx context.Context, ticket registry.Ticket, report func(registry.Progress)) error {
				return watch(h)(ctx, ticket, report)
			}}
			stream.Provider = &runstest.Provider{OnSubmit: manual}
			h = newHouse(t, func(c *runs.Config) {
				rare(c)
				c.Providers = map[string]runs.Provider{"choir": {Submitter: stream}}
			})
			h.provider = stream.Provider
			h.start(t)
			if run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID); run.Status != runs.StatusSucceeded || run.Cost != 1_000_000 {
				t.Errorf("got %s, %s, %+v", run.Status, run.Cost, run.Error)
			}
		})
	}
}

package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/write"
)

// held is a provider whose answer to a submission waits for the returned function.
func (h *house) held(t *testing.T) (goOn func()) {
	t.Helper()
	hold := make(chan struct{})
	h.provider.ID = func(handle string) string { return "job-" + handle }
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Manual: true, Hold: hold} }
	return func() { close(hold) }
}

// nothingLeft waits until no run has to be stopped any more.
func (h *house) nothingLeft(t *testing.T) {
	t.Helper()
	clocktest.Until(t, "nothing has to be stopped", func() bool {
		var left int
		err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_stops`).Scan(&left)
		return err == nil && left == 0
	})
}

// begun accepts a run and waits until the provider has it, while nobody knows the provider's id.
func (h *house) begun(t *testing.T, user string) string {
	t.Helper()
	id := h.accept(t, sing(user)).ID
	clocktest.Until(t, "it is submitted", func() bool { return len(h.provider.Handles()) > 0 })
	return id
}

// TestStopWhileBegun ends runs while the provider has not yet said what it calls them: they are stopped there nevertheless.
func TestStopWhileBegun(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"its own process", "another process"} {
		t.Run("a cancel by "+by, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			goOn := h.held(t)
			h.start(t)
			canceler := h.Service
			if by == "another process" {
				canceler = h.open(t)
				defer stop(t, canceler)
			}
			id := h.begun(t, h.user(t, billing.Dollar))
			run, err := canceler.Cancel(t.Context(), id, "")
			if err != nil || run.Status != runs.StatusCanceled {
				t.Fatalf("got %s, %v", run.Status, err)
			}
			if h.provider.Cancels(id) != 0 {
				t.Error("it was told to stop what it had not named")
			}
			goOn()
			clocktest.Until(t, "the provider is told", func() bool { return h.provider.Cancels(id) == 1 })
			h.nothingLeft(t)
			h.free(t, h.delivered(t, id), billing.ReasonCanceled)
		})
	}
	t.Run("a timeout", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.TimeoutMs = enoughToSubmit
		h := newHouse(t, nil, tool)
		goOn := h.held(t)
		h.start(t)
		id := h.begun(t, h.user(t, billing.Dollar))
		run := h.delivered(t, id) // it does not wait for the provider
		if run.Status != runs.StatusTimedOut {
			t.Errorf("it is %s", run.Status)
		}
		goOn()
		clocktest.Until(t, "the provider is told", func() bool { return h.provider.Cancels(id) == 1 })
		h.nothingLeft(t)
	})
	t.Run("the process that submits dies after the cancel", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.held(t)
		first := h.mortal(t, "first")
		if err := first.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := h.begun(t, h.user(t, billing.Dollar))
		if _, err := h.Cancel(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		first.die()
		h.config.Now = func() time.Time { return time.Now().Add(write.StopLease) }
		next := h.open(t)
		if err := next.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, next)
		clocktest.Until(t, "the provider is told", func() bool { return h.provider.Cancels(id) == 1 })
		h.nothingLeft(t)
	})
}

// TestUnstopped tells the operator of runs that go on at their services.
func TestUnstopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider   func(*runstest.Provider) runs.Provider
		providerID string // before the handle
		why        string
	}{
		"a service that takes no cancel": {func(p *runstest.Provider) runs.Provider {
			return runs.Provider{Submitter: struct{ registry.Submitter }{p}}
		}, "job-", "choir: it can't be canceled from here"},
		"a service that can't tell what became of the submission": {func(p *runstest.Provider) runs.Provider {
			return runs.Provider{Submitter: struct {
				registry.Submitter
				registry.Canceler
			}{lostAnswer{p}, p}}
		}, "", "nobody knows whether choir took it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			goOn := h.held(t)
			h.config.Providers = map[string]runs.Provider{"choir": c.provider(h.provider)}
			h.Service = h.open(t)
			h.start(t)
			id := h.begun(t, h.user(t, billing.Dollar))
			if _, err := h.Cancel(t.Context(), id, ""); err != nil {
				t.Fatal(err)
			}
			goOn()
			var left []runs.Unstopped
			clocktest.Until(t, "the operator is told", func() bool {
				var err error
				left, err = h.Unstopped(t.Context())
				return err == nil && len(left) == 1
			})
			want := c.providerID
			if want != "" {
				want += id
			}
			if got := left[0]; got.RunID != id || got.Service != "choir" || got.ProviderID != want || !strings.Contains(got.Why, c.why) {
				t.Errorf("it is told %+v", got)
			}
		})
	}
}

// lostAnswer is a provider whose answers to submissions are lost.
type lostAnswer struct{ *runstest.Provider }

// Submit takes the run and says nothing of it.
func (l lostAnswer) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	if _, err := l.Provider.Submit(ctx, c); err != nil {
		return registry.Ticket{}, err
	}
	return registry.Ticket{}, registry.Errorf(registry.CodeLost, "the answer was lost")
}

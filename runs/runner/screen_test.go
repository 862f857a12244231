package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.InputSchema = append(tool.InputSchema, registry.InputField{Name: "avoid", DisplayName: "Avoid", Type: registry.TypeString, Default: "noise", Description: "What not to sing."})
	h := newHouse(t, func(c *runs.Config) {
		c.Screen = func(text string) (string, bool) { return "noise", strings.Contains(text, "noise") }
	}, tool)
	h.provider.OnSubmit = manual
	h.start(t)
	user := h.user(t, billing.Dollar)
	with := func(name, value string) runs.Request {
		r := sing(user)
		r.Values[runs.FromArgument][name] = value
		return r
	}
	t.Run("a text that the house does not take is refused at its input, and nothing is written or held", func(t *testing.T) {
		_, err := h.Accept(t.Context(), with("song", "noise"))
		if refused := registry.AsError(err); refused.Code != registry.CodeInvalidInput || refused.Field != "song" || strings.Contains(refused.Message, "noise") {
			t.Errorf("got %v", err)
		}
		_, err = h.Ask(t.Context(), with("song", "noise"))
		if registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("asked by a model: %v", err)
		}
		list, err := h.List(t.Context(), runs.Filter{AccountID: user})
		if err != nil || len(list) != 0 {
			t.Errorf("%d runs were written, %v", len(list), err)
		}
		if b, err := h.ledger.Balance(t.Context(), user); err != nil || b.Available != billing.Dollar || b.Held != 0 {
			t.Errorf("the balance is %+v, %v", b, err)
		}
	})
	t.Run("what the tool has as its default is taken, also when a form sends it back", func(t *testing.T) {
		h.accept(t, sing(user))
		h.accept(t, with("avoid", "noise"))
		if _, err := h.Accept(t.Context(), with("avoid", "more noise")); registry.AsError(err).Field != "avoid" {
			t.Errorf("what somebody wrote instead: %v", err)
		}
	})
}

// What is held back reaches nobody, costs nothing and is not kept; a trouble of the house's own is no verdict.
func TestCheck(t *testing.T) {
	t.Parallel()
	verdicts := make(chan error, 3)
	h := newHouse(t, func(c *runs.Config) {
		c.Check = func(_ context.Context, run runs.Run) error {
			if len(run.Outputs) == 0 {
				t.Error("there is nothing to look at")
			}
			return <-verdicts
		}
	}, perSecond())
	h.start(t)
	user := h.user(t, billing.Dollar)
	verdicts <- errors.New("the database is away")
	verdicts <- registry.Say(registry.CodeRefused, said.ResultHeld)
	run := h.ends(t, h.accept(t, sing(user)).ID)
	if run.Status != runs.StatusFailed || run.Error.Code != string(registry.CodeRefused) || len(run.Outputs) != 0 || run.Cost != 0 {
		t.Errorf("%s with %+v and %d outputs for %s", run.Status, run.Error, len(run.Outputs), run.Cost)
	}
	h.wantBalance(t, user, billing.Dollar, 0)
	h.provider.OnSubmit = manual
	run = h.accept(t, sing(user))
	h.submitted(t, run.ID)
	h.provider.Report(run.ID, registry.Progress{State: registry.RunRunning, HasFraction: true, Fraction: 0.5, Preview: []byte("png")})
	clocktest.Until(t, "its progress is known", func() bool {
		now, err := h.Get(t.Context(), run.ID)
		return err == nil && now.Fraction != nil
	})
	if h.PreviewOf(run.ID) != nil {
		t.Error("a picture on the way is shown that nobody has looked at")
	}
	verdicts <- registry.Say(registry.CodeRefused, said.ResultHeld)
	h.provider.Finish(run.ID, registry.Usage{})
	h.ends(t, run.ID)
	h.provider.OnSubmit = nil
	verdicts <- nil
	if run := h.ends(t, h.accept(t, sing(user)).ID); run.Status != runs.StatusSucceeded || len(run.Outputs) == 0 {
		t.Errorf("what is fine ended as %s, %+v", run.Status, run.Error)
	}
	h.wantBooksBalance(t)
}

// A result that is there is not lost while it is looked at: its time was for making it, and what a service made that is not asked twice is held on to.
func TestCheckLosesNothing(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.TimeoutMs = enoughToSubmit
	c := &caller{usage: registry.Usage{RunTime: time.Second}}
	looks, late := 0, false
	h := newHouse(t, func(config *runs.Config) {
		config.Providers = map[string]runs.Provider{"choir": {Caller: c}}
		config.Check = func(ctx context.Context, run runs.Run) error {
			if looks++; looks == 1 {
				return errors.New("the database is away")
			}
			clocktest.Until(t, "its time is over", func() bool { return time.Since(*run.StartedAt) > (enoughToSubmit+300)*time.Millisecond })
			late = true
			return ctx.Err()
		}
	}, tool)
	h.start(t)
	run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
	if run.Status != runs.StatusSucceeded || run.Cost == 0 || c.calls.Load() != 1 || looks != 2 || !late {
		t.Errorf("%s for %s after %d calls and %d looks: %+v", run.Status, run.Cost, c.calls.Load(), looks, run.Error)
	}
	h.wantBooksBalance(t)
}

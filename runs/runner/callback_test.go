package runner

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestCallback(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *runs.Config) { c.PollMin, c.PollMax = time.Hour, time.Hour })
	h.provider.OnSubmit = manual
	h.provider.ID = func(handle string) string { return "job-" + handle }
	h.start(t)
	other := h.open(t)
	h.start(t, other)
	for _, by := range []string{"the run's id", "the provider's id"} {
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		h.submitted(t, run.ID)
		h.provider.Finish(run.ID, registry.Usage{})
		own, foreign := run.ID, ""
		if by == "the provider's id" {
			own, foreign = "", "job-"+run.ID
		}
		// A callback may come before the watch has begun, so it is repeated as providers do; either machine may get it.
		clocktest.Until(t, "a callback with "+by+" brings the end", func() bool {
			for _, s := range []*Service{h.Service, other} {
				if err := s.Callback(t.Context(), "choir", own, foreign); err != nil && (own != "" || !errors.Is(err, runs.ErrNotFound)) {
					t.Fatal(err)
				}
			}
			now, err := h.Get(t.Context(), run.ID)
			return err == nil && now.Status == runs.StatusSucceeded
		})
		if err := h.Callback(t.Context(), "choir", own, foreign); own != "" && err != nil {
			t.Errorf("a late callback gives %v", err)
		}
	}
	for _, of := range []string{"", "job-1", uuid.NewString()} {
		if err := h.Callback(t.Context(), "choir", of, of); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("a callback of the run %q gives %v", of, err)
		}
	}
}

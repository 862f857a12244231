package runner

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// forgotten waits until the provider keeps nothing of the handles.
func (h *house) forgotten(t *testing.T, handles ...string) {
	t.Helper()
	for _, handle := range handles {
		clocktest.Until(t, "the provider keeps nothing of it", func() bool { return h.provider.Forgotten(handle) })
	}
}

// TestForgottenAtTheProvider has nothing of a run that was submitted stay at the provider, however the run ended.
func TestForgottenAtTheProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome runstest.Outcome
		end     func(t *testing.T, h *house, run runs.Run) // nil: it ends by itself
		status  runs.Status
	}{
		"succeeded":               {runstest.Outcome{}, nil, runs.StatusSucceeded},
		"failed":                  {runstest.Outcome{Err: registry.Errorf(registry.CodeProvider, "out of voice")}, nil, runs.StatusFailed},
		"failed for a bad result": {runstest.Outcome{Outputs: []registry.Output{runstest.Text("noise", "")}}, nil, runs.StatusFailed},
		"timed out":               {runstest.Outcome{Manual: true}, func(*testing.T, *house, runs.Run) {}, runs.StatusTimedOut},
		"canceled at the provider": {runstest.Outcome{Manual: true}, func(_ *testing.T, h *house, run runs.Run) {
			h.provider.Report(run.ID, registry.Progress{State: registry.RunCanceled})
		}, runs.StatusCanceled},
		"canceled by its owner": {runstest.Outcome{Manual: true}, func(t *testing.T, h *house, run runs.Run) {
			if _, err := h.Cancel(t.Context(), run.ID, run.AccountID); err != nil {
				t.Error(err)
			}
		}, runs.StatusCanceled},
		"canceled by another process": {runstest.Outcome{Manual: true}, func(t *testing.T, h *house, run runs.Run) {
			other := h.open(t)
			defer stop(t, other)
			if _, err := other.Cancel(t.Context(), run.ID, run.AccountID); err != nil {
				t.Error(err)
			}
		}, runs.StatusCanceled},
		"deleted while it ran": {runstest.Outcome{Manual: true}, func(t *testing.T, h *house, run runs.Run) {
			if err := h.Delete(t.Context(), run.ID, run.AccountID); err != nil {
				t.Error(err)
			}
		}, runs.StatusCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := perSecond()
			if c.status == runs.StatusTimedOut {
				tool.TimeoutMs = enoughToSubmit
			}
			h := newHouse(t, nil, tool)
			h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &c.outcome }
			h.start(t)
			run := h.accept(t, sing(h.user(t, billing.Dollar)))
			h.submitted(t, run.ID)
			if c.end != nil {
				c.end(t, h, run)
			}
			h.forgotten(t, run.ID)
			if got, err := h.Look(t.Context(), run.ID); err != nil || got.Status != c.status {
				t.Errorf("it is %s, %v", got.Status, err)
			}
		})
	}
	t.Run("each attempt", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 3}
		h := newHouse(t, nil, tool)
		passing := registry.Errorf(registry.CodeProvider, "hoarse")
		passing.Retryable = true
		h.provider.OnSubmit = func(_ registry.Call, before int) *runstest.Outcome {
			if before < 2 {
				return &runstest.Outcome{Err: passing}
			}
			return nil
		}
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		handles := h.provider.Handles()
		if run.Status != runs.StatusSucceeded || len(handles) != 3 {
			t.Fatalf("got %s after %v", run.Status, handles)
		}
		h.forgotten(t, handles...)
	})
	t.Run("what a run left at a place that was gone", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = manual
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		h.submitted(t, run.ID)
		left, err := json.Marshal(registry.Ticket{RunID: run.ID, Service: "choir", ProviderID: run.ID})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.pool.Exec(t.Context(), `INSERT INTO run_copies (run_id, attempt, service, ticket, since, next_at) VALUES ($1, 1, 'choir', $2, now(), now())`,
			uuid.NewString(), left); err != nil {
			t.Fatal(err)
		}
		h.forgotten(t, run.ID)
	})
	for _, step := range []string{"finished", "deliver"} {
		t.Run("of a process that dies when the run has ended, at "+step, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			first := h.mortal(t, "first")
			first.diesAt(step, 1)
			if err := first.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			run := h.accept(t, sing(h.user(t, billing.Dollar)))
			<-first.gone
			h.start(t)
			h.delivered(t, run.ID)
			h.forgotten(t, run.ID)
		})
	}
}

package runner

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestBillCanceled(t *testing.T) {
	t.Parallel()
	billed := func(c *runs.Config) { c.BillCanceled = true }
	// running gives a run that has been running for a while.
	running := func(t *testing.T, h *house, since time.Duration) runs.Run {
		t.Helper()
		h.provider.OnSubmit = manual
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		h.submitted(t, run.ID)
		h.provider.Report(run.ID, registry.Progress{State: registry.RunRunning})
		clocktest.Until(t, "the run is known to be running", func() bool {
			tag, err := h.pool.Exec(t.Context(), `UPDATE runs SET running_at = running_at - $2::interval WHERE id = $1 AND running_at IS NOT NULL`, run.ID, since)
			return err == nil && tag.RowsAffected() == 1
		})
		return run
	}
	t.Run("a run that its owner cancels pays for the time that it ran, as it was told before", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, billed)
		run := running(t, h, 10*time.Second)
		if !run.Quote.BillCanceled {
			t.Error("it was not told")
		}
		ended, err := h.Cancel(t.Context(), run.ID, run.AccountID)
		if err != nil {
			t.Fatal(err)
		}
		if r := ended.Receipt; ended.Status != runs.StatusCanceled || ended.Cost < 10_000_000 || ended.Cost > 90_000_000 || r.Cost != ended.Cost || r.Reason != billing.ReasonCanceled || r.Unit != "second" || r.Units == "0" {
			t.Errorf("cost %s, receipt %+v", ended.Cost, r)
		}
		if again, err := h.Cancel(t.Context(), run.ID, run.AccountID); err != nil || again.Cost != ended.Cost {
			t.Errorf("a second cancel: %s, %v", again.Cost, err)
		}
		h.wantBalance(t, run.AccountID, billing.Dollar-ended.Cost, 0)
		h.wantBooksBalance(t)
	})
	t.Run("never more than was promised", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, billed)
		run := running(t, h, time.Hour)
		ended, err := h.Cancel(t.Context(), run.ID, run.AccountID)
		if err != nil || ended.Cost != run.Quote.High || ended.Receipt.Full != 0 {
			t.Errorf("cost %s of %s, %+v, %v", ended.Cost, run.Quote.High, ended.Receipt, err)
		}
		h.wantBooksBalance(t)
	})
	for name, c := range map[string]struct {
		adapt func(*runs.Config)
		by    func(runs.Run) string
	}{
		"unless the operator wants it, it costs nothing":   {nil, func(r runs.Run) string { return r.AccountID }},
		"what an operator cancels costs its owner nothing": {billed, func(runs.Run) string { return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, c.adapt)
			run := running(t, h, 10*time.Second)
			ended, err := h.Cancel(t.Context(), run.ID, c.by(run))
			if err != nil {
				t.Fatal(err)
			}
			h.free(t, ended, billing.ReasonCanceled)
		})
	}
	t.Run("what only waited costs nothing", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, billed)
		h.provider.OnSubmit = manual
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		h.submitted(t, run.ID)
		ended, err := h.Cancel(t.Context(), run.ID, run.AccountID)
		if err != nil {
			t.Fatal(err)
		}
		h.free(t, ended, billing.ReasonCanceled)
	})
	t.Run("what fails or takes too long costs nothing all the same", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, billed)
		run := running(t, h, 10*time.Second)
		ended, err := h.EndFromOutside(context.Background(), run.ID, run.AccountID, runs.StatusTimedOut, registry.Errorf(registry.CodeTimeout, "it took too long"))
		if err != nil {
			t.Fatal(err)
		}
		h.free(t, ended, billing.ReasonTimedOut)
	})
}

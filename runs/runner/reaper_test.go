package runner

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestReaper(t *testing.T) {
	t.Parallel()
	t.Run("a run that is claimed here and that nobody works on is found", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		exec(t, h, `UPDATE runs SET claimed_by = $1, claims = 1`, h.Instance)
		h.start(t)
		if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
			t.Errorf("got %s", run.Status)
		}
	})
	t.Run("what a process that is gone wrote after the first look is found at the second", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = manual
		user := h.user(t, billing.Dollar)
		open, ended := h.accept(t, sing(user)), h.accept(t, sing(user))
		h.start(t)
		for _, run := range []runs.Run{open, ended} {
			h.submitted(t, run.ID)
		}
		exec(t, h, `UPDATE runs SET claimed_by = 'another'`) // which its process may not know yet
		h.provider.Finish(ended.ID, registry.Usage{RunTime: time.Second})
		h.delivered(t, ended.ID)
		var by string
		if err := h.pool.QueryRow(t.Context(), `SELECT claimed_by FROM runs WHERE id = $1`, ended.ID).Scan(&by); err != nil || by != h.Instance {
			t.Errorf("who ended the run and delivers it is %q, want %q; %v", by, h.Instance, err)
		}
		stop(t, h.Service)
		exec(t, h, `UPDATE runs SET claimed_by = 'late', delivered_at = NULL`)
		exec(t, h, `INSERT INTO run_workers (id, gone_at) VALUES ('late', now() - $1::interval), ('later', now())`, time.Minute)
		h.provider.Finish(open.ID, registry.Usage{RunTime: time.Second})
		h.start(t, h.open(t))
		h.allDone(t, user, billing.Dollar, []string{open.ID, ended.ID})
		clocktest.Until(t, "the process is forgotten", func() bool {
			var left []string
			err := h.pool.QueryRow(t.Context(), `SELECT array_agg(id) FROM run_workers WHERE gone_at IS NOT NULL`).Scan(&left)
			return err == nil && slices.Equal(left, []string{"later"})
		})
	})
	t.Run("a run that nobody ends is ended", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		exec(t, h, `UPDATE runs SET status = 'running', started_at = created_at - interval '1 day', claimed_by = 'nobody'`)
		h.start(t)
		run = h.ends(t, run.ID)
		if run.Status != runs.StatusTimedOut {
			t.Errorf("got %s", run.Status)
		}
		h.free(t, run, billing.ReasonTimedOut)
	})
	t.Run("what nobody confirms is canceled", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.Confirmation = "Sure?"
		h := newHouse(t, nil, tool)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		exec(t, h, `UPDATE runs SET created_at = created_at - interval '2 days'`)
		h.start(t)
		if run := h.ends(t, run.ID); run.Status != runs.StatusCanceled {
			t.Errorf("got %s", run.Status)
		}
	})
	t.Run("a check of the books that takes its time holds nothing up", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		books, err := h.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { books.Rollback(context.WithoutCancel(t.Context())) })
		if _, err := books.Exec(t.Context(), `LOCK TABLE ledger_transfers IN ACCESS EXCLUSIVE MODE`); err != nil {
			t.Fatal(err)
		}
		h.start(t)
		clocktest.Until(t, "the check waits", func() (waits bool) {
			err := h.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'ledger_transfers'::regclass AND NOT granted)`).Scan(&waits)
			return err == nil && waits
		})
		exec(t, h, `INSERT INTO run_workers (id, gone_at) VALUES ('late', now() - $1::interval)`, time.Minute)
		clocktest.Until(t, "a process that is gone is looked after", func() (gone bool) {
			err := h.pool.QueryRow(t.Context(), `SELECT NOT EXISTS (SELECT FROM run_workers WHERE id = 'late')`).Scan(&gone)
			return err == nil && gone
		})
	})
	t.Run("the ledger's check is a metric", func(t *testing.T) {
		t.Parallel()
		metrics := prometheus.NewRegistry()
		h := newHouse(t, func(c *runs.Config) { c.Metrics, c.CheckEvery = metrics, 10*time.Millisecond })
		user := h.user(t, billing.Dollar)
		h.start(t)
		problems := func() (found float64) {
			families, err := metrics.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "signalbox_ledger_problems" {
					found = f.GetMetric()[0].GetGauge().GetValue()
				}
			}
			return found
		}
		if n := problems(); n != 0 {
			t.Errorf("%v problems at the start", n)
		}
		exec(t, h, `UPDATE ledger_accounts SET balance = balance + 1 WHERE owner = $1 AND kind = 'wallet'`, user)
		clocktest.Until(t, "the check finds the money that came from nowhere", func() bool { return problems() == 1 })
	})
}

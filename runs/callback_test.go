package runs

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
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
	rare := func(c *Config) { c.PollMin, c.PollMax = time.Hour, time.Hour }
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
			h = newHouse(t, func(c *Config) {
				rare(c)
				c.Providers = map[string]Provider{"choir": {Submitter: stream}}
			})
			h.provider = stream.Provider
			h.start(t)
			if run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID); run.Status != StatusSucceeded || run.Cost != 1_000_000 {
				t.Errorf("got %s, %s, %+v", run.Status, run.Cost, run.Error)
			}
		})
	}
}

func TestCallback(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) { c.PollMin, c.PollMax = time.Hour, time.Hour })
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
		until(t, "a callback with "+by+" brings the end", func() bool {
			for _, s := range []*Service{h.Service, other} {
				if err := s.Callback(t.Context(), "choir", own, foreign); err != nil && (own != "" || !errors.Is(err, ErrNotFound)) {
					t.Fatal(err)
				}
			}
			now, err := h.Get(t.Context(), run.ID)
			return err == nil && now.Status == StatusSucceeded
		})
		if err := h.Callback(t.Context(), "choir", own, foreign); own != "" && err != nil {
			t.Errorf("a late callback gives %v", err)
		}
	}
	for _, of := range []string{"", "job-1", uuid.NewString()} {
		if err := h.Callback(t.Context(), "choir", of, of); !errors.Is(err, ErrNotFound) {
			t.Errorf("a callback of the run %q gives %v", of, err)
		}
	}
}

// caller answers at once.
type caller struct {
	calls atomic.Int32
	usage registry.Usage
	err   error
}

func (c *caller) Call(context.Context, registry.Call) (registry.Result, error) {
	c.calls.Add(1)
	return registry.Result{Outputs: []registry.Output{runstest.Text("result", "la")}, Usage: c.usage}, c.err
}

func TestCaller(t *testing.T) {
	t.Parallel()
	t.Run("A25 tokens are billed from the usage block", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.CostingModel = &registry.CostingModel{Rate: "0.000002", Unit: registry.UnitToken, RateSource: registry.RateStatic}
		h := newHouse(t, func(c *Config) {
			c.Providers = map[string]Provider{"choir": {Caller: &caller{usage: registry.Usage{Tokens: 1234, RunTime: time.Hour}}}}
		}, tool)
		h.start(t)
		if run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID); run.Cost != 2_468_000 {
			t.Errorf("got %s, %+v", run.Cost, run.Receipt)
		}
	})
	for name, tt := range map[string]struct {
		adapt func(*registry.Tool)
		calls int32
		want  Status
	}{
		"a call that a crash interrupted is not made twice":      {func(*registry.Tool) {}, 1, StatusFailed},
		"an idempotent call that a crash interrupted is":         {func(tool *registry.Tool) { tool.Idempotent = true }, 2, StatusSucceeded},
		"a call that only reads and that a crash interrupted is": {func(tool *registry.Tool) { tool.Capability = registry.CapabilityRead }, 2, StatusSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := perSecond()
			tt.adapt(&tool)
			c := &caller{}
			h := newHouse(t, func(config *Config) { config.Providers = map[string]Provider{"choir": {Caller: c}} }, tool)
			first := h.mortal(t, "first")
			first.diesAt("finish", 1)
			if err := first.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			run := h.accept(t, sing(h.user(t, billing.Dollar)))
			<-first.gone
			restarted := h.open(t)
			h.start(t, restarted)
			if run := h.ends(t, run.ID); run.Status != tt.want || c.calls.Load() != tt.calls {
				t.Errorf("got %s after %d calls: %+v", run.Status, c.calls.Load(), run.Error)
			}
			h.wantBooksBalance(t)
		})
	}
}

func TestOneLedgerWhateverTheService(t *testing.T) {
	t.Parallel()
	second := perSecond()
	second.ToolID, second.Service, second.CommandName = "dance", "ballet", "/dance"
	second.CostingModel = &registry.CostingModel{Rate: "0.04", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	h := newHouse(t, func(c *Config) { c.Providers["ballet"] = Provider{Caller: &caller{}} }, perSecond(), second)
	h.provider.OnSubmit = oneSecond
	h.start(t)
	user := h.user(t, billing.Dollar)
	dance := sing(user)
	dance.ToolID = "dance"
	t.Run("A73 runs of all services are in one ledger", func(t *testing.T) {
		runs := []Run{h.ends(t, h.accept(t, sing(user)).ID), h.ends(t, h.accept(t, dance).ID)}
		captures, err := h.ledger.Transfers(t.Context(), billing.TransfersQuery{AccountID: user, Kind: "capture"})
		if err != nil {
			t.Fatal(err)
		}
		captured := map[string]billing.NanoUSD{}
		for _, e := range captures {
			captured[e.RunID] = e.Amount
		}
		for _, run := range runs {
			if run.Cost == 0 || captured[run.ID] != run.Cost {
				t.Errorf("%s cost %s, the ledger says %s", run.Tool.ToolID, run.Cost, captured[run.ID])
			}
		}
	})
}

func TestReaper(t *testing.T) {
	t.Parallel()
	exec := func(t *testing.T, h *house, sql string, args ...any) {
		t.Helper()
		if _, err := h.pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a run that is claimed here and that nobody works on is found", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		exec(t, h, `UPDATE runs SET claimed_by = $1, claims = 1`, h.instance)
		h.start(t)
		if run := h.ends(t, run.ID); run.Status != StatusSucceeded {
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
		for _, run := range []Run{open, ended} {
			h.submitted(t, run.ID)
		}
		exec(t, h, `UPDATE runs SET claimed_by = 'another'`) // which its process may not know yet
		h.provider.Finish(ended.ID, registry.Usage{RunTime: time.Second})
		h.delivered(t, ended.ID)
		var by string
		if err := h.pool.QueryRow(t.Context(), `SELECT claimed_by FROM runs WHERE id = $1`, ended.ID).Scan(&by); err != nil || by != h.instance {
			t.Errorf("who ended the run and delivers it is %q, want %q; %v", by, h.instance, err)
		}
		stop(t, h.Service)
		exec(t, h, `UPDATE runs SET claimed_by = 'late', delivered_at = NULL`)
		exec(t, h, `INSERT INTO run_workers (id, gone_at) VALUES ('late', now() - $1::interval), ('later', now())`, 2*secondLook)
		h.provider.Finish(open.ID, registry.Usage{RunTime: time.Second})
		h.start(t, h.open(t))
		h.allDone(t, user, billing.Dollar, []string{open.ID, ended.ID})
		until(t, "the process is forgotten", func() bool {
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
		if run.Status != StatusTimedOut {
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
		if run := h.ends(t, run.ID); run.Status != StatusCanceled {
			t.Errorf("got %s", run.Status)
		}
	})
	t.Run("the ledger's check is a metric", func(t *testing.T) {
		t.Parallel()
		metrics := prometheus.NewRegistry()
		h := newHouse(t, func(c *Config) { c.Metrics, c.CheckEvery = metrics, 10*time.Millisecond })
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
		until(t, "the check finds the money that came from nowhere", func() bool { return problems() == 1 })
	})
}

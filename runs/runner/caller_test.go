package runner

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

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
		h := newHouse(t, func(c *runs.Config) {
			c.Providers = map[string]runs.Provider{"choir": {Caller: &caller{usage: registry.Usage{Tokens: 1234, RunTime: time.Hour}}}}
		}, tool)
		h.start(t)
		if run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID); run.Cost != 2_468_000 {
			t.Errorf("got %s, %+v", run.Cost, run.Receipt)
		}
	})
	for name, tt := range map[string]struct {
		adapt func(*registry.Tool)
		calls int32
		want  runs.Status
	}{
		"a call that a crash interrupted is not made twice":      {func(*registry.Tool) {}, 1, runs.StatusFailed},
		"an idempotent call that a crash interrupted is":         {func(tool *registry.Tool) { tool.Idempotent = true }, 2, runs.StatusSucceeded},
		"a call that only reads and that a crash interrupted is": {func(tool *registry.Tool) { tool.Capability = registry.CapabilityRead }, 2, runs.StatusSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := perSecond()
			tt.adapt(&tool)
			c := &caller{}
			h := newHouse(t, func(config *runs.Config) { config.Providers = map[string]runs.Provider{"choir": {Caller: c}} }, tool)
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
	h := newHouse(t, func(c *runs.Config) { c.Providers["ballet"] = runs.Provider{Caller: &caller{}} }, perSecond(), second)
	h.provider.OnSubmit = oneSecond
	h.start(t)
	user := h.user(t, billing.Dollar)
	dance := sing(user)
	dance.ToolID = "dance"
	t.Run("A73 runs of all services are in one ledger", func(t *testing.T) {
		runs := []runs.Run{h.ends(t, h.accept(t, sing(user)).ID), h.ends(t, h.accept(t, dance).ID)}
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

package runner

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// teller is a provider that says how far its call is, and goes on when it may.
type teller struct {
	goOn chan struct{}
	late func(registry.Progress) // of a call that is over
}

func (p *teller) Call(ctx context.Context, call registry.Call) (registry.Result, error) {
	p.late = call.Report
	for _, fraction := range []float64{0.25, 0.5, 7} {
		call.Report(registry.Progress{Fraction: fraction, HasFraction: true, Stage: "verse\x00"})
		select {
		case <-p.goOn:
		case <-ctx.Done():
			return registry.Result{}, ctx.Err()
		}
	}
	return registry.Result{Outputs: []registry.Output{runstest.Text("result", "la")}}, nil
}

// A call that answers by itself tells how far it is, to those who watch and to other processes.
func TestCallsTellHowFarTheyAre(t *testing.T) {
	t.Parallel()
	p := &teller{goOn: make(chan struct{})}
	h := newHouse(t, func(c *runs.Config) { c.Providers = map[string]runs.Provider{"choir": {Caller: p}} }, perSecond())
	h.start(t)
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	for _, want := range []float64{0.25, 0.5, 1} {
		clocktest.Until(t, "the run is that far", func() bool {
			now, err := h.Get(t.Context(), run.ID)
			return err == nil && now.Status == runs.StatusRunning && now.Stage == "verse" && now.Fraction != nil && *now.Fraction == want
		})
		if want == 0.5 {
			clocktest.Until(t, "it is written down", func() bool {
				var kept *float64
				err := h.pool.QueryRow(t.Context(), `SELECT fraction FROM runs WHERE id = $1`, run.ID).Scan(&kept)
				return err == nil && kept != nil && *kept == want
			})
		}
		p.goOn <- struct{}{}
	}
	if run = h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
		t.Fatalf("the run is %s, %+v", run.Status, run.Error)
	}
	p.late(registry.Progress{Fraction: 0.1, HasFraction: true, Stage: "too late"})
	if now, err := h.Get(t.Context(), run.ID); err != nil || now.Status != runs.StatusSucceeded || now.Stage == "too late" {
		t.Errorf("a report after the end changed the run: %s %q, %v", now.Status, now.Stage, err)
	}
}

package missions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// batch is a draft of a tool over several inputs.
func batch(tool string, where ...string) Draft {
	d := Draft{Title: "A batch", Independent: true}
	for i, place := range where {
		d.Legs = append(d.Legs, DraftLeg{Tool: tool, Order: i + 1, Inputs: map[string]any{"where": place}})
	}
	return d
}

func TestBatch(t *testing.T) {
	t.Parallel()
	t.Run("all legs run at once, and one that fails costs nothing but itself", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		release := make(chan struct{})
		h.agency.block = map[string]chan struct{}{"flight": release}
		h.agency.answer = func(c registry.Call, _ int) error {
			if c.Inputs["where"] == "Atlantis" {
				return soldOut
			}
			return nil
		}
		h.start()
		user := h.user()
		m := h.plan(user, batch("flight", "Lisbon", "Atlantis", "Porto"))
		if m.Totals["USD"] != "0.03" || !m.Independent {
			t.Errorf("planned %+v", m.Document)
		}
		m, err := h.Confirm(t.Context(), m.ID, user, m.Hash)
		if err != nil {
			t.Fatal(err)
		}
		h.until(m, "all run", func(m Mission) bool {
			return !slices.ContainsFunc(m.Legs, func(l Leg) bool { return l.Progress.Status != LegRunning })
		})
		close(release)
		m = h.ends(m, Succeeded)
		if m.Legs[0].Progress.Status != LegDone || m.Legs[1].Progress.Status != LegFailed || m.Legs[2].Progress.Status != LegDone {
			t.Errorf("the legs are %+v", m.Legs)
		}
		h.wantCalls("flight", "flight", "flight")
		h.wantBalance(user, billing.Dollar-2*cent)
		if told := h.tells(); told.ID != m.ID || told.Status != Succeeded {
			t.Errorf("told of %s as %s", told.ID, told.Status)
		}
	})
	t.Run("when all fail so does the whole", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("flight", soldOut)
		h.start()
		user := h.user()
		h.ends(h.goes(user, batch("flight", "Lisbon", "Porto")), Failed)
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("the house says how many there may be, and none may need another", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.adapt = func(c *Config) { c.MaxBatch = func() int { return 2 } }
		h.start()
		user := h.user()
		needs := batch("flight", "Lisbon", "Porto")
		needs.Legs[1].DependsOn = []int{1}
		for at, d := range map[string]Draft{"legs": batch("flight", "Lisbon", "Porto", "Faro"), "legs.2.depends_on": needs} {
			_, err := h.Plan(t.Context(), user, "", d)
			var bad *registry.Error
			if !errors.As(err, &bad) || bad.Field != at {
				t.Errorf("got %v, want a refusal at %s", err, at)
			}
		}
	})
	t.Run("runs are delivered where it was asked for, those of legs that others need are not", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t).start()
		d := trip("flight", "hotel")
		d.Origin = runs.Origin{Platform: "agency-chat", Target: json.RawMessage(`{"chat": "1"}`)}
		m := h.ends(h.goes(h.user(), d), Succeeded)
		for i, want := range []string{Platform, "agency-chat"} {
			if run, err := h.runs.Get(t.Context(), m.Legs[i].Progress.RunID); err != nil || run.Origin.Platform != want {
				t.Errorf("leg %d belongs to %s, %v; want %s", i+1, run.Origin.Platform, err, want)
			}
		}
		if told := h.tells(); string(told.Origin.Target) != `{"chat": "1"}` {
			t.Errorf("its owner is told at %s", told.Origin.Target)
		}
	})
	t.Run("what could not be told is told later", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		var tries atomic.Int32
		h.adapt = func(c *Config) {
			tell := c.Tell
			c.Tell = func(ctx context.Context, m Mission, waits *Leg) error {
				if tries.Add(1) == 1 {
					return errors.New("the platform is away")
				}
				return tell(ctx, m, waits)
			}
		}
		h.start()
		m := h.ends(h.goes(h.user(), trip("look")), Succeeded)
		if told := h.tells(); told.ID != m.ID || tries.Load() != 2 {
			t.Errorf("told of %s at try %d", told.ID, tries.Load())
		}
	})
}

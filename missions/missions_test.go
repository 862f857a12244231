package missions

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func outputOf(leg int, name string) map[string]any {
	return map[string]any{"$output": map[string]any{"leg": json.Number(string(rune('0' + leg))), "name": name}}
}

func TestForward(t *testing.T) {
	t.Parallel()
	t.Run("C42 C43 one confirmation carries all legs, one after the other, and each is a run that costs what was shown", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t).start()
		user := h.user()
		m := h.plan(user, trip("flight", "hotel", "look"))
		if m.Status != AwaitingConfirmation || m.Totals["USD"] != "0.02" || m.Promised != 2*cent || len(m.Legs) != 3 || m.Legs[1].Summary != "Hotel" {
			t.Errorf("planned %+v", m)
		}
		h.wantCalls()
		if m, err := h.Confirm(t.Context(), m.ID, user, m.Hash); err != nil || m.Status != Running {
			t.Fatal(m.Status, err)
		}
		m = h.ends(m, Succeeded)
		h.wantCalls("flight", "hotel", "look")
		for _, leg := range m.Legs {
			run, err := h.runs.Get(t.Context(), leg.Progress.RunID)
			if err != nil || leg.Progress.Status != LegDone || run.Status != runs.StatusSucceeded || run.Trace() != m.ID {
				t.Errorf("leg %d is %s, its run %s of trace %s, %v", leg.Order, leg.Progress.Status, run.Status, run.Trace(), err)
			}
		}
		if got := m.Legs[0].Progress.Reference; got != "flight-1" {
			t.Errorf("the reference is %q", got)
		}
		h.wantBalance(user, billing.Dollar-2*cent)
	})
	t.Run("a leg gets what an earlier one made, as a file or as a member of its answer", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t).start()
		d := trip("paint", "frame", "flight", "look")
		d.Legs[1].Inputs = map[string]any{"image": outputOf(1, "image")}
		d.Legs[3].Inputs = map[string]any{"where": outputOf(3, "booking.id"), "after": outputOf(3, "booking")}
		h.ends(h.goes(h.user(), d), Succeeded)
		if got, _ := h.agency.inputs["frame"][0]["image"].(string); !strings.HasPrefix(got, "asset:") {
			t.Errorf("the picture is %q", got)
		}
		if got := h.agency.inputs["look"][0]; got["where"] != "flight-3" || got["after"] != `{"id":"flight-3","price":"12.50"}` {
			t.Errorf("the answer's members are %v", got)
		}
	})
	t.Run("legs that don't need each other run at once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		release := make(chan struct{})
		h.agency.block = map[string]chan struct{}{"flight": release, "hotel": release}
		h.start()
		d := trip("flight", "hotel", "look")
		d.Legs[1].DependsOn, d.Legs[2].DependsOn = []int{}, []int{1, 2}
		m := h.goes(h.user(), d)
		h.until(m, "two run", func(m Mission) bool {
			return m.Legs[0].Progress.Status == LegRunning && m.Legs[1].Progress.Status == LegRunning && m.Legs[2].Progress.Status == LegPending
		})
		close(release)
		h.ends(m, Succeeded)
	})
	t.Run("a leg that would cost more than was promised does not begin, and what was done is taken back", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.start()
		user := h.user()
		m := h.plan(user, trip("flight", "hotel"))
		m.Legs[1].Quote.High = cent / 2
		document, err := json.Marshal(m.Document)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.pool.Exec(t.Context(), `UPDATE missions SET document = $2 WHERE id = $1`, m.ID, document); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Confirm(t.Context(), m.ID, user, m.Hash); err != nil {
			t.Fatal(err)
		}
		m = h.ends(m, RolledBack)
		if p := m.Legs[1].Progress; p.Status != LegFailed || p.Failure.Code != CodePrice || p.RunID != "" {
			t.Errorf("the leg is %+v", p)
		}
		h.wantCalls("flight", "cancel_flight")
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("a request that is repeated gives the same mission", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t).start()
		user := h.user()
		first, err := h.Plan(t.Context(), user, "k", trip("flight"))
		again, other := h.Plan(t.Context(), user, "k", trip("hotel"))
		if err != nil || other != nil || first.ID != again.ID || again.Legs[0].Tool.ID != "flight" {
			t.Errorf("got %s and %s, %v, %v", first.ID, again.ID, err, other)
		}
	})
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	now := time.Now()
	h.adapt = func(c *Config) { c.Now = func() time.Time { return now } }
	h.process = h.open(h.pool) // nobody works: time stands still
	user, other := h.user(), h.user()
	reason := func(err error) runs.GateReason {
		var gate *runs.GateError
		if errors.As(err, &gate) {
			return gate.Reason
		}
		return runs.GateReason("")
	}
	t.Run("who may not use a tool any more confirms nothing, and can when they may again", func(t *testing.T) {
		m, err := h.Plan(t.Context(), user, "", trip("flight", "look"))
		if err != nil {
			t.Fatal(err)
		}
		muted := registry.Errorf(registry.CodeUnauthorized, "muted")
		h.may = func(toolID string) error {
			if toolID == "look" {
				return muted
			}
			return nil
		}
		_, err = h.Confirm(t.Context(), m.ID, user, m.Hash)
		h.may = nil
		if !errors.Is(err, muted) {
			t.Errorf("got %v", err)
		}
		if m, err = h.Get(t.Context(), m.ID, user); err != nil || m.Status != AwaitingConfirmation {
			t.Errorf("got %s, %v", m.Status, err)
		}
		if m, err = h.Confirm(t.Context(), m.ID, user, m.Hash); err != nil || m.Status != Running {
			t.Errorf("got %s, %v", m.Status, err)
		}
	})
	t.Run("C42 the hash covers every leg, order, dependencies and totals", func(t *testing.T) {
		base := trip("flight", "hotel", "look")
		seen := map[string]string{}
		for name, change := range map[string]func(*Draft){
			"nothing":    func(*Draft) {},
			"title":      func(d *Draft) { d.Title = "Another" },
			"currency":   func(d *Draft) { d.Currency = "CHF" },
			"escalation": func(d *Draft) { d.EscalationURL = "" },
			"tool":       func(d *Draft) { d.Legs[1].Tool = "car" },
			"inputs":     func(d *Draft) { d.Legs[0].Inputs = map[string]any{"where": "Porto"} },
			"summary":    func(d *Draft) { d.Legs[0].Summary = "Fly" },
			"agent":      func(d *Draft) { d.Legs[0].Agent = "pilot" },
			"dependency": func(d *Draft) { d.Legs[2].DependsOn = []int{1} },
			"amount":     func(d *Draft) { d.Legs[0].Amount = "178.00" },
			"order":      func(d *Draft) { d.Legs[0].Tool, d.Legs[1].Tool = "hotel", "flight" },
		} {
			d := base
			d.Legs = slices.Clone(base.Legs)
			change(&d)
			m := h.plan(user, d)
			if before, taken := seen[m.Hash]; taken {
				t.Errorf("%s and %s have one hash", name, before)
			}
			seen[m.Hash] = name
		}
		if again := h.plan(user, base); seen[again.Hash] != "nothing" {
			t.Error("what is the same has another hash")
		}
		d := base
		d.Legs = slices.Clone(base.Legs)
		d.Legs[0].Amount, d.Legs[1].Amount = "178.00", "22.5"
		if m := h.plan(user, d); !reflect.DeepEqual(m.Totals, map[string]string{"EUR": "200.5", "USD": "0.02"}) {
			t.Errorf("the totals are %v", m.Totals)
		}
	})
	t.Run("C43 legs that stand out of their order, and those that need later ones, are refused", func(t *testing.T) {
		for name, change := range map[string]func(*Draft){
			"legs.1.order":        func(d *Draft) { d.Legs[0].Order, d.Legs[1].Order = 2, 1 },
			"legs.2.order":        func(d *Draft) { d.Legs[1].Order = 3 },
			"legs.1.depends_on":   func(d *Draft) { d.Legs[0].DependsOn = []int{2} },
			"legs.2.depends_on":   func(d *Draft) { d.Legs[1].DependsOn = []int{2} },
			"legs.1.inputs.where": func(d *Draft) { d.Legs[0].Inputs = map[string]any{"where": map[string]any{"$output": 1}} },
			"legs.2.inputs.where": func(d *Draft) {
				d.Legs[1].Inputs = map[string]any{"where": outputOf(1, "image")}
				d.Legs[0].Tool = "paint"
			},
			"legs.2.inputs.nonsense": func(d *Draft) { d.Legs[1].Inputs = map[string]any{"nonsense": "x"} },
			"title":                  func(d *Draft) { d.Title = " " },
			"currency":               func(d *Draft) { d.Currency = "euro" },
			"escalationUrl":          func(d *Draft) { d.EscalationURL = "javascript:alert(1)" },
			"legs":                   func(d *Draft) { d.Legs = nil },
			"legs.1.amount":          func(d *Draft) { d.Legs[0].Amount = "-1" },
		} {
			d := trip("flight", "hotel")
			change(&d)
			_, err := h.Plan(t.Context(), user, "", d)
			if typed := registry.AsError(err); typed == nil || typed.Field != name {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("C29 another hash, and another account, confirm nothing", func(t *testing.T) {
		m := h.plan(user, trip("flight"))
		if _, err := h.Confirm(t.Context(), m.ID, user, strings.Repeat("0", 64)); reason(err) != runs.SummaryHashMismatch {
			t.Error(err)
		}
		for _, err := range []error{
			func() error { _, err := h.Confirm(t.Context(), m.ID, other, m.Hash); return err }(),
			func() error { _, err := h.Cancel(t.Context(), m.ID, other); return err }(),
			func() error { _, err := h.Get(t.Context(), m.ID, other); return err }(),
		} {
			if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		}
		if list, err := h.List(t.Context(), other, "", ""); err != nil || len(list) != 0 {
			t.Errorf("another account sees %d missions, %v", len(list), err)
		}
	})
	t.Run("a wallet that does not cover all legs refuses at once", func(t *testing.T) {
		m := h.plan(user, trip("look", "jet"))
		var short billing.ErrInsufficient
		if _, err := h.Confirm(t.Context(), m.ID, user, m.Hash); !errors.As(err, &short) || short.Need != 2*billing.Dollar {
			t.Error(err)
		}
	})
	t.Run("C31 after ten minutes it is refused, and ends", func(t *testing.T) {
		m := h.plan(user, trip("flight"))
		began := now
		defer func() { now = began }()
		now = began.Add(10*time.Minute + time.Second)
		if _, err := h.Confirm(t.Context(), m.ID, user, m.Hash); reason(err) != runs.SummaryExpired {
			t.Error(err)
		}
		if err := h.expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m, err := h.Get(t.Context(), m.ID, user); err != nil || m.Status != Canceled || m.Legs[0].Progress.Status != LegSkipped {
			t.Errorf("it is %s, %v", m.Status, err)
		}
	})
	t.Run("somebody who may not use a tool plans nothing with it", func(t *testing.T) {
		no := registry.Errorf(registry.CodeUnauthorized, "not you")
		h.may = func(id string) error {
			if id == "hotel" {
				return no
			}
			return nil
		}
		defer func() { h.may = nil }()
		if _, err := h.Plan(t.Context(), user, "", trip("flight", "hotel")); !errors.Is(err, no) {
			t.Error(err)
		}
	})
}

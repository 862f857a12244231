package missions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestRollback(t *testing.T) {
	t.Parallel()
	t.Run("C19 C37 C38 C47 when the third fails the second and then the first are taken back, nobody is asked, nothing further begins, and the money returns", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("train", soldOut)
		h.start()
		user := h.user()
		m := h.ends(h.goes(user, trip("flight", "hotel", "train", "look", "ferry")), RolledBack)
		h.wantCalls("flight", "hotel", "train", "cancel_hotel", "cancel_flight")
		for order, want := range []LegStatus{LegDone, LegDone, LegFailed, LegSkipped, LegSkipped} {
			if got := m.Legs[order].Progress.Status; got != want {
				t.Errorf("leg %d is %s, want %s", order+1, got, want)
			}
		}
		if m.Legs[0].Progress.Undo != Undone || m.Legs[2].Progress.Undo != "" || m.Legs[2].Progress.Failure.Message != "sold out" {
			t.Errorf("got %+v, %+v", m.Legs[0].Progress, m.Legs[2].Progress)
		}
		h.wantBalance(user, billing.Dollar)
		if len(m.Warnings()) != 0 {
			t.Errorf("a perfect rollback warns: %v", m.Warnings())
		}
	})
	t.Run("C44 there are three attempts at 0, 1 and 4 s", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = func(c registry.Call, before int) error {
			switch {
			case c.Tool.ToolID == "hotel":
				return soldOut
			case c.Tool.ToolID == "cancel_flight" && before < 2:
				return registry.Errorf(registry.CodeUnavailable, "not now").Again()
			}
			return nil
		}
		h.start()
		m := h.ends(h.goes(h.user(), trip("flight", "hotel")), RolledBack)
		at, since := h.agency.at["cancel_flight"], *m.Legs[0].Progress.UndoSince
		if len(at) != 3 {
			t.Fatalf("%d attempts", len(at))
		}
		// When each is due is exact. That it comes late is the machine's doing, which may stand still for a second.
		for i, want := range []time.Duration{0, time.Second, 4 * time.Second} {
			if undoAt[i] != want || at[i].Before(since.Add(want)) {
				t.Errorf("attempt %d is due after %s and was after %s, want %s", i+1, undoAt[i], at[i].Sub(since), want)
			}
		}
	})
	t.Run("C46 when all attempts fail the owner and the operator see the reference and whom to turn to", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = func(c registry.Call, _ int) error {
			if c.Tool.ToolID == "hotel" || c.Tool.ToolID == "cancel_flight" {
				return registry.Errorf(registry.CodeProvider, "we are closed")
			}
			return nil
		}
		h.start()
		user := h.user()
		m := h.ends(h.goes(user, trip("flight", "hotel")), RollbackIncomplete)
		p := m.Legs[0].Progress
		if p.Undo != UndoExhausted || p.UndoTries != 3 || p.Reference != "flight-1" || p.UndoError != "we are closed" || m.EscalationURL != "https://agency.example/help" {
			t.Errorf("got %+v, %s", p, m.EscalationURL)
		}
		if told := h.tells(); told.ID != m.ID || told.Status != RollbackIncomplete {
			t.Errorf("told of %s as %s", told.ID, told.Status)
		}
		if list, err := h.Incomplete(t.Context()); err != nil || len(list) != 1 || list[0].ID != m.ID {
			t.Errorf("the operator sees %d, %v", len(list), err)
		}
		h.wantBalance(user, billing.Dollar-cent) // what was not taken back is paid
	})
	t.Run("C45 409 counts as canceled", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = func(c registry.Call, _ int) error {
			switch c.Tool.ToolID {
			case "hotel":
				return soldOut
			case "cancel_flight":
				return status(409)
			}
			return nil
		}
		h.start()
		user := h.user()
		m := h.ends(h.goes(user, trip("flight", "hotel")), RolledBack)
		if m.Legs[0].Progress.Undo != Undone || m.Legs[0].Progress.UndoTries != 0 {
			t.Errorf("got %+v", m.Legs[0].Progress)
		}
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("C45 422 is final: there is no second attempt", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = func(c registry.Call, _ int) error {
			switch c.Tool.ToolID {
			case "hotel":
				return soldOut
			case "cancel_flight":
				return status(422)
			}
			return nil
		}
		h.start()
		m := h.ends(h.goes(h.user(), trip("flight", "hotel")), RollbackIncomplete)
		h.wantCalls("flight", "hotel", "cancel_flight")
		if m.Legs[0].Progress.Undo != UndoRefused {
			t.Errorf("got %+v", m.Legs[0].Progress)
		}
	})
	t.Run("C20 taking back as well as can be is told, perfect is not", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("hotel", soldOut)
		h.start()
		m := h.ends(h.goes(h.user(), trip("flight", "car", "hotel")), RolledBack)
		if warnings := m.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "leg 2") {
			t.Errorf("the warnings are %q", warnings)
		}
	})
	t.Run("C23 a path that leads nowhere fails loudly, and the other legs are taken back all the same", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("hotel", soldOut)
		h.start()
		m := h.ends(h.goes(h.user(), trip("flight", "ferry", "hotel")), RollbackIncomplete)
		h.wantCalls("flight", "ferry", "hotel", "cancel_flight")
		if p := m.Legs[1].Progress; p.Undo != UndoImpossible || !strings.Contains(p.UndoError, "ticket.number") || p.Reference == "" {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("C24 after the window of a leg, which counts from its end, nothing is tried and the owner is told", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		release := make(chan struct{})
		h.agency.block = map[string]chan struct{}{"hotel": release}
		h.agency.answer = failing("hotel", soldOut)
		h.start()
		m := h.goes(h.user(), trip("train", "hotel"))
		h.until(m, "the train is booked", func(m Mission) bool { return m.Legs[0].Progress.Status == LegDone })
		h.later.Store(int64(time.Hour + time.Minute))
		close(release)
		m = h.ends(m, RollbackIncomplete)
		h.wantCalls("train", "hotel")
		if p := m.Legs[0].Progress; p.Undo != UndoTooLate || p.Reference != "train-1" || h.tells().Status != RollbackIncomplete {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("C24 within its window a leg is taken back", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("hotel", soldOut)
		h.start()
		h.ends(h.goes(h.user(), trip("train", "hotel")), RolledBack)
		h.wantCalls("train", "hotel", "cancel_train")
	})
	t.Run("its owner ends it: what was done is taken back", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		release := make(chan struct{})
		h.agency.block = map[string]chan struct{}{"hotel": release}
		h.start()
		user := h.user()
		m := h.goes(user, trip("flight", "hotel", "car"))
		h.begun(m, 1)
		if _, err := h.Cancel(t.Context(), m.ID, user); err != nil {
			t.Fatal(err)
		}
		h.until(m, "it turns back", func(m Mission) bool { return m.Status == RollingBack })
		close(release) // what may be at the service comes to its end, so that it can be taken back
		m = h.ends(m, RolledBack)
		h.wantCalls("flight", "hotel", "cancel_hotel", "cancel_flight")
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("a leg whose answer got lost may have been carried out: it is told where it can't be taken back", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.after = func(c registry.Call) error {
			if c.Tool.ToolID == "hotel" {
				return registry.Errorf(registry.CodeLost, "nobody knows")
			}
			return nil
		}
		h.start()
		m := h.ends(h.goes(h.user(), trip("flight", "hotel")), RollbackIncomplete)
		h.wantCalls("flight", "hotel", "cancel_flight")
		if p := m.Legs[1].Progress; !p.InDoubt || p.Status != LegFailed || p.Undo != UndoImpossible {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("pictures that were made stay, and are paid", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("frame", soldOut)
		h.start()
		user := h.user()
		m := h.ends(h.goes(user, trip("paint", "frame")), Failed)
		if m.Legs[0].Progress.Status != LegDone || m.Legs[0].Progress.Undo != "" {
			t.Errorf("got %+v", m.Legs[0].Progress)
		}
		h.wantBalance(user, billing.Dollar-cent)
	})
}

func TestIrreversible(t *testing.T) {
	t.Parallel()
	t.Run("C21 one that says nothing is taken to be irreversible, comes last by waiting for all others, and is confirmed with them", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("hotel", soldOut)
		h.start()
		d := trip("flight", "hotel", "publish")
		d.Legs[1].DependsOn, d.Legs[2].DependsOn = []int{}, []int{}
		m := h.goes(h.user(), d)
		if leg := m.Legs[2]; leg.Asks || !slices.Equal(leg.DependsOn, []int{1, 2}) {
			t.Errorf("planned as %+v", leg)
		}
		h.ends(m, RolledBack)
		if slices.Contains(h.agency.called(), "publish") {
			t.Error("it was published before the others were sure")
		}
	})
	t.Run("C21 one with others behind it waits for a word of its own", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t).start()
		user := h.user()
		m := h.goes(user, trip("publish", "flight"))
		m = h.until(m, "it asks", func(m Mission) bool { return m.Legs[0].Progress.Status == LegAwaiting })
		h.wantCalls()
		h.telling.Lock()
		waits := slices.Clone(h.waits)
		h.telling.Unlock()
		if len(waits) != 1 || waits[0].Order != 1 || waits[0].Progress.RunID != m.Legs[0].Progress.RunID {
			t.Errorf("its owner was told of %+v", waits)
		}
		if _, err := h.runs.Confirm(t.Context(), m.Legs[0].Progress.RunID, user); err != nil {
			t.Fatal(err)
		}
		h.ends(m, Succeeded)
		h.wantCalls("publish", "flight")
	})
	t.Run("C21 without that word nothing further begins", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t).start()
		user := h.user()
		m := h.goes(user, trip("flight", "publish", "hotel"))
		m = h.until(m, "it asks", func(m Mission) bool { return m.Legs[1].Progress.Status == LegAwaiting })
		if _, err := h.runs.Cancel(t.Context(), m.Legs[1].Progress.RunID, user); err != nil {
			t.Fatal(err)
		}
		h.ends(m, RolledBack)
		h.wantCalls("flight", "cancel_flight")
	})
	t.Run("what was published before a failure is told", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = failing("hotel", soldOut)
		h.start()
		user := h.user()
		m := h.goes(user, trip("publish", "hotel"))
		m = h.until(m, "it asks", func(m Mission) bool { return m.Legs[0].Progress.Status == LegAwaiting })
		if _, err := h.runs.Confirm(t.Context(), m.Legs[0].Progress.RunID, user); err != nil {
			t.Fatal(err)
		}
		m = h.ends(m, RollbackIncomplete)
		if p := m.Legs[0].Progress; p.Undo != UndoImpossible || p.Reference == "" {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("a leg that its owner cancels by its run ends the mission", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.block = map[string]chan struct{}{"paint": make(chan struct{})}
		h.start()
		user := h.user()
		m := h.goes(user, trip("paint", "frame"))
		m = h.until(m, "it is painted", func(m Mission) bool { return m.Legs[0].Progress.Status == LegRunning })
		if run, err := h.runs.Cancel(t.Context(), m.Legs[0].Progress.RunID, user); err != nil || run.Status != runs.StatusCanceled {
			t.Fatal(run.Status, err)
		}
		h.ends(m, Failed)
		h.wantBalance(user, billing.Dollar)
	})
}

package missions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
)

var errDead = errors.New("the process is dead")

// mortal is a process that dies as one that is killed: all its connections break at once, and it gets no new ones.
type mortal struct {
	*process
	dead atomic.Bool
	once sync.Once
	gone chan struct{} // nothing of it reaches the database any more
}

func (h *house) mortal(name string) *mortal {
	h.t.Helper()
	m := &mortal{gone: make(chan struct{})}
	config := h.pool.Config()
	config.ConnConfig.RuntimeParams["application_name"] = name
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if m.dead.Load() {
			return errDead
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(h.t.Context(), config)
	if err != nil {
		h.t.Fatal(err)
	}
	m.process = h.open(pool)
	h.t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.Stop(ended) // it can't end well
		_ = m.runs.Stop(ended)
		pool.Close()
	})
	return m
}

// die kills the process, once.
func (m *mortal) die(h *house, name string) {
	m.once.Do(func() {
		m.dead.Store(true)
		for n := 1; n > 0; { // one connection may have been about to be made
			err := h.pool.QueryRow(context.Background(), `
				SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`, name).Scan(&n)
			if err != nil {
				panic(err)
			}
		}
		close(m.gone)
	})
}

// diesAt lets the process die the nth time it comes to a step.
func (m *mortal) diesAt(h *house, name, step string, nth int32) {
	var seen atomic.Int32
	m.fail = func(at string) error {
		if at == step && seen.Add(1) == nth {
			m.die(h, name)
		}
		if m.dead.Load() {
			return errDead
		}
		return nil
	}
}

// TestCrash lets the process die at every step of a mission; the next one goes on, and everything has happened once.
func TestCrash(t *testing.T) {
	t.Parallel()
	for step, times := range map[string]int32{"accept": 1, "accepted": 2, "ended": 2, "turn": 1, "undo": 1, "undoing": 2, "undone": 1, "finish": 1, "told": 1} {
		for nth := int32(1); nth <= times; nth++ {
			t.Run(fmt.Sprintf("C48 at %s no. %d, and each is taken back once", step, nth), func(t *testing.T) {
				t.Parallel()
				h := newHouse(t)
				h.agency.answer = failing("train", soldOut)
				user := h.user()
				first := h.mortal("first")
				first.diesAt(h, "first", step, nth)
				if err := errors.Join(first.runs.Start(t.Context()), first.Start(t.Context())); err != nil {
					t.Fatal(err)
				}
				h.process = h.open(h.pool) // who confirms lives on
				m := h.goes(user, trip("flight", "hotel", "train", "look"))
				<-first.gone
				h.start()
				h.ends(m, RolledBack)
				if got, want := h.agency.cancellations(), map[string]int{"flight-1": 1, "hotel-2": 1}; !maps.Equal(got, want) {
					t.Errorf("bookings were taken back %v, want %v", got, want)
				}
				h.wantBalance(user, billing.Dollar)
				var made int
				if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM runs`).Scan(&made); err != nil || made != 3 {
					t.Errorf("%d runs were made, %v", made, err)
				}
			})
		}
	}
	for _, step := range []string{"accepted", "finish"} {
		t.Run("C48 at "+step+" on the way forward: all legs are carried out once", func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			user := h.user()
			first := h.mortal("first")
			first.diesAt(h, "first", step, 1)
			if err := errors.Join(first.runs.Start(t.Context()), first.Start(t.Context())); err != nil {
				t.Fatal(err)
			}
			h.process = h.open(h.pool)
			m := h.goes(user, trip("flight", "hotel", "look"))
			<-first.gone
			h.start()
			h.ends(m, Succeeded)
			if got := h.agency.cancellations(); !maps.Equal(got, map[string]int{"flight-1": 0, "hotel-2": 0, "look-3": 0}) {
				t.Errorf("the bookings are %v", got)
			}
			h.wantBalance(user, billing.Dollar-2*cent)
		})
	}
	t.Run("C48 a stop in good order gives the mission back at once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.agency.answer = func(c registry.Call, before int) error {
			if c.Tool.ToolID == "hotel" || c.Tool.ToolID == "cancel_flight" && before == 0 {
				return soldOut
			}
			return nil
		}
		user := h.user()
		first := h.open(h.pool)
		if err := errors.Join(first.runs.Start(t.Context()), first.Start(t.Context())); err != nil {
			t.Fatal(err)
		}
		h.process = first
		m := h.goes(user, trip("flight", "hotel"))
		h.until(m, "the first attempt failed", func(m Mission) bool { return m.Legs[0].Progress.UndoTries == 1 })
		if err := errors.Join(first.Stop(t.Context()), first.runs.Stop(t.Context())); err != nil {
			t.Fatal(err)
		}
		h.start()
		m = h.ends(m, RolledBack)
		if p := m.Legs[0].Progress; p.UndoTries != 1 || h.agency.cancellations()["flight-1"] != 1 {
			t.Errorf("got %+v, %v", p, h.agency.cancellations())
		}
	})
}

func TestPeople(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	release := make(chan struct{})
	h.agency.block = map[string]chan struct{}{"hotel": release}
	h.start()
	ann, bob := h.user(), h.user()
	over, open := h.goes(ann, trip("look")), h.goes(ann, trip("flight", "hotel"))
	h.ends(over, Succeeded)
	h.begun(open, 1)
	in := func(f func(context.Context, pgx.Tx) error) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return f(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	in(func(ctx context.Context, tx pgx.Tx) error { return Adopt(ctx, tx, ann, bob) })
	if list, err := h.List(t.Context(), bob, "", ""); err != nil || len(list) != 2 {
		t.Fatalf("after the merge there are %d missions, %v", len(list), err)
	}
	in(func(ctx context.Context, tx pgx.Tx) error { return Adopt(ctx, tx, bob, ann) }) // runs move with their account elsewhere
	in(func(ctx context.Context, tx pgx.Tx) error { return Forget(ctx, tx, ann) })
	if list, err := h.List(t.Context(), ann, "", ""); err != nil || len(list) != 0 {
		t.Errorf("after everything was deleted there are %d missions, %v", len(list), err)
	}
	close(release)
	for n := 1; n > 0; {
		if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM missions`).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.agency.cancellations(); !maps.Equal(got, map[string]int{"look-1": 0, "flight-2": 1, "hotel-3": 1}) {
		t.Errorf("bookings were taken back %v", got)
	}
}

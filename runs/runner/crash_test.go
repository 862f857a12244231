package runner

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/work"
)

var errDead = errors.New("the process is dead")

// mortal is a service that can die as a process does: all its connections break at once and it gets no new
// ones, whatever it was in the middle of. What its goroutines still do is what a process might have
// done in its last moments.
type mortal struct {
	*Service
	h      *house
	name   string
	pool   *pgxpool.Pool
	dead   atomic.Bool
	once   sync.Once
	gone   chan struct{} // nothing of it reaches the database any more
	buried chan struct{} // its goroutines have ended
}

func (h *house) mortal(t *testing.T, name string) *mortal {
	t.Helper()
	m := &mortal{h: h, name: name, gone: make(chan struct{}), buried: make(chan struct{})}
	config := h.pool.Config()
	config.ConnConfig.RuntimeParams["application_name"] = name
	config.MaxConns = 12
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if m.dead.Load() {
			return errDead
		}
		return nil
	}
	var err error
	if m.pool, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	own := h.config
	own.Pool, own.Ledger, own.Users, own.SoftStop = m.pool, billing.NewLedger(m.pool), nil, 50*time.Millisecond
	if m.Service, err = New(own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.dead.Load() {
			<-m.buried
		} else {
			stop(t, m.Service)
		}
		m.pool.Close()
	})
	return m
}

// die kills the process, once.
func (m *mortal) die() {
	m.once.Do(func() {
		m.dead.Store(true)
		// Until every connection is gone: one may have been about to be made.
		for n := 1; n > 0; {
			err := m.h.pool.QueryRow(context.Background(), `
				SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE application_name = $1 AND datname = current_database()`, m.name).Scan(&n)
			if err != nil {
				panic(err)
			}
		}
		close(m.gone)
		go func() {
			defer close(m.buried)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = m.Stop(ctx) // it can't end well
		}()
	})
}

// diesAt lets the service die the nth time it comes to a step.
func (m *mortal) diesAt(step string, nth int32) {
	var seen atomic.Int32
	m.Fail = func(at string) error {
		if at == step && seen.Add(1) == nth {
			m.die()
		}
		if m.dead.Load() {
			return errDead
		}
		return nil
	}
}

// allDone wants every run over, charged and delivered, and the books to balance.
func (h *house) allDone(t *testing.T, user string, granted billing.NanoUSD, ids []string) {
	t.Helper()
	var sum billing.NanoUSD
	for _, id := range ids {
		run := h.delivered(t, id)
		if run.Status != runs.StatusSucceeded || run.Cost != 1_000_000 {
			t.Errorf("run %s is %s and cost %s: %+v", id, run.Status, run.Cost, run.Error)
		}
		sum += run.Cost
		if len(h.inbox.got(id)) == 0 {
			t.Errorf("run %s was not delivered", id)
		}
	}
	h.wantBalance(t, user, granted-sum, 0)
	h.wantBooksBalance(t)
	var captures, runs int
	err := h.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM ledger_transfers WHERE kind = 'capture'), (SELECT count(*) FROM runs)`).Scan(&captures, &runs)
	if err != nil || captures != len(ids) || runs != len(ids) {
		t.Errorf("%d runs are stored and %d captured, of %d accepted; %v", runs, captures, len(ids), err)
	}
	if handles := h.provider.Handles(); len(handles) != len(ids) {
		t.Errorf("the provider worked on %d runs, of %d accepted", len(handles), len(ids))
	}
}

func oneSecond(registry.Call, int) *runstest.Outcome {
	return &runstest.Outcome{Usage: registry.Usage{RunTime: time.Second}}
}

// TestCrashBetweenSteps lets the process die at every step of a run's life; the next one finds all runs,
// finishes each once and charges it once.
func TestCrashBetweenSteps(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"submit", "submitted", "finish", "finishing", "finished", "deliver", "delivered"} {
		for _, ids := range []string{"its own handle", "the provider's id"} {
			t.Run("at "+step+" with "+ids, func(t *testing.T) {
				t.Parallel()
				h := newHouse(t, nil)
				h.provider.OnSubmit = oneSecond
				if ids == "the provider's id" {
					h.provider.ID = func(handle string) string { return "job-" + handle }
				}
				user := h.user(t, billing.Dollar)
				first := h.mortal(t, "first")
				first.diesAt(step, 2)
				if err := first.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				var accepted []string
				for range 4 {
					accepted = append(accepted, h.accept(t, sing(user)).ID)
				}
				select {
				case <-first.gone:
				case <-time.After(2 * time.Minute):
					t.Fatal("the process never came to the step")
				}
				h.start(t)
				h.allDone(t, user, billing.Dollar, accepted)
			})
		}
	}
	for _, step := range []string{"sending", "sent", "submitted"} {
		t.Run("at "+step+" to a place that is noted before", func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.provider.OnSubmit, h.provider.Endpoint = oneSecond, "gpu1:8188"
			user := h.user(t, billing.Dollar)
			first := h.mortal(t, "first")
			first.diesAt(step, 2)
			if err := first.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			var accepted []string
			for range 4 {
				accepted = append(accepted, h.accept(t, sing(user)).ID)
			}
			<-first.gone
			h.start(t)
			h.allDone(t, user, billing.Dollar, accepted)
		})
	}
	t.Run("at accept: nothing is left", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		user := h.user(t, billing.Dollar)
		first := h.mortal(t, "first")
		first.diesAt("accept", 1)
		if _, err := first.Accept(t.Context(), sing(user)); err == nil {
			t.Error("a dead process accepted a run")
		}
		h.allDone(t, user, billing.Dollar, nil)
	})
}

// TestCrashOfTheClaimer lets the process die that accepts the runs and therefore works on them itself.
func TestCrashOfTheClaimer(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"accept", "submit", "submitted", "finish", "finishing", "finished", "deliver", "delivered"} {
		t.Run("at "+step, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.provider.OnSubmit = oneSecond
			user := h.user(t, billing.Dollar)
			first := h.mortal(t, "first")
			first.diesAt(step, 3)
			if err := first.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				_, err = first.Accept(t.Context(), sing(user))
			}
			<-first.gone
			h.start(t)
			h.allDone(t, user, billing.Dollar, h.stored(t))
		})
	}
}

// stored gives the runs that are there: of an accept that died nobody else knows how it went.
func (h *house) stored(t *testing.T) []string {
	t.Helper()
	var ids []string
	if err := h.pool.QueryRow(t.Context(), `SELECT array_agg(id::text) FROM runs`).Scan(&ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestCrashesUnderLoad kills one process after the other at any moment, while runs keep coming in.
func TestCrashesUnderLoad(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = oneSecond
	granted := 100 * billing.Dollar
	user := h.user(t, granted)
	for range 12 {
		m := h.mortal(t, "mortal")
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		life := time.After(rand.N(150 * time.Millisecond))
		for alive := true; alive; {
			select {
			case <-life:
				alive = false
			default:
				// By a process that stays, and by one that dies, which works on it itself.
				h.accept(t, sing(user))
				if _, err := m.Accept(t.Context(), sing(user)); err != nil {
					t.Fatal(err)
				}
			}
		}
		m.die()
	}
	accepted := h.stored(t)
	h.start(t)
	h.allDone(t, user, granted, accepted)
}

// TestStopResumes stops a service in good order while runs are under way, its own and others'; another one
// finishes them.
func TestStopResumes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *runs.Config) { c.SoftStop = 2 * time.Minute }) // what stopping takes if it waits for runs
	h.provider.OnSubmit = manual
	first := h.open(t)
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	user := h.user(t, billing.Dollar)
	var accepted []string
	for i := range 4 {
		run, err := []*Service{first, h.Service}[i%2].Accept(t.Context(), sing(user))
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, run.ID)
		h.submitted(t, run.ID)
	}
	begun := time.Now()
	stop(t, first)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("stopping took %s", took)
	}
	var claims, workers int
	err := h.pool.QueryRow(t.Context(), `SELECT (SELECT count(claimed_by) FROM runs), (SELECT count(*) FROM run_workers)`).Scan(&claims, &workers)
	if err != nil || claims != 0 || workers != 0 {
		t.Errorf("%d claims and %d workers are left; %v", claims, workers, err)
	}
	for _, id := range accepted {
		h.provider.Finish(id, registry.Usage{RunTime: time.Second})
	}
	h.start(t)
	h.allDone(t, user, billing.Dollar, accepted)
}

// TestStopWaitsForASlowDatabase holds up the last statement of a stop for longer than it has when time is short.
func TestStopWaitsForASlowDatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	s := h.open(t)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow, err := h.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback(context.Background())
	if _, err := slow.Exec(t.Context(), `SELECT FROM run_workers FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
		defer cancel()
		stopped <- s.Stop(ctx)
	}()
	var held time.Duration
	for held <= work.StopTimeout {
		select {
		case err := <-stopped:
			t.Fatalf("Stop gave %v after it was held up for %v", err, held)
		default:
		}
		err := h.pool.QueryRow(t.Context(), `SELECT coalesce(max(now() - query_start), '0') FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM run_workers%'`).Scan(&held)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := slow.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	var workers int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_workers`).Scan(&workers); err != nil || workers != 0 {
		t.Errorf("%d workers are left; %v", workers, err)
	}
}

// TestPlaces fills a process: what finds no place there waits for one, here or elsewhere, oldest first.
func TestPlaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *runs.Config) { c.Workers = 2 })
	h.provider.OnSubmit = manual
	h.start(t)
	user := h.user(t, billing.Dollar)
	var ids []string
	for range 5 {
		ids = append(ids, h.accept(t, sing(user)).ID)
	}
	claimedHere := func() (n int) {
		if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE ended_at IS NULL AND claimed_by = $1`, h.Instance).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	h.submitted(t, ids[0])
	h.submitted(t, ids[1])
	if n := claimedHere(); n != 2 {
		t.Errorf("%d runs under work in two places", n)
	}
	h.provider.Finish(ids[0], registry.Usage{RunTime: time.Second})
	h.submitted(t, ids[2])
	if n := claimedHere(); n != 2 {
		t.Errorf("%d runs under work in two places", n)
	}
	other := h.open(t)
	h.start(t, other)
	for _, id := range ids[1:] {
		h.submitted(t, id)
		h.provider.Finish(id, registry.Usage{RunTime: time.Second})
	}
	h.allDone(t, user, billing.Dollar, ids)
}

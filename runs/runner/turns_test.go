package runner

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/work"
)

// engine works on one run after the other and takes one more ahead. Its clock is the number of runs that have ended.
type engine struct {
	runstest.Provider

	mu      sync.Mutex
	lane    []string // handles: the first one runs
	began   []string
	ended   int
	refused int
	without map[string]bool // tools that can't begin
	kept    string          // the group whose runs of these tools begin all the same
}

const engineAhead = 2

func (e *engine) Places() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return engineAhead - len(e.lane)
}

func (e *engine) HasPlace(t registry.Tool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.lane) < engineAhead && !e.without[t.ToolID]
}

func (e *engine) PlacesKept(registry.Tool) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kept == "" || len(e.lane) == engineAhead {
		return nil
	}
	return []string{e.kept}
}

func (e *engine) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.lane, c.Handle) {
		if len(e.lane) == engineAhead || e.without[c.Tool.ToolID] && (e.kept == "" || c.Group != e.kept) {
			e.refused++
			return registry.Ticket{}, registry.ErrNoPlace
		}
		e.lane = append(e.lane, c.Handle)
	}
	t, err := e.Provider.Submit(ctx, c)
	e.begin()
	return t, err
}

// begin is called with mu held.
func (e *engine) begin() {
	if len(e.lane) > 0 && !slices.Contains(e.began, e.lane[0]) {
		e.began = append(e.began, e.lane[0])
		e.Report(e.lane[0], registry.Progress{State: registry.RunRunning})
	}
}

// length is of the lane.
func (e *engine) length() int { return engineAhead - e.Places() }

// pass lets the time of one run go by.
func (e *engine) pass() {
	e.mu.Lock()
	over := e.lane[0]
	e.lane = e.lane[1:]
	e.ended++
	e.begin()
	e.mu.Unlock()
	e.Finish(over, registry.Usage{})
}

func (e *engine) Cancel(ctx context.Context, t registry.Ticket) error {
	e.mu.Lock()
	e.lane = slices.DeleteFunc(e.lane, func(handle string) bool { return handle == t.ProviderID })
	e.begin()
	e.mu.Unlock()
	return e.Provider.Cancel(ctx, t)
}

// counts gives the clock, and how many runs came without a place.
func (e *engine) counts() (ended, refused int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended, e.refused
}

func (e *engine) hasBegun(handle string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.began, handle)
}

// engineHouse is a house whose choir sings one song after the other.
func engineHouse(t *testing.T, tools ...registry.Tool) (*house, *engine) {
	t.Helper()
	e := &engine{without: make(map[string]bool)}
	e.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Manual: true} }
	h := newHouse(t, func(c *runs.Config) { c.Providers = map[string]runs.Provider{"choir": {Submitter: e}} }, tools...)
	return h, e
}

// burst accepts runs of one account, all at once.
func (h *house) burst(t *testing.T, user string, count int) []runs.Run {
	t.Helper()
	runs := make([]runs.Run, count)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			var err error
			if runs[i], err = h.Accept(t.Context(), sing(user)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return runs
}

func TestTurns(t *testing.T) {
	t.Parallel()
	t.Run("a run starts within two run lengths though another account sent 500 before", func(t *testing.T) {
		t.Parallel()
		h, e := engineHouse(t)
		h.start(t)
		greedy, other := h.user(t, 1000*billing.Dollar), h.user(t, 1000*billing.Dollar)
		if greedy > other { // without a turn before, the first one is by chance whose id comes first
			greedy, other = other, greedy
		}
		many := h.burst(t, greedy, 500)
		slices.SortFunc(many, func(a, b runs.Run) int { return strings.Compare(a.ID, b.ID) })
		clocktest.Until(t, "the engine is busy", func() bool { return e.length() == engineAhead })
		one := h.accept(t, sing(other))
		clocktest.Until(t, "its place is told: behind the one that waits at the engine", func() bool {
			told, err := h.Get(t.Context(), one.ID)
			return err == nil && told.Status == runs.StatusQueued && told.QueuePosition == engineAhead
		})
		at, _ := e.counts()
		for !e.hasBegun(one.ID) {
			e.pass()
			clocktest.Until(t, "the engine is busy", func() bool { return e.length() == engineAhead })
		}
		if now, _ := e.counts(); now-at > 2 {
			t.Errorf("it began after %d runs of the other", now-at)
		}
		for range 10 {
			e.pass()
			clocktest.Until(t, "the engine is busy", func() bool { return e.length() == engineAhead })
		}
		ended, refused := e.counts()
		if refused > 3 { // a run may look for a place in the moment between two counts
			t.Errorf("%d runs were claimed in vain", refused)
		}
		clocktest.Until(t, "as many runs are claimed as the engine takes", func() bool {
			var open int
			err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE claimed_by IS NOT NULL AND ended_at IS NULL`).Scan(&open)
			return err == nil && open == engineAhead
		})
		for _, run := range many[480:] {
			if _, err := h.Cancel(t.Context(), run.ID, greedy); err != nil {
				t.Fatal(err)
			}
		}
		if sent := len(e.Handles()); sent != ended+engineAhead {
			t.Errorf("%d runs were sent, and %d had ended", sent, ended)
		}
		waiting := 480 + 1 - len(e.Handles())
		clocktest.Until(t, "the last is told how many wait before it, once places are looked up anew", func() bool {
			last, err := h.Get(t.Context(), many[479].ID)
			return err == nil && last.QueuePosition >= waiting && last.QueuePosition <= waiting+engineAhead
		})
	})
	t.Run("runs that wait change nothing", func(t *testing.T) {
		t.Parallel()
		h, e := engineHouse(t)
		h.start(t)
		h.burst(t, h.user(t, 100*billing.Dollar), 50)
		clocktest.Until(t, "the engine is busy", func() bool { return e.length() == engineAhead })
		var before, after string
		rows := `SELECT string_agg(ctid::text, ' ' ORDER BY id) FROM runs WHERE claims = 0`
		clocktest.Until(t, "nothing is under way any more", func() bool {
			before = after
			if err := h.pool.QueryRow(t.Context(), rows).Scan(&after); err != nil {
				t.Fatal(err)
			}
			return before == after
		})
		_, refused := e.counts()
		for range 20 {
			h.Slots.Look()
			clocktest.Until(t, "somebody looked", func() bool { return len(h.Slots.Wake) == 0 })
		}
		if err := h.pool.QueryRow(t.Context(), rows).Scan(&after); err != nil || before != after || strings.Count(after, " ") != 50-engineAhead-1 {
			t.Errorf("%v; rows\n%s\n%s", err, before, after)
		}
		if _, now := e.counts(); now != refused {
			t.Errorf("%d tries in vain", now-refused)
		}
	})
	t.Run("a tool without a place does not keep others waiting", func(t *testing.T) {
		t.Parallel()
		hum := perSecond()
		hum.ToolID, hum.CommandName = "hum", "/hum"
		h, e := engineHouse(t, perSecond(), hum)
		e.without["sing"] = true
		h.start(t)
		user := h.user(t, billing.Dollar)
		blocked := h.burst(t, user, 5)
		clocktest.Until(t, "those that wait are counted by tool", func() bool {
			counts, err := store.Waiting(t.Context(), h.pool, "choir")
			all, failed := store.Unbegun(t.Context(), h.pool, "choir")
			return err == nil && len(counts) == 1 && counts["sing"] == len(blocked) && failed == nil && all == len(blocked)
		})
		e.mu.Lock()
		e.kept = uuid.NewString()
		group := e.kept
		e.mu.Unlock()
		if _, err := h.pool.Exec(t.Context(), `INSERT INTO groups (id, platform, kind, place, chat) VALUES ($1, 'telegram', 'chat', '-1', '{}')`, group); err != nil {
			t.Fatal(err)
		}
		r := sing(user)
		r.Group = group
		own := h.accept(t, r)
		clocktest.Until(t, "a run of the group with a place of its own begins", func() bool { return e.hasBegun(own.ID) })
		r = sing(user)
		r.ToolID = "hum"
		run := h.accept(t, r)
		e.pass()
		clocktest.Until(t, "it begins", func() bool { return e.hasBegun(run.ID) })
		if _, refused := e.counts(); refused > len(blocked) {
			t.Errorf("%d tries of %d runs", refused, len(blocked))
		}
		e.mu.Lock()
		delete(e.without, "sing")
		e.mu.Unlock()
		clocktest.Until(t, "the others follow by themselves", func() bool { return e.length() == engineAhead })
	})
	t.Run("what was begun comes first after a crash, whatever waits", func(t *testing.T) {
		t.Parallel()
		h, e := engineHouse(t)
		first := h.open(t)
		h.start(t, first)
		user := h.user(t, 100*billing.Dollar)
		h.Service = first
		h.burst(t, user, 20)
		clocktest.Until(t, "the engine is busy", func() bool { return e.length() == engineAhead })
		e.mu.Lock()
		sent := slices.Clone(e.lane)
		e.mu.Unlock()
		stop(t, first)
		h.Service = h.open(t)
		h.start(t)
		for _, id := range sent {
			clocktest.Until(t, "it is followed again", func() bool { return h.Hub.Nudge(id) })
		}
		e.pass()
		h.ends(t, sent[0])
		clocktest.Until(t, "the next one follows", func() bool { return e.length() == engineAhead })
	})
}

// queueUp puts queued runs into the database, count for each of the accounts in turn.
func (h *house) queueUp(t *testing.T, service string, accounts []string, count int) {
	t.Helper()
	_, err := h.pool.Exec(t.Context(), `INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised,
			platform, deliverable, timeout_ms, created_at)
		SELECT gen_random_uuid(), account::uuid, 'sing', '1', $1, 'queued', '{}', '{}', 0, '{}', 0, 'post', false, 1000, now()
		FROM unnest($2::text[]) AS account, generate_series(1, $3)`, service, accounts, count)
	if err != nil {
		t.Fatal(err)
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	t.Run("by rounds over the accounts", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		accounts := []string{"00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b", "00000000-0000-7000-8000-00000000000c"}
		for i, account := range accounts {
			h.queueUp(t, "choir", []string{account}, []int{6, 2, 1}[i])
		}
		h.queueUp(t, "others", accounts, 1)
		var order strings.Builder
		for _, limit := range []int{1, 1, 2, 3, 3} {
			found, err := h.ClaimOf(t.Context(), "choir", limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range found {
				order.WriteString(c.AccountID[len(c.AccountID)-1:])
			}
			order.WriteByte(' ')
		}
		if got := order.String(); got != "a b ca baa aa " {
			t.Errorf("taken %q", got)
		}
		if found, services, err := h.ClaimBegun(t.Context(), 10); err != nil || len(found) != 0 || !slices.Equal(services, []string{"others"}) {
			t.Errorf("left %v, begun %v, %v", services, found, err)
		}
	})
	t.Run("what is read is bounded by what is taken, not by the length of the queue", func(t *testing.T) {
		t.Parallel()
		for _, spread := range []struct{ accounts, each int }{{1, 10_000}, {10_000, 1}, {100, 100}} {
			h := newHouse(t, nil)
			for range 7 { // plans are made, and kept, while the table is empty
				if _, err := h.ClaimOf(t.Context(), "choir", 2); err != nil {
					t.Fatal(err)
				}
			}
			accounts := make([]string, spread.accounts)
			for i := range accounts {
				accounts[i] = uuid.NewString()
			}
			h.queueUp(t, "choir", accounts, spread.each)
			var read int
			err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), work.ClaimSQL, h.Instance, "choir", uuid.Nil.String(), []string{}, []string{}, 4); err != nil {
					return err
				}
				if _, err := tx.Exec(t.Context(), `SELECT runs_services()`); err != nil {
					return err
				}
				return tx.QueryRow(t.Context(), `SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'runs'`).Scan(&read)
			})
			if err != nil || read > 40 {
				t.Errorf("%+v: %d rows were read for 4 runs, %v", spread, read, err)
			}
			t.Logf("%+v: %d rows", spread, read)
		}
	})
}

package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
)

// sameLimits is a Limiter with the same limits for everybody.
type sameLimits struct {
	users.Limits
	err error
}

func (l *sameLimits) LimitsOf(context.Context, string) (users.Limits, error) { return l.Limits, l.err }

func (l *sameLimits) MayRun(context.Context, string) error { return nil }

func limited(limits users.Limits) func(*runs.Config) {
	return func(c *runs.Config) { c.Limits = &sameLimits{Limits: limits} }
}

// refused accepts a request that must be refused by a limit.
func (h *house) refused(t *testing.T, user string, kind runs.LimitKind, used int64) *runs.LimitError {
	t.Helper()
	_, err := h.Accept(t.Context(), sing(user))
	var limit *runs.LimitError
	if !errors.As(err, &limit) || limit.Kind != kind || limit.Used != used {
		t.Fatalf("got %v, want %s with %d used", err, kind, used)
	}
	if typed := registry.AsError(err); typed.Code != registry.CodeRateLimited || !strings.Contains(typed.Message, "limit") {
		t.Errorf("as others see it: %+v", typed)
	}
	return limit
}

func TestLimits(t *testing.T) {
	t.Parallel()
	t.Run("runs at once: the next one goes when one has ended", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, limited(users.Limits{AtOnce: 2}))
		h.provider.OnSubmit = manual
		h.start(t)
		user, other := h.user(t, billing.Dollar), h.user(t, billing.Dollar)
		first := h.accept(t, sing(user))
		h.accept(t, sing(user))
		if limit := h.refused(t, user, runs.LimitAtOnce, 2); !limit.FreeAt.IsZero() {
			t.Errorf("frees at %v", limit.FreeAt)
		}
		h.accept(t, sing(other))
		h.submitted(t, first.ID)
		h.provider.Finish(first.ID, registry.Usage{})
		h.ends(t, first.ID)
		h.accept(t, sing(user))
	})
	t.Run("many at the same moment: no more than there is room for, on any number of machines", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, limited(users.Limits{AtOnce: 5}))
		h.provider.OnSubmit = manual
		user := h.user(t, billing.Dollar)
		services := []*Service{h.Service, h.open(t)}
		var mu sync.Mutex
		accepted := 0
		var wait sync.WaitGroup
		for i := range 24 {
			wait.Go(func() {
				_, err := services[i%2].Accept(t.Context(), sing(user))
				var limit *runs.LimitError
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					accepted++
				} else if !errors.As(err, &limit) {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if accepted != 5 {
			t.Errorf("accepted %d", accepted)
		}
	})
	t.Run("runs a day: what failed does not count, tomorrow begins anew", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, limited(users.Limits{PerDay: 2}))
		h.start(t)
		user := h.user(t, billing.Dollar)
		failed := false
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			if failed {
				return nil
			}
			failed = true
			return &runstest.Outcome{Err: registry.Errorf(registry.CodeProvider, "no voice")}
		}
		for range 3 {
			h.ends(t, h.accept(t, sing(user)).ID)
		}
		limit := h.refused(t, user, runs.LimitPerDay, 2)
		if left := time.Until(limit.FreeAt); left <= 0 || left > 24*time.Hour || limit.FreeAt.Hour() != 0 {
			t.Errorf("frees at %v", limit.FreeAt)
		}
		if wait := registry.AsError(limit).RetryAfter; wait <= 0 || wait > 24*time.Hour {
			t.Errorf("retry after %v", wait)
		}
		h.yesterday(t, user)
		h.accept(t, sing(user))
	})
	t.Run("caps count what was spent and what is set aside, and warn before they bite", func(t *testing.T) {
		t.Parallel()
		var quote billing.NanoUSD
		h := newHouse(t, nil)
		h.provider.OnSubmit = manual
		user := h.user(t, 1000*billing.Dollar)
		bound, err := h.Bind(t.Context(), sing(user))
		if err != nil {
			t.Fatal(err)
		}
		q, err := h.Quote(t.Context(), bound)
		if err != nil {
			t.Fatal(err)
		}
		quote = q.High
		h.config.Limits = &sameLimits{Limits: users.Limits{DayCap: int64(5 * quote), MonthCap: int64(7 * quote)}}
		h.Service = h.open(t)
		for n := 1; n <= 5; n++ {
			run := h.accept(t, sing(user))
			if warned := len(run.Warnings) > 0; warned != (n >= 4) {
				t.Errorf("run %d: warnings %+v", n, run.Warnings)
			}
		}
		if limit := h.refused(t, user, runs.LimitDayCap, int64(5*quote)); limit.Need != int64(quote) {
			t.Errorf("got %+v", limit)
		}
		usage, err := h.Usage(t.Context(), user)
		if err != nil || usage.SpentDay != 5*quote || usage.SpentMonth != 5*quote || usage.AtOnce != 5 || len(usage.Warnings()) != 1 {
			t.Errorf("got %+v, %v", usage, err)
		}
	})
	t.Run("a confirmation is refused when there is no room any more", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.Confirmation = "Sure?"
		h := newHouse(t, limited(users.Limits{AtOnce: 1}), tool)
		user := h.user(t, billing.Dollar)
		first, second := h.accept(t, sing(user)), h.accept(t, sing(user))
		if _, err := h.Confirm(t.Context(), first.ID, user); err != nil {
			t.Fatal(err)
		}
		var limit *runs.LimitError
		if _, err := h.Confirm(t.Context(), second.ID, user); !errors.As(err, &limit) {
			t.Errorf("got %v", err)
		}
		if run, err := h.Get(t.Context(), second.ID); err != nil || run.Status != runs.StatusAwaitingConfirmation {
			t.Errorf("got %s, %v", run.Status, err)
		}
	})
	t.Run("a repeated request is no new run", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, limited(users.Limits{AtOnce: 1}))
		r := sing(h.user(t, billing.Dollar))
		r.IdempotencyKey = "once"
		if first, again := h.accept(t, r), h.accept(t, r); first.ID != again.ID {
			t.Errorf("got %s and %s", first.ID, again.ID)
		}
	})
	t.Run("a budget bounds the runs that draw on it, and no others", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		user := h.user(t, billing.Dollar)
		bound, err := h.Bind(t.Context(), sing(user))
		if err != nil {
			t.Fatal(err)
		}
		quote, err := h.Quote(t.Context(), bound)
		if err != nil {
			t.Fatal(err)
		}
		r := sing(user)
		r.Budget = runs.Budget{Name: "key:1", Limit: 2 * quote.High}
		h.accept(t, r)
		h.accept(t, r)
		_, err = h.Accept(t.Context(), r)
		var limit *runs.LimitError
		if !errors.As(err, &limit) || limit.Kind != runs.LimitBudget || limit.Used != int64(2*quote.High) || limit.FreeAt.Day() != 1 {
			t.Errorf("got %v", err)
		}
		h.accept(t, sing(user))
		r.Budget.Name = "key:2"
		h.accept(t, r)
	})
	t.Run("the blocked run nothing", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, func(c *runs.Config) {
			c.Limits = &sameLimits{err: registry.Errorf(registry.CodeUnauthorized, "blocked")}
		})
		_, err := h.Accept(t.Context(), sing(h.user(t, billing.Dollar)))
		if registry.AsError(err).Code != registry.CodeUnauthorized {
			t.Errorf("got %v", err)
		}
	})
}

// yesterday dates an account's runs back.
func (h *house) yesterday(t *testing.T, user string) {
	t.Helper()
	_, err := h.pool.Exec(t.Context(), `UPDATE runs SET created_at = created_at - interval '1 day' WHERE account_id = $1`, user)
	if err != nil {
		t.Fatal(err)
	}
}

func (h *house) merge(t *testing.T, from, into string) {
	t.Helper()
	err := postgres.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
		if err := store.Adopt(t.Context(), tx, from, into); err != nil {
			return err
		}
		return h.ledger.Merge(t.Context(), tx, from, into)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = manual
	h.start(t)
	from, into := h.user(t, billing.Dollar), h.user(t, billing.Dollar)
	keyed := sing(from)
	keyed.IdempotencyKey = "both"
	run := h.accept(t, keyed)
	keyed.AccountID = into
	other := h.accept(t, keyed)
	h.submitted(t, run.ID)
	h.submitted(t, other.ID)
	h.merge(t, from, into)

	if mine, err := h.List(t.Context(), runs.Filter{AccountID: into}); err != nil || len(mine) != 2 {
		t.Errorf("the history has %d runs, %v", len(mine), err)
	}
	if again := h.accept(t, keyed); again.ID != other.ID {
		t.Error("the survivor's key is gone")
	}
	h.provider.Finish(run.ID, registry.Usage{RunTime: time.Second})
	h.provider.Finish(other.ID, registry.Usage{RunTime: time.Second})
	done := h.delivered(t, run.ID)
	if h.delivered(t, other.ID); done.AccountID != into || done.Cost == 0 {
		t.Errorf("the run is %s's and cost %s", done.AccountID, done.Cost)
	}
	if brought := h.inbox.got(run.ID); len(brought) != 1 || brought[0].AccountID != into {
		t.Errorf("delivered to %+v", brought)
	}
	h.wantBalance(t, into, 2*billing.Dollar-2*done.Cost, 0)
	h.wantBooksBalance(t)
}

func TestRunsOfAStaleAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	people := h.config.Users
	ann, err := people.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	bob, err := people.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: "2"})
	if err != nil {
		t.Fatal(err)
	}
	h.fund(t, ann.ID)
	h.fund(t, bob.ID)
	h.merge(t, bob.ID, ann.ID)
	join(t, people, ann.ID, bob.ID)
	t.Run("a paid run is taken on for the survivor", func(t *testing.T) {
		if run := h.accept(t, sing(bob.ID)); run.AccountID != ann.ID {
			t.Errorf("got %s", run.AccountID)
		}
	})
	t.Run("a free one is found and given to the survivor", func(t *testing.T) {
		run := h.accept(t, sing(ann.ID))
		if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET account_id = $2 WHERE id = $1`, run.ID, bob.ID); err != nil {
			t.Fatal(err)
		}
		if err := h.AdoptStrays(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := h.Get(t.Context(), run.ID); err != nil || got.AccountID != ann.ID {
			t.Errorf("got %s, %v", got.AccountID, err)
		}
	})
}

// fund gives an account a wallet with a dollar.
func (h *house) fund(t *testing.T, user string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		if err := h.ledger.EnsureWallet(t.Context(), tx, user); err != nil {
			return err
		}
		return h.ledger.Grant(t.Context(), tx, user, billing.Dollar, uuid.NewString(), "")
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.start(t)
	user := h.user(t, billing.Dollar)
	run := h.delivered(t, h.accept(t, sing(user)).ID)
	if err := postgres.InTx(t.Context(), h.pool, func(tx pgx.Tx) error { return store.Forget(t.Context(), tx, user) }); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Get(t.Context(), run.ID); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("its owner still has %+v, %v", got, err)
	}
	got, err := h.Look(t.Context(), run.ID)
	if err != nil || got.DeletedAt == nil || len(got.Inputs) != 0 || len(got.Outputs) != 0 || got.Cost != run.Cost {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestMergeAmidRuns merges people all around while their runs are accepted, finished and delivered.
// join makes one account of two as people do: by a code, and by another one where it was replaced meanwhile.
func join(t *testing.T, people *users.Store, one, other string) {
	t.Helper()
	for {
		code, err := people.NewLinkCode(t.Context(), one)
		if err == nil {
			_, err = people.RedeemLinkCode(t.Context(), other, code.Code)
		}
		if !errors.Is(err, users.ErrNoCode) {
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}

func TestMergeAmidRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.config.Users = users.New(h.pool, users.Config{
		OnCreate: func(ctx context.Context, tx pgx.Tx, a users.Account) error {
			if err := h.ledger.EnsureWallet(ctx, tx, a.ID); err != nil {
				return err
			}
			return h.ledger.Grant(ctx, tx, a.ID, 100*billing.Dollar, a.ID, "")
		},
		OnMerge: func(ctx context.Context, tx pgx.Tx, from, into string) error {
			return errors.Join(store.Adopt(ctx, tx, from, into), h.ledger.Merge(ctx, tx, from, into), store.Adopt(ctx, tx, from, into))
		},
	})
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{RunTime: time.Second}}
	}
	h.Service = h.open(t)
	h.start(t)
	var people []users.Account
	for _, id := range []string{"1", "2", "3", "4"} {
		account, err := h.config.Users.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: id})
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, account)
	}
	var mu sync.Mutex
	var ids []string
	var wait sync.WaitGroup
	for i := range 80 {
		wait.Go(func() {
			run, err := h.Accept(t.Context(), sing(people[i%4].ID))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, run.ID)
		})
		if i%25 == 12 {
			wait.Go(func() {
				join(t, h.config.Users, people[i/25].ID, people[i/25+1].ID)
			})
		}
	}
	wait.Wait()
	var spent billing.NanoUSD
	for _, id := range ids {
		run := h.delivered(t, id)
		if spent += run.Cost; run.AccountID != people[0].ID || run.Cost == 0 {
			t.Errorf("run %s is %s's and cost %s", id, run.AccountID, run.Cost)
		}
	}
	history, err := h.List(t.Context(), runs.Filter{AccountID: people[3].ID, Limit: 200})
	if err != nil || len(history) != 0 {
		t.Errorf("the old account has %d runs, %v", len(history), err)
	}
	h.wantBalance(t, people[0].ID, 400*billing.Dollar-spent, 0)
	h.wantBooksBalance(t)
}

package billing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/postgres"
)

// guest makes an account with the sign-up credit and, beside it, bought money.
func (b book) guest(t *testing.T, welcome, bought NanoUSD) string {
	t.Helper()
	id := b.user(t, bought)
	b.must(t, func(tx pgx.Tx) error { return b.Welcome(t.Context(), tx, id, welcome) })
	return id
}

func (b book) merge(t *testing.T, from, into string) {
	t.Helper()
	b.must(t, func(tx pgx.Tx) error { return b.Merge(t.Context(), tx, from, into) })
}

func (b book) hold(t *testing.T, user string, amount NanoUSD) (runID string) {
	t.Helper()
	runID = uuid.NewString()
	b.must(t, func(tx pgx.Tx) error { return b.Hold(t.Context(), tx, user, runID, amount) })
	return runID
}

// settleAs ends a hold as runs do, for the account that the run belongs to by now.
func (b book) settleAs(t *testing.T, user, runID string, cost NanoUSD) {
	t.Helper()
	b.must(t, func(tx pgx.Tx) error {
		m := &Moves{Settlements: []Settlement{{AccountID: user, RunID: runID, Cost: cost}}}
		locks, writes := &pgx.Batch{}, &pgx.Batch{}
		m.Lock(locks)
		if err := tx.SendBatch(t.Context(), locks).Close(); err != nil {
			return err
		}
		if _, err := m.Post(writes); err != nil {
			return err
		}
		return tx.SendBatch(t.Context(), writes).Close()
	})
}

func TestMerge(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	t.Run("all money moves, once", func(t *testing.T) {
		from, into := b.user(t, 30), b.user(t, 12)
		b.merge(t, from, into)
		b.merge(t, from, into)
		b.wants(t, into, 42, 0)
		b.wants(t, from, 0, 0)
	})
	t.Run("holds go on, and settle to the survivor, no matter whose the run is said to be", func(t *testing.T) {
		from, into := b.user(t, 100), b.user(t, 1)
		first, second := b.hold(t, from, 40), b.hold(t, from, 10)
		b.merge(t, from, into)
		b.wants(t, into, 51, 50)
		b.settleAs(t, from, first, 15)
		b.wants(t, into, 76, 10)
		b.settleAs(t, into, second, 0)
		b.wants(t, into, 86, 0)
	})
	t.Run("what comes late follows, over any number of merges", func(t *testing.T) {
		first, second, third := b.user(t, 20), b.user(t, 0), b.user(t, 0)
		run := b.hold(t, first, 20)
		b.merge(t, first, second)
		b.merge(t, second, third)
		b.settleAs(t, third, run, 8)
		b.wants(t, third, 12, 0)
		b.must(t, func(tx pgx.Tx) error { return b.Refund(t.Context(), tx, run, run, "sorry") })
		b.must(t, func(tx pgx.Tx) error { return b.Grant(t.Context(), tx, first, 5, "late"+first, "on its way") })
		b.wants(t, third, 25, 0)
		b.wants(t, first, 0, 0)
	})
	t.Run("one sign-up credit is enough: the unused part of the second goes back", func(t *testing.T) {
		for _, c := range []struct{ welcome, bought, held, cost, want NanoUSD }{
			{10, 0, 0, 0, 100}, {10, 7, 0, 0, 107}, {10, 0, 4, 4, 100}, {10, 5, 12, 12, 103},
			{10, 0, 4, 0, 100}, {10, 5, 15, 0, 105}, {10, 5, 15, 3, 105}, {0, 5, 0, 0, 105},
		} {
			from, into := b.guest(t, c.welcome, c.bought), b.guest(t, 100, 0)
			if c.held > 0 {
				run := b.hold(t, from, c.held)
				b.merge(t, from, into)
				b.settleAs(t, into, run, c.cost)
			} else {
				b.merge(t, from, into)
			}
			b.wants(t, into, c.want, 0)
		}
	})
	t.Run("the only sign-up credit stays, and the next one goes back", func(t *testing.T) {
		none, one, another := b.user(t, 0), b.guest(t, 10, 0), b.guest(t, 10, 0)
		b.merge(t, one, none)
		b.wants(t, none, 10, 0)
		b.merge(t, another, none)
		b.wants(t, none, 10, 0)
	})
	t.Run("nobody is merged in two directions", func(t *testing.T) {
		one, two, three := b.user(t, 1), b.user(t, 2), b.user(t, 3)
		b.merge(t, one, two)
		for _, wrong := range [][2]string{{one, three}, {two, one}, {three, one}} {
			err := b.do(t.Context(), func(tx pgx.Tx) error { return b.Merge(t.Context(), tx, wrong[0], wrong[1]) })
			if !errors.Is(err, ErrMergedElsewhere) {
				t.Errorf("got %v", err)
			}
		}
	})
	b.balances(t)
}

// TestMergeAmidRuns merges while runs of both accounts begin and end.
func TestMergeAmidRuns(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	people := []string{b.user(t, 1000), b.user(t, 1000), b.user(t, 1000)}
	var spent int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i := range 30 {
		wait.Go(func() {
			run, who := uuid.NewString(), people[i%3]
			err := postgres.InTx(context.Background(), b.pool, func(tx pgx.Tx) error { return b.Hold(context.Background(), tx, who, run, 20) })
			if poor := (ErrInsufficient{}); errors.As(err, &poor) {
				return // merged already
			}
			if err == nil {
				err = postgres.InTx(context.Background(), b.pool, func(tx pgx.Tx) error { return b.Capture(context.Background(), tx, run, 7) })
			}
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			spent += 7
			mu.Unlock()
		})
	}
	for i := range 2 {
		wait.Go(func() {
			err := postgres.InTx(context.Background(), b.pool, func(tx pgx.Tx) error { return b.Merge(context.Background(), tx, people[i], people[2]) })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	b.wants(t, people[2], NanoUSD(3000-spent), 0)
	b.balances(t)
}

// TestMergeKeepsEveryCent does anything in any order and counts along.
func TestMergeKeepsEveryCent(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	rapid.Check(t, func(rt *rapid.T) {
		type hold struct {
			run, owner string
			amount     NanoUSD
		}
		root := map[string]string{}
		var people []string
		var open []hold
		var total NanoUSD
		for range 4 {
			amount := NanoUSD(rapid.IntRange(0, 50).Draw(rt, "bought"))
			id := b.user(t, amount)
			total += amount
			people, root[id] = append(people, id), id
		}
		find := func(id string) string {
			for root[id] != id {
				id = root[id]
			}
			return id
		}
		for i := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			who := rapid.SampledFrom(people).Draw(rt, "who")
			amount := NanoUSD(rapid.IntRange(1, 20).Draw(rt, "amount"))
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				b.must(t, func(tx pgx.Tx) error {
					return b.Grant(t.Context(), tx, who, amount, fmt.Sprint(who, i), "")
				})
				total += amount
			case 1:
				run := uuid.NewString()
				err := b.do(t.Context(), func(tx pgx.Tx) error { return b.Hold(t.Context(), tx, who, run, amount) })
				if err == nil {
					open = append(open, hold{run, who, amount})
				}
			case 2:
				if len(open) > 0 {
					b.settleAs(t, find(open[0].owner), open[0].run, amount)
					total -= min(amount, open[0].amount)
					open = open[1:]
				}
			case 3:
				from, into := find(who), find(rapid.SampledFrom(people).Draw(rt, "into"))
				if from != into {
					b.merge(t, from, into)
					root[from] = into
				}
			}
		}
		var sum, held NanoUSD
		for _, id := range people {
			balance, err := b.Balance(t.Context(), id)
			if err != nil {
				rt.Fatal(err)
			}
			if find(id) == id {
				sum, held = sum+balance.Available+balance.Held, held+balance.Held
			} else if balance.Available != 0 {
				rt.Errorf("%s was merged and has %s", id, balance.Available)
			}
		}
		for _, h := range open {
			held -= h.amount
		}
		if sum != total || held != 0 {
			rt.Errorf("there is %s, %s are missing from holds; want %s", sum, held, total)
		}
		if report, err := b.Check(t.Context()); err != nil || !report.OK() {
			rt.Error(report, err)
		}
	})
}

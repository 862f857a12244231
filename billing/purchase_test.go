package billing

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

func TestPurchases(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	ctx := t.Context()
	sale := func(user string, amount NanoUSD) Sale {
		return Sale{AccountID: user, Source: Stripe, Amount: amount, Key: uuid.NewString()}
	}
	type move = func(t *testing.T, user string, amount NanoUSD)
	does := func(f func(tx pgx.Tx, s Sale) error) move {
		return func(t *testing.T, user string, amount NanoUSD) {
			t.Helper()
			b.must(t, func(tx pgx.Tx) error { return f(tx, sale(user, amount)) })
		}
	}
	buys := does(func(tx pgx.Tx, s Sale) error { return b.Purchase(ctx, tx, s) })
	disputes := does(func(tx pgx.Tx, s Sale) error { return b.Dispute(ctx, tx, s) })
	wins := does(func(tx pgx.Tx, s Sale) error { return b.UndoDispute(ctx, tx, s) })
	spends := func(t *testing.T, user string, amount NanoUSD) {
		t.Helper()
		run := uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, amount) })
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, amount) })
	}
	owes := func(t *testing.T, user string, available, owed NanoUSD) {
		t.Helper()
		got, err := b.Balance(ctx, user)
		if err != nil || got.Available != available || got.Owed != owed {
			t.Errorf("available %s, owed %s, %v; want %s and %s", got.Available, got.Owed, err, available, owed)
		}
	}
	t.Run("a purchase with one key is one", func(t *testing.T) {
		user := b.user(t, 0)
		one := sale(user, 50)
		for range 3 {
			b.must(t, func(tx pgx.Tx) error { return b.Purchase(ctx, tx, one) })
		}
		b.wants(t, user, 50, 0)
		one.Amount = 60
		if err := b.do(ctx, func(tx pgx.Tx) error { return b.Purchase(ctx, tx, one) }); !errors.Is(err, ErrKeyReused) {
			t.Errorf("another amount with the same key: %v", err)
		}
	})
	t.Run("a refund takes what is unspent, the rest is the operator's loss, and is undone as it was", func(t *testing.T) {
		user := b.user(t, 0)
		buys(t, user, 50)
		spends(t, user, 30)
		var absorbed NanoUSD
		b.must(t, func(tx pgx.Tx) (err error) {
			absorbed, err = b.Return(ctx, tx, sale(user, 50))
			return err
		})
		if absorbed != 30 {
			t.Errorf("%s was absorbed, want 30", absorbed)
		}
		b.wants(t, user, 0, 0)
		b.must(t, func(tx pgx.Tx) error { return b.UndoReturn(ctx, tx, sale(user, 50), absorbed) })
		b.wants(t, user, 20, 0)
	})
	t.Run("a dispute takes what is there and the rest is owed: nothing runs, what comes in pays it", func(t *testing.T) {
		user := b.user(t, 0)
		buys(t, user, 50)
		run := b.hold(t, user, 10)
		spends(t, user, 30)
		disputes(t, user, 50)
		owes(t, user, 0, 40)
		b.settleAs(t, user, run, 4) // the 6 that the hold gives back pay too
		owes(t, user, 0, 34)
		err := b.do(ctx, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, uuid.NewString(), 1) })
		var short ErrInsufficient
		if !errors.As(err, &short) || short.Owed != 34 {
			t.Errorf("a hold while there is a debt: %v", err)
		}
		buys(t, user, 44)
		owes(t, user, 10, 0)
		spends(t, user, 10)
		wins(t, user, 50)
		owes(t, user, 50, 0)
	})
	t.Run("a dispute that is won ends the debt", func(t *testing.T) {
		user := b.user(t, 0)
		buys(t, user, 50)
		spends(t, user, 50)
		disputes(t, user, 50)
		owes(t, user, 0, 50)
		wins(t, user, 50)
		owes(t, user, 0, 0)
	})
	t.Run("what goes unseen is seen to where there is a debt", func(t *testing.T) {
		user := b.user(t, 0)
		buys(t, user, 50)
		first := b.hold(t, user, 20)
		spends(t, user, 30)
		disputes(t, user, 50)
		m := Moves{
			Settlements: []Settlement{{AccountID: user, RunID: first, Held: 20}},
			Holds:       []HoldRequest{{AccountID: user, RunID: uuid.NewString(), Amount: 5}},
		}
		batch := &pgx.Batch{}
		queued, err := b.PostUnseen(ctx, &m, batch)
		if err != nil || !queued {
			t.Fatalf("queued %v, %v", queued, err)
		}
		if err := b.do(ctx, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() }); err == nil {
			t.Error("a hold of somebody who owes was posted")
		}
	})
	t.Run("a debt goes with anyone who is merged", func(t *testing.T) {
		from, into := b.user(t, 0), b.user(t, 15)
		buys(t, from, 50)
		spends(t, from, 50)
		disputes(t, from, 50)
		b.merge(t, from, into)
		owes(t, into, 0, 35)
		buys(t, into, 40)
		owes(t, into, 5, 0)
	})
	b.balances(t)
}

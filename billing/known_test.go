package billing

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// unseen posts moves in a transaction of one round trip; tried is false where that has to be left to Post.
func (b book) unseen(t *testing.T, m *Moves) (tried bool, err error) {
	t.Helper()
	err = b.do(t.Context(), func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		if tried, err = b.PostUnseen(t.Context(), m, batch); err != nil || !tried {
			return err
		}
		return tx.SendBatch(t.Context(), batch).Close()
	})
	return tried, err
}

// refuses wants the database to refuse the moves.
func (b book) refuses(t *testing.T, m *Moves) {
	t.Helper()
	var refused *pgconn.PgError
	if tried, err := b.unseen(t, m); !tried || !errors.As(err, &refused) {
		t.Errorf("tried is %v, the error is %v, want one of Postgres", tried, err)
	}
}

func TestPostUnseen(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	t.Run("holds and settlements are posted, and repeats are refused", func(t *testing.T) {
		user, first, second := b.user(t, 100), uuid.NewString(), uuid.NewString()
		hold := &Moves{Holds: []HoldRequest{{AccountID: user, RunID: first, Amount: 10}, {AccountID: user, RunID: uuid.NewString(), Amount: 50}}}
		if _, err := b.unseen(t, hold); err != nil {
			t.Fatal(err)
		}
		b.refuses(t, &Moves{Holds: hold.Holds[:1]})
		b.wants(t, user, 40, 60)
		// The end of one run pays for the next, as in Post.
		m := &Moves{Settlements: []Settlement{{AccountID: user, RunID: first, Cost: 5, Held: 10}}, Holds: []HoldRequest{{AccountID: user, RunID: second, Amount: 45}}}
		if tried, err := b.unseen(t, m); err != nil || !tried {
			t.Fatal(tried, err)
		}
		b.wants(t, user, 0, 95)
		b.refuses(t, &Moves{Settlements: m.Settlements})
		b.wants(t, user, 0, 95)
	})
	t.Run("a wallet that does not cover a hold", func(t *testing.T) {
		user := b.user(t, 100)
		b.refuses(t, &Moves{Holds: []HoldRequest{{AccountID: user, RunID: uuid.NewString(), Amount: 101}}})
		b.wants(t, user, 100, 0)
	})
	t.Run("a hold that is not there, or is another", func(t *testing.T) {
		user := b.user(t, 100)
		run := b.hold(t, user, 50)
		for _, s := range []Settlement{{AccountID: user, RunID: uuid.NewString(), Cost: 10, Held: 50}, {AccountID: user, RunID: run, Cost: 10, Held: 51}, {AccountID: b.user(t, 100), RunID: run, Cost: 10, Held: 50}} {
			b.refuses(t, &Moves{Settlements: []Settlement{s}})
		}
		b.wants(t, user, 50, 50)
	})
	t.Run("an account that was merged since", func(t *testing.T) {
		from, into := b.user(t, 100), b.user(t, 0)
		run := uuid.NewString()
		if _, err := b.unseen(t, &Moves{Holds: []HoldRequest{{AccountID: from, RunID: run, Amount: 10}}}); err != nil {
			t.Fatal(err)
		}
		b.merge(t, from, into)
		b.refuses(t, &Moves{Settlements: []Settlement{{AccountID: from, RunID: run, Cost: 1, Held: 10}}, Holds: []HoldRequest{{AccountID: from, RunID: uuid.NewString(), Amount: 5}}})
		b.wants(t, into, 90, 10)
	})
	t.Run("without a wallet Post says why", func(t *testing.T) {
		if tried, err := b.unseen(t, &Moves{Holds: []HoldRequest{{AccountID: uuid.NewString(), RunID: uuid.NewString(), Amount: 1}}}); tried || err != nil {
			t.Errorf("tried is %v, the error is %v", tried, err)
		}
	})
	b.balances(t)
}

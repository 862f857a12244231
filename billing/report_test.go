package billing

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

func TestReport(t *testing.T) {
	t.Parallel()
	b, ctx := newBook(t), t.Context()
	user, other, run := b.user(t, 5*Dollar), b.user(t, 2*Dollar), uuid.NewString()
	b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, Dollar) })
	b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, Dollar/4) })
	b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, other, uuid.NewString(), Dollar) })

	t.Run("the books sum to zero and name what users have, what is held and what was earned", func(t *testing.T) {
		for _, rolled := range []bool{false, true} {
			books, err := b.Books(ctx)
			if err != nil || books.Sum() != 0 {
				t.Fatalf("rolled up %t: the books sum to %s (%v)", rolled, books.Sum(), err)
			}
			for kind, want := range map[string]NanoUSD{"wallet": 5*Dollar + 3*Dollar/4, "hold": Dollar, "revenue": Dollar / 4, "credit": -7 * Dollar, "nobody": 0} {
				if got := books.Total(kind); got != want {
					t.Errorf("rolled up %t: %s has %s, expected %s", rolled, kind, got, want)
				}
			}
			if err := b.RollUp(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
	list := func(t *testing.T, q TransfersQuery) []Transfer {
		t.Helper()
		transfers, err := b.Transfers(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return transfers
	}
	t.Run("all transfers, newest first, each with legs that sum to zero", func(t *testing.T) {
		all := list(t, TransfersQuery{})
		if len(all) != 5 || all[0].Kind != "hold" || all[0].AccountID != other || all[4].Kind != "grant" {
			t.Fatalf("%+v", all)
		}
		for _, transfer := range all {
			var sum NanoUSD
			for _, leg := range transfer.Legs {
				sum += leg.Amount
			}
			if sum != 0 || len(transfer.Legs) < 2 {
				t.Errorf("legs of %+v", transfer)
			}
		}
		if next := list(t, TransfersQuery{Before: all[1].ID, Limit: 2}); len(next) != 2 || next[0].ID != all[2].ID {
			t.Errorf("the next page is %+v", next)
		}
	})
	t.Run("chosen by user, run and kind; what is no id has none", func(t *testing.T) {
		for _, c := range []struct {
			q    TransfersQuery
			want int
		}{
			{TransfersQuery{AccountID: user}, 3}, {TransfersQuery{RunID: run}, 2}, {TransfersQuery{Kind: "grant"}, 2},
			{TransfersQuery{AccountID: user, Kind: "hold"}, 1}, {TransfersQuery{AccountID: "nobody"}, 0}, {TransfersQuery{RunID: "' OR 1"}, 0},
		} {
			if got := list(t, c.q); len(got) != c.want {
				t.Errorf("%+v: %d transfers, expected %d", c.q, len(got), c.want)
			}
		}
		b.must(t, func(tx pgx.Tx) error { return b.Refund(ctx, tx, run, "r", "sorry") })
		if got := list(t, TransfersQuery{RunID: run}); len(got) != 3 || got[0].Kind != "refund" || got[0].Note != "sorry" {
			t.Errorf("with its refund: %+v", got)
		}
	})
}

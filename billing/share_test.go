package billing

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// paid ends a run of a payer that was held and came to cost, of which share is the author's.
func (b book) paid(t *testing.T, payer, author string, cost, share NanoUSD) (run string) {
	t.Helper()
	run = b.hold(t, payer, cost)
	b.must(t, func(tx pgx.Tx) error {
		return settle(t.Context(), tx, Settlement{RunID: run, Cost: cost, Share: share, Author: author, ShareNote: "Poster"})
	})
	return run
}

func (b book) refund(t *testing.T, run string) {
	t.Helper()
	b.must(t, func(tx pgx.Tx) error { return b.Refund(t.Context(), tx, run, run, "sorry") })
}

func (b book) worth(t *testing.T, user string) Balance {
	t.Helper()
	got, err := b.Balance(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestShares(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	ctx := t.Context()
	t.Run("the author gets it with the capture, and a refund takes it back, each once", func(t *testing.T) {
		payer, author := b.user(t, 100), b.user(t, 0)
		run := b.paid(t, payer, author, 60, 6)
		b.wants(t, payer, 40, 0)
		b.wants(t, author, 6, 0)
		for range 2 {
			b.refund(t, run)
		}
		b.wants(t, payer, 100, 0)
		b.wants(t, author, 0, 0)
	})
	t.Run("unseen it is posted too", func(t *testing.T) {
		payer, author := b.user(t, 100), b.user(t, 0)
		run := b.hold(t, payer, 60)
		m := &Moves{Settlements: []Settlement{{AccountID: payer, RunID: run, Held: 60, Cost: 50, Share: 5, Author: author}}}
		if tried, err := b.unseen(t, m); !tried || err != nil {
			t.Fatal(tried, err)
		}
		b.wants(t, payer, 50, 0)
		b.wants(t, author, 5, 0)
	})
	t.Run("a run that came to more than was promised", func(t *testing.T) {
		payer, author, run := b.user(t, 100), b.user(t, 0), ""
		run = b.hold(t, payer, 30)
		b.must(t, func(tx pgx.Tx) error {
			return settle(ctx, tx, Settlement{RunID: run, Cost: 50, Share: 3, Author: author})
		})
		b.wants(t, payer, 70, 0)
		b.wants(t, author, 3, 0)
	})
	t.Run("nobody has a share of what was free, or was given up", func(t *testing.T) {
		payer, author := b.user(t, 100), b.user(t, 0)
		b.settleFree(t, Settlement{AccountID: payer, RunID: uuid.NewString(), Cost: 50, Share: 3, Author: author})
		run := b.hold(t, payer, 30)
		b.must(t, func(tx pgx.Tx) error { return settle(ctx, tx, Settlement{RunID: run, Share: 3, Author: author}) })
		b.wants(t, payer, 100, 0)
		b.wants(t, author, 0, 0)
	})
	t.Run("without a wallet for it the share stays with the house", func(t *testing.T) {
		payer := b.user(t, 100)
		run := b.paid(t, payer, uuid.NewString(), 60, 6)
		b.wants(t, payer, 40, 0)
		b.refund(t, run)
		b.wants(t, payer, 100, 0)
	})
	t.Run("what was spent is owed, and the next share pays it", func(t *testing.T) {
		payer, author := b.user(t, 200), b.user(t, 0)
		run := b.paid(t, payer, author, 60, 10)
		b.paid(t, author, b.user(t, 0), 7, 0)
		b.refund(t, run)
		if got, want := b.worth(t, author), (Balance{Owed: 7}); got != want {
			t.Errorf("the author has %+v, want %+v", got, want)
		}
		err := b.do(ctx, func(tx pgx.Tx) error { return b.Hold(ctx, tx, author, uuid.NewString(), 1) })
		var short ErrInsufficient
		if !errors.As(err, &short) || short.Owed != 7 {
			t.Errorf("a hold while there is a debt: %v", err)
		}
		b.paid(t, payer, author, 60, 10)
		b.wants(t, author, 3, 0)
	})
	t.Run("both go to whom the author became part of", func(t *testing.T) {
		payer, author, survivor := b.user(t, 200), b.user(t, 0), b.user(t, 0)
		run := b.paid(t, payer, author, 60, 10)
		under := b.hold(t, payer, 60)
		b.merge(t, author, survivor)
		b.wants(t, survivor, 10, 0)
		b.must(t, func(tx pgx.Tx) error {
			return settle(ctx, tx, Settlement{RunID: under, Cost: 60, Share: 5, Author: author})
		})
		b.wants(t, survivor, 15, 0)
		b.paid(t, survivor, b.user(t, 0), 12, 0)
		b.refund(t, run)
		if got, want := b.worth(t, survivor), (Balance{Owed: 7}); got != want {
			t.Errorf("the survivor has %+v, want %+v", got, want)
		}
	})
	t.Run("the statement names days and tools, and no payer", func(t *testing.T) {
		payer, author := b.user(t, 200), b.user(t, 0)
		b.refund(t, b.paid(t, payer, author, 60, 10))
		b.paid(t, payer, author, 60, 4)
		got, err := b.Income(ctx, author, time.Now().Add(-time.Hour*48))
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		if one := got[0]; one.Of != "Poster" || one.Runs != 2 || one.Earned != 14 || one.TakenBack != 10 || one.AccountID != author || one.Day.After(time.Now()) {
			t.Errorf("got %+v", one)
		}
		transfers, err := b.Transfers(ctx, TransfersQuery{AccountID: author})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range transfers {
			if one.RunID != "" {
				t.Errorf("the author's %s names the run %s of another", one.Kind, one.RunID)
			}
		}
		if none, err := b.Income(ctx, payer, time.Time{}); err != nil || len(none) != 0 {
			t.Errorf("the payer has the income %v, %v", none, err)
		}
	})
	b.balances(t)
}

// settleFree ends a run that held nothing.
func (b book) settleFree(t *testing.T, s Settlement) {
	t.Helper()
	if tried, err := b.unseen(t, &Moves{Settlements: []Settlement{s}}); !tried || err != nil {
		t.Fatal(tried, err)
	}
}

// TestSharesAreExact makes many runs with shares, ends and refunds them in any order while authors spend, and adds up who has what.
func TestSharesAreExact(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		before, err := b.Books(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		const funds = 10_000
		payers, authors := []string{b.user(t, funds), b.user(t, funds)}, []string{b.user(t, 0), b.user(t, 0)}
		paid, earned, revenue := make([]NanoUSD, 2), make([]NanoUSD, 2), NanoUSD(0)
		spent := NanoUSD(0)
		for range rapid.IntRange(1, 12).Draw(rt, "runs") {
			payer, author := rapid.IntRange(0, 1).Draw(rt, "payer"), rapid.IntRange(0, 1).Draw(rt, "author")
			cost := NanoUSD(rapid.Int64Range(0, 500).Draw(rt, "cost"))
			share := NanoUSD(rapid.Int64Range(0, int64(cost)).Draw(rt, "share"))
			run := b.paid(t, payers[payer], authors[author], cost, share)
			if rapid.Bool().Draw(rt, "the author spends it") {
				if have := b.worth(t, authors[author]); have.Available > 0 && have.Owed == 0 {
					b.paid(t, authors[author], "", have.Available, 0)
					earned[author] -= have.Available
					spent += have.Available
				}
			}
			if cost > 0 && rapid.Bool().Draw(rt, "it is refunded") {
				b.refund(t, run)
				continue
			}
			paid[payer] += cost
			earned[author] += share
			revenue += cost - share
		}
		for i := range 2 {
			if got := b.worth(t, payers[i]); got != (Balance{Available: funds - paid[i]}) {
				rt.Errorf("payer %d has %+v, paid %s", i, got, paid[i])
			}
			if got := b.worth(t, authors[i]); got.Available-got.Owed != earned[i] || got.Available > 0 && got.Owed > 0 {
				rt.Errorf("author %d has %+v, earned %s", i, got, earned[i])
			}
		}
		after, err := b.Books(ctx)
		if err != nil || after.Sum() != 0 {
			rt.Errorf("the books sum to %s, %v", after.Sum(), err)
		}
		if got := after.Total("revenue") - before.Total("revenue"); got != revenue+spent {
			rt.Errorf("the house has %s of it, want %s", got, revenue+spent)
		}
	})
	b.balances(t)
}

// TestSharesRace has many pay and refund at once, each of whom is somebody's author.
func TestSharesRace(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	users := []string{b.user(t, 1000), b.user(t, 1000), b.user(t, 1000)}
	var wait sync.WaitGroup
	for i := range 60 {
		payer, author := users[i%3], users[(i+1+i/3%2)%3]
		wait.Go(func() {
			ctx, run := t.Context(), uuid.NewString()
			for _, step := range []func(tx pgx.Tx) error{
				func(tx pgx.Tx) error { return b.Hold(ctx, tx, payer, run, 10) },
				func(tx pgx.Tx) error {
					return settle(ctx, tx, Settlement{RunID: run, Cost: 10, Share: 4, Author: author})
				},
				func(tx pgx.Tx) error { return b.Refund(ctx, tx, run, run, "") },
			} {
				if err := b.do(ctx, step); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for _, user := range users {
		b.wants(t, user, 1000, 0)
	}
	b.balances(t)
}

func TestSharesOfPrices(t *testing.T) {
	t.Parallel()
	model := func(percent, usd json.Number) *registry.CostingModel {
		return &registry.CostingModel{Rate: "0.0001", Unit: registry.UnitSecond, RateSource: registry.RateStatic, MinimumUSD: "0.001",
			Share: &registry.Share{Author: "author", Percent: percent, USD: usd}}
	}
	for _, c := range []struct {
		share      *registry.CostingModel
		cost, want NanoUSD
	}{
		{model("10", ""), 1_000_000, 100_000}, {model("10", ""), 19, 1}, {model("33.3", ""), 3, 0}, {model("100", ""), 7, 7}, // rounded down
		{model("", "0.01"), 1, 10_000_000}, {model("", "0.01"), 0, 0}, {model("10", ""), 0, 0}, {nil, 5, 0},
		{model("10", ""), MaxAmount, MaxAmount / 10},
	} {
		if got := sharePart(c.share, c.cost); got != c.want {
			t.Errorf("of %d: %d, want %d", c.cost, got, c.want)
		}
	}
	quote := Quote{Low: 1_000_000, High: 4_000_000}.WithShare(model("10", ""), "somebody")
	if quote.Low != 1_100_000 || quote.High != 4_400_000 || quote.Share != 400_000 || quote.Held() != quote.High {
		t.Errorf("the quote is %+v", quote)
	}
	if own := (Quote{Low: 1, High: 2}).WithShare(model("10", ""), "author"); own.High != 2 || own.Share != 0 {
		t.Errorf("an author pays %+v", own)
	}
	parts := Quote{Low: 4_000_000, High: 4_000_000, Parts: true}.WithShare(model("10", ""), "somebody")
	if parts.Held() != 400_000 {
		t.Errorf("%s is held for parts", parts.Held())
	}
	for _, c := range []struct {
		name string
		got  Receipt
		want Receipt
	}{
		{"as promised", Receipt{Cost: 2_000_000}.WithShare(model("10", ""), quote).Capped(quote.High), Receipt{Cost: 2_200_000, Share: 200_000, Net: 2_000_000}},
		{"more than promised", Receipt{Cost: 9_000_000}.WithShare(model("10", ""), quote).Capped(quote.High),
			Receipt{Cost: 4_400_000, Full: 9_400_000, Share: 400_000, Net: 9_000_000, Note: "it came to $0.0094; you pay what was promised"}},
		{"its own author", Receipt{Cost: 2_000_000}.WithShare(model("10", ""), Quote{High: 2_000_000}), Receipt{Cost: 2_000_000}},
		{"free", Receipt{}.WithShare(model("", "1"), quote), Receipt{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	whole := PartsReceipt(model("10", ""), "0.003", parts, "run")
	if whole.Cost != 300_000 || whole.Share != 300_000 || whole.Reason != "" {
		t.Errorf("the receipt of parts is %+v", whole)
	}
	if none := PartsReceipt(model("10", ""), "0", parts, "run"); none.Cost != 0 || none.Reason != ReasonNone {
		t.Errorf("the receipt of parts that were free is %+v", none)
	}
}

func TestParseShare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*registry.Share{
		"": nil, "0": nil, "0%": nil, "10%": {Percent: "10"}, " 2.5 % ": {Percent: "2.5"}, "0.01": {USD: "0.01"}, "$0.010": {USD: "0.01"},
	} {
		got, err := ParseShare(text)
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"-1%", "ten", "1e-12", "%%", "0.0000000001"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestSharesAreBounded has tools lose what their operator does not allow any more.
func TestSharesAreBounded(t *testing.T) {
	t.Parallel()
	bounds := ShareBounds{}
	loader := LivingShares(registrytest.NewLoader("one", registrytest.Tool("a", func(tool *registry.Tool) {
		tool.CostingModel = &registry.CostingModel{Rate: "1", Unit: registry.UnitRequest, RateSource: registry.RateStatic, Share: &registry.Share{Author: "x", Percent: "30"}}
	})), func() ShareBounds { return bounds })
	for most, want := range map[string]json.Number{"": "", "0": "", "20": "20", "30": "30", "50": "30"} {
		bounds.Percent = most
		tools, err := loader.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := json.Number("")
		if s := tools[0].CostingModel.Share; s != nil {
			got = s.Percent
		}
		if got != want {
			t.Errorf("with at most %q the share is %q, want %q", most, got, want)
		}
		if allowed := bounds.Allows(&registry.Share{Percent: "30"}); allowed != (want == "30") {
			t.Errorf("with at most %q a new one is allowed: %v", most, allowed)
		}
	}
}

package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
)

const d = billing.Dollar

func TestPayments(t *testing.T) {
	t.Parallel()
	b := paymentstest.New(t)
	ctx := t.Context()
	change := func(paid payments.Paid, kind payments.ChangeKind, amount int64, state payments.State) payments.Change {
		return payments.Change{Source: paid.Source, Ref: fmt.Sprint(kind, paid.Ref, amount), Payment: paid.Ref, Kind: kind, Amount: amount, State: state}
	}
	t.Run("a payment notified twice, and by many at once, is credited once", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "EUR")
		var wait sync.WaitGroup
		var mu sync.Mutex
		first := 0
		for range 8 {
			wait.Go(func() {
				_, fresh, err := b.Pay(ctx, paid)
				if err != nil {
					t.Error(err)
				}
				if fresh {
					mu.Lock()
					first++
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		if first != 1 {
			t.Errorf("%d were the first", first)
		}
		b.Wants(t, user, 5*d, 0)
	})
	t.Run("a renewal pays the same order again with another id", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stars, "monthly", payments.XTR)
		b.Pays(t, paid)
		paid.Ref += "-2"
		b.Pays(t, paid)
		b.Wants(t, user, 20*d, 0)
	})
	t.Run("what may be paid is held against the order", func(t *testing.T) {
		user, other := b.User(t), b.User(t)
		paid := b.Ordered(t, user, billing.Stars, "small", payments.XTR)
		for want, wrong := range map[error]func(*payments.Paid){
			nil:                    func(*payments.Paid) {},
			payments.ErrNoOrder:    func(p *payments.Paid) { p.OrderID = "nonsense" },
			payments.ErrOtherPayer: func(p *payments.Paid) { p.AccountID = other },
			payments.ErrOtherPrice: func(p *payments.Paid) { p.Price-- },
		} {
			one := paid
			wrong(&one)
			if err := b.Check(ctx, one); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		currency := paid
		currency.Currency = "USD"
		if err := b.Check(ctx, currency); !errors.Is(err, payments.ErrOtherPrice) {
			t.Errorf("another currency: %v", err)
		}
		b.Pays(t, paid)
		if err := b.Check(ctx, paid); !errors.Is(err, payments.ErrOrderPaid) {
			t.Errorf("paid once more: %v", err)
		}
	})
	t.Run("what is paid at another price is recorded and not credited", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		paid.Price, paid.Amount = 1, 1
		if p := b.Pays(t, paid); p.Number == 0 || p.Credit != 0 {
			t.Errorf("%+v", p)
		}
		b.Wants(t, user, 0, 0)
	})
	t.Run("parts refunded, in whatever order they are told, come to their share", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		b.Changes(t, change(paid, payments.Refund, 200, payments.Done)) // before the payment itself
		p := b.Pays(t, paid)
		if p.Refunded != 200 || p.Returned != 2*d {
			t.Errorf("%+v", p)
		}
		b.Changes(t, change(paid, payments.Refund, 100, payments.Open))
		b.Wants(t, user, 2*d, 0)
		b.Changes(t, change(paid, payments.Refund, 100, payments.Undone))
		b.Changes(t, change(paid, payments.Refund, 100, payments.Done)) // late
		b.Wants(t, user, 3*d, 0)
	})
	t.Run("refunded after it was spent: the operator bears it, and nobody owes", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		p := b.Pays(t, paid)
		b.Spend(t, user, 4*d)
		var spent payments.ErrSpent
		if err := b.MayRefund(ctx, p, false); !errors.As(err, &spent) || spent.Unspent != d {
			t.Errorf("an operator may refund: %v", err)
		}
		if err := b.MayRefund(ctx, p, true); err != nil {
			t.Errorf("an operator who bears the rest may not: %v", err)
		}
		p = b.Changes(t, change(paid, payments.Refund, 0, payments.Done))
		if p.Returned != d || p.Absorbed != 4*d {
			t.Errorf("%+v", p)
		}
		b.Wants(t, user, 0, 0)
	})
	t.Run("disputed after it was spent: it is owed, and won back", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		b.Pays(t, paid)
		b.Spend(t, user, 4*d)
		p := b.Changes(t, change(paid, payments.Dispute, 0, payments.Open))
		if !p.Open {
			t.Error("no dispute is open")
		}
		b.Wants(t, user, 0, 4*d)
		if err := b.MayRefund(ctx, p, true); err == nil {
			t.Error("what is disputed may be refunded")
		}
		b.Changes(t, change(paid, payments.Dispute, 0, payments.Undone))
		b.Changes(t, change(paid, payments.Dispute, 0, payments.Open)) // late
		b.Wants(t, user, d, 0)
	})
	t.Run("disputed and lost after it was refunded in part: no more than all is taken", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		b.Pays(t, paid)
		b.Changes(t, change(paid, payments.Refund, 300, payments.Done))
		b.Changes(t, change(paid, payments.Dispute, 500, payments.Done))
		b.Wants(t, user, 0, 0)
	})
	t.Run("accounts that became one have one history, and are paid for by either", func(t *testing.T) {
		from, into := b.User(t), b.User(t)
		paid := b.Ordered(t, from, billing.Stripe, "small", "USD")
		b.Pays(t, paid)
		err := pgx.BeginFunc(ctx, b.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `UPDATE users SET merged_into = $2 WHERE id = $1`, from, into); err != nil {
				return err
			}
			return b.Ledger.Merge(ctx, tx, from, into)
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Changes(t, change(paid, payments.Refund, 100, payments.Done))
		b.Wants(t, into, 4*d, 0)
		if list, err := b.List(ctx, payments.Query{AccountID: into}); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
	t.Run("receipts are numbered one after the other, whatever was told twice, too early or could not be booked", func(t *testing.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		b.Changes(t, change(paid, payments.Refund, 100, payments.Done)) // of a payment that is never told of
		nobody := payments.Paid{Source: billing.Discord, Ref: "entitlement", AccountID: uuid.NewString(), ProductID: "small"}
		if _, _, err := b.Pay(ctx, nobody); err == nil {
			t.Error("it was booked for an account that is not there")
		}
		b.Pays(t, b.Ordered(t, user, billing.Stripe, "small", "USD"))
		withoutGaps(t, b)
	})
	b.Balances(t)
}

// withoutGaps fails the test where the numbers of the receipts are not 1, 2, 3 and so on.
func withoutGaps(t *testing.T, b *paymentstest.Till) {
	t.Helper()
	rows, _ := b.Pool.Query(context.Background(), `SELECT number FROM payments WHERE paid_at IS NOT NULL ORDER BY number`)
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	for i, number := range numbers {
		if number != int64(i+1) {
			t.Fatalf("the receipts have the numbers %d", numbers)
		}
	}
}

// TestAnyOrder tells the same facts in random orders, some of them more than once and at the same time; the books are always the same.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	b := paymentstest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		user := b.User(t)
		paid := b.Ordered(t, user, billing.Stripe, "small", "USD")
		var facts []func() error
		tells := func(c payments.Change, states ...payments.State) {
			for _, state := range states {
				c.State = state
				one := c
				facts = append(facts, func() error { _, err := b.Change(context.Background(), one); return err })
			}
		}
		facts = append(facts, func() error { _, _, err := b.Pay(context.Background(), paid); return err })
		states := [][]payments.State{{payments.Open}, {payments.Done}, {payments.Open, payments.Done}, {payments.Open, payments.Undone}, {payments.Open, payments.Done, payments.Undone}}
		var refunded, disputed int64
		for i := range rapid.IntRange(0, 3).Draw(rt, "refunds") {
			c := payments.Change{Source: billing.Stripe, Ref: fmt.Sprint("re", i, paid.Ref), Payment: paid.Ref, Kind: payments.Refund, Amount: rapid.Int64Range(1, 250).Draw(rt, "refund")}
			through := rapid.SampledFrom(states).Draw(rt, "states")
			tells(c, through...)
			if !slices.Contains(through, payments.Undone) {
				refunded += c.Amount
			}
		}
		if rapid.Bool().Draw(rt, "disputed") {
			c := payments.Change{Source: billing.Stripe, Ref: "dp" + paid.Ref, Payment: paid.Ref, Kind: payments.Dispute, Amount: rapid.Int64Range(1, 500).Draw(rt, "dispute")}
			through := rapid.SampledFrom(states[:4]).Draw(rt, "states")
			tells(c, through...)
			if !slices.Contains(through, payments.Undone) {
				disputed = c.Amount
			}
		}
		for range rapid.IntRange(0, 3).Draw(rt, "repeats") {
			facts = append(facts, rapid.SampledFrom(facts).Draw(rt, "repeat"))
		}
		order := rapid.Permutation(facts).Draw(rt, "order")
		var wait sync.WaitGroup
		for len(order) > 0 {
			n := rapid.IntRange(1, min(3, len(order))).Draw(rt, "at once")
			for _, tell := range order[:n] {
				wait.Go(func() {
					if err := tell(); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			order = order[n:]
		}
		left := 5*d - billing.NanoUSD(min(500, disputed+refunded))*d/100
		got, err := b.Ledger.Balance(context.Background(), user)
		if err != nil || got.Available != max(0, left) || got.Owed != 0 {
			rt.Fatalf("%+v, %v; want %s after refunds of %d and a dispute of %d", got, err, left, refunded, disputed)
		}
	})
	withoutGaps(t, b)
	b.Balances(t)
}

func TestVouchers(t *testing.T) {
	t.Parallel()
	b := paymentstest.New(t)
	ctx := t.Context()
	codes, err := b.NewVouchers(ctx, payments.VoucherRequest{Count: 3, Credit: 7 * d, Note: "party", By: "op", Valid: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a code is redeemed once, however it is typed and by how many", func(t *testing.T) {
		users := []string{b.User(t), b.User(t), b.User(t)}
		var wait sync.WaitGroup
		for _, user := range users {
			wait.Go(func() {
				_, err := b.Redeem(ctx, user, " "+strings.ToLower(strings.ReplaceAll(codes[0], "-", " ")))
				if err != nil && !errors.Is(err, payments.ErrNoVoucher) {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		var sum billing.NanoUSD
		for _, user := range users {
			got, err := b.Ledger.Balance(ctx, user)
			if err != nil {
				t.Fatal(err)
			}
			sum += got.Available
		}
		if sum != 7*d {
			t.Errorf("%s were given", sum)
		}
	})
	t.Run("who guesses waits, also with the right one", func(t *testing.T) {
		user := b.User(t)
		for range 5 {
			if _, err := b.Redeem(ctx, user, "0000-0000-0000-0000"); !errors.Is(err, payments.ErrNoVoucher) {
				t.Errorf("a wrong code: %v", err)
			}
		}
		if _, err := b.Redeem(ctx, user, codes[1]); !errors.Is(err, payments.ErrTooManyCodes) {
			t.Errorf("the sixth: %v", err)
		}
		b.Pass(time.Hour)
		if _, err := b.Redeem(ctx, user, codes[1]); !errors.Is(err, payments.ErrNoVoucher) {
			t.Errorf("too old: %v", err)
		}
		b.Wants(t, user, 0, 0)
	})
	t.Run("of many guesses at once, on two processes, five are looked at", func(t *testing.T) {
		user, other := b.User(t), payments.New(payments.Config{Pool: b.Pool, Ledger: b.Ledger, Now: b.Now})
		for range 2 { // the second hour begins with the row of the first
			var wait sync.WaitGroup
			var wrong, waits atomic.Int32
			for i := range 40 {
				store := []*payments.Store{b.Store, other}[i%2]
				wait.Go(func() {
					switch _, err := store.Redeem(ctx, user, fmt.Sprintf("0000-0000-0000-00%02d", i)); {
					case errors.Is(err, payments.ErrNoVoucher):
						wrong.Add(1)
					case errors.Is(err, payments.ErrTooManyCodes):
						waits.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if wrong.Load() != 5 || waits.Load() != 35 {
				t.Errorf("%d were looked at, %d were told to wait", wrong.Load(), waits.Load())
			}
			b.Pass(time.Hour)
		}
	})
	t.Run("operators see what became of each, and no code", func(t *testing.T) {
		list, err := b.Vouchers(ctx, 10)
		if err != nil || len(list) != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		used := 0
		for _, v := range list {
			if v.Receipt > 0 && v.UsedAt != nil {
				used++
			}
			if len(v.Hint) != 4 || v.By != "op" {
				t.Errorf("%+v", v)
			}
		}
		if used != 1 {
			t.Errorf("%d are used", used)
		}
	})
	b.Balances(t)
}

func TestProducts(t *testing.T) {
	t.Parallel()
	products, err := payments.ParseProducts([]byte(paymentstest.Sold))
	if err != nil {
		t.Fatal(err)
	}
	small, _ := products.BySKU("77")
	if small.ID != "small" || small.Prices["EUR"] != 499 || small.Prices[payments.XTR] != 250 || small.Name.In("de-AT") != "Klein" || small.Name.In("ru") != "Small" {
		t.Errorf("%+v", small)
	}
	for want, price := range map[string]struct {
		amount   int64
		currency string
	}{"4.99 EUR": {499, "EUR"}, "250 Stars": {250, payments.XTR}, "0.05 EUR": {5, "EUR"}, "": {5, ""}} {
		if got := payments.Price(price.amount, price.currency); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, bad := range []string{
		`{id: A, name: x, credit: 1, prices: {USD: 1}}`,
		`{id: a, credit: 1, prices: {USD: 1}}`,
		`{id: a, name: x, credit: 0, prices: {USD: 1}}`,
		`{id: a, name: x, credit: 1}`,
		`{id: a, name: x, credit: 1, prices: {usd: 1}}`,
		`{id: a, name: x, credit: 1, prices: {JPY: "1.5"}}`,
		`{id: a, name: x, credit: 1, prices: {USD: "1.005"}}`,
		`{id: a, name: x, credit: 1, prices: {USD: 1/3}}`,
		`{id: a, name: x, credit: 1, kind: rent, prices: {USD: 1}}`,
		`{id: a, name: x, credit: 1, kind: subscription, prices: {XTR: 10001}}`,
		`{id: a, name: x, credit: 1, prices: {USD: 1}, discord: [sku]}`,
		`{id: a, name: x, credit: 1, prices: {USD: 1}, price: 5}`,
	} {
		if _, err := payments.ParseProducts([]byte("products: [" + bad + "]")); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// Package paymentstest has a store of payments in a database of its own, with a clock that a test moves.
package paymentstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/payments"
)

// Sold is a file of products.
const Sold = `
products:
  - {id: small, name: {en: Small, de: Klein}, credit: 5, prices: {USD: "5.00", EUR: "4.99", XTR: 250}, discord: ["77"], tax: [incl. 19 % VAT]}
  - {id: monthly, name: Monthly, kind: subscription, credit: "10.00", prices: {USD: 9, XTR: 500}, discord: ["78"]}
  - {id: linked, name: Linked, credit: 3, prices: {USD: 3}, link: "https://buy.stripe.com/test_1"}
`

// Till is a store of payments with its ledger.
type Till struct {
	*payments.Store
	Ledger *billing.Ledger
	Pool   *pgxpool.Pool

	mu  sync.Mutex
	now time.Time
}

// New makes a till that sells what is Sold.
func New(t testing.TB) *Till {
	t.Helper()
	products, err := payments.ParseProducts([]byte(Sold))
	if err != nil {
		t.Fatal(err)
	}
	pool := postgrestest.New(t)
	b := &Till{Ledger: billing.NewLedger(pool), Pool: pool, now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}
	b.Store = payments.New(payments.Config{Pool: pool, Ledger: b.Ledger, Products: products, Now: b.Now})
	return b
}

// Now is the time of the till's clock.
func (b *Till) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// Pass lets time pass.
func (b *Till) Pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// User makes an account with an empty wallet.
func (b *Till) User(t testing.TB) string {
	t.Helper()
	id := uuid.NewString()
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `INSERT INTO users (id) VALUES ($1)`, id); err != nil {
			return err
		}
		return b.Ledger.EnsureWallet(t.Context(), tx, id)
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Spend has an account spend an amount on a run.
func (b *Till) Spend(t testing.TB, user string, amount billing.NanoUSD) {
	t.Helper()
	run := uuid.NewString()
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if err := b.Ledger.Hold(t.Context(), tx, user, run, amount); err != nil {
			return err
		}
		m, lock, post := billing.Moves{Settlements: []billing.Settlement{{AccountID: user, RunID: run, Cost: amount}}}, &pgx.Batch{}, &pgx.Batch{}
		m.Lock(lock)
		if err := tx.SendBatch(t.Context(), lock).Close(); err != nil {
			return err
		}
		if _, err := m.Post(post); err != nil {
			return err
		}
		return tx.SendBatch(t.Context(), post).Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Wants fails the test where an account can spend or owes something else.
func (b *Till) Wants(t testing.TB, user string, available, owed billing.NanoUSD) {
	t.Helper()
	got, err := b.Ledger.Balance(t.Context(), user)
	if err != nil || got.Available != available || got.Owed != owed {
		t.Errorf("available %s, owed %s, %v; want %s and %s", got.Available, got.Owed, err, available, owed)
	}
}

// Balances fails the test where the books don't balance.
func (b *Till) Balances(t testing.TB) {
	t.Helper()
	report, err := b.Ledger.Check(context.Background())
	if err != nil || !report.OK() {
		t.Errorf("%s, %v", report, err)
	}
}

// Ordered orders a product and gives what its source will tell when it is paid.
func (b *Till) Ordered(t testing.TB, user string, source billing.Source, product, currency string) payments.Paid {
	t.Helper()
	o, err := b.Order(t.Context(), user, source, product, currency)
	if err != nil {
		t.Fatal(err)
	}
	return payments.Paid{Source: source, Ref: "charge-" + o.ID, OrderID: o.ID, AccountID: user, Currency: currency, Amount: o.Amount, Price: o.Amount}
}

// Pays records a payment.
func (b *Till) Pays(t testing.TB, paid payments.Paid) payments.Payment {
	t.Helper()
	p, _, err := b.Pay(t.Context(), paid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Changes records a refund or dispute.
func (b *Till) Changes(t testing.TB, c payments.Change) payments.Payment {
	t.Helper()
	p, err := b.Change(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

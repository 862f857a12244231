package payments

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
)

// Errors of orders and payments.
var (
	// ErrNoProduct is returned where a product is not there, or has no price in the currency.
	ErrNoProduct = errors.New("this is not sold, or not for this currency")
	// ErrNoOrder is returned where what is to be paid was never ordered.
	ErrNoOrder = errors.New("this was never ordered; order it again")
	// ErrOrderPaid is returned where a pack was paid before.
	ErrOrderPaid = errors.New("this order was paid already; order it again to buy more")
	// ErrOtherPayer is returned where somebody pays what somebody else ordered.
	ErrOtherPayer = errors.New("somebody else ordered this; order it yourself")
	// ErrOtherPrice is returned where what is to be paid is not what was ordered.
	ErrOtherPrice = errors.New("the price is not the one that was ordered; order it again")
	// ErrAway is returned where what was ordered cannot be paid now: who takes the money does not answer, or refuses the house.
	ErrAway = errors.New("it cannot be paid now; order it again in some minutes")
	// ErrNoPayment is returned where a payment is not there.
	ErrNoPayment = errors.New("there is no such payment")
)

// Config is what a Store works with. Pool and Ledger are required.
type Config struct {
	Pool     *pgxpool.Pool
	Ledger   *billing.Ledger
	Products Products
	Now      func() time.Time // nil: time.Now
	Random   io.Reader        // of codes of vouchers; nil: the system's
}

// Store keeps orders, payments and vouchers in Postgres.
type Store struct{ cfg Config }

// New makes a store.
func New(cfg Config) *Store {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Random = cmp.Or(cfg.Random, rand.Reader)
	return &Store{cfg}
}

// Products are what is sold.
func (s *Store) Products() Products { return s.cfg.Products }

// Order is what somebody means to buy.
type Order struct {
	ID        string
	AccountID string // who ordered, by the id of that time
	Source    billing.Source
	Product   Product
	Currency  string
	Amount    int64 // in the currency's smallest unit
}

// Order records that an account means to buy a product.
func (s *Store) Order(ctx context.Context, accountID string, source billing.Source, productID, currency string) (Order, error) {
	p, ok := s.cfg.Products.ByID(productID)
	amount := p.Prices[currency]
	if !ok || amount == 0 || (source == billing.Stars) != (currency == XTR) {
		return Order{}, fmt.Errorf("order %q in %q: %w", productID, currency, ErrNoProduct)
	}
	o := Order{ID: uuid.NewString(), AccountID: accountID, Source: source, Product: p, Currency: currency, Amount: amount}
	_, err := s.cfg.Pool.Exec(ctx, `
		INSERT INTO payment_orders (id, account_id, source, product, currency, amount, credit, recurring) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		o.ID, o.AccountID, o.Source, p.ID, currency, amount, p.Credit, p.Kind == Subscription)
	if err != nil {
		return Order{}, fmt.Errorf("order %q: %w", productID, err)
	}
	return o, nil
}

// Check says whether an order may be paid now, by this account, in this currency and at this price: nil, ErrNoOrder, ErrOrderPaid,
// ErrOtherPayer or ErrOtherPrice. It is what Telegram's pre-checkout asks.
func (s *Store) Check(ctx context.Context, p Paid) error {
	o, err := s.order(ctx, s.cfg.Pool, p.OrderID)
	if err != nil {
		return err
	}
	var same bool
	if err := s.cfg.Pool.QueryRow(ctx, `SELECT coalesce(users_now($1) = users_now($2), false)`, o.account, p.AccountID).Scan(&same); err != nil {
		return fmt.Errorf("check order %s: %w", p.OrderID, err)
	}
	switch {
	case !same:
		return ErrOtherPayer
	case o.paid && !o.recurring:
		return ErrOrderPaid
	case !o.fits(p):
		return ErrOtherPrice
	}
	return nil
}

// ordered is a row of payment_orders.
type ordered struct {
	id, account, product string
	source               billing.Source
	currency             string
	amount               int64
	credit               billing.NanoUSD
	recurring, paid      bool
}

func (o ordered) fits(p Paid) bool {
	return o.source == p.Source && o.currency == strings.ToUpper(p.Currency) && o.amount == p.Price
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (s *Store) order(ctx context.Context, q querier, id string) (ordered, error) {
	o := ordered{id: id}
	if uuid.Validate(id) != nil {
		return o, ErrNoOrder
	}
	err := q.QueryRow(ctx, `SELECT account_id::text, product, source, currency, amount, credit, recurring, paid_at IS NOT NULL FROM payment_orders WHERE id = $1`, id).
		Scan(&o.account, &o.product, &o.source, &o.currency, &o.amount, &o.credit, &o.recurring, &o.paid)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, ErrNoOrder
	}
	return o, errs.Wrap(err, "read order %s", id)
}

// Forget deletes what is kept for an account whose owner wants to be forgotten, and has its subscriptions ended. What was paid stays, as
// the books must; it names nobody but the account's id. So do orders at Stripe: its page may be open still, and what is paid there is
// to be in the books.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	if err := forgetSubscriptions(ctx, tx, accountID); err != nil {
		return fmt.Errorf("end the subscriptions of %s: %w", accountID, err)
	}
	for _, statement := range []string{
		`DELETE FROM payment_guesses WHERE account_id = $1`,
		`DELETE FROM payment_orders o WHERE account_id = $1 AND source <> 'stripe' AND NOT EXISTS (SELECT FROM payments p WHERE p.order_id = o.id)`,
	} {
		if _, err := tx.Exec(ctx, statement, accountID); err != nil {
			return fmt.Errorf("forget the orders of %s: %w", accountID, err)
		}
	}
	return nil
}

// Export writes what an account ordered and paid, amounts in the currency's smallest unit.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	const mine = `account_id IN (SELECT u.id FROM users u WHERE u.id = $1 OR u.merged_into = $1)`
	err := to.CSV(ctx, tx, "payments.csv", `
		SELECT number::text AS receipt, paid_at::text, source, CASE source WHEN '`+string(billing.Vouchers)+`' THEN '' ELSE ref END AS ref, title, amount::text, currency, (credited / 1e9)::text AS credited_usd, (returned / 1e9)::text AS returned_usd, tax
		FROM payments WHERE `+mine+` ORDER BY number`, accountID)
	if err != nil {
		return err
	}
	return to.CSV(ctx, tx, "orders.csv", `
		SELECT id::text AS order, created_at::text, source, product, amount::text, currency, recurring::text, coalesce(paid_at::text, '') AS paid_at
		FROM payment_orders WHERE `+mine+` ORDER BY created_at`, accountID)
}

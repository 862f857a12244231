package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
)

// Paid is what a source tells of one payment.
type Paid struct {
	Source billing.Source
	Ref    string // the source's own id of this payment; a renewal of a subscription has one of its own
	// OrderID is the order that is paid; empty where the source knows of none, then AccountID and ProductID say who bought what.
	OrderID   string
	AccountID string
	ProductID string
	Currency  string // empty: the source does not tell what was paid
	Amount    int64  // what was paid, in the smallest unit
	Price     int64  // what that was before tax and discount; it is held against the order's
	// Subscription is the source's id of the subscription; empty: none.
	Subscription string
	Payer        string // who paid, by the source's own id; empty: it is not needed for a refund
	Test         bool   // nothing was paid: the source tries out what it would tell; the title says so

	given billing.NanoUSD // of a voucher
	title string
}

// Payment is one payment as it stands now.
type Payment struct {
	ID           string
	Number       int64 // of its receipt
	Source       billing.Source
	Ref          string
	AccountID    string // empty: it is known only from a refund or dispute so far
	ProductID    string
	Title        string
	Currency     string
	Amount       int64
	Credit       billing.NanoUSD
	Tax          string
	Subscription string
	Payer        string
	PaidAt       time.Time

	Credited billing.NanoUSD // given to the wallet once
	Returned billing.NanoUSD // taken back by refunds
	Absorbed billing.NanoUSD // refunded though it was spent: the operator's loss
	Disputed billing.NanoUSD // taken by disputes that are open or lost
	Refunded int64           // of Amount
	Open     bool            // a dispute is open
	Gone     bool            // its account had been deleted before it was paid; only Pay says so

	contested int64 // of Amount, by disputes that are open or lost
	step      int64 // how many movements were posted
}

// Price writes what was paid; "" where the source does not tell.
func (p Payment) Price() string { return Price(p.Amount, p.Currency) }

// Back is the credit that refunds and disputes took back.
func (p Payment) Back() billing.NanoUSD { return p.Returned + p.Disputed }

// Receipt is the number that people see.
func (p Payment) Receipt() string { return fmt.Sprintf("SB-%06d", p.Number) }

// Pay records a payment and credits it, once for each Source and Ref; fresh says that this was the first time. What was paid for an order
// that is not there, or at another price, is recorded without credit: an operator refunds it or makes it good.
func (s *Store) Pay(ctx context.Context, paid Paid) (p Payment, fresh bool, err error) {
	if paid.Ref == "" || paid.Amount < 0 {
		return Payment{}, false, fmt.Errorf("payment %q of %d: it needs an id and an amount that is not negative", paid.Ref, paid.Amount)
	}
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		p, fresh, err = s.pay(ctx, tx, paid)
		return err
	})
	if err != nil {
		return Payment{}, false, fmt.Errorf("payment %s at %s: %w", paid.Ref, paid.Source, err)
	}
	return p, fresh, nil
}

func (s *Store) pay(ctx context.Context, tx pgx.Tx, paid Paid) (Payment, bool, error) {
	row, err := s.bought(ctx, tx, paid)
	if err != nil {
		return Payment{}, false, err
	}
	id, err := known(ctx, tx, paid.Source, paid.Ref)
	if err != nil {
		return Payment{}, false, err
	}
	tag, err := tx.Exec(ctx, `
		UPDATE payments SET account_id = $2, order_id = nullif($3, '')::uuid, product = $4, title = $5, currency = $6, amount = $7, credit = $8, tax = $9,
			subscription = $10, paid_at = $11, payer = $12
		WHERE id = $1 AND paid_at IS NULL`,
		id, row.account, row.id, row.product, row.title, strings.ToUpper(paid.Currency), paid.Amount, row.credit, row.tax, paid.Subscription, s.cfg.Now(), paid.Payer)
	if err != nil {
		return Payment{}, false, err
	}
	fresh := tag.RowsAffected() == 1
	if fresh && row.id != "" {
		if _, err := tx.Exec(ctx, `UPDATE payment_orders SET paid_at = coalesce(paid_at, $2) WHERE id = $1`, row.id, s.cfg.Now()); err != nil {
			return Payment{}, false, err
		}
	}
	p, err := s.settle(ctx, tx, id)
	if err == nil {
		p.Gone, err = s.gone(ctx, tx, p)
	}
	return p, fresh, err
}

// purchase is what a payment is for.
type purchase struct {
	ordered
	title, tax string
}

// bought finds what is paid: by its order, else by account and product.
func (s *Store) bought(ctx context.Context, tx pgx.Tx, paid Paid) (purchase, error) {
	o, err := s.order(ctx, tx, paid.OrderID)
	switch {
	case errors.Is(err, ErrNoOrder) && paid.AccountID == "":
		return purchase{}, err
	case errors.Is(err, ErrNoOrder):
		o = ordered{account: paid.AccountID, credit: paid.given}
		if p, ok := s.cfg.Products.ByID(paid.ProductID); ok && paid.OrderID == "" {
			o.product, o.credit = p.ID, p.Credit
		}
	case err != nil:
		return purchase{}, err
	case !o.fits(paid):
		o.credit = 0
	}
	p, _ := s.cfg.Products.ByID(o.product)
	title := cmp.Or(p.Name.In("en"), paid.title)
	if paid.Test {
		title += " (test)"
	}
	return purchase{ordered: o, title: title, tax: strings.Join(p.Tax, "\n")}, nil
}

// known gives the row of a payment, making it where it is not there, and locks it: all that is told of one payment goes one after the other.
func known(ctx context.Context, tx pgx.Tx, source billing.Source, ref string) (id string, err error) {
	if _, err := tx.Exec(ctx, `INSERT INTO payments (source, ref) VALUES ($1, $2) ON CONFLICT (source, ref) DO NOTHING`, source, ref); err != nil {
		return "", err
	}
	err = tx.QueryRow(ctx, `SELECT id::text FROM payments WHERE source = $1 AND ref = $2 FOR UPDATE`, source, ref).Scan(&id)
	return id, err
}

// ChangeKind is what changes a payment after it was made.
type ChangeKind string

// The kinds of changes.
const (
	Refund  ChangeKind = "refund"
	Dispute ChangeKind = "dispute"
)

// State is how far a change is. Undone and done have the last word over open; undone over done for refunds, which may fail late.
type State string

// The states of changes.
const (
	Open   State = "open"   // a refund under way, a dispute not decided: both take credit
	Done   State = "done"   // refunded, or the dispute is lost
	Undone State = "undone" // the refund failed, or the dispute is won
)

// Change is what a source tells of one refund or dispute.
type Change struct {
	Source  billing.Source
	Ref     string // the source's own id of the refund or dispute
	Payment string // the source's own id of the payment, which may not be known yet
	Kind    ChangeKind
	Amount  int64 // of what was paid, in its smallest unit; 0: the whole
	// Currency of the amount; empty: the payment's. What is told in another one is taken as the whole.
	Currency string
	State    State
	By       string // the operator who began it; empty: it was begun elsewhere
}

// Change records what became of a payment, and settles it.
func (s *Store) Change(ctx context.Context, c Change) (p Payment, err error) {
	if c.Ref == "" || c.Payment == "" || c.Amount < 0 {
		return Payment{}, fmt.Errorf("%s %q of payment %q: it needs both ids and an amount that is not negative", c.Kind, c.Ref, c.Payment)
	}
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		id, err := known(ctx, tx, c.Source, c.Payment)
		if err == nil {
			err = c.write(ctx, tx, id)
		}
		if err == nil {
			p, err = s.settle(ctx, tx, id)
		}
		return err
	})
	if err != nil {
		return Payment{}, fmt.Errorf("%s %s at %s: %w", c.Kind, c.Ref, c.Source, err)
	}
	return p, nil
}

func (c Change) write(ctx context.Context, tx pgx.Tx, payment string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO payment_changes AS c (source, ref, payment, kind, amount, currency, state, by_whom) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (source, ref) DO UPDATE SET by_whom = coalesce(nullif(c.by_whom, ''), excluded.by_whom),
			state = CASE WHEN array_position(ARRAY['open', 'done', 'undone'], excluded.state) > array_position(ARRAY['open', 'done', 'undone'], c.state)
				THEN excluded.state ELSE c.state END`,
		c.Source, c.Ref, payment, c.Kind, c.Amount, strings.ToUpper(c.Currency), c.State, c.By)
	return err
}

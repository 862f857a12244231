package payments

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
)

// selectPayments reads payments with their changes added up; a change of 0, or in another currency, is of the whole.
const selectPayments = `
	SELECT p.id::text, p.number, p.source, p.ref, coalesce(p.account_id::text, ''), p.product, p.title, p.currency, p.amount, p.credit, p.tax, p.subscription, p.payer, p.paid_at,
		p.credited, p.returned, p.absorbed, p.disputed, p.step, c.refunded, c.disputed, c.open
	FROM payments p CROSS JOIN LATERAL (
		SELECT least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'refund' AND state <> 'undone'), 0), whole.money)::bigint AS refunded,
			least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'dispute' AND state <> 'undone'), 0), whole.money)::bigint AS disputed,
			coalesce(bool_or(kind = 'dispute' AND state = 'open'), false) AS open
		FROM (SELECT greatest(p.amount, 1) AS money) whole LEFT JOIN payment_changes c ON c.payment = p.id GROUP BY whole.money) c `

func scanPayment(row pgx.CollectableRow) (p Payment, err error) {
	var paid *time.Time
	err = row.Scan(&p.ID, &p.Number, &p.Source, &p.Ref, &p.AccountID, &p.ProductID, &p.Title, &p.Currency, &p.Amount, &p.Credit, &p.Tax, &p.Subscription, &p.Payer, &paid,
		&p.Credited, &p.Returned, &p.Absorbed, &p.Disputed, &p.step, &p.Refunded, &p.contested, &p.Open)
	if paid != nil {
		p.PaidAt = *paid
	}
	return p, err
}

func readPayment(ctx context.Context, tx pgx.Tx, id string) (Payment, error) {
	rows, _ := tx.Query(ctx, selectPayments+`WHERE p.id = $1`, id)
	return pgx.CollectExactlyOneRow(rows, scanPayment)
}

// Query chooses payments; empty members choose all.
type Query struct {
	AccountID    string // by its present id, with those merged into it
	Source       billing.Source
	Subscription string // the source's id of it
	Before       int64  // only those with a smaller number, for paging
	Limit        int    // 1 to 1000; 0 means 50
}

const (
	defaultPage = 50
	maxPage     = 1000
)

// List gives payments, newest first.
func (s *Store) List(ctx context.Context, q Query) ([]Payment, error) {
	q.Limit = cmp.Or(q.Limit, defaultPage)
	if q.AccountID != "" && uuid.Validate(q.AccountID) != nil {
		return nil, nil
	}
	rows, _ := s.cfg.Pool.Query(ctx, selectPayments+`
		WHERE p.paid_at IS NOT NULL AND ($1 = '' OR p.account_id IN (SELECT id FROM users WHERE id = nullif($1, '')::uuid OR merged_into = nullif($1, '')::uuid))
			AND ($2 = '' OR p.source = $2) AND ($3 = 0 OR p.number < $3) AND ($5 = '' OR p.subscription = $5)
		ORDER BY p.number DESC LIMIT $4`, q.AccountID, string(q.Source), q.Before, max(1, min(q.Limit, maxPage)), q.Subscription)
	list, err := pgx.CollectRows(rows, scanPayment)
	return list, errs.Wrap(err, "list payments")
}

// ByNumber finds a payment by the number of its receipt; ErrNoPayment.
func (s *Store) ByNumber(ctx context.Context, number int64) (Payment, error) {
	list, err := s.List(ctx, Query{Before: number + 1, Limit: 1})
	if err != nil {
		return Payment{}, err
	}
	if len(list) == 0 || list[0].Number != number {
		return Payment{}, fmt.Errorf("receipt %d: %w", number, ErrNoPayment)
	}
	return list[0], nil
}

// LastPaid is the last payment of a subscription, by the source's own id of it; "" for none.
func (s *Store) LastPaid(ctx context.Context, source billing.Source, subscription string) (ref string, err error) {
	list, err := s.List(ctx, Query{Source: source, Subscription: subscription, Limit: 1})
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].Ref, nil
}

// Seen reports whether a notice was worked on, by its source and the id that the source gave it.
func (s *Store) Seen(ctx context.Context, source billing.Source, ref string) (bool, error) {
	var seen bool
	err := s.cfg.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payment_notices WHERE source = $1 AND ref = $2)`, source, ref).Scan(&seen)
	if err != nil {
		return false, fmt.Errorf("look for the notice %s of %s: %w", ref, source, err)
	}
	return seen, nil
}

// noticesKept is for how long notices are remembered: longer than any source repeats them.
const noticesKept = 30 * 24 * time.Hour

// Saw records that a notice was worked on, and forgets old ones. What it told is recorded before: a notice that comes again after a
// crash in between changes nothing.
func (s *Store) Saw(ctx context.Context, source billing.Source, ref string) error {
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO payment_notices (source, ref, seen_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, source, ref, s.cfg.Now())
	batch.Queue(`DELETE FROM payment_notices WHERE seen_at < $1`, s.cfg.Now().Add(-noticesKept))
	return errs.Wrap(s.cfg.Pool.SendBatch(ctx, batch).Close(), "record the notice %s of %s", ref, source)
}

// ErrSpent says that a refund would give back money for credit that was spent. It is a value, found with errors.As.
type ErrSpent struct{ Unspent, Credit billing.NanoUSD }

// Error names the amounts.
func (e ErrSpent) Error() string {
	return fmt.Sprintf("some of the credit was spent: %s of %s is left; refund it all the same to bear the rest", e.Unspent, e.Credit)
}

// MayRefund says whether a payment can be refunded as a whole by an operator: nil, ErrSpent unless forced, or what else is in the way.
func (s *Store) MayRefund(ctx context.Context, p Payment, forced bool) error {
	left := p.Credited - p.Returned - p.Absorbed - p.Disputed
	switch {
	case p.AccountID == "":
		return fmt.Errorf("refund of %s: %w", p.Receipt(), ErrNoPayment)
	case p.Open:
		return fmt.Errorf("refund of %s: it is disputed; the dispute decides", p.Receipt())
	case p.Refunded >= max(p.Amount, 1):
		return fmt.Errorf("refund of %s: it is refunded already", p.Receipt())
	case forced:
		return nil
	}
	var owner string
	if err := s.cfg.Pool.QueryRow(ctx, `SELECT users_now($1)::text`, p.AccountID).Scan(&owner); err != nil {
		return fmt.Errorf("refund of %s: %w", p.Receipt(), err)
	}
	b, err := s.cfg.Ledger.Balance(ctx, owner)
	if err == nil && b.Available < left {
		err = ErrSpent{Unspent: b.Available, Credit: left}
	}
	return errs.Wrap(err, "refund of %s", p.Receipt())
}

package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
)

// ErrCannotEnd is returned by who should end a subscription and is told that this can't be done: no other try helps.
var ErrCannotEnd = errors.New("the subscription can't be ended")

// Ending is a subscription that is to be ended where it is paid: its account was deleted.
type Ending struct {
	Source       billing.Source
	Subscription string   // the source's own id of it
	Payer        string   // who pays it, by the source's own id; empty: the source needs none
	Refs         []string // the source's own ids of its payments, the first one first
	Tries        int      // that failed before
}

const (
	endingsAtATime = 20
	endAgain       = time.Minute // after the first try; each pause is twice the one before
	endAgainAtMost = 6 * time.Hour
	endTries       = 24 // some four days
)

// endable are the sources at which a house can end a subscription; at the others only who pays it can.
var endable = []string{string(billing.Stars), string(billing.Stripe)}

// forgetSubscriptions has the subscriptions of an account that is being deleted ended.
func forgetSubscriptions(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO payment_ends (source, subscription)
		SELECT DISTINCT source, subscription FROM payments
		WHERE account_id IN (SELECT id FROM users WHERE id = $1 OR merged_into = $1) AND subscription <> '' AND source = ANY ($2)
		ON CONFLICT DO NOTHING`, accountID, endable)
	return err
}

// gone tells whether the account that paid was deleted before; then the subscription that it still pays is to be ended, again perhaps.
func (s *Store) gone(ctx context.Context, tx pgx.Tx, p Payment) (gone bool, err error) {
	err = tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM user_identities WHERE user_id = $1)`, p.AccountID).Scan(&gone)
	if err == nil && gone && p.Subscription != "" {
		_, err = tx.Exec(ctx, `INSERT INTO payment_ends (source, subscription) SELECT $1::text, $2 WHERE $1 = ANY ($3) ON CONFLICT DO NOTHING`, p.Source, p.Subscription, endable)
	}
	return gone, err
}

// Endings are the subscriptions that are to be ended now.
func (s *Store) Endings(ctx context.Context) ([]Ending, error) {
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT e.source, e.subscription, coalesce(max(p.payer), ''), coalesce(array_agg(p.ref ORDER BY p.paid_at) FILTER (WHERE p.ref IS NOT NULL), '{}'), e.tries
		FROM payment_ends e LEFT JOIN payments p ON p.source = e.source AND p.subscription = e.subscription AND p.paid_at IS NOT NULL
		WHERE e.next_at <= now() GROUP BY e.source, e.subscription ORDER BY e.next_at LIMIT $1`, endingsAtATime)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Ending])
	if err != nil {
		return nil, fmt.Errorf("list subscriptions to end: %w", err)
	}
	return list, nil
}

// Ended records what became of an Ending. Unless it was done, or can't be, there is another try; over says that there is none.
func (s *Store) Ended(ctx context.Context, e Ending, failed error) (over bool, err error) {
	over = failed == nil || errors.Is(failed, ErrCannotEnd) || e.Tries+1 >= endTries
	statement, args := `DELETE FROM payment_ends WHERE source = $1 AND subscription = $2`, []any{e.Source, e.Subscription}
	if !over {
		statement = `UPDATE payment_ends SET tries = tries + 1, next_at = now() + $3::interval WHERE source = $1 AND subscription = $2`
		args = append(args, min(endAgain<<e.Tries, endAgainAtMost))
	}
	if _, err := s.cfg.Pool.Exec(ctx, statement, args...); err != nil {
		return false, fmt.Errorf("record the end of subscription %s at %s: %w", e.Subscription, e.Source, err)
	}
	return over, nil
}

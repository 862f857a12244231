package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
)

// Adopt gives the runs of an account to the one that it is merged into, those under way too: their holds are
// settled as they were made, see billing.Ledger.Merge. It may be repeated. Of two runs with one idempotency key the
// survivor's keeps it. The locks are in the order of all writers: runs before accounts.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`SELECT id FROM runs WHERE account_id = $1 ORDER BY id FOR UPDATE`, []any{from}},
		{lockAccounts, []any{[]string{from, into}}},
		{`UPDATE runs f SET idempotency_key = NULL FROM runs i WHERE f.account_id = $1 AND i.account_id = $2 AND i.idempotency_key = f.idempotency_key`, []any{from, into}},
		{`UPDATE runs SET account_id = $2 WHERE account_id = $1`, []any{from, into}},
	} {
		if _, err := tx.Exec(ctx, step.sql, step.args...); err != nil {
			return fmt.Errorf("give the runs of %s to %s: %w", from, into, err)
		}
	}
	return nil
}

// strayFor is how long after its acceptance a run is looked for under the id of an account that was merged in the
// meantime.
const strayFor = time.Minute

// adoptStrays finds runs that were accepted, without a hold, in the moment of a merge.
func (s *worker) adoptStrays(ctx context.Context) error {
	_, err := s.config.Pool.Exec(ctx, `
		UPDATE runs r SET account_id = u.merged_into, idempotency_key = NULL FROM users u
		WHERE r.id >= $1 AND u.id = r.account_id AND u.merged_into IS NOT NULL`, firstID(time.Now().Add(-strayFor)))
	if err != nil {
		return fmt.Errorf("adopt stray runs: %w", err)
	}
	return nil
}

// survivor gives the account that a refused request should have named: the wallet of one that was merged is
// empty.
func (s *acceptor) survivor(ctx context.Context, accountID string, refused error) (string, bool) {
	var poor billing.ErrInsufficient
	if s.config.Users == nil || !errors.As(refused, &poor) || poor.Have > 0 {
		return "", false
	}
	account, err := s.config.Users.ByID(ctx, accountID)
	return account.ID, err == nil && account.ID != accountID
}

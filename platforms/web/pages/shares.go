package pages

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// errNotShared says that a run has no link, or that the link was taken back.
var errNotShared = errors.New("this is not shared")

// Shares keeps which results their owners show to whoever has the link.
type Shares struct {
	pool *pgxpool.Pool
}

// NewShares gives the shares in pool's database.
func NewShares(pool *pgxpool.Pool) *Shares { return &Shares{pool: pool} }

// share gives the id of a run's link, and makes one where there is none.
func (s *Shares) share(ctx context.Context, runID string) (id string, err error) {
	err = s.pool.QueryRow(ctx, `
		INSERT INTO web_shares (id, run_id) VALUES ($1, $2)
		ON CONFLICT (run_id) DO UPDATE SET run_id = excluded.run_id RETURNING id`, strings.ToLower(rand.Text()), runID).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("share run %s: %w", runID, err)
	}
	return id, nil
}

// of gives the id of a run's link, or errNotShared.
func (s *Shares) of(ctx context.Context, runID string) (id string, err error) {
	return one(s.pool.QueryRow(ctx, `SELECT id FROM web_shares WHERE run_id = $1`, runID))
}

// run gives the run behind a link, or errNotShared.
func (s *Shares) run(ctx context.Context, id string) (runID string, err error) {
	return one(s.pool.QueryRow(ctx, `SELECT run_id::text FROM web_shares WHERE id = $1`, id))
}

func one(row pgx.Row) (found string, err error) {
	err = row.Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", errNotShared
	}
	return found, err
}

// revoke takes a run's link back. One that has none is no error.
func (s *Shares) revoke(ctx context.Context, runID string) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM web_shares WHERE run_id = $1`, runID); err != nil {
		return fmt.Errorf("take back the link of run %s: %w", runID, err)
	}
	return nil
}

// Forget takes back all links to an account's runs, in the transaction that deletes its data and before its runs
// lose their owner.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM web_shares w USING runs r WHERE r.id = w.run_id AND r.account_id = $1`, accountID)
	return err
}

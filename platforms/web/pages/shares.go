package pages

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// errNotShared says that a run has no link, or that the link was taken back.
var errNotShared = errors.New("this is not shared")

// Shares keeps which results their owners show to anyone who has the link.
type Shares struct {
	pool *pgxpool.Pool
}

// NewShares gives the shares in pool's database.
func NewShares(pool *pgxpool.Pool) *Shares { return &Shares{pool: pool} }

// share gives the id of a run's link, and makes one where there is none. What was taken down is not shared again.
func (s *Shares) share(ctx context.Context, runID string) (id string, err error) {
	err = s.pool.QueryRow(ctx, `
		INSERT INTO web_shares (id, run_id) SELECT $1::text, $2::uuid WHERE NOT EXISTS (SELECT FROM moderation_takedowns WHERE run_id = $2::uuid)
		ON CONFLICT (run_id) DO UPDATE SET run_id = excluded.run_id RETURNING id`, strings.ToLower(rand.Text()), runID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", registry.Say(registry.CodeInvalidInput, said.ResultTakenDown)
	}
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

// link is that of a run.
type link struct{ ID, RunID string }

// landing gives the latest results that the operator shows on the landing page.
func (s *Shares) landing(ctx context.Context, most int) ([]link, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, run_id::text FROM web_shares WHERE landing_at IS NOT NULL ORDER BY landing_at DESC LIMIT $1`, most)
	if err != nil {
		return nil, fmt.Errorf("read the landing page: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[link])
}

// Shared is a result that its owner shows to anyone who has the link, as the operator sees it.
type Shared struct {
	Link, RunID, Tool string
	Since             time.Time
	Landing           bool // strangers see it on the landing page
}

// List gives the shared results, the latest first, at most a hundred; with landing those of the landing page.
func (s *Shares) List(ctx context.Context, landing bool) ([]Shared, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT w.id, w.run_id::text, r.tool_id, w.created_at, w.landing_at IS NOT NULL
		FROM web_shares w JOIN runs r ON r.id = w.run_id
		WHERE NOT $1 OR w.landing_at IS NOT NULL ORDER BY w.created_at DESC LIMIT 100`, landing)
	if err != nil {
		return nil, fmt.Errorf("list what is shared: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Shared])
}

// TurnLanding puts a shared result on the landing page, or takes it off, and tells which. A link that is no more is an error.
func (s *Shares) TurnLanding(ctx context.Context, link string) (on bool, err error) {
	err = s.pool.QueryRow(ctx, `
		UPDATE web_shares SET landing_at = CASE WHEN landing_at IS NULL THEN now() END WHERE id = $1
		RETURNING landing_at IS NOT NULL`, link).Scan(&on)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, registry.Errorf(registry.CodeInvalidInput, "This result is shared no more: its owner has taken the link back.")
	}
	if err != nil {
		return false, fmt.Errorf("put the share %s on the landing page: %w", link, err)
	}
	return on, nil
}

// revoke takes a run's link back. One that has none is no error.
func (s *Shares) revoke(ctx context.Context, runID string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return Unshare(ctx, tx, runID) })
}

// Unshare takes a run's link back in a transaction. One that has none is no error.
func Unshare(ctx context.Context, tx pgx.Tx, runID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM web_shares WHERE run_id = $1`, runID)
	return errs.Wrap(err, "take back the link of run %s", runID)
}

// Forget takes back all links to an account's runs, in the transaction that deletes its data and before its runs
// lose their owner.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM web_shares w USING runs r WHERE r.id = w.run_id AND r.account_id = $1`, accountID)
	return err
}

// Export writes which results of an account are shown to anyone who has their link.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "shares.json", `SELECT s.run_id, s.created_at FROM web_shares s JOIN runs r ON r.id = s.run_id WHERE r.account_id = $1 ORDER BY s.created_at`, accountID)
}

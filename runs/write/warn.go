package write

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
)

// Warn gives those of a run's warnings that nobody was told yet, and notes that they are told now: each comes once for the day or the month that it
// is about.
func (s *Limiter) Warn(ctx context.Context, run runs.Run) (fresh []runs.LimitUse, err error) {
	if len(run.Warnings) == 0 {
		return nil, nil
	}
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM limit_warnings WHERE until < $1`, s.Now())
	for _, use := range run.Warnings {
		batch.Queue(`INSERT INTO limit_warnings (whose, kind, most, until) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING true`,
			whoseWarning(run, use), use.Kind, use.Limit, use.FreeAt).Query(func(rows pgx.Rows) error {
			if rows.Next() {
				fresh = append(fresh, use)
			}
			return rows.Err()
		})
	}
	if err := s.Config.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("note what run %s warns of: %w", run.ID, err)
	}
	return fresh, nil
}

// whoseWarning is whose limit it is.
func whoseWarning(run runs.Run, use runs.LimitUse) string {
	switch {
	case use.OfGroup():
		return run.Group
	case use.Kind == runs.LimitBudget:
		return run.AccountID + " " + use.Budget
	}
	return run.AccountID
}

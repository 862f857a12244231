package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
)

const eventColumns = `id, service, event_id, run_id, provider_id, state, copies, status, attempts, error, received_at, due_at, ended_at`

// EventsQuery chooses stored callbacks; empty members choose all.
type EventsQuery struct {
	Status Status
	Left   bool // those that were given up: orphans and dead letters
	Limit  int  // 1 to 500; 0: 100
}

// Events lists stored callbacks, newest first.
func Events(ctx context.Context, pool *pgxpool.Pool, q EventsQuery) ([]Event, error) {
	limit := min(q.Limit, 500)
	if limit <= 0 {
		limit = 100
	}
	rows, _ := pool.Query(ctx, `SELECT `+eventColumns+` FROM webhook_events WHERE $1 IN ('', status) AND (NOT $2 OR status IN ('orphan', 'dead')) ORDER BY id DESC LIMIT $3`, string(q.Status), q.Left, limit)
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
	return events, errs.Wrap(err, "list callbacks")
}

// ErrNoEvent says that there is no such callback, or none to work on again.
var ErrNoEvent = errors.New("there is no such callback that was given up")

// Replay has callbacks that were given up worked on again, by a running program: those with the ids, or all. It tells
// how many.
func Replay(ctx context.Context, pool *pgxpool.Pool, now time.Time, ids ...int64) (int64, error) {
	tag, err := pool.Exec(ctx, `
		UPDATE webhook_events SET status = 'stored', ended_at = NULL, attempts = 0, error = '', due_at = $1, received_at = $1
		WHERE status IN ('orphan', 'dead') AND (cardinality($2::bigint[]) = 0 OR id = ANY ($2))`, now, append([]int64{}, ids...))
	if err != nil {
		return 0, fmt.Errorf("replay callbacks: %w", err)
	}
	if len(ids) > 0 && tag.RowsAffected() == 0 {
		return 0, ErrNoEvent
	}
	return tag.RowsAffected(), nil
}

// Report is what an authentic callback said of a run.
type Report struct {
	Body []byte
	At   time.Time
}

// Reports gives all that was called back about a run, oldest first.
func Reports(ctx context.Context, pool *pgxpool.Pool, service, runID string) ([]Report, error) {
	if runID == "" {
		return nil, nil
	}
	rows, _ := pool.Query(ctx, `SELECT body, received_at FROM webhook_events WHERE run_id = $1 AND service = $2 ORDER BY id`, runID, service)
	reports, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Report])
	return reports, errs.Wrap(err, "read what was called back about a run")
}

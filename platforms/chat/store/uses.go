package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/group"
)

// Uses counts how often tools are started.
type Uses struct {
	pool   *pgxpool.Pool
	counts *group.Group[string] // ids of tools; everybody counts in the same rows
}

func newUses(pool *pgxpool.Pool) Uses {
	u := Uses{pool: pool}
	u.counts = group.New(1000, u.add)
	return u
}

// Count adds one for a tool.
func (u Uses) Count(ctx context.Context, toolID string) error {
	return errs.Wrap(u.counts.Do(ctx, &toolID), "count the use of a tool")
}

// add adds one for each tool, the rows in the order of their ids, in which every process locks them.
func (u Uses) add(ctx context.Context, toolIDs []*string) error {
	ids := make([]string, len(toolIDs))
	for i, id := range toolIDs {
		ids[i] = *id
	}
	_, err := u.pool.Exec(ctx, `
		INSERT INTO chat_uses (tool_id, uses) SELECT id, count(*) FROM unnest($1::text[]) AS id GROUP BY id ORDER BY id
		ON CONFLICT (tool_id) DO UPDATE SET uses = chat_uses.uses + EXCLUDED.uses`, ids)
	return err
}

// All gives the counts by tool id.
func (u Uses) All(ctx context.Context) (map[string]int64, error) {
	rows, _ := u.pool.Query(ctx, `SELECT tool_id, uses FROM chat_uses`)
	counts := map[string]int64{}
	var (
		id string
		n  int64
	)
	_, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		counts[id] = n
		return nil
	})
	return counts, err
}

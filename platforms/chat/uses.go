package chat

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// uses counts how often tools are started.
type uses struct {
	pool *pgxpool.Pool
}

// count adds one for a tool.
func (u uses) count(ctx context.Context, toolID string) error {
	_, err := u.pool.Exec(ctx, `
		INSERT INTO chat_uses (tool_id, uses) VALUES ($1, 1)
		ON CONFLICT (tool_id) DO UPDATE SET uses = chat_uses.uses + 1`, toolID)
	if err != nil {
		return fmt.Errorf("count the use of a tool: %w", err)
	}
	return nil
}

// all gives the counts by tool id.
func (u uses) all(ctx context.Context) (map[string]int64, error) {
	rows, err := u.pool.Query(ctx, `SELECT tool_id, uses FROM chat_uses`)
	if err != nil {
		return nil, fmt.Errorf("read how often tools are used: %w", err)
	}
	counts := map[string]int64{}
	var (
		id string
		n  int64
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		counts[id] = n
		return nil
	})
	return counts, err
}

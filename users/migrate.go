package users

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// preferenceTable is where preferences are kept by an owner, who travels as an array of texts in $1.
type preferenceTable struct{ name, owner, match, columns, values string }

var preferenceTables = [...]preferenceTable{
	{
		name: "user_preferences", owner: "ARRAY[user_id::text]", match: "user_id = ($1::text[])[1]::uuid",
		columns: "user_id", values: "($1::text[])[1]::uuid",
	},
	{
		name: "place_preferences", owner: "ARRAY[platform, kind, place]",
		match:   "platform = ($1::text[])[1] AND kind = ($1::text[])[2] AND place = ($1::text[])[3]",
		columns: "platform, kind, place", values: "($1::text[])[1], ($1::text[])[2], ($1::text[])[3]",
	},
}

// MigratePreferences rewrites the stored preferences of a tool, of people and of places, to its present id and
// input names, and returns how many owners' changed. Readers need not wait for it; resetting one by its new
// name needs it.
func (s *Preferences) MigratePreferences(ctx context.Context, tool registry.Tool) (int, error) {
	if len(tool.Migrations) == 0 && len(tool.Aliases) == 0 {
		return 0, nil
	}
	changed := 0
	for _, table := range preferenceTables {
		n, err := s.migrateTable(ctx, table, tool)
		changed += n
		if err != nil {
			return changed, fmt.Errorf("migrate preferences of %s: %w", tool.ToolID, err)
		}
	}
	return changed, nil
}

func (s *Preferences) migrateTable(ctx context.Context, table preferenceTable, tool registry.Tool) (changed int, err error) {
	rows, _ := s.pool.Query(ctx, `SELECT DISTINCT `+table.owner+` FROM `+table.name+` WHERE tool_id = ANY ($1)`, idsOf(tool))
	owners, err := pgx.CollectRows(rows, pgx.RowTo[[]string])
	if err != nil {
		return 0, err
	}
	for _, owner := range owners {
		moved, err := s.migrateOne(ctx, table, owner, tool)
		if err != nil {
			return changed, err
		}
		if moved {
			changed++
		}
	}
	return changed, nil
}

func (s *Preferences) migrateOne(ctx context.Context, table preferenceTable, owner []string, tool registry.Tool) (moved bool, err error) {
	ids := idsOf(tool)
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		stored, err := collect(tx.Query(ctx, `
			SELECT tool_id, field, convert_to(value::text, 'UTF8') AS value FROM `+table.name+`
			WHERE `+table.match+` AND tool_id = ANY ($2) FOR UPDATE`, owner, ids))
		if err != nil {
			return err
		}
		values, err := merge(stored, ids)
		if err != nil {
			return err
		}
		values, moved = tool.Migrate(values)
		if foreign := func(p preference) bool { return p.ToolID != tool.ToolID }; !moved && !slices.ContainsFunc(stored, foreign) {
			return nil
		}
		moved = true
		batch, err := table.rewrite(owner, tool.ToolID, stored, values)
		if err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	return moved, err
}

// rewrite replaces the rows that were read, and only those: what is set meanwhile stays and wins.
func (t preferenceTable) rewrite(owner []string, toolID string, stored []preference, values map[string]any) (*pgx.Batch, error) {
	batch := &pgx.Batch{}
	for _, p := range stored {
		batch.Queue(`DELETE FROM `+t.name+` WHERE `+t.match+` AND tool_id = $2 AND field = $3`, owner, p.ToolID, p.Field)
	}
	for field, value := range values {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		batch.Queue(`INSERT INTO `+t.name+` (`+t.columns+`, tool_id, field, value) VALUES (`+t.values+`, $2, $3, $4) ON CONFLICT DO NOTHING`,
			owner, toolID, field, raw)
	}
	return batch, nil
}

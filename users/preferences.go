package users

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// Preferences gives what the user has set for a tool, by input name: values as JSON has them, numbers
// as json.Number. There is an empty map where nothing is set.
func (s *Store) Preferences(ctx context.Context, accountID, toolID string) (map[string]any, error) {
	stored, err := s.stored(ctx, accountID, []string{toolID})
	if err != nil {
		return nil, err
	}
	return merge(stored, []string{toolID})
}

// PreferencesFor is Preferences for a tool as it is now: what was stored under an id or input name that
// the tool had before is found too (A88).
func (s *Store) PreferencesFor(ctx context.Context, accountID string, tool registry.Tool) (map[string]any, error) {
	ids := append([]string{tool.ToolID}, tool.Aliases...)
	stored, err := s.stored(ctx, accountID, ids)
	if err != nil {
		return nil, err
	}
	values, err := merge(stored, ids)
	if err != nil {
		return nil, err
	}
	values, _ = tool.Migrate(values)
	return values, nil
}

// SetPreference stores the user's value for an input of a tool. It is the caller who checks that it fits.
func (s *Store) SetPreference(ctx context.Context, accountID, toolID, field string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store preference %s of %s: %w", field, toolID, err)
	}
	_, err = s.pool.Exec(ctx, `
		INSERT INTO user_preferences (user_id, tool_id, field, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id, tool_id, field) DO UPDATE SET value = excluded.value`, accountID, toolID, field, raw)
	if err != nil {
		return fmt.Errorf("store preference %s of %s: %w", field, toolID, err)
	}
	return nil
}

// ResetPreference forgets the user's value for one input. One that is not set is no error.
func (s *Store) ResetPreference(ctx context.Context, accountID, toolID, field string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM user_preferences WHERE user_id = $1 AND tool_id = $2 AND field = $3`, accountID, toolID, field)
	if err != nil {
		return fmt.Errorf("reset preference %s of %s: %w", field, toolID, err)
	}
	return nil
}

// ResetPreferences forgets all the user's values for a tool.
func (s *Store) ResetPreferences(ctx context.Context, accountID, toolID string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM user_preferences WHERE user_id = $1 AND tool_id = $2`, accountID, toolID)
	if err != nil {
		return fmt.Errorf("reset preferences of %s: %w", toolID, err)
	}
	return nil
}

// MigratePreferences rewrites everybody's stored preferences of a tool to its present id and input
// names, and returns how many users' changed. Readers through PreferencesFor need not wait for it.
func (s *Store) MigratePreferences(ctx context.Context, tool registry.Tool) (int, error) {
	if len(tool.Migrations) == 0 && len(tool.Aliases) == 0 {
		return 0, nil
	}
	ids := append([]string{tool.ToolID}, tool.Aliases...)
	rows, err := s.pool.Query(ctx, `SELECT DISTINCT user_id::text FROM user_preferences WHERE tool_id = ANY ($1)`, ids)
	if err != nil {
		return 0, fmt.Errorf("migrate preferences of %s: %w", tool.ToolID, err)
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("migrate preferences of %s: %w", tool.ToolID, err)
	}
	changed := 0
	for _, account := range accounts {
		moved, err := s.migrateOne(ctx, account, tool, ids)
		if err != nil {
			return changed, fmt.Errorf("migrate preferences of %s: %w", tool.ToolID, err)
		}
		if moved {
			changed++
		}
	}
	return changed, nil
}

func (s *Store) migrateOne(ctx context.Context, account string, tool registry.Tool, ids []string) (moved bool, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		stored, err := collect(tx.Query(ctx, selectPreferences+` FOR UPDATE`, account, ids))
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
		batch, err := rewrite(account, tool.ToolID, stored, values)
		if err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	return moved, err
}

// rewrite replaces the rows that were read, and only those: what the user sets meanwhile stays and wins.
func rewrite(account, toolID string, stored []preference, values map[string]any) (*pgx.Batch, error) {
	batch := &pgx.Batch{}
	for _, p := range stored {
		batch.Queue(`DELETE FROM user_preferences WHERE user_id = $1 AND tool_id = $2 AND field = $3`, account, p.ToolID, p.Field)
	}
	for field, value := range values {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		batch.Queue(`INSERT INTO user_preferences (user_id, tool_id, field, value) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			account, toolID, field, raw)
	}
	return batch, nil
}

// preference is one stored row.
type preference struct {
	ToolID string
	Field  string
	Value  []byte
}

const selectPreferences = `SELECT tool_id, field, convert_to(value::text, 'UTF8') AS value FROM user_preferences WHERE user_id = $1 AND tool_id = ANY ($2)`

func (s *Store) stored(ctx context.Context, accountID string, toolIDs []string) ([]preference, error) {
	stored, err := collect(s.pool.Query(ctx, selectPreferences, accountID, toolIDs))
	if err != nil {
		return nil, fmt.Errorf("preferences of %s: %w", toolIDs[0], err)
	}
	return stored, nil
}

func collect(rows pgx.Rows, err error) ([]preference, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[preference])
}

// merge decodes rows into one map; an id earlier in ids wins.
func merge(stored []preference, ids []string) (map[string]any, error) {
	values := make(map[string]any, len(stored))
	for _, id := range slices.Backward(ids) {
		for _, p := range stored {
			if p.ToolID != id {
				continue
			}
			decoder := json.NewDecoder(bytes.NewReader(p.Value))
			decoder.UseNumber()
			var value any
			if err := decoder.Decode(&value); err != nil {
				return nil, fmt.Errorf("preference %s of %s: %w", p.Field, id, err)
			}
			values[p.Field] = value
		}
	}
	return values, nil
}

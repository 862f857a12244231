package users

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
)

// PreferencesFor gives what the user has set for a tool, by input name: values as JSON has them, numbers
// as json.Number. What was stored under an id or input name that the tool had before is found too (A88).
// There is an empty map where nothing is set.
func (s *Preferences) PreferencesFor(ctx context.Context, accountID string, tool registry.Tool) (map[string]any, error) {
	ids := idsOf(tool)
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

// idsOf lists a tool's id and those that it had before.
func idsOf(tool registry.Tool) []string { return append([]string{tool.ToolID}, tool.Aliases...) }

// SetPreference stores the user's value for an input of a tool. It is the caller who checks that it fits.
func (s *Preferences) SetPreference(ctx context.Context, accountID, toolID, field string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store preference %s of %s: %w", field, toolID, err)
	}
	_, err = s.exec(ctx, `
		INSERT INTO user_preferences (user_id, tool_id, field, value) VALUES (`+writesTo+`, $2, $3, $4)
		ON CONFLICT (user_id, tool_id, field) DO UPDATE SET value = excluded.value`, accountID, toolID, field, raw)
	return errs.Wrap(err, "store preference %s of %s", field, toolID)
}

// ResetPreference forgets the user's value for one input. One that is not set is no error.
func (s *Preferences) ResetPreference(ctx context.Context, accountID, toolID, field string) error {
	_, err := s.exec(ctx, `DELETE FROM user_preferences WHERE user_id = `+writesTo+` AND tool_id = $2 AND field = $3`, accountID, toolID, field)
	return errs.Wrap(err, "reset preference %s of %s", field, toolID)
}

// ResetPreferences forgets all the user's values for a tool.
func (s *Preferences) ResetPreferences(ctx context.Context, accountID, toolID string) error {
	_, err := s.exec(ctx, `DELETE FROM user_preferences WHERE user_id = `+writesTo+` AND tool_id = $2`, accountID, toolID)
	return errs.Wrap(err, "reset preferences of %s", toolID)
}

// preference is one stored row.
type preference struct {
	ToolID string
	Field  string
	Value  []byte
}

const selectPreferences = `SELECT tool_id, field, convert_to(value::text, 'UTF8') AS value FROM user_preferences WHERE user_id = ` + today + ` AND tool_id = ANY ($2)`

func (s *Preferences) stored(ctx context.Context, accountID string, toolIDs []string) ([]preference, error) {
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
			var value any
			if err := decimal.Unmarshal(p.Value, &value); err != nil {
				return nil, fmt.Errorf("preference %s of %s: %w", p.Field, id, err)
			}
			values[p.Field] = value
		}
	}
	return values, nil
}

package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	maxPresetName = 40 // characters
	maxPresets    = 50 // of an account for one tool
)

// ErrNoPreset says that the account has no preset of that name for the tool.
var ErrNoPreset = errors.New("no such preset")

// Preset is a set of values for a tool's inputs, under a name. Case makes no difference in names.
type Preset struct {
	ToolID    string // as it was saved
	Name      string
	Values    map[string]any // as JSON has them, numbers as json.Number
	UpdatedAt time.Time
}

// Presets lists an account's presets for a tool as it is now, by name. What was saved under an id or input
// name that the tool had before is found too.
func (s *Preferences) Presets(ctx context.Context, accountID string, tool registry.Tool) ([]Preset, error) {
	ids := idsOf(tool)
	rows, _ := s.pool.Query(ctx, `
		SELECT tool_id, name, convert_to(fields::text, 'UTF8'), updated_at FROM user_presets
		WHERE user_id = `+today+` AND tool_id = ANY ($2) ORDER BY key, array_position($2, tool_id)`, accountID, ids)
	presets, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Preset, error) {
		var p Preset
		var fields []byte
		if err := row.Scan(&p.ToolID, &p.Name, &fields, &p.UpdatedAt); err != nil {
			return p, err
		}
		if err := decimal.Unmarshal(fields, &p.Values); err != nil {
			return p, err
		}
		p.Values, _ = tool.Migrate(p.Values)
		return p, nil
	})
	if err != nil {
		return nil, fmt.Errorf("presets of %s: %w", tool.ToolID, err)
	}
	// The same name under the tool's former id is hidden by the newer one.
	return slices.CompactFunc(presets, func(a, b Preset) bool { return strings.EqualFold(a.Name, b.Name) }), nil
}

// PresetTools gives the ids of the tools that an account has presets of, as they were saved; the one whose preset
// was changed last comes first.
func (s *Preferences) PresetTools(ctx context.Context, accountID string) ([]string, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT tool_id FROM user_presets WHERE user_id = `+today+` GROUP BY tool_id ORDER BY max(updated_at) DESC, tool_id`, accountID)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return ids, errs.Wrap(err, "tools with presets of %s", accountID)
}

// Preset gives one preset, or ErrNoPreset.
func (s *Preferences) Preset(ctx context.Context, accountID string, tool registry.Tool, name string) (Preset, error) {
	presets, err := s.Presets(ctx, accountID, tool)
	if err != nil {
		return Preset{}, err
	}
	for _, p := range presets {
		if strings.EqualFold(p.Name, strings.TrimSpace(name)) {
			return p, nil
		}
	}
	return Preset{}, fmt.Errorf("preset %q of %s: %w", name, tool.ToolID, ErrNoPreset)
}

// SavePreset stores values under a name, in place of what was there. It is the caller who checks that they
// fit. A name that is empty or too long, or one preset too many, is a *registry.Error.
func (s *Preferences) SavePreset(ctx context.Context, accountID, toolID, name string, values map[string]any) error {
	name, err := presetName(name)
	if err != nil {
		return err
	}
	if values == nil {
		values = map[string]any{}
	}
	fields, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("save preset %q of %s: %w", name, toolID, err)
	}
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		account, err := lockAccount(ctx, tx, accountID) // so that two can't both be the last that fits
		if err != nil {
			return err
		}
		var others int
		err = tx.QueryRow(ctx, `SELECT count(*) FROM user_presets WHERE user_id = $1 AND tool_id = $2 AND key <> lower($3)`, account.ID, toolID, name).Scan(&others)
		if err != nil {
			return err
		}
		if others >= maxPresets {
			return registry.Say(registry.CodeInvalidInput, said.PresetMany, "n", others)
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO user_presets (user_id, tool_id, key, name, fields) VALUES ($1, $2, lower($3), $3, $4)
			ON CONFLICT (user_id, tool_id, key) DO UPDATE SET name = excluded.name, fields = excluded.fields, updated_at = now()`, account.ID, toolID, name, fields)
		return err
	})
	return errs.Wrap(err, "save preset %q of %s", name, toolID)
}

// presetName checks a name.
func presetName(name string) (string, error) {
	name = strings.Join(strings.Fields(cleanText(name)), " ")
	if n := utf8.RuneCountInString(name); n == 0 || n > maxPresetName {
		return "", registry.Say(registry.CodeInvalidInput, said.PresetName, "most", maxPresetName, "n", n)
	}
	return name, nil
}

// DeletePreset forgets a preset. Error: ErrNoPreset.
func (s *Preferences) DeletePreset(ctx context.Context, accountID, toolID, name string) error {
	err := s.changePreset(ctx, `DELETE FROM user_presets WHERE user_id = `+writesTo+` AND tool_id = $2 AND key = lower($3)`,
		accountID, toolID, strings.TrimSpace(name))
	return errs.Wrap(err, "delete preset %q of %s", name, toolID)
}

func (s *Preferences) changePreset(ctx context.Context, statement string, args ...any) error {
	tag, err := s.exec(ctx, statement, args...)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrNoPreset
	}
	return err
}

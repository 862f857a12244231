package users

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// PlaceKind says what sort of place a Place is.
type PlaceKind string

// The kinds of places.
const (
	PlaceChat  PlaceKind = "chat"
	PlaceSpace PlaceKind = "space" // many chats under one roof, such as a guild
)

// Place is where people are together on a platform.
type Place struct {
	Platform string
	Kind     PlaceKind
	ID       string // the platform's own
}

func (p Place) valid() error {
	if p.Platform == "" || p.ID == "" || p.Kind != PlaceChat && p.Kind != PlaceSpace {
		return fmt.Errorf("place %+v: platform, id and the kind %q or %q are needed", p, PlaceChat, PlaceSpace)
	}
	return nil
}

// ChatPreferences gives what holds in a chat for a tool as it is now: the chat's own values over those of the
// space it is in. space is empty where there is none; an empty platform or chat has no values.
func (s *Preferences) ChatPreferences(ctx context.Context, platform, chat, space string, tool registry.Tool) (map[string]any, error) {
	values, err := s.PlacePreferences(ctx, Place{platform, PlaceSpace, space}, tool)
	if err != nil {
		return nil, err
	}
	own, err := s.PlacePreferences(ctx, Place{platform, PlaceChat, chat}, tool)
	maps.Copy(values, own)
	return values, err
}

// PlacePreferences gives a place's own values for a tool as it is now: what was stored under an id or input
// name that the tool had before is found too. There is an empty map where nothing is set.
func (s *Preferences) PlacePreferences(ctx context.Context, place Place, tool registry.Tool) (map[string]any, error) {
	if place.Platform == "" || place.ID == "" {
		return map[string]any{}, nil
	}
	ids := idsOf(tool)
	stored, err := collect(s.pool.Query(ctx, `
		SELECT tool_id, field, convert_to(value::text, 'UTF8') AS value FROM place_preferences
		WHERE platform = $1 AND kind = $2 AND place = $3 AND tool_id = ANY ($4)`, place.Platform, place.Kind, place.ID, ids))
	if err != nil {
		return nil, fmt.Errorf("preferences of %s %s: %w", place.Kind, place.ID, err)
	}
	values, err := merge(stored, ids)
	if err != nil {
		return nil, err
	}
	values, _ = tool.Migrate(values)
	return values, nil
}

// SetPlacePreference stores the value of an input of a tool for everybody in a place. It is the caller who
// checks that it fits and that by, an account's id, may set it.
func (s *Preferences) SetPlacePreference(ctx context.Context, place Place, toolID, field string, value any, by string) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store preference %s of %s: %w", field, toolID, err)
	}
	return s.changePlace(ctx, place, by, toolID+"."+field+" = "+string(raw), `
		INSERT INTO place_preferences (platform, kind, place, tool_id, field, value) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (platform, kind, place, tool_id, field) DO UPDATE SET value = excluded.value`, toolID, field, raw)
}

// ResetPlacePreference forgets a place's value for one input. One that is not set is no error.
func (s *Preferences) ResetPlacePreference(ctx context.Context, place Place, toolID, field, by string) error {
	return s.changePlace(ctx, place, by, toolID+"."+field+" is reset",
		`DELETE FROM place_preferences WHERE platform = $1 AND kind = $2 AND place = $3 AND tool_id = $4 AND field = $5`, toolID, field)
}

// ResetPlacePreferences forgets all of a place's values for a tool.
func (s *Preferences) ResetPlacePreferences(ctx context.Context, place Place, toolID, by string) error {
	return s.changePlace(ctx, place, by, toolID+" is reset",
		`DELETE FROM place_preferences WHERE platform = $1 AND kind = $2 AND place = $3 AND tool_id = $4`, toolID)
}

// changePlace runs a statement about a place, whose arguments come first, and records it.
func (s *Preferences) changePlace(ctx context.Context, place Place, by, detail, statement string, args ...any) error {
	if err := place.valid(); err != nil {
		return err
	}
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, statement, append([]any{place.Platform, place.Kind, place.ID}, args...)...); err != nil {
			return err
		}
		return audit(ctx, tx, AuditEntry{By: by, Action: actionPlace, Detail: place.name() + ": " + detail})
	})
	return errs.Wrap(err, "change the preferences of %s", place.name())
}

// name is how a place is called in records.
func (p Place) name() string { return p.Platform + " " + string(p.Kind) + " " + p.ID }

// MoveChat gives what holds in a chat to the id under which its platform goes on with it: settings, rules and tools. What was set under the
// new id meanwhile stays. It may be repeated.
func MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	for _, one := range []struct{ move, leave string }{
		{
			`UPDATE place_preferences f SET place = $3 WHERE platform = $1 AND kind = 'chat' AND place = $2 AND NOT EXISTS (
				SELECT FROM place_preferences t WHERE t.platform = $1 AND t.kind = 'chat' AND t.place = $3 AND t.tool_id = f.tool_id AND t.field = f.field)`,
			`DELETE FROM place_preferences WHERE platform = $1 AND kind = 'chat' AND place = $2`,
		}, {
			`UPDATE access_tools SET place = $3 WHERE platform = $1 AND kind = 'chat' AND place = $2 AND NOT EXISTS (
				SELECT FROM access_tools t WHERE t.platform = $1 AND t.kind = 'chat' AND t.place = $3)`,
			`DELETE FROM access_tools WHERE platform = $1 AND kind = 'chat' AND place = $2`,
		}, {
			`UPDATE access_rules f SET where_id = $3 WHERE where_platform = $1 AND where_kind = 'chat' AND where_id = $2 AND NOT EXISTS (
				SELECT FROM access_rules t WHERE t.kind = f.kind AND t.platform = f.platform AND t.subject = f.subject
					AND t.where_platform = $1 AND t.where_kind = 'chat' AND t.where_id = $3)`,
			`DELETE FROM access_rules WHERE where_platform = $1 AND where_kind = 'chat' AND where_id = $2`,
		}, {
			`UPDATE access_rules f SET subject = $3 WHERE kind = 'chat' AND platform = $1 AND subject = $2 AND NOT EXISTS (
				SELECT FROM access_rules t WHERE t.kind = 'chat' AND t.platform = $1 AND t.subject = $3
					AND t.where_platform = f.where_platform AND t.where_kind = f.where_kind AND t.where_id = f.where_id)`,
			`DELETE FROM access_rules WHERE kind = 'chat' AND platform = $1 AND subject = $2`,
		},
	} {
		_, err := tx.Exec(ctx, one.move, platform, from, to)
		if err == nil {
			_, err = tx.Exec(ctx, one.leave, platform, from)
		}
		if err != nil {
			return fmt.Errorf("move what holds in the %s chat %s to %s: %w", platform, from, to, err)
		}
	}
	return nil
}

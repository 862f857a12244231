package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// Pin is a version of a tool that an operator keeps at hand.
type Pin struct {
	ToolID  string
	Version string
	Number  int  // the version's place among all of the tool, the first is 1
	Instead bool // it is served in the place of the present one; else beside it, see Beside
	By      string
	At      time.Time
}

// Numbered is a version with its number.
type Numbered struct {
	Version
	Number int // the first is 1
}

// Numbered lists the versions of a tool with their numbers, newest first. A number stays that of its version.
func (h *Store) Numbered(ctx context.Context, toolID string) ([]Numbered, error) {
	versions, err := h.Versions(ctx, toolID)
	list := make([]Numbered, len(versions))
	for i, v := range versions {
		list[i] = Numbered{v, len(versions) - i}
	}
	return list, err
}

// Pin keeps the version of a number at hand, in the place of the present one or beside it. One that was in the present one's place before
// is there no more. ErrNoVersion: there is no such number.
func (h *Store) Pin(ctx context.Context, toolID string, number int, instead bool, by string) error {
	versions, err := h.Numbered(ctx, toolID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(versions, func(v Numbered) bool { return v.Number == number })
	if i < 0 {
		return fmt.Errorf("tool %q, version %d: %w", toolID, number, ErrNoVersion)
	}
	err = postgres.InTx(ctx, h.pool, func(tx pgx.Tx) error {
		if instead {
			if _, err := tx.Exec(ctx, `DELETE FROM registry_pins WHERE tool_id = $1 AND instead`, toolID); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO registry_pins (tool_id, version, number, instead, by_whom) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tool_id, version, instead) DO NOTHING`, toolID, versions[i].Version.Version, number, instead, by)
		return err
	})
	return errs.Wrap(err, "pin version %d of tool %q", number, toolID)
}

// Unpin lets go of the version of a number, or of all of a tool with 0, and tells how many there were.
func (h *Store) Unpin(ctx context.Context, toolID string, number int) (int64, error) {
	tag, err := h.pool.Exec(ctx, `DELETE FROM registry_pins WHERE tool_id = $1 AND ($2 = 0 OR number = $2)`, toolID, number)
	return tag.RowsAffected(), errs.Wrap(err, "unpin tool %q", toolID)
}

// Pins lists what is kept at hand, by tool and number.
func (h *Store) Pins(ctx context.Context) ([]Pin, error) {
	rows, _ := h.pool.Query(ctx, `SELECT tool_id, version, number, instead, by_whom, pinned_at FROM registry_pins ORDER BY tool_id, number, instead`)
	pins, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Pin])
	return pins, errs.Wrap(err, "list pinned versions")
}

// Pinned is a loader whose tools come in the versions that operators pinned. Tools that the loader does not give have none.
type Pinned struct {
	registry.Loader
	Store *Store
	// Ready tells whether a former version can be run now.
	Ready registry.Readier
}

// Load loads the tools. Where the pins can't be read there are none, so that the set that was read last stays: a tool must not change back
// by itself.
func (p Pinned) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := p.Loader.Load(ctx)
	if len(tools) == 0 {
		return tools, err
	}
	pins, wrong := p.Store.Pins(ctx)
	if wrong != nil {
		return nil, wrong
	}
	at := make(map[string]int, len(tools))
	for i, t := range tools {
		at[t.ToolID] = i
	}
	for _, pin := range pins {
		i, there := at[pin.ToolID]
		if !there {
			continue
		}
		former, wrong := p.Store.Tool(ctx, pin.ToolID, pin.Version)
		if wrong != nil {
			return nil, wrong
		}
		former.CostingModel = tools[i].CostingModel // what it costs is the operator's word of today
		p.check(ctx, &former)
		if pin.Instead {
			tools[i] = former
		} else {
			tools = append(tools, Beside(former, pin.Number))
		}
	}
	return tools, err
}

// check lists a version as unavailable that can't be run.
func (p Pinned) check(ctx context.Context, t *registry.Tool) {
	if err := p.Ready.Ready(ctx, *t); err != nil {
		t.Status = registry.SayStatus(registry.StateUnavailable, registry.AsError(err).Text())
		t.Status.Checked = true
	}
}

// Beside is a version as a tool of its own: /paint_v3 beside /paint. It stands in no menu, and has no other names.
func Beside(t registry.Tool, number int) registry.Tool {
	suffix := "v" + strconv.Itoa(number)
	t = t.Clone()
	t.ToolID += "-" + suffix
	if t.CommandName != "" {
		t.CommandName += "_" + suffix
	}
	t.DisplayName += " (" + suffix + ")"
	t.APIPath, t.Version, t.Aliases, t.Migrations = "", "", nil, nil
	if t.Metadata == nil {
		t.Metadata = map[string]any{}
	}
	t.Metadata["menu"] = false
	return t
}

// PinMark is a text that is another one after any change of pins, for anyone who follows them.
func (h *Store) PinMark(ctx context.Context) (mark string, err error) {
	err = h.pool.QueryRow(ctx, `SELECT count(*) || ' ' || coalesce(max(pinned_at)::text, '') FROM registry_pins`).Scan(&mark)
	if err != nil {
		return "", fmt.Errorf("look at pinned versions: %w", err)
	}
	return mark, nil
}

// Current is the version of a tool that was recorded last, empty where the tool is gone.
func (h *Store) Current(ctx context.Context, toolID string) (version string, err error) {
	err = h.pool.QueryRow(ctx, `SELECT coalesce((SELECT version FROM registry_current WHERE tool_id = $1), '')`, toolID).Scan(&version)
	if err != nil {
		return "", fmt.Errorf("read the present version of tool %q: %w", toolID, err)
	}
	return version, nil
}

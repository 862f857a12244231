// Package history keeps in Postgres what a registry served: every version of every tool, what changed in the catalogue, and
// the specs behind the tools.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// ErrNoVersion is returned for a version of a tool that was never recorded.
var ErrNoVersion = errors.New("this version of the tool was never recorded")

// Store keeps in Postgres what changed in the catalogue and every version of every tool (A79).
// Changes are against what any machine recorded last, so that a restart, or a second machine with the
// same definitions, is no change.
type Store struct{ pool *pgxpool.Pool }

// New makes a Store on a migrated database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Change is one recorded change of the catalogue.
type Change struct {
	ID   int64        `json:"id"`
	At   time.Time    `json:"at"`
	Diff catalog.Diff `json:"diff"`
}

// Version is one version of a tool and when it was first served.
type Version struct {
	Version   string    `json:"version"`
	FirstSeen time.Time `json:"firstSeen"`
}

// Attach lets h record every change of r from now on, and tells r what h knows of tools that were
// renamed, also while the program was down. Call it before the first Reload. What goes wrong later is
// logged.
func (h *Store) Attach(ctx context.Context, r *catalog.Registry, logger *slog.Logger) error {
	if err := h.Teach(ctx, r); err != nil {
		return err
	}
	r.OnSwap(func(ctx context.Context, swap catalog.Swap) {
		diff, err := h.Record(ctx, swap.New)
		if err != nil {
			logger.Error("the change of the catalogue could not be recorded", "error", err)
			return
		}
		r.Learn(diff.Renames()...)
	})
	return nil
}

// Teach tells r what h knows of tools that were renamed, for anyone who records nothing.
func (h *Store) Teach(ctx context.Context, r *catalog.Registry) error {
	known, err := h.renamed(ctx)
	if err == nil {
		r.Learn(known...)
	}
	return err
}

// renamed lists all names that tools and their inputs once had.
func (h *Store) renamed(ctx context.Context) ([]catalog.Renamed, error) {
	rows, _ := h.pool.Query(ctx, `SELECT alias, tool_id FROM registry_renames ORDER BY alias`)
	known, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r catalog.Renamed, err error) {
		return r, row.Scan(&r.From, &r.To)
	})
	if err != nil {
		return nil, fmt.Errorf("read what tools were renamed: %w", err)
	}
	// Definitions are not taken apart in SQL: Postgres fails at a \u0000 anywhere in one, and nothing would start any more.
	rows, _ = h.pool.Query(ctx, `
		SELECT tool_id, v.definition FROM registry_current c JOIN registry_tool_versions v USING (tool_id, version)
		WHERE v.definition::text LIKE '%"migrations":%' ORDER BY tool_id`)
	var id string
	var definition json.RawMessage
	_, err = pgx.ForEachRow(rows, []any{&id, &definition}, func() error {
		var t struct {
			Migrations []registry.Rename `json:"migrations"`
		}
		if json.Unmarshal(definition, &t) == nil { // else a later version of the program wrote them in another way
			known = append(known, catalog.Renamed{From: id, To: id, Inputs: t.Migrations})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what inputs were renamed: %w", err)
	}
	return known, nil
}

// Record stores how s differs from the catalogue recorded last, with all versions that are new, and
// gives the difference. Where there is none it stores nothing.
func (h *Store) Record(ctx context.Context, s *catalog.Snapshot) (catalog.Diff, error) {
	var diff catalog.Diff
	err := postgres.InTx(ctx, h.pool, func(tx pgx.Tx) (err error) {
		diff, err = record(ctx, tx, s)
		return err
	})
	if err != nil {
		return catalog.Diff{}, fmt.Errorf("record change of the catalogue: %w", err)
	}
	return diff, nil
}

func record(ctx context.Context, tx pgx.Tx, s *catalog.Snapshot) (catalog.Diff, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, locks.History); err != nil {
		return catalog.Diff{}, err
	}
	before, err := lastRecorded(ctx, tx, s)
	if err != nil {
		return catalog.Diff{}, err
	}
	diff := catalog.Compare(before, s)
	if diff.Empty() {
		return diff, nil
	}
	if err := storeVersions(ctx, tx, s, diff); err != nil {
		return catalog.Diff{}, err
	}
	if err := storeRenamed(ctx, tx, s, diff.Renamed); err != nil {
		return catalog.Diff{}, err
	}
	return diff, storeChange(ctx, tx, s, diff)
}

// lastRecorded rebuilds the catalogue that was recorded last. Definitions are read only for tools
// that are not in s as they were.
func lastRecorded(ctx context.Context, tx pgx.Tx, s *catalog.Snapshot) (*catalog.Snapshot, error) {
	rows, _ := tx.Query(ctx, `SELECT tool_id, version, coalesce(status, 'null') FROM registry_current`)
	var tools []registry.Tool
	var changed []string
	statuses := make(map[string]*registry.Status)
	var id, version string
	var status json.RawMessage
	_, err := pgx.ForEachRow(rows, []any{&id, &version, &status}, func() error {
		var was *registry.Status
		if err := json.Unmarshal(status, &was); err != nil {
			return err
		}
		if now, ok := s.ByID(id); ok && now.Version == version {
			t := *now
			t.Status = was
			tools = append(tools, t)
			return nil
		}
		changed = append(changed, id)
		statuses[id] = was
		return nil
	})
	if err != nil {
		return nil, err
	}
	older, err := currentDefinitions(ctx, tx, changed)
	if err != nil {
		return nil, err
	}
	for _, t := range older {
		t.Status = statuses[t.ToolID]
		tools = append(tools, t)
	}
	return catalog.NewSnapshot(tools, s.Time()), nil
}

func currentDefinitions(ctx context.Context, tx pgx.Tx, ids []string) ([]registry.Tool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, _ := tx.Query(ctx, `
		SELECT v.definition FROM registry_current c
		JOIN registry_tool_versions v USING (tool_id, version)
		WHERE c.tool_id = ANY($1)`, ids)
	return pgx.CollectRows(rows, scanTool)
}

func scanTool(row pgx.CollectableRow) (registry.Tool, error) {
	var definition json.RawMessage
	if err := row.Scan(&definition); err != nil {
		return registry.Tool{}, err
	}
	return registry.DecodeStoredTool(definition)
}

func storeVersions(ctx context.Context, tx pgx.Tx, s *catalog.Snapshot, diff catalog.Diff) error {
	for ids := range slices.Chunk(served(diff), 50) { // not all at once: a connection keeps the room of its largest query
		if err := storeSome(ctx, tx, s, ids); err != nil {
			return err
		}
	}
	return nil
}

func storeSome(ctx context.Context, tx pgx.Tx, s *catalog.Snapshot, ids []string) error {
	var versions, definitions []string
	for _, id := range ids {
		t, _ := s.ByID(id)
		bare := *t
		bare.Status = nil // the status is of the moment, not of the version
		definition, err := registry.Encode(bare)
		if err != nil {
			return err
		}
		versions, definitions = append(versions, t.Version), append(definitions, string(definition))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO registry_tool_versions (tool_id, version, definition, first_seen_at)
		SELECT id, version, definition::json, $4
		FROM unnest($1::text[], $2::text[], $3::text[]) AS new (id, version, definition)
		ON CONFLICT (tool_id, version) DO NOTHING`, ids, versions, definitions, s.Time())
	return err
}

// served lists the tools that are new or changed.
func served(d catalog.Diff) []string {
	var ids []string
	for _, t := range d.Added {
		ids = append(ids, t.ToolID)
	}
	for _, t := range d.Changed {
		ids = append(ids, t.ToolID)
	}
	return ids
}

func storeChange(ctx context.Context, tx pgx.Tx, s *catalog.Snapshot, diff catalog.Diff) error {
	var removed, versions, statuses []string
	for _, t := range diff.Removed {
		removed = append(removed, t.ToolID)
	}
	served := served(diff)
	for _, id := range served {
		t, _ := s.ByID(id)
		status, err := json.Marshal(t.Status)
		if err != nil {
			return err
		}
		versions, statuses = append(versions, t.Version), append(statuses, string(status))
	}
	if _, err := tx.Exec(ctx, `DELETE FROM registry_current WHERE tool_id = ANY($1)`, removed); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO registry_current (tool_id, version, status)
		SELECT id, version, nullif(status, 'null')::json
		FROM unnest($1::text[], $2::text[], $3::text[]) AS new (id, version, status)
		ON CONFLICT (tool_id) DO UPDATE SET version = excluded.version, status = excluded.status`, served, versions, statuses)
	if err != nil {
		return err
	}
	text, err := json.Marshal(diff)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO registry_changes (changed_at, tool_ids, diff) VALUES ($1, $2, $3)`,
		s.Time(), append(served, removed...), text)
	return err
}

func storeRenamed(ctx context.Context, tx pgx.Tx, s *catalog.Snapshot, renamed []catalog.Renamed) error {
	for _, r := range renamed {
		if _, err := tx.Exec(ctx, `UPDATE registry_renames SET tool_id = $2 WHERE tool_id = $1`, r.From, r.To); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO registry_renames (alias, tool_id, renamed_at)
			SELECT alias, $2, $3 FROM unnest($1::text[]) AS old (alias) WHERE alias <> ''
			ON CONFLICT (alias) DO UPDATE SET tool_id = excluded.tool_id, renamed_at = excluded.renamed_at`,
			[]string{r.From, r.Command}, r.To, s.Time())
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM registry_renames WHERE alias = $1`, r.To); err != nil {
			return err
		}
	}
	return nil
}

// ChangesQuery narrows Changes. The zero value asks for the newest 50.
type ChangesQuery struct {
	ToolID string // only changes that concern this tool, whole as they were
	Before int64  // only changes with a smaller id: to turn pages
	Limit  int    // zero means 50, at most 500
}

// Changes lists what changed, newest first.
func (h *Store) Changes(ctx context.Context, q ChangesQuery) ([]Change, error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	rows, _ := h.pool.Query(ctx, `
		SELECT id, changed_at, diff FROM registry_changes
		WHERE ($1 = '' OR tool_ids @> ARRAY[$1]) AND ($2 = 0 OR id < $2)
		ORDER BY id DESC LIMIT $3`, q.ToolID, q.Before, min(q.Limit, 500))
	changes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Change, err error) {
		var diff json.RawMessage
		if err = row.Scan(&c.ID, &c.At, &diff); err == nil {
			err = json.Unmarshal(diff, &c.Diff)
		}
		return c, err
	})
	return changes, errs.Wrap(err, "list changes of the catalogue")
}

// Tool gives a tool as it was in a version, without a status: that is of the moment. A version that
// was never recorded is ErrNoVersion.
func (h *Store) Tool(ctx context.Context, toolID, version string) (registry.Tool, error) {
	rows, _ := h.pool.Query(ctx, `SELECT definition FROM registry_tool_versions WHERE tool_id = $1 AND version = $2`, toolID, version)
	t, err := pgx.CollectExactlyOneRow(rows, scanTool)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNoVersion
	}
	if err != nil {
		return registry.Tool{}, fmt.Errorf("read version %s of tool %q: %w", version, toolID, err)
	}
	return t, nil
}

// Versions lists the versions of a tool, newest first.
func (h *Store) Versions(ctx context.Context, toolID string) ([]Version, error) {
	rows, _ := h.pool.Query(ctx, `
		SELECT version, first_seen_at FROM registry_tool_versions
		WHERE tool_id = $1 ORDER BY first_seen_at DESC, version`, toolID)
	versions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Version])
	return versions, errs.Wrap(err, "list versions of tool %q", toolID)
}

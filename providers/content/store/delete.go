package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
)

// ErrChanged says that something is not any more what was shown before it was to be deleted.
var ErrChanged = errors.New("it was changed since it was shown")

// delete deletes rows by their ids in one transaction, or none. Each must have the version that was shown. before makes room.
func (c Content) delete(ctx context.Context, table string, shown []registry.Touch, before func(tx pgx.Tx, ids []string) error) error {
	key := cmp.Or(map[string]string{"site_images": "hash"}[table], "id")
	ids, versions := make([]string, len(shown)), map[string]string{}
	for i, t := range shown {
		ids[i] = strings.TrimPrefix(t.ID, assetScheme)
		versions[ids[i]] = t.Version
	}
	return c.write(ctx, "delete", func(tx pgx.Tx) error {
		now, err := list[struct {
			ID      string `db:"id"`
			Version string `db:"version"`
		}](ctx, tx, `SELECT `+key+`::text AS id, version::text FROM `+table+` WHERE site_id = $1 AND `+key+`::text = ANY ($2) ORDER BY 1 FOR UPDATE`, c.site, ids)
		if err != nil {
			return err
		}
		for _, row := range now {
			if versions[row.ID] != row.Version {
				return fmt.Errorf("%s: %w", row.ID, ErrChanged)
			}
		}
		if len(now) != len(versions) {
			return ErrChanged
		}
		if err := before(tx, ids); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE site_id = $1 AND `+key+`::text = ANY ($2)`, c.site, ids)
		return err
	})
}

// subjectOf is the same for the same set of ids.
func subjectOf(ids []string) string {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), " ")
}

// NoteShown takes note of what the account was shown that a tool would do, for half an hour.
func (c Content) NoteShown(ctx context.Context, tool string, ids []string, touches []registry.Touch) error {
	raw, err := json.Marshal(touches)
	if err != nil {
		return err
	}
	_, err = c.pool.Exec(ctx, `
		INSERT INTO site_shown (account_id, site_id, tool, subject, touches) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, site_id, tool, subject) DO UPDATE SET touches = excluded.touches, shown_at = now()`, c.by, c.site, tool, subjectOf(ids), raw)
	return errs.Wrap(err, "note what was shown")
}

// Shown gives what the account was shown last for the same set of ids, or ErrNotFound.
func (c Content) Shown(ctx context.Context, tool string, ids []string) ([]registry.Touch, error) {
	var touches []registry.Touch
	err := c.pool.QueryRow(ctx, `
		SELECT touches FROM site_shown WHERE account_id = $1 AND site_id = $2 AND tool = $3 AND subject = $4 AND shown_at > now() - make_interval(secs => $5)`,
		c.by, c.site, tool, subjectOf(ids), shownFor.Seconds()).Scan(&touches)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("what was shown: %w", err)
	}
	return touches, nil
}

package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Revision is something as it was.
type Revision struct {
	ID        int64          `db:"id" json:"id"` // for Revert
	Version   int64          `db:"version" json:"version"`
	Deleted   bool           `db:"deleted" json:"deleted"`
	ChangedBy *string        `db:"changed_by" json:"changedBy,omitempty"` // an account
	ChangedAt time.Time      `db:"changed_at" json:"changedAt"`
	Content   map[string]any `db:"content" json:"content"`
}

// reverted are the columns that Revert brings back, by kind. Where something stands, and whether visitors see it, stays as it is.
var reverted = map[string][]string{
	"page": {"slug", "name", "indexing", "meta"}, "section": {"content"}, "entry": {"slug", "title", "content", "author", "excerpt", "category"},
	"translation": {"title", "about", "content"}, "navItem": {"label"}, "image": {"description", "tags", "categories", "words", "described_by"},
}

// History lists the versions of something, the latest first. kind is page, section, entry, translation, navItem or image.
func (c Content) History(ctx context.Context, kind, id string) ([]Revision, error) {
	revisions, err := list[Revision](ctx, c.pool, `
		SELECT id, version, deleted, changed_by::text, changed_at, content - 'words' AS content FROM site_history
		WHERE site_id = $1 AND kind = $2 AND item_id = $3 ORDER BY id DESC`, c.site, kind, strings.TrimPrefix(id, assetScheme))
	return revisions, errs.Wrap(err, "history of the %s %s", kind, id)
}

// Revert gives something the content that it had in a revision, as a new version.
func (c Content) Revert(ctx context.Context, revision int64) error {
	return c.write(ctx, "revert", func(tx pgx.Tx) error {
		kinds, err := texts(ctx, tx, `SELECT kind FROM site_history WHERE id = $1 AND site_id = $2 AND NOT deleted`, revision, c.site)
		if err != nil {
			return err
		}
		if len(kinds) == 0 {
			return ErrNotFound
		}
		table, key, set := tables[kinds[0]], "id", []string{}
		if kinds[0] == "image" {
			key = "hash"
		}
		for _, column := range reverted[kinds[0]] {
			set = append(set, column+" = was."+column)
		}
		tag, err := tx.Exec(ctx, `
			UPDATE `+table+` t SET `+strings.Join(set, ", ")+` FROM site_history h, jsonb_populate_record(NULL::`+table+`, h.content) was
			WHERE h.id = $1 AND t.site_id = $2 AND t.`+key+` = was.`+key, revision, c.site)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotFound // it was deleted: the bin has it
		}
		return err
	})
}

package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Deleted is something in the bin.
type Deleted struct {
	ID        int64     `db:"id" json:"id"` // for Restore
	Kind      string    `db:"kind" json:"kind"`
	Title     string    `db:"title" json:"title"`
	DeletedAt time.Time `db:"changed_at" json:"deletedAt"`
}

// Bin lists what was deleted within 30 days and is not there again, the latest first. Sections that went with their page are part of it.
func (c Content) Bin(ctx context.Context) ([]Deleted, error) {
	bin, err := list[Deleted](ctx, c.pool, `
		SELECT h.id, h.kind, coalesce(h.content ->> 'name', h.content ->> 'title', h.content ->> 'label', nullif(h.content ->> 'filename', ''), nullif(h.content ->> 'locale', ''), h.content ->> 'template', '') AS title, h.changed_at
		FROM site_history h
		WHERE h.site_id = $1 AND h.deleted AND h.changed_at > now() - make_interval(secs => $2)
			AND NOT EXISTS (SELECT FROM site_history later WHERE later.site_id = h.site_id AND later.kind = h.kind AND later.item_id = h.item_id AND later.id > h.id)
			AND NOT (h.kind IN ('section', 'translation') AND EXISTS (
				SELECT FROM site_history p WHERE p.site_id = h.site_id AND p.kind IN ('page', 'entry') AND p.deleted AND p.deed = h.deed AND p.item_id IN (h.content ->> 'page_id', h.content ->> 'entry_id')))
		ORDER BY h.id DESC LIMIT 500`, c.site, keptFor.Seconds())
	return bin, errs.Wrap(err, "look into the bin")
}

// tables are where things are kept, by the kind that the history knows.
var tables = map[string]string{"page": "site_pages", "section": "site_sections", "entry": "site_entries", "translation": "site_translations", "navItem": "site_nav_items", "image": "site_images"}

// Restore brings something back from the bin, a page with the sections that went with it. What it was below or led to may be gone:
// then it comes to the top, and leads nowhere.
func (c Content) Restore(ctx context.Context, id int64) error {
	return c.write(ctx, "restore", func(tx pgx.Tx) error {
		var kind, deed, item string
		err := tx.QueryRow(ctx, `SELECT kind, deed::text, item_id FROM site_history WHERE id = $1 AND site_id = $2 AND deleted`, id, c.site).Scan(&kind, &deed, &item)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := c.bringBack(ctx, tx, kind, `h.id = $2`, id); err != nil {
			return err
		}
		if kind == "page" || kind == "entry" {
			if err := c.bringBack(ctx, tx, "translation", `h.deed = $2::xid8 AND $3 IN (h.content ->> 'page_id', h.content ->> 'entry_id')`, deed, item); err != nil {
				return err
			}
		}
		if kind == "page" {
			return c.bringBack(ctx, tx, "section", `h.deed = $2::xid8 AND h.content ->> 'page_id' = $3`, deed, item)
		}
		if kind == "translation" {
			_, err = tx.Exec(ctx, `UPDATE sites s SET locales = s.locales || t.locale FROM site_translations t WHERE t.id::text = $2 AND s.id = $1 AND NOT t.locale = ANY (s.locales)`, c.site, item)
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE site_sections s SET position = o.n - 1 FROM (
				SELECT id, row_number() OVER (PARTITION BY page_id ORDER BY position, version) AS n FROM site_sections
				WHERE $1 = 'section' AND page_id = (SELECT page_id FROM site_sections WHERE id::text = $2)) o
			WHERE s.id = o.id AND s.position <> o.n - 1`, kind, item)
		return err
	})
}

// mend gives the SQL that makes a row of the history fit into its table again.
var mend = map[string]string{
	"page":    `|| jsonb_build_object('parent_id', (SELECT p.id FROM site_pages p WHERE p.id::text = h.content ->> 'parent_id'))`,
	"section": ``, "translation": ``,
	"image": ``,
	"entry": `|| jsonb_build_object('featured_image', (SELECT i.hash FROM site_images i WHERE i.site_id = h.site_id AND i.hash = h.content ->> 'featured_image'))`,
	"navItem": `|| jsonb_build_object('parent_id', NULL, 'page_id', NULL, 'entry_id', NULL, 'image', NULL, 'url', h.content -> 'url',
		'target_type', CASE WHEN h.content ->> 'target_type' = 'url' THEN 'url' ELSE 'placeholder' END,
		'position', (SELECT coalesce(max(n.position) + 1, 0) FROM site_nav_items n WHERE n.navigation_id::text = h.content ->> 'navigation_id' AND n.parent_id IS NULL))`,
}

// bringBack inserts rows of the history that a condition names.
func (c Content) bringBack(ctx context.Context, tx pgx.Tx, kind, condition string, args ...any) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO `+tables[kind]+` SELECT (jsonb_populate_record(NULL::`+tables[kind]+`, h.content `+mend[kind]+` || jsonb_build_object('version', h.version + 1))).*
		FROM site_history h WHERE h.site_id = $1 AND h.kind = '`+kind+`' AND h.deleted AND `+condition+` ORDER BY h.content -> 'position'`, append([]any{c.site}, args...)...)
	return err
}

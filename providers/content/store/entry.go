package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
)

// Collection holds entries of one kind.
type Collection struct {
	ID    string `db:"id" json:"id"`
	Slug  string `db:"slug" json:"slug"`
	Title string `db:"title" json:"title"`
	Kind  string `db:"kind" json:"kind"` // post or entry
}

// The kinds of collections.
const (
	KindPost  = "post"
	KindEntry = "entry"
)

const selectCollections = `SELECT id::text, slug, title, kind FROM site_collections WHERE site_id = $1`

// Collections lists the collections of a site.
func (c Content) Collections(ctx context.Context) ([]Collection, error) {
	found, err := list[Collection](ctx, c.pool, selectCollections+` ORDER BY slug`, c.site)
	return found, errs.Wrap(err, "collections")
}

// Collection finds a collection by its id or slug.
func (c Content) Collection(ctx context.Context, key string) (Collection, error) {
	found, err := first[Collection](ctx, c.pool, selectCollections+` AND (id::text = $2 OR slug = $2)`, c.site, key)
	return found, errs.Wrap(err, "collection %q", key)
}

// Entry is one text of a collection. Posts are entries of kind post.
type Entry struct {
	ID            string         `db:"id" json:"id"`
	CollectionID  string         `db:"collection_id" json:"collectionId"`
	Collection    string         `db:"collection" json:"collectionSlug"`
	Kind          string         `db:"kind" json:"kind"`
	Slug          string         `db:"slug" json:"slug"`
	Title         string         `db:"title" json:"title"`
	Status        string         `db:"status" json:"status"`
	Author        string         `db:"author" json:"author,omitempty"`
	Excerpt       string         `db:"excerpt" json:"excerpt,omitempty"`
	Category      string         `db:"category" json:"category,omitempty"`
	FeaturedImage *string        `db:"featured_image" json:"featuredImage,omitempty"` // id of an image
	Content       map[string]any `db:"content" json:"content,omitzero"`
	PublishedAt   *time.Time     `db:"published_at" json:"publishedAt,omitempty"`
	PublishAt     *time.Time     `db:"publish_at" json:"publishAt,omitempty"` // when the house publishes it
	WrittenBy     *string        `db:"written_by" json:"-"`                   // the account
	Version       int64          `db:"version" json:"version"`
	UpdatedAt     time.Time      `db:"updated_at" json:"updatedAt"`
}

const selectEntries = `
	SELECT e.id::text, e.collection_id::text, c.slug AS collection, e.kind, e.slug, e.title, e.status, e.author, e.excerpt, e.category,
		'asset:' || e.featured_image AS featured_image, e.content, e.published_at, e.publish_at, e.written_by::text, e.version, e.updated_at
	FROM site_entries e JOIN site_collections c ON c.id = e.collection_id WHERE e.site_id = $1`

// EntryQuery says which entries; empty members don't matter.
type EntryQuery struct {
	ID, Slug, CollectionID, Kind, Status, Category string
	IDs, Slugs                                     []string
	Locale                                         string // those that say something to visitors in a language
	Limit, Skip                                    int    // 0: any number, none
}

// Entries finds entries: what was published last comes first, then drafts, the last changed first.
func (c Content) Entries(ctx context.Context, q EntryQuery) ([]Entry, error) {
	condition, args := "", []any{c.site}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	for _, f := range []struct{ column, value string }{
		{"e.id", q.ID}, {"e.slug", q.Slug}, {"e.collection_id", q.CollectionID}, {"e.kind", q.Kind}, {"e.status", q.Status}, {"e.category", q.Category},
	} {
		if f.value != "" {
			condition += ` AND ` + f.column + ` = ` + arg(f.value)
		}
	}
	if q.IDs != nil {
		condition += ` AND e.id::text = ANY (` + arg(q.IDs) + `)`
	}
	if q.Slugs != nil {
		condition += ` AND e.slug = ANY (` + arg(q.Slugs) + `)`
	}
	if q.Locale != "" {
		condition += ` AND EXISTS (SELECT FROM site_translations t WHERE t.entry_id = e.id AND t.status = 'published' AND t.locale = ` + arg(q.Locale) + `)`
	}
	condition += ` ORDER BY e.published_at DESC NULLS LAST, e.updated_at DESC, e.id`
	if q.Limit > 0 {
		condition += ` LIMIT ` + arg(q.Limit) + ` OFFSET ` + arg(q.Skip)
	}
	entries, err := list[Entry](ctx, c.pool, selectEntries+condition, args...)
	return entries, errs.Wrap(err, "find entries")
}

// CreateEntry adds an entry to a collection and gives its id. One that is published without a date is of this moment.
func (c Content) CreateEntry(ctx context.Context, e Entry) (id string, err error) {
	err = c.write(ctx, "create an entry", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			INSERT INTO site_entries (site_id, collection_id, kind, slug, title, content, status, author, excerpt, category, featured_image, published_at, publish_at, written_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($13, CASE WHEN $7 = 'published' THEN now() END), $14, nullif($12, '')::uuid) RETURNING id::text`,
			c.site, e.CollectionID, e.Kind, e.Slug, e.Title, orEmpty(e.Content), e.Status, e.Author, e.Excerpt, e.Category, hashOf(e.FeaturedImage), c.by, e.PublishedAt, e.PublishAt).Scan(&id)
		if err != nil {
			return err
		}
		return fits(ctx, tx, "site_entries", "id", id)
	})
	return id, err
}

// hashOf is the hash of an image's id.
func hashOf(id *string) *string {
	if id == nil || *id == "" {
		return nil
	}
	return new(strings.TrimPrefix(*id, assetScheme))
}

// UpdateEntry lets change alter an entry that nobody else changes meanwhile. The first publishing counts as its date where it has none.
func (c Content) UpdateEntry(ctx context.Context, id string, change func(*Entry) error) error {
	return c.write(ctx, "change an entry", func(tx pgx.Tx) error {
		e, err := first[Entry](ctx, tx, selectEntries+` AND e.id = $2 FOR UPDATE OF e`, c.site, id)
		if err != nil {
			return err
		}
		if err := change(&e); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE site_entries SET slug = $2, title = $3, content = $4, status = $5, author = $6, excerpt = $7, category = $8, featured_image = $9,
				published_at = coalesce($11, CASE WHEN $5 = 'published' THEN now() END),
				publish_at = CASE WHEN $5 <> 'published' THEN $10::timestamptz END
			WHERE id = $1`, id, e.Slug, e.Title, orEmpty(e.Content), e.Status, e.Author, e.Excerpt, e.Category, hashOf(e.FeaturedImage), e.PublishAt, e.PublishedAt)
		if err != nil {
			return err
		}
		return fits(ctx, tx, "site_entries", "id", id)
	})
}

// DeleteEntries deletes entries as they were shown; items of menus that lead to them become placeholders.
func (c Content) DeleteEntries(ctx context.Context, shown []registry.Touch) error {
	return c.delete(ctx, "site_entries", shown, func(tx pgx.Tx, ids []string) error { return unlink(ctx, tx, "entry_id", ids) })
}

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

// assetScheme begins the ids of images, which are references to stored files.
const assetScheme = "asset:"

// Image is a stored picture that the site may show. Its id is the reference of its file, so the same picture is there once.
type Image struct {
	ID          string         `db:"id" json:"id"`
	Filename    string         `db:"filename" json:"filename"`
	MIMEType    string         `db:"mime" json:"mimeType"`
	Width       int            `db:"width" json:"width,omitempty"`
	Height      int            `db:"height" json:"height,omitempty"`
	Bytes       int64          `db:"size" json:"bytes"`
	Description string         `db:"description" json:"description"`
	Tags        []string       `db:"tags" json:"tags"`
	Categories  []string       `db:"categories" json:"categories"`
	DescribedBy DescribedBy    `db:"described_by" json:"describedBy,omitempty"`
	Status      string         `db:"status" json:"status"`
	Origin      string         `db:"origin" json:"origin,omitempty"`           // the prompt and the tool that made it
	Attribution map[string]any `db:"attribution" json:"attribution,omitempty"` // the credit to show with it
	SessionID   string         `db:"session_id" json:"sessionId,omitempty"`
	Version     int64          `db:"version" json:"version"`
	CreatedAt   time.Time      `db:"created_at" json:"createdAt"`
	// Words is what the picture is found by.
	Words string `db:"-" json:"-"`
	// Unseen has PutImage note that a model is to look at it.
	Unseen bool `db:"-" json:"-"`
}

// DescribedBy tells where the description and the tags of an image are from; empty: nobody knows, it came before that was kept.
type DescribedBy string

// What describes images.
const (
	ByName  DescribedBy = "name"  // its file's name, and the prompt and tool that made it
	ByModel DescribedBy = "model" // a model that looked at it
	Given   DescribedBy = "given" // somebody wrote them
)

const selectImages = `
	SELECT 'asset:' || i.hash AS id, i.filename, a.mime, coalesce(a.width, 0) AS width, coalesce(a.height, 0) AS height, a.size,
		i.description, i.tags, i.categories, coalesce(i.described_by, '') AS described_by, i.status, i.origin, i.attribution, i.session_id, i.version, i.created_at
	FROM site_images i JOIN assets a ON a.hash = i.hash WHERE i.site_id = $1`

// ImageQuery says which images: the one of ID, those that Words find (best first), or all, newest first.
type ImageQuery struct {
	ID, Words, Status string
	IDs               []string
	Limit             int // 0: any number
}

// Images finds images.
func (c Content) Images(ctx context.Context, q ImageQuery) ([]Image, error) {
	condition, order, args := "", ` ORDER BY i.created_at DESC, i.hash`, []any{c.site}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if q.ID != "" {
		q.IDs = []string{q.ID}
	}
	if q.IDs != nil {
		hashes := make([]string, len(q.IDs))
		for i, id := range q.IDs {
			hashes[i] = strings.TrimPrefix(id, assetScheme)
		}
		condition += ` AND i.hash = ANY (` + arg(hashes) + `)`
	}
	if q.Status != "" {
		condition += ` AND i.status = ` + arg(q.Status)
	}
	if q.Words != "" {
		query := `(SELECT coalesce(string_agg(quote_literal(lexeme), ' | '), '')::tsquery FROM unnest(to_tsvector('english', ` + arg(q.Words) + `)))`
		condition += ` AND i.words @@ ` + query
		order = ` ORDER BY ts_rank(i.words, ` + query + `) DESC, i.created_at DESC, i.hash`
	}
	if q.Limit > 0 {
		order += ` LIMIT ` + arg(q.Limit)
	}
	images, err := list[Image](ctx, c.pool, selectImages+condition+order, args...)
	return images, errs.Wrap(err, "find images")
}

// PutImage adds a stored picture; one that is there already stays as it is.
func (c Content) PutImage(ctx context.Context, i Image) error {
	return c.write(ctx, "add an image", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			WITH added AS (
				INSERT INTO site_images (site_id, hash, filename, description, tags, categories, origin, attribution, session_id, words, described_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_tsvector('english', $10), nullif($11, '')) ON CONFLICT DO NOTHING RETURNING site_id, hash)
			INSERT INTO site_image_looks (site_id, hash) SELECT site_id, hash FROM added WHERE $12`,
			c.site, strings.TrimPrefix(i.ID, assetScheme), i.Filename, i.Description, notNil(i.Tags), notNil(i.Categories), i.Origin, i.Attribution, i.SessionID, i.Words,
			string(i.DescribedBy), i.Unseen)
		return err
	})
}

func notNil(list []string) []string { return append([]string{}, list...) }

// UpdateImage lets change alter what is known of an image.
func (c Content) UpdateImage(ctx context.Context, id string, change func(*Image) error) error {
	return c.write(ctx, "change an image", func(tx pgx.Tx) error {
		i, err := first[Image](ctx, tx, selectImages+` AND i.hash = $2 FOR UPDATE OF i`, c.site, strings.TrimPrefix(id, assetScheme))
		if err != nil {
			return err
		}
		if err := change(&i); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE site_images SET description = $3, tags = $4, categories = $5, words = to_tsvector('english', $6), described_by = nullif($7, '') WHERE site_id = $1 AND hash = $2`,
			c.site, strings.TrimPrefix(id, assetScheme), i.Description, notNil(i.Tags), notNil(i.Categories), i.Words, string(i.DescribedBy))
		return err
	})
}

// ImageUse is a place where an image is shown.
type ImageUse struct {
	Image string `db:"image" json:"-"`
	Kind  string `db:"kind" json:"kind"` // section, entry, translation or navItem
	ID    string `db:"id" json:"id"`
	Where string `db:"place" json:"where"` // for people: the page, post or menu item
}

// ImageUses lists where images are shown.
func (c Content) ImageUses(ctx context.Context, ids []string) ([]ImageUse, error) {
	hashes := make([]string, len(ids))
	for i, id := range ids {
		hashes[i] = strings.TrimPrefix(id, assetScheme)
	}
	uses, err := list[ImageUse](ctx, c.pool, `
		SELECT 'asset:' || u.hash AS image, u.kind, u.item_id::text AS id, coalesce(p.name, e.title, t.title, '') AS place FROM site_image_uses u
			LEFT JOIN site_sections s ON u.kind = 'section' AND s.id = u.item_id LEFT JOIN site_pages p ON p.id = s.page_id
			LEFT JOIN site_entries e ON u.kind = 'entry' AND e.id = u.item_id LEFT JOIN site_translations t ON u.kind = 'translation' AND t.id = u.item_id
		WHERE u.site_id = $1 AND u.hash = ANY ($2)
		UNION ALL SELECT 'asset:' || n.image, 'navItem', n.id::text, n.label FROM site_nav_items n WHERE n.site_id = $1 AND n.image = ANY ($2)
		ORDER BY 2, 4, 3`, c.site, hashes)
	return uses, errs.Wrap(err, "uses of images")
}

// DeleteImages deletes images as they were shown, and takes them out of the contents that show them.
func (c Content) DeleteImages(ctx context.Context, shown []registry.Touch) error {
	return c.delete(ctx, "site_images", shown, func(tx pgx.Tx, hashes []string) error {
		if _, err := tx.Exec(ctx, `UPDATE site_entries SET featured_image = NULL WHERE site_id = $1 AND featured_image = ANY ($2)`, c.site, hashes); err != nil {
			return err
		}
		if err := unlink(ctx, tx, "image", hashes); err != nil {
			return err
		}
		for kind, table := range map[string]string{"section": "site_sections", "entry": "site_entries", "translation": "site_translations"} {
			if err := c.takeOut(ctx, tx, kind, table, hashes); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeOut removes references to images from the contents of a table.
func (c Content) takeOut(ctx context.Context, tx pgx.Tx, kind, table string, hashes []string) error {
	rows, err := list[struct {
		ID      string         `db:"id"`
		Content map[string]any `db:"content"`
	}](ctx, tx, `
		SELECT t.id::text, t.content FROM `+table+` t WHERE t.id IN (SELECT item_id FROM site_image_uses WHERE kind = $2 AND site_id = $1 AND hash = ANY ($3)) FOR UPDATE`,
		c.site, kind, hashes)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, hash := range hashes {
		gone[assetScheme+hash] = true
	}
	for _, row := range rows {
		if _, err := tx.Exec(ctx, `UPDATE `+table+` SET content = $2 WHERE id = $1`, row.ID, without(row.Content, gone)); err != nil {
			return err
		}
	}
	return nil
}

// without gives a JSON value without some texts: a member that is one of them is gone, and so is an item of a list.
func without(value any, gone map[string]bool) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, member := range v {
			if text, is := member.(string); !is || !gone[text] {
				kept[name] = without(member, gone)
			}
		}
		return kept
	case []any:
		kept := []any{}
		for _, item := range v {
			if text, is := item.(string); !is || !gone[text] {
				kept = append(kept, without(item, gone))
			}
		}
		return kept
	}
	return value
}

package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Section is a part of a page, made of a template and the content of its fields.
type Section struct {
	ID        string         `db:"id" json:"pageSectionId"`
	PageID    string         `db:"page_id" json:"pageId"`
	Template  string         `db:"template" json:"templateKey"`
	SortOrder int            `db:"position" json:"sortOrder"` // its place on the page, from 0
	Status    string         `db:"status" json:"status"`
	Hidden    bool           `db:"hidden" json:"hidden"`
	Content   map[string]any `db:"content" json:"content,omitzero"`
	Version   int64          `db:"version" json:"version"`
	UpdatedAt time.Time      `db:"updated_at" json:"updatedAt"`
}

// The states of sections, entries and posts.
const (
	Published   = "published"
	Unpublished = "unpublished" // of sections
	Draft       = "draft"
	Archived    = "archived" // of entries
)

const selectSections = `
	SELECT s.id::text, s.page_id::text, s.template, s.position, s.status, s.hidden, s.content, s.version, s.updated_at
	FROM site_sections s WHERE s.site_id = $1`

// Sections finds the section of an id, or those of a page in their order.
func (c Content) Sections(ctx context.Context, id, pageID string) ([]Section, error) {
	condition, value := ` AND s.id = $2`, id
	if id == "" {
		condition, value = ` AND s.page_id = $2 ORDER BY s.position`, pageID
	}
	sections, err := list[Section](ctx, c.pool, selectSections+condition, c.site, value)
	return sections, errs.Wrap(err, "find sections")
}

// sectionsOf locks a page and gives the ids of its sections in their order.
func (c Content) sectionsOf(ctx context.Context, tx pgx.Tx, pageID string) ([]string, error) {
	if _, err := tx.Exec(ctx, `SELECT FROM site_pages WHERE id = $1 FOR UPDATE`, pageID); err != nil {
		return nil, err
	}
	return texts(ctx, tx, `SELECT id::text FROM site_sections WHERE page_id = $1 ORDER BY position`, pageID)
}

// CreateSection adds a section at a place of its page, at the end where at is nil, and gives its id.
func (c Content) CreateSection(ctx context.Context, s Section, at *int) (id string, err error) {
	err = c.write(ctx, "create a section", func(tx pgx.Tx) error {
		ids, err := c.sectionsOf(ctx, tx, s.PageID)
		if err != nil {
			return err
		}
		if id, err = c.insertSection(ctx, tx, s, len(ids)); err != nil {
			return err
		}
		if err := fits(ctx, tx, "site_sections", "page_id", s.PageID); err != nil {
			return err
		}
		return arrange(ctx, tx, "site_sections", placed(ids, id, at))
	})
	return id, err
}

func (c Content) insertSection(ctx context.Context, tx pgx.Tx, s Section, at int) (id string, err error) {
	err = tx.QueryRow(ctx, `
		INSERT INTO site_sections (site_id, page_id, template, content, status, hidden, position) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id::text`,
		c.site, s.PageID, s.Template, orEmpty(s.Content), s.Status, s.Hidden, at).Scan(&id)
	return id, err
}

// updateSection writes what of a section is different; a section that is as it was keeps its version.
func updateSection(ctx context.Context, tx pgx.Tx, s Section) error {
	_, err := tx.Exec(ctx, `
		UPDATE site_sections SET content = $2, status = $3, hidden = $4 WHERE id = $1 AND (content, status, hidden) IS DISTINCT FROM ($2::jsonb, $3::text, $4::boolean)`,
		s.ID, orEmpty(s.Content), s.Status, s.Hidden)
	return err
}

// UpdateSection lets change alter a section that nobody else changes meanwhile, and moves it where at is not nil.
func (c Content) UpdateSection(ctx context.Context, id string, at *int, change func(*Section) error) error {
	return c.write(ctx, "change a section", func(tx pgx.Tx) error {
		s, err := first[Section](ctx, tx, selectSections+` AND s.id = $2`, c.site, id)
		if err != nil {
			return err
		}
		ids, err := c.sectionsOf(ctx, tx, s.PageID)
		if err != nil {
			return err
		}
		if s, err = first[Section](ctx, tx, selectSections+` AND s.id = $2 FOR UPDATE`, c.site, id); err != nil {
			return err
		}
		if err := change(&s); err != nil {
			return err
		}
		if err := updateSection(ctx, tx, s); err != nil {
			return err
		}
		if err := fits(ctx, tx, "site_sections", "page_id", s.PageID); err != nil {
			return err
		}
		return arrange(ctx, tx, "site_sections", placed(ids, id, at))
	})
}

// DeleteSections deletes sections as they were shown; the others of their pages close ranks.
func (c Content) DeleteSections(ctx context.Context, shown []registry.Touch) error {
	return c.delete(ctx, "site_sections", shown, func(tx pgx.Tx, ids []string) error {
		_, err := tx.Exec(ctx, `
			UPDATE site_sections s SET position = o.n - 1 FROM (
				SELECT id, row_number() OVER (PARTITION BY page_id ORDER BY id = ANY ($1::uuid[]), position) AS n FROM site_sections
				WHERE page_id IN (SELECT page_id FROM site_sections WHERE id = ANY ($1::uuid[]))) o
			WHERE s.id = o.id AND s.position <> o.n - 1`, ids)
		return err
	})
}

// OrderSections puts all sections of a page into an order, in one change.
func (c Content) OrderSections(ctx context.Context, pageID string, ids []string) error {
	return c.write(ctx, "order the sections", func(tx pgx.Tx) error {
		have, err := c.sectionsOf(ctx, tx, pageID)
		if err != nil {
			return err
		}
		if subjectOf(have) != subjectOf(ids) || len(have) != len(ids) {
			return registry.Say(registry.CodeInvalidInput, said.SiteOrder, "n", len(ids), "all", len(have))
		}
		return arrange(ctx, tx, "site_sections", ids)
	})
}

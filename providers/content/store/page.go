package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

// Page is a place in the tree of a site. What stands on it are its sections.
type Page struct {
	ID        string         `db:"id" json:"id"`
	Slug      string         `db:"slug" json:"slug"`
	Name      string         `db:"name" json:"name"`
	ParentID  *string        `db:"parent_id" json:"parentId"`
	Protected bool           `db:"is_protected" json:"isProtected"` // it can't be deleted
	Indexing  bool           `db:"indexing" json:"indexing"`        // search engines may list it
	Meta      map[string]any `db:"meta" json:"meta"`
	Status    string         `db:"status" json:"status"` // published where any section of it can be seen, else draft
	Version   int64          `db:"version" json:"version"`
	UpdatedAt time.Time      `db:"updated_at" json:"updatedAt"`
	Sections  []Section      `db:"-" json:"sections,omitzero"`
	Children  []Page         `db:"-" json:"children,omitzero"`
}

const selectPages = `
	SELECT p.id::text, p.slug, p.name, p.parent_id::text, p.is_protected, p.indexing, p.meta, p.version, p.updated_at,
		CASE WHEN EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden) THEN 'published' ELSE 'draft' END AS status
	FROM site_pages p WHERE p.site_id = $1`

// PageQuery says which pages: the one of ID or Slug, those below Parent, or all.
type PageQuery struct {
	ID, Slug, Parent string
	Children         bool // with the pages below each
	Content          bool // with their sections
}

// Pages finds pages, in the order of their names.
func (c Content) Pages(ctx context.Context, q PageQuery) ([]Page, error) {
	condition, args := "", []any{c.site}
	for column, value := range map[string]string{"p.id": q.ID, "p.parent_id": q.Parent, "p.slug": q.Slug} {
		if value != "" {
			args = append(args, value)
			condition += fmt.Sprintf(` AND %s = $%d`, column, len(args))
		}
	}
	pages, err := list[Page](ctx, c.pool, selectPages+condition+` ORDER BY lower(p.name), p.slug`, args...)
	if err == nil && q.Children {
		err = c.addChildren(ctx, pages)
	}
	if err == nil && q.Content {
		err = c.addSections(ctx, pages)
	}
	if err != nil {
		return nil, fmt.Errorf("find pages: %w", err)
	}
	return pages, nil
}

func idsOf(pages []Page) []string {
	ids := make([]string, len(pages))
	for i, p := range pages {
		ids[i] = p.ID
	}
	return ids
}

func (c Content) addChildren(ctx context.Context, pages []Page) error {
	below, err := list[Page](ctx, c.pool, selectPages+` AND p.parent_id = ANY ($2::uuid[]) ORDER BY lower(p.name), p.slug`, c.site, idsOf(pages))
	if err != nil {
		return err
	}
	byParent := map[string][]Page{}
	for _, child := range below {
		byParent[*child.ParentID] = append(byParent[*child.ParentID], child)
	}
	for i := range pages {
		pages[i].Children = append([]Page{}, byParent[pages[i].ID]...)
	}
	return nil
}

func (c Content) addSections(ctx context.Context, pages []Page) error {
	sections, err := list[Section](ctx, c.pool, selectSections+` AND s.page_id = ANY ($2::uuid[]) ORDER BY s.position`, c.site, idsOf(pages))
	if err != nil {
		return err
	}
	byPage := map[string][]Section{}
	for _, s := range sections {
		byPage[s.PageID] = append(byPage[s.PageID], s)
	}
	for i := range pages {
		pages[i].Sections = append([]Section{}, byPage[pages[i].ID]...)
	}
	return nil
}

// CreatePage adds a page with its sections, if it has any, and gives its id.
func (c Content) CreatePage(ctx context.Context, p Page) (id string, err error) {
	err = c.write(ctx, "create a page", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			INSERT INTO site_pages (site_id, parent_id, slug, name, is_protected, indexing, meta) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id::text`,
			c.site, p.ParentID, p.Slug, p.Name, p.Protected, p.Indexing, orEmpty(p.Meta)).Scan(&id)
		if err != nil {
			return err
		}
		return c.putSections(ctx, tx, id, p.Sections)
	})
	return id, err
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// UpdatePage lets change alter a page with its sections, which nobody else changes meanwhile: all of it or nothing. Sections may be
// changed where they stand, and added at the end.
func (c Content) UpdatePage(ctx context.Context, id string, change func(*Page) error) error {
	return c.write(ctx, "change a page", func(tx pgx.Tx) error {
		p, err := first[Page](ctx, tx, selectPages+` AND p.id = $2 FOR UPDATE OF p`, c.site, id)
		if err != nil {
			return err
		}
		if p.Sections, err = list[Section](ctx, tx, selectSections+` AND s.page_id = $2 ORDER BY s.position FOR UPDATE`, c.site, id); err != nil {
			return err
		}
		if err := change(&p); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE site_pages SET parent_id = $2, slug = $3, name = $4, is_protected = $5, indexing = $6, meta = $7 WHERE id = $1`,
			id, p.ParentID, p.Slug, p.Name, p.Protected, p.Indexing, orEmpty(p.Meta))
		if err != nil {
			return err
		}
		return c.putSections(ctx, tx, id, p.Sections)
	})
}

// putSections writes the sections of a page, of which those without an id are new and come last.
func (c Content) putSections(ctx context.Context, tx pgx.Tx, page string, sections []Section) error {
	for at, s := range sections {
		var err error
		if s.PageID = page; s.ID == "" {
			_, err = c.insertSection(ctx, tx, s, at)
		} else {
			err = updateSection(ctx, tx, s)
		}
		if err != nil {
			return err
		}
	}
	return fits(ctx, tx, "site_sections", "page_id", page)
}

// DeletePages deletes pages as they were shown, with their sections. Pages below them move up, and items of menus that lead to them
// become placeholders.
func (c Content) DeletePages(ctx context.Context, shown []registry.Touch) error {
	return c.delete(ctx, "site_pages", shown, func(tx pgx.Tx, ids []string) error {
		for moved := int64(1); moved > 0; {
			tag, err := tx.Exec(ctx, `
				UPDATE site_pages child SET parent_id = p.parent_id FROM site_pages p
				WHERE child.parent_id = p.id AND p.id = ANY ($1::uuid[]) AND child.id <> ALL ($1::uuid[])`, ids)
			if err != nil {
				return err
			}
			moved = tag.RowsAffected()
		}
		return unlink(ctx, tx, "page_id", ids)
	})
}

// unlink makes placeholders of the menu items that lead to something that is about to go.
func unlink(ctx context.Context, tx pgx.Tx, column string, ids []string) error {
	_, err := tx.Exec(ctx, `UPDATE site_nav_items SET target_type = 'placeholder', `+column+` = NULL WHERE `+column+`::text = ANY ($1)`, ids)
	return err
}

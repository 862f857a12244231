package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Navigation is a menu.
type Navigation struct {
	ID       string `db:"id" json:"id"`
	Slug     string `db:"slug" json:"slug"`
	Title    string `db:"title" json:"title"`
	MaxItems *int   `db:"max_items" json:"maxItems,omitempty"` // nil: any number
}

const selectNavigations = `SELECT id::text, slug, title, max_items FROM site_navigations WHERE site_id = $1`

// Navigations lists the menus of a site.
func (c Content) Navigations(ctx context.Context) ([]Navigation, error) {
	found, err := list[Navigation](ctx, c.pool, selectNavigations+` ORDER BY slug`, c.site)
	return found, errs.Wrap(err, "navigations")
}

// Navigation finds a menu by its id or slug.
func (c Content) Navigation(ctx context.Context, key string) (Navigation, error) {
	found, err := first[Navigation](ctx, c.pool, selectNavigations+` AND (id::text = $2 OR slug = $2)`, c.site, key)
	return found, errs.Wrap(err, "navigation %q", key)
}

// NavItem is an item of a menu. It leads to a page, an entry, an image or an address, or nowhere (placeholder).
type NavItem struct {
	ID           string    `db:"id" json:"id"`
	NavigationID string    `db:"navigation_id" json:"navigationId"`
	ParentID     *string   `db:"parent_id" json:"parentId"`
	Label        string    `db:"label" json:"label"`
	TargetType   string    `db:"target_type" json:"targetType"`
	TargetID     *string   `db:"target_id" json:"targetId,omitempty"`
	URL          *string   `db:"url" json:"url,omitempty"`
	Visible      bool      `db:"visible" json:"visible"`
	SortOrder    int       `db:"position" json:"sortOrder"` // its place among those with the same parent, from 0
	Version      int64     `db:"version" json:"version"`
	UpdatedAt    time.Time `db:"updated_at" json:"updatedAt"`
	// TargetSlug is that of the page or entry that it leads to, TargetCollection that of the entry's collection.
	TargetSlug       string `db:"target_slug" json:"targetSlug,omitempty"`
	TargetCollection string `db:"target_collection" json:"targetCollection,omitempty"`
	// TargetShown says that visitors can see the page or entry that it leads to.
	TargetShown bool `db:"target_shown" json:"-"`
}

// The kinds of targets.
const (
	TargetPage        = "page"
	TargetEntry       = "entry"
	TargetMedia       = "media"
	TargetURL         = "url"
	TargetPlaceholder = "placeholder"
)

const selectNavItems = `
	SELECT n.id::text, n.navigation_id::text, n.parent_id::text, n.label, n.target_type, coalesce(n.page_id::text, n.entry_id::text, 'asset:' || n.image) AS target_id,
		n.url, n.visible, n.position, n.version, n.updated_at, coalesce(p.slug, e.slug, '') AS target_slug, coalesce(c.slug, '') AS target_collection,
		coalesce(e.status = 'published', p.id IS NULL OR EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden)) AS target_shown
	FROM site_nav_items n LEFT JOIN site_pages p ON p.id = n.page_id LEFT JOIN site_entries e ON e.id = n.entry_id LEFT JOIN site_collections c ON c.id = e.collection_id
	WHERE n.site_id = $1`

// NavQuery says which items: the one of ID, or those of a menu, perhaps with a label only.
type NavQuery struct {
	ID, NavigationID, Label string
	IDs                     []string
}

// NavItems finds items, in the order of their menus: those without a parent first.
func (c Content) NavItems(ctx context.Context, q NavQuery) ([]NavItem, error) {
	condition, args := "", []any{c.site}
	for _, f := range []struct{ column, value string }{{"n.id", q.ID}, {"n.navigation_id", q.NavigationID}, {"n.label", q.Label}} {
		if f.value != "" {
			args = append(args, f.value)
			condition += fmt.Sprintf(` AND %s = $%d`, f.column, len(args))
		}
	}
	if q.IDs != nil {
		args = append(args, q.IDs)
		condition += fmt.Sprintf(` AND n.id::text = ANY ($%d)`, len(args))
	}
	items, err := list[NavItem](ctx, c.pool, selectNavItems+condition+` ORDER BY n.navigation_id, n.parent_id NULLS FIRST, n.position`, args...)
	return items, errs.Wrap(err, "find items of menus")
}

// target gives the columns of what an item leads to.
func (n NavItem) target() (page, entry, image *string) {
	switch n.TargetType {
	case TargetPage:
		page = n.TargetID
	case TargetEntry:
		entry = n.TargetID
	case TargetMedia:
		if n.TargetID != nil {
			image = new(strings.TrimPrefix(*n.TargetID, assetScheme))
		}
	}
	return page, entry, image
}

// siblings locks a menu and gives the ids of the items with a parent, in their order.
func (c Content) siblings(ctx context.Context, tx pgx.Tx, navigation string, parent *string) ([]string, error) {
	if _, err := tx.Exec(ctx, `SELECT FROM site_navigations WHERE id = $1 FOR UPDATE`, navigation); err != nil {
		return nil, err
	}
	return texts(ctx, tx, `SELECT id::text FROM site_nav_items WHERE navigation_id = $1 AND parent_id IS NOT DISTINCT FROM $2::uuid ORDER BY position`, navigation, parent)
}

// CreateNavItem adds an item to a menu, at the end where at is nil, and gives its id.
func (c Content) CreateNavItem(ctx context.Context, n NavItem, at *int) (id string, err error) {
	err = c.write(ctx, "create an item of a menu", func(tx pgx.Tx) error {
		ids, err := c.siblings(ctx, tx, n.NavigationID, n.ParentID)
		if err != nil {
			return err
		}
		if err := c.checkRoom(ctx, tx, n.NavigationID); err != nil {
			return err
		}
		page, entry, image := n.target()
		err = tx.QueryRow(ctx, `
			INSERT INTO site_nav_items (site_id, navigation_id, parent_id, label, target_type, page_id, entry_id, image, url, visible, position)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id::text`,
			c.site, n.NavigationID, n.ParentID, n.Label, n.TargetType, page, entry, image, n.URL, n.Visible, len(ids)).Scan(&id)
		if err != nil {
			return err
		}
		return arrange(ctx, tx, "site_nav_items", placed(ids, id, at))
	})
	return id, err
}

// checkRoom refuses an item for which a menu has no room.
func (c Content) checkRoom(ctx context.Context, tx pgx.Tx, navigation string) error {
	var most *int
	var have int
	err := tx.QueryRow(ctx, `SELECT max_items, (SELECT count(*) FROM site_nav_items WHERE navigation_id = n.id) FROM site_navigations n WHERE id = $1`, navigation).Scan(&most, &have)
	if err == nil && most != nil && have >= *most {
		err = registry.Say(registry.CodeInvalidInput, said.SiteMenuFull, "n", have)
	}
	return err
}

// UpdateNavItem lets change alter an item that nobody else changes meanwhile, and moves it where at is not nil or its parent changed.
func (c Content) UpdateNavItem(ctx context.Context, id string, at *int, change func(*NavItem) error) error {
	return c.write(ctx, "change an item of a menu", func(tx pgx.Tx) error {
		n, err := first[NavItem](ctx, tx, selectNavItems+` AND n.id = $2 FOR UPDATE OF n`, c.site, id)
		if err != nil {
			return err
		}
		if err := change(&n); err != nil {
			return err
		}
		ids, err := c.siblings(ctx, tx, n.NavigationID, n.ParentID)
		if err != nil {
			return err
		}
		page, entry, image := n.target()
		_, err = tx.Exec(ctx, `
			UPDATE site_nav_items SET parent_id = $2, label = $3, target_type = $4, page_id = $5, entry_id = $6, image = $7, url = $8, visible = $9,
				position = CASE WHEN parent_id IS NOT DISTINCT FROM $2::uuid THEN position ELSE $10 END
			WHERE id = $1`, id, n.ParentID, n.Label, n.TargetType, page, entry, image, n.URL, n.Visible, len(ids))
		if err != nil {
			return err
		}
		return arrange(ctx, tx, "site_nav_items", placed(ids, id, at))
	})
}

// DeleteNavItems deletes items as they were shown. Those below them move up, to the end.
func (c Content) DeleteNavItems(ctx context.Context, shown []registry.Touch) error {
	return c.delete(ctx, "site_nav_items", shown, func(tx pgx.Tx, ids []string) error {
		for moved := int64(1); moved > 0; {
			tag, err := tx.Exec(ctx, `
				UPDATE site_nav_items child SET parent_id = n.parent_id, position = child.position + 1000000 FROM site_nav_items n
				WHERE child.parent_id = n.id AND n.id = ANY ($1::uuid[]) AND child.id <> ALL ($1::uuid[])`, ids)
			if err != nil {
				return err
			}
			moved = tag.RowsAffected()
		}
		_, err := tx.Exec(ctx, `
			UPDATE site_nav_items n SET position = o.n - 1 FROM (
				SELECT id, row_number() OVER (PARTITION BY navigation_id, parent_id ORDER BY id = ANY ($1::uuid[]), position, id) AS n FROM site_nav_items
				WHERE navigation_id IN (SELECT navigation_id FROM site_nav_items WHERE id = ANY ($1::uuid[]))) o
			WHERE n.id = o.id AND n.position <> o.n - 1`, ids)
		return err
	})
}

// Package store keeps what sites are made of in Postgres: pages with their sections, collections with entries, of which posts are
// one kind, menus, images, and who may change them.
//
// What must hold is said in SQL (migration 0310): slugs, trees without cycles, orders without gaps, references that lead somewhere.
// Every change leaves the row as it was in site_history, and what is deleted can be brought back from there for 30 days.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// House is the slug of the site that is there from the start.
const House = "house"

// ErrNotFound is wrapped where a site has no such thing.
var ErrNotFound = errors.New("there is no such thing in this site")

// Store finds sites and who works on them.
type Store struct {
	pool    database
	changes atomic.Int64
}

// New returns a Store.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// database is a pool, or a transaction.
type database interface {
	querier
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Rehearse gives do a Store that changes what this one has, seen by nobody else, and takes all of it back afterwards. It is for one goroutine.
func (s *Store) Rehearse(ctx context.Context, do func(*Store) error) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("rehearse: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // a connection that is lost has nothing to take back
	return do(&Store{pool: tx})
}

// Changes counts what this process has changed: who keeps something that was made of contents looks again when it differs. What other
// processes change is told by Site.Version.
func (s *Store) Changes() int64 { return s.changes.Load() }

// Content is what is in one site, changed in the name of one account.
type Content struct {
	pool    database
	site    string // id
	by      string // account; empty: nobody's
	changes *atomic.Int64
}

// In gives the content of a site. by is the account that changes it, for the history; it may be empty.
func (s *Store) In(site Site, by string) Content { return Content{s.pool, site.ID, by, &s.changes} }

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// list collects rows by the names of their columns.
func list[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
}

// first gives the only row, or ErrNotFound.
func first[T any](ctx context.Context, q querier, sql string, args ...any) (T, error) {
	found, err := list[T](ctx, q, sql, args...)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}

// texts collects rows of one text.
func texts(ctx context.Context, q querier, sql string, args ...any) ([]string, error) {
	rows, _ := q.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// write makes a transaction whose changes stand in the history under the account. Errors of constraints are put into words.
func (c Content) write(ctx context.Context, what string, f func(tx pgx.Tx) error) error {
	err := postgres.InTx(ctx, c.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT set_config('site.by', $1, true)`, c.by); err != nil {
			return err
		}
		return f(tx)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, told(err))
	}
	c.changes.Add(1)
	return nil
}

// refusals are what constraints say, for people, by their names.
var refusals = map[string]struct {
	field string
	text  said.Text
}{
	"site_slug":                   {"slug", said.SiteSlugForm.With()},
	"site_name":                   {"name", said.Text{Words: "a name is needed"}},
	"site_title":                  {"title", said.Text{Words: "a title is needed"}},
	"site_label":                  {"label", said.Text{Words: "a label is needed"}},
	"site_pages_slug":             {"slug", said.SiteSlugPage.With()},
	"site_pages_parent":           {"parentId", said.SitePageUnknown.With()},
	"site_tree":                   {"parentId", said.SiteBelowItself.With()},
	"site_sections_page":          {"pageId", said.SitePageUnknown.With()},
	"site_address":                {"slug", said.SiteAddress.With()},
	"site_locale":                 {"locale", said.SiteLocaleTaken.With()},
	"site_translations_of_page":   {"id", said.SitePageUnknown.With()},
	"site_translations_of_entry":  {"id", said.Text{Words: "there is no entry with this id: getEntry finds it"}},
	"site_entries_slug":           {"slug", said.SiteSlugEntry.With()},
	"site_posts_slug":             {"slug", said.SiteSlugPost.With()},
	"site_entries_collection":     {"collectionId", said.Text{Words: "there is no such collection"}},
	"site_entries_image":          {"featuredImage", said.Text{Words: "there is no image with this id: getImage finds it"}},
	"site_nav_items_parent":       {"parentId", said.Text{Words: "there is no item with this id in this navigation: getNavItem finds it"}},
	"site_nav_items_target":       {"targetId", said.SitePageUnknown.With()},
	"site_nav_items_target_entry": {"targetId", said.Text{Words: "there is no entry with this id: getEntry finds it"}},
	"site_nav_items_target_image": {"targetId", said.Text{Words: "there is no image with this id: getImage finds it"}},
	"site_nav_items_leads":        {"targetType", said.Text{Words: "page, entry and media need a targetId, url needs a url, placeholder needs neither"}},
	"site_images_hash_fkey":       {"buffer", said.Text{Words: "the file is not stored here any more: send it again"}},
	"site_members_site_id_fkey":   {"siteId", said.Text{Words: "there is no such site"}},
	"site_nav_items_navigation":   {"navigationId", said.Text{Words: "there is no such navigation"}},
	"site_sections_order":         {"sortOrder", said.Text{Words: "the order was changed by somebody else at the same moment: try again"}},
	"site_nav_items_order":        {"sortOrder", said.Text{Words: "the order was changed by somebody else at the same moment: try again"}},
}

// told puts the refusal of a constraint into words; other errors stay what they are.
func told(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	words, known := refusals[refused.ConstraintName]
	if !known {
		return err
	}
	return registry.SayText(registry.CodeInvalidInput, words.text).At(words.field).Because(err)
}

// mostHeld bounds what a page with its sections, an entry, or what is said of one of these in another language holds, in bytes as Postgres writes it: some
// 150,000 words. Making a page takes a time and memory that grow with it.
const mostHeld = 1 << 20

// fits refuses rows of a table that hold too much together, as they are after a change: those that have an id in a column.
func fits(ctx context.Context, tx pgx.Tx, table, column, id string) error {
	var held int
	if err := tx.QueryRow(ctx, `SELECT coalesce(sum(octet_length(t::text)), 0) FROM `+table+` t WHERE `+column+` = $1`, id).Scan(&held); err != nil {
		return err
	}
	if held > mostHeld {
		return registry.Say(registry.CodeInvalidInput, said.SiteTooLong, "n", held, "most", mostHeld).At("content")
	}
	return nil
}

// isID reports whether a text can be asked for as an id.
func isID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil && len(s) == 36
}

// arrange writes the order of rows of a table, all of which have the same parent.
func arrange(ctx context.Context, tx pgx.Tx, table string, ids []string) error {
	_, err := tx.Exec(ctx, `UPDATE `+table+` t SET position = o.n - 1 FROM unnest($1::uuid[]) WITH ORDINALITY o (id, n) WHERE t.id = o.id AND t.position <> o.n - 1`, ids)
	return err
}

// placed gives ids with one of them, or a new one, at a place. Beyond the end is the end; nil leaves one that is there and appends a
// new one.
func placed(ids []string, id string, at *int) []string {
	var rest []string
	here := len(ids)
	for i, other := range ids {
		if other == id {
			here = i
			continue
		}
		rest = append(rest, other)
	}
	if at != nil {
		here = *at
	}
	here = min(max(here, 0), len(rest))
	return append(rest[:here:here], append([]string{id}, rest[here:]...)...)
}

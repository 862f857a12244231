package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
)

// Site is what people visit under one address.
type Site struct {
	ID          string `db:"id" json:"id"`
	Slug        string `db:"slug" json:"slug"`
	Title       string `db:"title" json:"title"`
	Description string `db:"description" json:"description"`
	Language    string `db:"language" json:"language"` // BCP 47
	// Version changes whenever anything in the site does.
	Version int64    `db:"version" json:"version"`
	Locales []string `db:"locales" json:"locales"` // other languages in which something of it was written
	// Grouped says that it is a group's, and MembersAre what those are in it who don't run the group. Off: nobody sees it.
	Grouped    bool `db:"grouped" json:"-"`
	MembersAre Role `db:"members_are" json:"membersAre,omitempty"`
	Off        bool `db:"off" json:"-"`
}

const selectSites = `
	SELECT s.id::text, s.slug, s.title, s.description, s.language, s.version, s.locales, s.platform IS NOT NULL AS grouped,
		CASE WHEN s.platform IS NOT NULL THEN s.members_are ELSE '' END AS members_are, s.off_since IS NOT NULL AS off
	FROM sites s`

// Role is what an account may do in a site.
type Role string

// The roles. An owner may all and says who else may; an editor changes and publishes all; an author writes posts and entries as
// drafts, changes their own and brings images. Who has none sees what everybody sees.
const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Author Role = "author"
	None   Role = "none"
)

// ranks has the roles, the least first.
var ranks = []Role{None, Author, Editor, Owner}

// Covers reports whether a role is at least another.
func (r Role) Covers(least Role) bool { return slices.Index(ranks, r) >= slices.Index(ranks, least) }

// higher is the higher one of two roles.
func higher(a, b Role) Role {
	if a.Covers(b) {
		return a
	}
	return b
}

// Site finds a site by its slug.
func (s *Store) Site(ctx context.Context, slug string) (Site, error) {
	site, err := first[Site](ctx, s.pool, selectSites+` WHERE s.slug = $1`, slug)
	return site, errs.Wrap(err, "site %q", slug)
}

// Describe changes what a site says of itself.
func (s *Store) Describe(ctx context.Context, site Site) error {
	_, err := s.pool.Exec(ctx, `UPDATE sites SET title = $2, description = $3, language = $4, version = version + 1 WHERE id = $1`, site.ID, site.Title, site.Description, site.Language)
	if err != nil {
		return fmt.Errorf("describe the site %s: %w", site.Slug, err)
	}
	s.changes.Add(1)
	return nil
}

// Role is what an account may do in a site: what an owner has said or, for some hours after it was seen there, what its group says,
// whichever is more. It is None where nobody has said, and for everybody while the site is switched off.
func (s *Store) Role(ctx context.Context, site Site, account string) (Role, error) {
	if !isID(account) {
		return None, nil
	}
	var own, byChat Role
	err := s.pool.QueryRow(ctx, `
		WITH who AS (SELECT coalesce((SELECT merged_into FROM users WHERE id = $2), $2) AS id)
		SELECT coalesce((SELECT role FROM site_members WHERE site_id = s.id AND account_id = who.id), 'none'),
			coalesce((SELECT CASE WHEN admin THEN 'editor' ELSE s.members_are END FROM site_chat_roles
				WHERE site_id = s.id AND account_id = who.id AND told_at > now() - make_interval(secs => $3)), 'none')
		FROM sites s, who WHERE s.id = $1 AND s.off_since IS NULL`, site.ID, account, chatRoleFor.Seconds()).Scan(&own, &byChat)
	if errors.Is(err, pgx.ErrNoRows) {
		return None, nil
	}
	if err != nil {
		return None, fmt.Errorf("role of %s in %s: %w", account, site.Slug, err)
	}
	return higher(own, byChat), nil
}

// SetRole says what an account may do in a site.
func (s *Store) SetRole(ctx context.Context, site Site, account string, role Role) error {
	var err error
	if role == None {
		_, err = s.pool.Exec(ctx, `DELETE FROM site_members WHERE site_id = $1 AND account_id = $2`, site.ID, account)
	} else {
		_, err = s.pool.Exec(ctx, `
			INSERT INTO site_members (site_id, account_id, role) VALUES ($1, $2, $3)
			ON CONFLICT (site_id, account_id) DO UPDATE SET role = excluded.role`, site.ID, account, role)
	}
	if err != nil {
		return fmt.Errorf("make %s %s of %s: %w", account, role, site.Slug, told(err))
	}
	return nil
}

// Member is an account with a role.
type Member struct {
	Account string `db:"account" json:"account"`
	Role    Role   `db:"role" json:"role"`
}

// Members lists who has a role in a site.
func (s *Store) Members(ctx context.Context, site Site) ([]Member, error) {
	members, err := list[Member](ctx, s.pool, `SELECT account_id::text AS account, role FROM site_members WHERE site_id = $1 ORDER BY role, account_id`, site.ID)
	return members, errs.Wrap(err, "members of %s", site.Slug)
}

// Adopt gives the roles of an account to the one that it is merged into; of two the higher one holds.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		WITH moved AS (DELETE FROM site_members WHERE account_id = $1 RETURNING site_id, role)
		INSERT INTO site_members AS m (site_id, account_id, role) SELECT site_id, $2, role FROM moved
		ON CONFLICT (site_id, account_id) DO UPDATE SET role = CASE
			WHEN 'owner' IN (m.role, excluded.role) THEN 'owner' WHEN 'editor' IN (m.role, excluded.role) THEN 'editor' ELSE 'author' END`, from, into)
	if err != nil {
		return fmt.Errorf("give the roles of %s in sites to %s: %w", from, into, err)
	}
	for _, sql := range []string{`DELETE FROM site_chat_roles WHERE account_id = $1`, `DELETE FROM site_shown WHERE account_id = $1`} { // both are told anew
		if _, err := tx.Exec(ctx, sql, from); err != nil {
			return fmt.Errorf("give what chats say of %s to %s: %w", from, into, err)
		}
	}
	return nil
}

// Forget takes an account's roles, and its name from the history. What it wrote is the site's and stays.
func Forget(ctx context.Context, tx pgx.Tx, account string) error {
	for _, sql := range []string{
		`DELETE FROM site_members WHERE account_id = $1`, `DELETE FROM site_shown WHERE account_id = $1`, `DELETE FROM site_chat_roles WHERE account_id = $1`,
		`UPDATE site_history SET changed_by = NULL WHERE changed_by = $1`, `UPDATE site_entries SET written_by = NULL WHERE written_by = $1`,
	} {
		if _, err := tx.Exec(ctx, sql, account); err != nil {
			return fmt.Errorf("forget %s in sites: %w", account, err)
		}
	}
	return nil
}

// keptFor is how long what was deleted can be brought back, and keptVersions how many versions of a thing are kept.
const (
	keptFor      = 30 * 24 * time.Hour
	keptVersions = 50
	shownFor     = 30 * time.Minute
)

// Sweep empties the bin of what has been there for 30 days and forgets the oldest versions. Any number of processes may do so.
func (s *Store) Sweep(ctx context.Context) error {
	for sql, arg := range map[string]any{
		`DELETE FROM site_history WHERE deleted AND changed_at < now() - make_interval(secs => $1)`: keptFor.Seconds(),
		`DELETE FROM site_history WHERE id IN (
			SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY site_id, kind, item_id ORDER BY id DESC) AS n FROM site_history) h WHERE n > $1)`: keptVersions,
		`DELETE FROM site_shown WHERE shown_at < now() - make_interval(secs => $1)`:     shownFor.Seconds(),
		`DELETE FROM site_chat_roles WHERE told_at < now() - make_interval(secs => $1)`: chatRoleFor.Seconds(),
	} {
		if _, err := s.pool.Exec(ctx, sql, arg); err != nil {
			return fmt.Errorf("empty the bins of sites: %w", err)
		}
	}
	return nil
}

// Export writes the roles of an account in sites, and what it wrote there.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"site/roles.json", `SELECT s.slug AS site, s.title, m.role FROM site_members m JOIN sites s ON s.id = m.site_id WHERE m.account_id = $1 ORDER BY s.slug`},
		{"site/chat_roles.json", `SELECT s.slug AS site, s.title, m.admin FROM site_chat_roles m JOIN sites s ON s.id = m.site_id WHERE m.account_id = $1 ORDER BY s.slug`},
		{"site/entries.json", `SELECT s.slug AS site, c.slug AS collection, e.slug, e.title, e.content, e.status, e.author, e.excerpt, e.category, e.featured_image, e.published_at, e.created_at, e.updated_at
			FROM site_entries e JOIN sites s ON s.id = e.site_id JOIN site_collections c ON c.id = e.collection_id WHERE e.written_by = $1 ORDER BY e.created_at`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}

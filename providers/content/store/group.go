package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// Group is a chat that may have a site of its own.
type Group struct {
	Platform, Place string // Place is the platform's id of the chat
}

// chatRoleFor is how long what a chat has said of somebody counts outside of it, where nobody can be asked; chatRoleFresh is how long nobody is.
const (
	chatRoleFor   = 4 * time.Hour
	chatRoleFresh = 5 * time.Minute
)

// OfGroup finds the site of a group, also one that is switched off.
func (s *Store) OfGroup(ctx context.Context, g Group) (Site, error) {
	site, err := first[Site](ctx, s.pool, selectSites+` WHERE s.platform = $1 AND s.place = $2`, g.Platform, g.Place)
	return site, errs.Wrap(err, "site of a group")
}

// taken are slugs that mean something else below the house's start.
var taken = []string{"static", "media", "preview", "card", "search", "home", House}

// shortest is how long the slug of a group's site is at least: shorter ones are languages.
const shortest = 4

// addressFor makes the n-th slug to try out of the one that is wished for.
func addressFor(wish string, n int) string {
	switch {
	case wish == "":
		wish = "group"
	case len(wish) < shortest || slices.Contains(taken, wish):
		wish = "group-" + wish
	}
	if n > 1 {
		return fmt.Sprint(wish, "-", n)
	}
	return wish
}

// mostAlike is how many sites may have the same name.
const mostAlike = 1000

// SwitchOn gives a group a site, or the one back that it had. like has the slug that is wished for, title and language of a new one. Who
// switches it on owns it.
func (s *Store) SwitchOn(ctx context.Context, g Group, like Site, by string) (Site, error) {
	for n := 1; n <= mostAlike; n++ {
		like.Slug = addressFor(like.Slug, 1)
		err := s.switchOn(ctx, g, addressFor(like.Slug, n), like, by)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && (refused.ConstraintName == "sites_slug_key" || refused.ConstraintName == "site_address") {
			continue
		}
		if err != nil {
			return Site{}, fmt.Errorf("switch on the site of a group: %w", err)
		}
		s.changes.Add(1)
		return s.OfGroup(ctx, g)
	}
	return Site{}, registry.Errorf(registry.CodeInvalidInput, "there are too many sites with the name %q: rename the group", like.Title)
}

func (s *Store) switchOn(ctx context.Context, g Group, slug string, like Site, by string) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var id string
		err := tx.QueryRow(ctx, `
			INSERT INTO sites (slug, title, language, platform, place) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (platform, place) DO UPDATE SET off_since = NULL, version = sites.version + 1 RETURNING id::text`, slug, like.Title, like.Language, g.Platform, g.Place).Scan(&id)
		if err != nil {
			return err
		}
		for _, sql := range []string{ // what the house's has from the start
			`INSERT INTO site_navigations (site_id, slug, title) VALUES ($1, 'main', 'Main menu'), ($1, 'footer', 'Footer') ON CONFLICT DO NOTHING`,
			`INSERT INTO site_collections (site_id, slug, title, kind) VALUES ($1, 'blog', 'Blog', 'post'), ($1, 'glossary', 'Glossary', 'entry') ON CONFLICT DO NOTHING`,
		} {
			if _, err := tx.Exec(ctx, sql, id); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO site_members (site_id, account_id, role) VALUES ($1, $2, 'owner') ON CONFLICT (site_id, account_id) DO UPDATE SET role = 'owner'`, id, by)
		return err
	})
}

// SwitchOff hides the site of a group from everybody. Nothing of it is lost: SwitchOn shows it again.
func (s *Store) SwitchOff(ctx context.Context, site Site) error {
	_, err := s.pool.Exec(ctx, `UPDATE sites SET off_since = now(), version = version + 1 WHERE id = $1 AND platform IS NOT NULL AND off_since IS NULL`, site.ID)
	if err != nil {
		return fmt.Errorf("switch off the site %s: %w", site.Slug, err)
	}
	s.changes.Add(1)
	return nil
}

// MembersAre says what those are in a group's site who don't run the group: Editor, Author or None.
func (s *Store) MembersAre(ctx context.Context, site Site, role Role) error {
	_, err := s.pool.Exec(ctx, `UPDATE sites SET members_are = $2 WHERE id = $1 AND platform IS NOT NULL`, site.ID, role)
	return errs.Wrap(err, "make the members of the group %s of %s", role, site.Slug)
}

// SeenIn takes note that an account writes in the group of a site, and whether it runs the group. For some hours that is its role.
func (s *Store) SeenIn(ctx context.Context, site Site, account string, admin bool) error {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO site_chat_roles (site_id, account_id, admin) VALUES ($1, $2, $3)
		ON CONFLICT (site_id, account_id) DO UPDATE SET admin = excluded.admin, told_at = now()
			WHERE site_chat_roles.admin <> excluded.admin OR site_chat_roles.told_at < now() - interval '1 minute'`, site.ID, account, admin)
	return errs.Wrap(err, "note who is in the group of %s", site.Slug)
}

// AskAgain gives the group of a site where what it has said of an account counts and is no news any more, and the account by today's id; else the
// zero Group.
func (s *Store) AskAgain(ctx context.Context, site Site, account string) (g Group, today string, err error) {
	if !isID(account) {
		return g, "", nil
	}
	err = s.pool.QueryRow(ctx, `
		SELECT s.platform, s.place, r.account_id::text FROM sites s JOIN site_chat_roles r ON r.site_id = s.id
		WHERE s.id = $1 AND s.platform IS NOT NULL AND r.account_id = coalesce((SELECT merged_into FROM users WHERE id = $2), $2)
			AND r.told_at BETWEEN now() - make_interval(secs => $3) AND now() - make_interval(secs => $4)`,
		site.ID, account, chatRoleFor.Seconds(), chatRoleFresh.Seconds()).Scan(&g.Platform, &g.Place, &today)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return g, "", fmt.Errorf("what the group of %s says of %s: %w", site.Slug, account, err)
	}
	return g, today, nil
}

// GoneFrom takes note that an account is not in the group of a site any more.
func (s *Store) GoneFrom(ctx context.Context, site Site, account string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM site_chat_roles WHERE site_id = $1 AND account_id = $2`, site.ID, account)
	return errs.Wrap(err, "note who left the group of %s", site.Slug)
}

// GroupSites lists the slugs of all sites of groups that are on.
func (s *Store) GroupSites(ctx context.Context) ([]string, error) {
	slugs, err := texts(ctx, s.pool, `SELECT slug FROM sites WHERE platform IS NOT NULL AND off_since IS NULL`)
	if err != nil {
		return nil, fmt.Errorf("sites of groups: %w", err)
	}
	return slugs, nil
}

// Sites lists the sites that an account may have a role in by account or by chat, the house's first. What the role is, Role tells.
func (s *Store) Sites(ctx context.Context, account string) ([]Site, error) {
	sites, err := list[Site](ctx, s.pool, selectSites+`
		WHERE s.platform IS NULL OR s.off_since IS NULL AND s.id IN (
			SELECT site_id FROM site_members WHERE account_id = $1 UNION SELECT site_id FROM site_chat_roles WHERE account_id = $1)
		ORDER BY s.platform IS NOT NULL, lower(s.title), s.slug`, account)
	return sites, errs.Wrap(err, "sites of %s", account)
}

// MoveChat gives the site of a chat to the id under which its platform goes on with it. One that was switched on there meanwhile gives way as long
// as nobody has made anything in it: it is hidden, and the older one is on as it was. Where it has something, it is the group's from now on, and the
// older one stays at its address, for its owner and who else has a role there by account.
func MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	_, err := tx.Exec(ctx, `
		WITH blank AS (
			SELECT t.id, t.off_since FROM sites t WHERE t.platform = $1 AND t.place = $3
				AND EXISTS (SELECT FROM sites f WHERE f.platform = $1 AND f.place = $2)
				AND NOT EXISTS (SELECT FROM site_pages WHERE site_id = t.id)
				AND NOT EXISTS (SELECT FROM site_entries WHERE site_id = t.id)
				AND NOT EXISTS (SELECT FROM site_images WHERE site_id = t.id)),
		hidden AS (UPDATE sites t SET place = $3 || ' gave way ' || t.id, off_since = coalesce(t.off_since, now()), version = t.version + 1 FROM blank WHERE t.id = blank.id)
		UPDATE sites f SET off_since = blank.off_since FROM blank WHERE f.platform = $1 AND f.place = $2`, platform, from, to)
	if err != nil {
		return fmt.Errorf("hide the blank site of the %s chat %s: %w", platform, to, err)
	}
	_, err = tx.Exec(ctx, `
		UPDATE sites SET place = $3, version = version + 1
		WHERE platform = $1 AND place = $2 AND NOT EXISTS (SELECT FROM sites t WHERE t.platform = $1 AND t.place = $3)`, platform, from, to)
	return errs.Wrap(err, "move the site of the %s chat %s to %s", platform, from, to)
}

package store

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Place is something that visitors find in a site: a page or an entry that is published.
type Place struct {
	Kind       string    `db:"kind"` // page or entry
	Slug       string    `db:"slug"`
	Collection string    `db:"collection"` // of an entry
	Title      string    `db:"title"`
	Text       string    `db:"text"`   // around what was searched for
	Locale     string    `db:"locale"` // empty: the site's language
	UpdatedAt  time.Time `db:"updated_at"`
}

// open holds for pages p that everybody may see.
const open = `EXISTS (SELECT FROM site_sections o WHERE o.page_id = p.id AND o.status = 'published' AND NOT o.hidden) AND coalesce(p.meta ->> 'access', '') <> 'members'`

// Places lists all that search engines may list.
func (c Content) Places(ctx context.Context) ([]Place, error) {
	places, err := list[Place](ctx, c.pool, `
		SELECT 'page' AS kind, p.slug, '' AS collection, p.name AS title, greatest(p.updated_at, (SELECT max(s.updated_at) FROM site_sections s WHERE s.page_id = p.id)) AS updated_at
		FROM site_pages p WHERE p.site_id = $1 AND p.indexing AND `+open+`
		UNION ALL SELECT 'entry', e.slug, c.slug, e.title, e.updated_at FROM site_entries e JOIN site_collections c ON c.id = e.collection_id
		WHERE e.site_id = $1 AND e.status = 'published' ORDER BY kind DESC, collection, slug`, c.site)
	if err != nil {
		return nil, fmt.Errorf("places of a site: %w", err)
	}
	return places, nil
}

// ranked is how many matches are compared: a word that stands everywhere says little about any place.
const ranked = 300

// searchWords is what visitors look for as a query of Postgres; empty: nothing.
func searchWords(query string) string {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words[:min(len(words), 12)], " & ") + ":*"
}

// Search finds what visitors look for by all of the words, the last of which may be the beginning of one. The best come first.
func (c Content) Search(ctx context.Context, query string, limit int) ([]Place, error) {
	words := searchWords(query)
	if words == "" {
		return nil, nil
	}
	places, err := list[Place](ctx, c.pool, `
		WITH matching AS MATERIALIZED ( -- by the index alone: a limit here would lead to reading the whole table
			SELECT s.id FROM site_sections s
			WHERE s.site_id = $1 AND s.status = 'published' AND NOT s.hidden AND to_tsvector('simple'::regconfig, s.content) @@ to_tsquery('simple', $2)),
		matching_entries AS MATERIALIZED (
			SELECT e.id FROM site_entries e
			WHERE e.site_id = $1 AND e.status = 'published' AND (to_tsvector('simple'::regconfig, e.title) || to_tsvector('simple'::regconfig, e.content)) @@ to_tsquery('simple', $2)),
		sections AS (SELECT s.page_id, s.content, s.updated_at FROM site_sections s WHERE s.id IN (SELECT id FROM matching LIMIT $4)),
		entries AS (SELECT e.* FROM site_entries e WHERE e.id IN (SELECT id FROM matching_entries LIMIT $4)),
		found AS (
			SELECT p.id, 'page' AS kind, p.slug, '' AS collection, p.name AS title, s.content, s.updated_at, ts_rank(to_tsvector('simple'::regconfig, s.content), to_tsquery('simple', $2)) AS rank
			FROM sections s JOIN site_pages p ON p.id = s.page_id WHERE coalesce(p.meta ->> 'access', '') <> 'members'
			UNION ALL SELECT e.id, 'entry', e.slug, c.slug, e.title, e.content, e.updated_at,
				ts_rank(to_tsvector('simple'::regconfig, e.title) || to_tsvector('simple'::regconfig, e.content), to_tsquery('simple', $2))
			FROM entries e JOIN site_collections c ON c.id = e.collection_id),
		best AS (SELECT DISTINCT ON (id) * FROM found ORDER BY id, rank DESC),
		top AS (SELECT * FROM best ORDER BY rank DESC, updated_at DESC LIMIT $3)
		SELECT kind, slug, collection, title, updated_at, ts_headline('simple', (SELECT coalesce(string_agg(v #>> '{}', ' '), '') FROM jsonb_path_query(content, '$.** ? (@.type() == "string" && !(@ starts with "asset:"))') v),
			to_tsquery('simple', $2), 'StartSel="", StopSel="", MaxWords=30, MinWords=12') AS text
		FROM top ORDER BY rank DESC, updated_at DESC`, c.site, words, limit, ranked)
	if err != nil {
		return nil, fmt.Errorf("search a site: %w", err)
	}
	return places, nil
}

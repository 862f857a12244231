package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/internal/errs"
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
	return places, errs.Wrap(err, "places of a site")
}

// ranked is how many matches are compared: a word that stands everywhere says little about any place.
const ranked = 300

// searchSQL finds what visitors look for in a language; empty: the site's own. The matches are taken from the index as a whole: a limit there
// would lead to reading the table.
const searchSQL = `
	WITH matching AS MATERIALIZED (SELECT kind, item_id, locale FROM site_words WHERE site_id = $1 AND locale = $5 AND words @@ to_tsquery('simple', $2)),
	compared AS (SELECT kind, item_id, locale FROM matching LIMIT $4),
	top AS (
		SELECT w.kind, w.item_id, w.locale, ts_rank(w.words, to_tsquery('simple', $2)) AS rank FROM compared JOIN site_words w USING (kind, item_id, locale)
		ORDER BY rank DESC, w.item_id LIMIT $3)
	SELECT kind, slug, collection, locale, title, updated_at, content FROM (
		SELECT t.rank, t.kind, p.slug, '' AS collection, t.locale, coalesce(nullif(l.title, ''), p.name) AS title, greatest(max(s.updated_at), l.updated_at) AS updated_at,
				jsonb_agg(s.content || coalesce(l.content -> s.id::text, '{}') ORDER BY s.position) AS content
			FROM top t JOIN site_pages p ON t.kind = 'page' AND p.id = t.item_id JOIN site_sections s ON s.page_id = p.id AND s.status = 'published' AND NOT s.hidden
			LEFT JOIN site_translations l ON l.page_id = p.id AND l.locale = t.locale
			GROUP BY t.rank, t.kind, p.id, t.locale, l.id
		UNION ALL SELECT t.rank, t.kind, e.slug, c.slug, t.locale, coalesce(nullif(l.title, ''), e.title), greatest(e.updated_at, l.updated_at),
				jsonb_build_array(coalesce(l.about, e.excerpt), e.content || coalesce(l.content, '{}'))
			FROM top t JOIN site_entries e ON t.kind = 'entry' AND e.id = t.item_id JOIN site_collections c ON c.id = e.collection_id
			LEFT JOIN site_translations l ON l.entry_id = e.id AND l.locale = t.locale) found
	ORDER BY rank DESC, updated_at DESC, slug`

// Search finds what visitors look for in a language, empty: the site's own, by all of the words, the last of which may be the beginning of
// one. The best come first: words of a title weigh more.
func (c Content) Search(ctx context.Context, locale, query string, limit int) ([]Place, error) {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return nil, nil
	}
	words = words[:min(len(words), 12)]
	found, err := list[struct {
		Place
		Content any `db:"content"`
	}](ctx, c.pool, searchSQL, c.site, strings.Join(words, " & ")+":*", limit, ranked, locale)
	if err != nil {
		return nil, fmt.Errorf("search a site: %w", err)
	}
	places := make([]Place, len(found))
	for i, f := range found {
		places[i] = f.Place
		places[i].Text = around(strings.Fields(strings.Join(textsIn(nil, f.Content), " ")), words)
	}
	return places, nil
}

// textsIn adds the texts in a JSON value, in the order of the names of members; references to files are none.
func textsIn(texts []string, value any) []string {
	switch v := value.(type) {
	case string:
		if !strings.HasPrefix(v, assetScheme) {
			texts = append(texts, v)
		}
	case []any:
		for _, item := range v {
			texts = textsIn(texts, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = textsIn(texts, v[name])
		}
	}
	return texts
}

// The length of what is shown of a text that was found, and how much of it stands before the word that was looked for, in words.
const (
	shownWords  = 30
	wordsBefore = 8
)

// around gives the part of a text where the first of the words stands that were looked for, or its beginning.
func around(text, words []string) string {
	at := slices.IndexFunc(text, func(word string) bool {
		word = strings.ToLower(strings.TrimLeftFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		return slices.ContainsFunc(words, func(wanted string) bool { return strings.HasPrefix(word, wanted) })
	})
	from := max(at-wordsBefore, 0)
	return strings.Join(text[from:min(from+shownWords, len(text))], " ")
}

package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Translation is what a page or an entry says in another language than its site's. What it does not say is said in the site's language.
type Translation struct {
	ID        string         `db:"id" json:"id"`
	PageID    *string        `db:"page_id" json:"-"`
	EntryID   *string        `db:"entry_id" json:"-"`
	Locale    string         `db:"locale" json:"locale"`
	Title     string         `db:"title" json:"title"`           // the page's name or the entry's title
	About     string         `db:"about" json:"about,omitempty"` // a page's description, an entry's excerpt
	Content   map[string]any `db:"content" json:"content"`       // of an entry, or of a page's sections by their ids
	Status    string         `db:"status" json:"status"`         // Draft or Published
	PublishAt *time.Time     `db:"publish_at" json:"publishAt,omitempty"`
	Version   int64          `db:"version" json:"version"`
	UpdatedAt time.Time      `db:"updated_at" json:"updatedAt"`
	Base      string         `db:"base" json:"-"` // the title in the site's language
}

// Of is the id of the page or entry.
func (t Translation) Of() string {
	if t.PageID != nil {
		return *t.PageID
	}
	return *t.EntryID
}

// Section is what a section of a page says.
func (t Translation) Section(id string) map[string]any {
	content, _ := t.Content[id].(map[string]any)
	return content
}

const selectTranslations = `
	SELECT t.id::text, t.page_id::text, t.entry_id::text, t.locale, t.title, t.about, t.content, t.status, t.publish_at, t.version, t.updated_at, coalesce(p.name, e.title) AS base
	FROM site_translations t LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id WHERE t.site_id = $1`

// TranslationQuery says which translations: those of pages and entries by their ids, perhaps in one language, perhaps what is published.
type TranslationQuery struct {
	Of        []string
	Locale    string
	Published bool
}

// Translations finds translations, in the order of their languages.
func (c Content) Translations(ctx context.Context, q TranslationQuery) ([]Translation, error) {
	if len(q.Of) == 0 {
		return nil, nil
	}
	found, err := list[Translation](ctx, c.pool, selectTranslations+`
		AND (t.page_id = ANY ($2::uuid[]) OR t.entry_id = ANY ($2::uuid[])) AND ($3 = '' OR t.locale = $3) AND (NOT $4 OR t.status = 'published') ORDER BY t.locale`,
		c.site, q.Of, q.Locale, q.Published)
	return found, errs.Wrap(err, "find translations")
}

// Translate lets change alter what a page or an entry says in a language, which nobody else changes meanwhile. Of a language that is new
// there change gets a draft of version 0.
func (c Content) Translate(ctx context.Context, of Translation, change func(*Translation) error) error {
	return c.write(ctx, "translate", func(tx pgx.Tx) error {
		t, err := first[Translation](ctx, tx, selectTranslations+` AND t.locale = $2 AND (t.page_id = $3 OR t.entry_id = $4) FOR UPDATE OF t`, c.site, of.Locale, of.PageID, of.EntryID)
		if isNew := errors.Is(err, ErrNotFound); isNew {
			t, err = Translation{PageID: of.PageID, EntryID: of.EntryID, Locale: of.Locale, Status: Draft}, nil
		}
		if err == nil {
			err = change(&t)
		}
		if err != nil {
			return err
		}
		if t.Version > 0 {
			_, err = tx.Exec(ctx, `UPDATE site_translations SET title = $2, about = $3, content = $4, status = $5, publish_at = $6 WHERE id = $1`,
				t.ID, t.Title, t.About, orEmpty(t.Content), t.Status, t.due())
		} else {
			err = c.insertTranslation(ctx, tx, &t)
		}
		if err != nil {
			return err
		}
		return fits(ctx, tx, "site_translations", "id", t.ID)
	})
}

// insertTranslation adds the first that is said of something in a language, and the language to the site where it is the first.
func (c Content) insertTranslation(ctx context.Context, tx pgx.Tx, t *Translation) error {
	if _, err := tx.Exec(ctx, `UPDATE sites SET locales = locales || $2::text WHERE id = $1 AND NOT $2 = ANY (locales)`, c.site, t.Locale); err != nil {
		return err
	}
	return tx.QueryRow(ctx, `
		INSERT INTO site_translations (site_id, page_id, entry_id, locale, title, about, content, status, publish_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id::text`,
		c.site, t.PageID, t.EntryID, t.Locale, t.Title, t.About, orEmpty(t.Content), t.Status, t.due()).Scan(&t.ID)
}

// due is when it is to be published, where it is not yet.
func (t Translation) due() *time.Time {
	if t.Status == Published {
		return nil
	}
	return t.PublishAt
}

// RemoveLocale takes a language from a page or an entry; the bin has it. What it was the last of, the site's address of the language, is
// free again.
func (c Content) RemoveLocale(ctx context.Context, of, locale string) error {
	return c.write(ctx, "take away a language", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM site_translations WHERE site_id = $1 AND (page_id = $2 OR entry_id = $2) AND locale = $3`, c.site, of, locale)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE sites SET locales = array_remove(locales, $2) WHERE id = $1 AND NOT EXISTS (SELECT FROM site_translations WHERE site_id = $1 AND locale = $2)`, c.site, locale)
		return err
	})
}

// shownIn holds for translations t that visitors see, of pages p or entries e.
const shownIn = `t.status = 'published' AND (e.status = 'published' OR ` + open + `)`

// Locales lists the languages in which visitors find something, beside the site's own.
func (c Content) Locales(ctx context.Context) ([]string, error) {
	found, err := texts(ctx, c.pool, `SELECT DISTINCT t.locale FROM site_translations t
		LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id WHERE t.site_id = $1 AND `+shownIn+` ORDER BY 1`, c.site)
	if err != nil {
		return nil, fmt.Errorf("languages of a site: %w", err)
	}
	return found, nil
}

// TranslatedPlaces lists all that search engines may list in other languages than the site's.
func (c Content) TranslatedPlaces(ctx context.Context) ([]Place, error) {
	places, err := list[Place](ctx, c.pool, `
		SELECT CASE WHEN e.id IS NULL THEN 'page' ELSE 'entry' END AS kind, coalesce(e.slug, p.slug) AS slug, coalesce(c.slug, '') AS collection, t.locale, t.title, t.updated_at
		FROM site_translations t LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id LEFT JOIN site_collections c ON c.id = e.collection_id
		WHERE t.site_id = $1 AND coalesce(p.indexing, true) AND `+shownIn+` ORDER BY t.locale`, c.site)
	return places, errs.Wrap(err, "places of a site in other languages")
}

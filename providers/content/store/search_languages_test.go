package store_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/content/store"
)

// In each language and each site visitors find what they see there, and nothing else.
func TestSearchInLanguagesAndSites(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	s := store.New(pool)
	house, err := s.Site(t.Context(), store.House)
	if err != nil {
		t.Fatal(err)
	}
	group, err := s.SwitchOn(t.Context(), store.Group{Platform: "telegram", Place: "chat:1"}, store.Site{Slug: "painters", Title: "Painters", Language: "de"}, "00000000-0000-4000-8000-000000000001")
	if err != nil {
		t.Fatal(err)
	}
	site := s.In(house, "")
	finds := func(of store.Content, locale, query string, want ...string) {
		t.Helper()
		places, err := of.Search(t.Context(), locale, query, 10)
		var found []string
		for _, p := range places {
			found = append(found, p.Locale+"/"+p.Slug+" "+p.Title)
		}
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("%q in %q finds %q (%v), expected %q", query, locale, found, err, want)
		}
	}
	section := func(text string) store.Section {
		return store.Section{Template: "richText", Content: map[string]any{"body": text}, Status: store.Published}
	}
	id, err := site.CreatePage(t.Context(), store.Page{Slug: "about", Name: "About us", Sections: []store.Section{section("Four potters"), section("Said once"), section("Later")}})
	if err != nil {
		t.Fatal(err)
	}
	sections, err := site.Sections(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	say := func(of store.Translation, change func(*store.Translation)) {
		t.Helper()
		if err := site.Translate(t.Context(), of, func(l *store.Translation) error { change(l); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change := func(change func(*store.Page)) {
		t.Helper()
		if err := site.UpdatePage(t.Context(), id, func(p *store.Page) error { change(p); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	german := store.Translation{PageID: &id, Locale: "de"}
	say(german, func(l *store.Translation) {
		l.Title = "Über uns"
		l.Content = map[string]any{sections[0].ID: map[string]any{"body": "Vier Töpfer"}, sections[2].ID: map[string]any{"body": "Geheim"}}
	})
	t.Run("a language that is a draft is not found, one that is published is, in its own words", func(t *testing.T) {
		finds(site, "de", "töpfer")
		say(german, func(l *store.Translation) { l.Status = store.Published })
		finds(site, "de", "vier töpf", "de/about Über uns")
		finds(site, "de", "once", "de/about Über uns") // it is seen there, since it is not said otherwise
		finds(site, "de", "potters")
		finds(site, "", "töpfer")
		finds(site, "", "potters", "/about About us")
		finds(site, "fr", "töpfer")
	})
	t.Run("what visitors don't see is not found in any language", func(t *testing.T) {
		finds(site, "de", "geheim", "de/about Über uns")
		change(func(p *store.Page) { p.Sections[2].Hidden = true })
		finds(site, "de", "geheim")
		change(func(p *store.Page) { p.Meta = map[string]any{"access": "members"} })
		finds(site, "de", "töpfer")
		change(func(p *store.Page) { p.Meta = nil })
		finds(site, "de", "töpfer", "de/about Über uns")
		say(german, func(l *store.Translation) { l.Status = store.Draft })
		finds(site, "de", "töpfer")
		finds(site, "", "potters", "/about About us")
	})
	posts, err := site.Collection(t.Context(), "blog")
	if err != nil {
		t.Fatal(err)
	}
	post, err := site.CreateEntry(t.Context(), store.Entry{CollectionID: posts.ID, Kind: posts.Kind, Slug: "mugs", Title: "Mugs", Excerpt: "In short", Status: store.Draft, Content: map[string]any{"body": "Clay", "tags": []any{"kiln"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("of a post, its tags and what lists say of it too", func(t *testing.T) {
		of := store.Translation{EntryID: &post, Locale: "de"}
		say(of, func(l *store.Translation) {
			l.Title, l.About, l.Status, l.Content = "Tassen", "Kurz", store.Published, map[string]any{"body": "Ton", "tags": []any{"ofen"}}
		})
		finds(site, "de", "tassen") // the post is a draft
		if err := site.UpdateEntry(t.Context(), post, func(e *store.Entry) error { e.Status = store.Published; return nil }); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"tassen", "kurz", "ton", "ofen"} {
			finds(site, "de", word, "de/mugs Tassen")
			finds(site, "", word)
		}
		for _, word := range []string{"mugs", "short", "clay", "kiln"} {
			finds(site, "de", word)
			finds(site, "", word, "/mugs Mugs")
		}
		if err := site.RemoveLocale(t.Context(), post, "de"); err != nil {
			t.Fatal(err)
		}
		finds(site, "de", "tassen")
	})
	t.Run("the site of a group does not find what the house says, nor the house what the group says", func(t *testing.T) {
		other := s.In(group, "")
		if _, err := other.CreatePage(t.Context(), store.Page{Slug: "kiln", Name: "Ofen", Sections: []store.Section{section("Heiß")}}); err != nil {
			t.Fatal(err)
		}
		finds(other, "", "heiß", "/kiln Ofen")
		for _, locale := range []string{"", "de"} {
			finds(site, locale, "heiß")
			finds(other, locale, "potters")
			finds(other, locale, "mugs")
		}
	})
	if _, err := pool.Exec(t.Context(), `DELETE FROM site_pages WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM site_words WHERE item_id = $1`, id).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows of words of a page that has gone are left (%v)", left, err)
	}
}

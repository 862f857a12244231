package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/content/store"
)

// A search of many pages reads what is kept of their words, and parses no text: with 10,000 pages it should take less than 20 ms (go run
// ./test/bench/site). Here it may take ten times as long, since other tests run beside it.
func TestSearchOfALargeSite(t *testing.T) {
	t.Parallel()
	const pages, most = 10_000, 200 * time.Millisecond
	pool := postgrestest.New(t)
	s := store.New(pool)
	house, err := s.Site(t.Context(), store.House)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pool.Exec(t.Context(), `
		WITH pages AS (
			INSERT INTO site_pages (site_id, slug, name) SELECT $1, 'page-' || n, 'Page ' || n FROM generate_series(1, $2::int) n RETURNING id, slug)
		INSERT INTO site_sections (site_id, page_id, template, content, status, position)
			SELECT $1, id, 'richText', jsonb_build_object('body', 'All of ' || slug || ' is about mug number' || substr(slug, 6) || ' and its glaze'), 'published', 0 FROM pages`, house.ID, pages)
	if err == nil {
		_, err = pool.Exec(t.Context(), `ANALYZE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		query string
		most  int
	}{"one of all": {"number4711 glaze", 1}, "all": {"glaze", 30}, "the beginning of many": {"num", 30}, "none": {"kettle", 0}} {
		var times []time.Duration
		for range 5 {
			began := time.Now()
			places, err := s.In(house, "").Search(t.Context(), "", c.query, 30)
			if err != nil || len(places) != c.most {
				t.Fatalf("%s: %d places, %v", name, len(places), err)
			}
			times = append(times, time.Since(began))
		}
		if slices.Sort(times); times[2] > most {
			t.Errorf("%s: the median of five searches is %v, more than %v", name, times[2], most)
		}
		rows, err := pool.Query(t.Context(), `EXPLAIN `+store.SearchSQL, house.ID, strings.ReplaceAll(c.query, " ", " & ")+":*", 30, 300, "")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		plan := strings.Join(lines, "\n")
		if err != nil || strings.Contains(plan, "Seq Scan on site_sections") || strings.Contains(plan, "Seq Scan on site_pages") {
			t.Errorf("%s: it reads the pages or their sections one by one (%v):\n%s", name, err, plan)
		}
	}
}

func TestSearchKeepsUp(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	s := store.New(pool)
	house, err := s.Site(t.Context(), store.House)
	if err != nil {
		t.Fatal(err)
	}
	site := s.In(house, "")
	finds := func(query string, want ...string) {
		t.Helper()
		places, err := site.Search(t.Context(), "", query, 10)
		var slugs []string
		for _, p := range places {
			slugs = append(slugs, p.Slug)
		}
		if err != nil || !slices.Equal(slugs, want) {
			t.Errorf("%q finds %v (%v), expected %v", query, slugs, err, want)
		}
	}
	change := func(id string, change func(*store.Page)) {
		t.Helper()
		if err := site.UpdatePage(t.Context(), id, func(p *store.Page) error { change(p); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	text := func(words string) store.Section {
		return store.Section{Template: "richText", Content: map[string]any{"body": words}, Status: store.Published}
	}
	about, err := site.CreatePage(t.Context(), store.Page{Slug: "about", Name: "Who we are", Sections: []store.Section{text("Four potters"), text("One kiln")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := site.CreatePage(t.Context(), store.Page{Slug: "shop", Name: "The kiln", Sections: []store.Section{text("A shop")}}); err != nil {
		t.Fatal(err)
	}
	finds("potters kiln", "about") // words of different sections
	finds("kiln", "shop", "about") // the one that has it in its name comes first
	change(about, func(p *store.Page) { p.Sections[1].Hidden = true })
	finds("kiln", "shop")
	change(about, func(p *store.Page) { p.Name, p.Sections[1].Hidden = "Us", false })
	finds("who")
	finds("us", "about")
	change(about, func(p *store.Page) { p.Meta = map[string]any{"access": "members"} })
	finds("potters")
	change(about, func(p *store.Page) { p.Meta = nil; p.Sections = append(p.Sections, text("and a cat")) })
	finds("cat", "about")
	change(about, func(p *store.Page) {
		for i := range p.Sections {
			p.Sections[i].Status = store.Draft
		}
	})
	finds("potters")
	posts, err := site.Collection(t.Context(), "blog")
	if err != nil {
		t.Fatal(err)
	}
	post, err := site.CreateEntry(t.Context(), store.Entry{CollectionID: posts.ID, Kind: posts.Kind, Slug: "mugs", Title: "New mugs", Status: store.Draft, Content: map[string]any{"body": strings.Repeat("clay ", 40) + "glaze at the end"}})
	if err != nil {
		t.Fatal(err)
	}
	finds("mugs")
	if err := site.UpdateEntry(t.Context(), post, func(e *store.Entry) error { e.Status = store.Published; return nil }); err != nil {
		t.Fatal(err)
	}
	finds("mugs gla", "mugs")
	if places, err := site.Search(t.Context(), "", "glaze", 1); err != nil || places[0].Text != "clay clay clay clay clay clay clay clay glaze at the end" {
		t.Errorf("got %+v, %v", places, err)
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM site_entries`); err != nil {
		t.Fatal(err)
	}
	finds("mugs")
	var left int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM site_words`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d rows of words are left (%v), expected that of the shop", left, err)
	}
}

package site_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/providers/content/contenttest"
)

// manyPages is how large a site is that has to be fast.
const manyPages = 10_000

// large is a site of so many pages, each with a section of its own words.
func large(b *testing.B) *public {
	p := newPublic(b)
	_, err := p.Pool.Exec(b.Context(), `
		WITH pages AS (
			INSERT INTO site_pages (site_id, slug, name) SELECT $1, 'page-' || n, 'Page ' || n FROM generate_series(1, $2::int) n RETURNING id, slug)
		INSERT INTO site_sections (site_id, page_id, template, content, status, position)
			SELECT $1, id, 'richText', jsonb_build_object('body', 'All of ' || slug || ' is about mug number' || substr(slug, 6) || ' and its glaze'), 'published', 0 FROM pages`, p.Site.ID, manyPages)
	if err == nil {
		_, err = p.Pool.Exec(b.Context(), `ANALYZE site_pages, site_sections`)
	}
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkLargeSite measures a site of 10,000 pages: getPage by slug should take less than 1 ms, the map less than 1 s, a search less
// than 20 ms.
func BenchmarkLargeSite(b *testing.B) {
	p := large(b)
	b.Run("getPage by slug", func(b *testing.B) {
		for i := range b.N {
			call, err := p.Prepare(contenttest.Operator, "getPage", object{"slug": "page-" + strconv.Itoa(i%manyPages+1)})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := p.Call(b.Context(), call); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("a page made anew", func(b *testing.B) {
		for i := range b.N {
			if w := p.get(fmt.Sprintf("/site/page-%d?", i%manyPages+1)); w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		}
	})
	b.Run("the map", func(b *testing.B) {
		for range b.N {
			if w := p.get("/site/sitemap.xml?anew=1"); w.Code != http.StatusOK || w.Body.Len() < manyPages*50 {
				b.Fatal(w.Code)
			}
		}
	})
	b.Run("a search", func(b *testing.B) {
		for i := range b.N {
			if w := p.get(fmt.Sprintf("/site/search?q=glaze+number%d", i%manyPages+1)); w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		}
	})
	b.Run("a search that finds all", func(b *testing.B) {
		for range b.N {
			if w := p.get("/site/search?q=glaze"); w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		}
	})
}

// BenchmarkHTTP compares a page with a bare handler that sends the same bytes: the page should be at least half as fast.
func BenchmarkHTTP(b *testing.B) {
	p := newPublic(b)
	p.Section(p.Page("about"), "richText", object{"body": "We are four."}, live)
	body := p.get("/site/about").Body.Bytes()
	for name, handler := range map[string]http.Handler{"page": p.site, "bare": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) })} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(handler)
			defer server.Close()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					res, err := server.Client().Get(server.URL + "/site/about")
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			})
		})
	}
}

package site_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/site"
	"github.com/signalbox/signalbox/providers/content/store"
)

// town is a house with the site of a group.
type town struct {
	*public
	sites *site.Sites
	group store.Site
	works bool // the visitor has a role in the group's site
}

func newTown(t *testing.T, change ...func(*site.Config)) *town {
	t.Helper()
	w := &town{}
	w.public = newPublic(t, append(change, func(c *site.Config) {
		c.Works = func(_ context.Context, slug string) bool { return w.works && slug == "painters" }
		var err error
		if w.sites, err = site.NewSites(*c); err != nil {
			t.Fatal(err)
		}
	})...)
	var err error
	if w.group, err = w.Store.SwitchOn(t.Context(), store.Group{Platform: "telegram", Place: "chat:1"}, store.Site{Slug: "painters", Title: "The painters", Language: "de"}, contenttest.Editor); err != nil {
		t.Fatal(err)
	}
	return w
}

// do calls a tool on the group's site in the name of who owns it.
func (w *town) do(tool string, inputs object) {
	w.t.Helper()
	if _, err := w.In("painters").Use(w.t.Context(), contenttest.Editor, tool, inputs, w.Files); err != nil {
		w.t.Fatal(tool, err)
	}
}

func (w *town) visit(path string) *httptest.ResponseRecorder {
	r := httptest.NewRecorder()
	w.sites.ServeHTTP(r, httptest.NewRequest("GET", path, nil))
	return r
}

// furnished has a post and a page in the house, and others in the group.
func (w *town) furnished() {
	w.published("house-post", "Of the house", "Words of the house.")
	w.Section(w.Page("about"), "richText", object{"body": "About the house."}, live)
	w.furnishedGroup()
}

// furnishedGroup has a post and a page in the group.
func (w *town) furnishedGroup() {
	w.do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Of the group", "content": object{"body": "Words of the group."}})
	w.do("updatePost", object{"slug": "mugs", "status": "published", "confirmed": true})
	w.do("createPage", object{"name": "Kiln", "slug": "kiln"})
	pages, err := w.Store.In(w.group, "").Pages(w.t.Context(), store.PageQuery{Slug: "kiln"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.do("createSection", object{"pageId": pages[0].ID, "templateKey": "richText", "content": object{"body": "Hot."}, "status": "published"})
}

func TestSiteOfAGroupIsVisited(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.furnished()
	for path, want := range map[string][]string{
		"/site/painters/":               {`lang="de"`, "Of the group", "The painters", `href="/site/painters/blog/mugs"`, "not", "Of the house"},
		"/site/painters/blog/mugs":      {"Words of the group.", `<link rel="canonical" href="https://bot.example/site/painters/blog/mugs">`},
		"/site/painters/kiln":           {"Hot.", `action="/site/painters/search"`},
		"/site/painters/blog/feed.xml":  {"https://bot.example/site/painters/blog/mugs", "not", "house-post"},
		"/site/painters/blog/atom.xml":  {"https://bot.example/site/painters/blog/mugs", "not", "house-post"},
		"/site/painters/sitemap.xml":    {"https://bot.example/site/painters/kiln", "https://bot.example/site/painters/blog/mugs", "not", "about"},
		"/site/painters/search?q=Words": {"Of the group", "not", "Of the house"},
		"/site/sitemap.xml":             {"https://bot.example/site/about", "not", "painters"},
		"/site/search?q=Words":          {"Of the house", "not", "Of the group"},
		"/site/blog/feed.xml":           {"house-post", "not", "mugs"},
		"/site/robots.txt":              {"Sitemap: https://bot.example/site/sitemap.xml", "Sitemap: https://bot.example/site/painters/sitemap.xml"},
		"/site/about":                   {"About the house."},
	} {
		t.Run(path, func(t *testing.T) {
			got, absent := w.visit(path), false
			if got.Code != http.StatusOK {
				t.Errorf("%d", got.Code)
			}
			for _, words := range want {
				if words == "not" {
					absent = true
				} else if strings.Contains(got.Body.String(), words) == absent {
					t.Errorf("%q is there: %v: %s", words, !absent, got.Body)
				}
			}
		})
	}
	t.Run("what one site has is not in another, and drafts are nowhere", func(t *testing.T) {
		w.do("createPost", object{"collectionSlug": "blog", "slug": "secret", "title": "S", "content": object{"body": "S"}})
		for _, path := range []string{"/site/blog/mugs", "/site/kiln", "/site/painters/about", "/site/painters/blog/house-post", "/site/painters/blog/secret", "/site/nobody/", "/site/painters/preview/page/x"} {
			if got := w.visit(path); got.Code != http.StatusNotFound {
				t.Errorf("%s: %d", path, got.Code)
			}
		}
		if got := w.visit("/site/painters"); got.Code != http.StatusMovedPermanently || got.Header().Get("Location") != "/site/painters/" {
			t.Errorf("%d %v", got.Code, got.Header())
		}
	})
	t.Run("a draft is opened by its link, and in its own site alone", func(t *testing.T) {
		drafts, err := w.Store.In(w.group, "").Entries(t.Context(), store.EntryQuery{Slug: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		link, err := url.Parse(w.sites.Of("painters").Preview("entry", drafts[0].ID))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.visit(link.RequestURI()); got.Code != http.StatusOK {
			t.Errorf("%s: %d", link, got.Code)
		}
		if got := w.visit(strings.Replace(link.RequestURI(), "/painters", "", 1)); got.Code != http.StatusNotFound {
			t.Errorf("in the house: %d", got.Code)
		}
	})
}

func TestPagesForMembersOfAGroup(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.furnished()
	pages, err := w.Store.In(w.group, "").Pages(t.Context(), store.PageQuery{Slug: "kiln"})
	if err != nil {
		t.Fatal(err)
	}
	w.do("updatePage", object{"id": pages[0].ID, "meta": object{"access": "members"}})
	for _, one := range []struct {
		member, works bool
		want          int
	}{{false, false, http.StatusSeeOther}, {true, false, http.StatusNotFound}, {true, true, http.StatusOK}} {
		w.member, w.works = one.member, one.works
		if got := w.visit("/site/painters/kiln"); got.Code != one.want {
			t.Errorf("signed in %v, with a role %v: %d, want %d", one.member, one.works, got.Code, one.want)
		}
	}
}

func TestSiteOfAGroupSwitchedOffIsGone(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Now())
	w := newTown(t, func(c *site.Config) { c.Now = clock.Now })
	w.furnished()
	see := func(want int) {
		t.Helper()
		if got := w.visit("/site/painters/blog/mugs"); got.Code != want {
			t.Errorf("%d, want %d", got.Code, want)
		}
	}
	see(http.StatusOK)
	if err := w.Store.SwitchOff(t.Context(), w.group); err != nil {
		t.Fatal(err)
	}
	see(http.StatusNotFound)
	if _, err := w.Store.SwitchOn(t.Context(), store.Group{Platform: "telegram", Place: "chat:1"}, store.Site{Slug: "painters"}, contenttest.Editor); err != nil {
		t.Fatal(err)
	}
	see(http.StatusOK)
	t.Run("another process finds out within a second", func(t *testing.T) {
		if err := store.New(w.Pool).SwitchOff(t.Context(), w.group); err != nil {
			t.Fatal(err)
		}
		clock.Advance(2 * time.Second)
		see(http.StatusNotFound)
	})
}

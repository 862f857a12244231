package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// newSiteApp is the part of the program that makes the site.
func newSiteApp(t *testing.T, c config.Config) *app {
	t.Helper()
	c.DataDir = t.TempDir()
	a := newApp(c, slog.New(slog.DiscardHandler))
	a.db = &database.DB{Pool: postgrestest.New(t)}
	if _, err := a.content.open(); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestImportedPhotosAreTheSites(t *testing.T) {
	t.Parallel()
	a := newSiteApp(t, config.Config{})
	a.media = media.Store{Assets: housetest.NewFiles(t, a.db.Pool).Store}
	a.users = accounts.New(a.db.Pool, billing.NewLedger(a.db.Pool), config.Config{})
	ref, _, err := a.media.Keep(t.Context(), strings.NewReader("\x89PNG\r\n\x1a\n"), assets.Meta{Name: "pexels-7.png"})
	if err != nil {
		t.Fatal(err)
	}
	photo := photos.Imported{Ref: ref, Name: "pexels-7.png", Alt: "A lake at dawn", Credit: photos.Attribution{Provider: "pexels", HTML: "Photo by Ann", Text: "Photo by Ann"}}
	house, err := a.content.store.Site(t.Context(), store.House)
	if err != nil {
		t.Fatal(err)
	}
	site := a.content.store.In(house, "")
	account := func(name string) string {
		t.Helper()
		who, err := a.users.Identify(t.Context(), users.Identity{Platform: "telegram", ExternalID: name, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return who.ID
	}
	t.Run("who has no role imports for themselves", func(t *testing.T) {
		if err := a.content.imported(t.Context(), account("bob"), photo); err != nil {
			t.Fatal(err)
		}
		if images, err := site.Images(t.Context(), store.ImageQuery{}); err != nil || len(images) != 0 {
			t.Errorf("the site has %+v, %v", images, err)
		}
	})
	t.Run("D85 D86 D120 who works on the site brings it there, with its credit, once", func(t *testing.T) {
		ann := account("ann")
		if err := a.content.store.SetRole(t.Context(), house, ann, store.Author); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := a.content.imported(t.Context(), ann, photo); err != nil {
				t.Fatal(err)
			}
		}
		images, err := site.Images(t.Context(), store.ImageQuery{})
		if err != nil || len(images) != 1 || images[0].ID != ref || images[0].Description != "A lake at dawn" || images[0].Attribution["html"] != "Photo by Ann" {
			t.Errorf("the site has %+v, %v", images, err)
		}
	})
}

func TestSiteHost(t *testing.T) {
	t.Parallel()
	a := newSiteApp(t, config.Config{Settings: settings.Settings{ContentSettings: settings.ContentSettings{SiteHost: "www.example.com"}}, Public: &url.URL{Scheme: "https", Host: "bot.example"}})
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "x"})
		io.WriteString(w, "the page")
	})
	h := a.content.withHost(page)
	get := func(address string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", address, nil))
		return w
	}
	t.Run("the site has its host for itself: no page, no API, no cookies", func(t *testing.T) {
		for address, want := range map[string]int{"https://www.example.com/": 200, "https://WWW.example.com:443/blog": 200, "https://www.example.com/api/tools": 404, "https://www.example.com/signin": 404} {
			w := get(address)
			if w.Code != want || strings.Contains(w.Body.String(), "the page") || len(w.Result().Cookies()) > 0 || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %v", address, w.Code, w.Header())
			}
		}
		if body := get("https://www.example.com/").Body.String(); !strings.Contains(body, `href="https://www.example.com/blog"`) {
			t.Error("its addresses are not those of its host")
		}
	})
	t.Run("all other hosts have the page, and /site/ leads to the site's host", func(t *testing.T) {
		if w := get("https://bot.example/"); w.Body.String() != "the page" {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		w := httptest.NewRecorder()
		a.content.visitors().ServeHTTP(w, httptest.NewRequest("GET", "https://bot.example/site/blog/mugs", nil))
		if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "https://www.example.com/blog/mugs" {
			t.Errorf("%d to %s", w.Code, w.Header().Get("Location"))
		}
	})
	t.Run("a wrong host or folder stops the start", func(t *testing.T) {
		for _, s := range []settings.Settings{{ContentSettings: settings.ContentSettings{SiteHost: "https://x.example"}}, {ContentSettings: settings.ContentSettings{SiteHost: "bot.example"}, HouseSettings: settings.HouseSettings{PublicURL: "https://bot.example"}}, {ContentSettings: settings.ContentSettings{ContentDir: "/nowhere/at/all"}}} {
			if _, err := config.Check(s); err == nil || !strings.Contains(err.Error(), "SITE_HOST: ") && !strings.Contains(err.Error(), "CONTENT_DIR: ") {
				t.Errorf("%+v: %v", s.ContentSettings, err)
			}
		}
	})
}

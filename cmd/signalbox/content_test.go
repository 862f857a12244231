package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// newSiteApp is the part of the program that makes the site.
func newSiteApp(t *testing.T, c Config) *app {
	t.Helper()
	c.DataDir = t.TempDir()
	a := &app{cfg: c, log: slog.New(slog.DiscardHandler), db: &database{pool: postgrestest.New(t)}}
	if _, err := a.newContent(); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSiteHost(t *testing.T) {
	t.Parallel()
	a := newSiteApp(t, Config{Settings: Settings{ContentSettings: ContentSettings{SiteHost: "www.example.com"}}, Public: &url.URL{Scheme: "https", Host: "bot.example"}})
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "x"})
		io.WriteString(w, "the page")
	})
	h := a.withSiteHost(page)
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
		a.newSite().ServeHTTP(w, httptest.NewRequest("GET", "https://bot.example/site/blog/mugs", nil))
		if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "https://www.example.com/blog/mugs" {
			t.Errorf("%d to %s", w.Code, w.Header().Get("Location"))
		}
	})
	t.Run("a wrong host or folder stops the start", func(t *testing.T) {
		for _, s := range []Settings{{ContentSettings: ContentSettings{SiteHost: "https://x.example"}}, {ContentSettings: ContentSettings{SiteHost: "bot.example"}, HouseSettings: HouseSettings{PublicURL: "https://bot.example"}}, {ContentSettings: ContentSettings{ContentDir: "/nowhere/at/all"}}} {
			if _, err := s.check(); err == nil || !strings.Contains(err.Error(), "SITE_HOST: ") && !strings.Contains(err.Error(), "CONTENT_DIR: ") {
				t.Errorf("%+v: %v", s.ContentSettings, err)
			}
		}
	})
}

package site_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// inGerman has a page and a post in English and German, and others in English alone.
func inGerman(p *public) (page string) {
	page = p.Page("about", object{"meta": object{"description": "Who we are"}})
	section := p.Section(page, "hero", object{"heading": "Hello", "text": "Welcome to the kiln."}, live)
	p.Section(page, "richText", object{"body": "Said in English alone."}, live)
	p.Do("updatePage", object{"id": page, "locale": "de", "name": "Über uns", "meta": object{"description": "Wer wir sind"}})
	p.Do("updateSection", object{"pageSectionId": section, "locale": "de", "content": object{"heading": "Hallo", "text": "Willkommen am Ofen."}})
	p.Do("updatePage", object{"id": page, "locale": "de", "status": "published"})
	p.Section(p.Page("prices"), "richText", object{"body": "Ten."}, live)
	p.published("mugs", "Three mugs", "Here they are.")
	p.Do("updatePost", object{"slug": "mugs", "locale": "de", "title": "Drei Tassen", "content": object{"body": "Hier sind sie."}, "status": "published", "confirmed": true})
	p.published("bowls", "Bowls", "English bowls.")
	p.Do("createNavItem", object{"navigationId": "main", "label": "About", "targetType": "page", "targetId": page})
	p.Do("createNavItem", object{"navigationId": "main", "label": "Prices", "targetType": "page", "targetId": p.Items("getPage", object{"slug": "prices"})[0]["id"]})
	return page
}

func TestSiteInSeveralLanguages(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	page := inGerman(p)
	both := []string{
		`<link rel="alternate" hreflang="en" href="https://bot.example/site/about">`, `<link rel="alternate" hreflang="de" href="https://bot.example/site/de/about">`,
		`<link rel="alternate" hreflang="x-default" href="https://bot.example/site/about">`,
	}
	p.shows("/site/about", append(both, `<html lang="en">`, `<link rel="canonical" href="https://bot.example/site/about">`, `<a href="/site/de/about" lang="de" hreflang="de">Deutsch</a>`, "Hello", "not", "Hallo")...)
	p.shows("/site/de/about", append(both, `<html lang="de">`, `<link rel="canonical" href="https://bot.example/site/de/about">`, `<a href="/site/about" lang="en" hreflang="en">English</a>`,
		"<title>Über uns", `content="Wer wir sind"`, "Hallo", "Willkommen am Ofen.", "Said in English alone.", "Zum Inhalt", // the theme speaks it too
		`<a href="/site/de/about">Über uns</a>`, `<a href="/site/prices">Prices</a>`, "not", "Hello", "Skip to")...)
	p.shows("/site/prices", "Ten.", "not", "hreflang")
	p.shows("/site/de/blog/mugs", `<html lang="de">`, "Drei Tassen", "Hier sind sie.", `"inLanguage":"de"`, `href="/site/de/blog"`, "not", "Here they are.")
	p.shows("/site/blog", "Three mugs", "Bowls", `hreflang="de" href="https://bot.example/site/de/blog"`)
	p.shows("/site/de/blog", "Drei Tassen", `href="/site/de/blog/mugs"`, "not", "Bowls")
	p.shows("/site/de/", "Drei Tassen") // without a start of its own it is the blog
	p.shows("/site/de/blog/feed.xml", "https://bot.example/site/de/blog/mugs", "<language>de</language>", "not", "bowls")
	p.shows("/site/de/blog/atom.xml", "https://bot.example/site/de/blog/mugs", "not", "bowls")
	p.shows("/site/de/search?q=Willkommen", "/site/de/about", "not", "Nichts gefunden")
	p.shows("/site/de/search?q=tassen", "/site/de/blog/mugs")
	p.shows("/site/search?q=Willkommen", "not", "/site/de/about")
	gone := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			if got := p.get(path); got.Code != http.StatusNotFound {
				t.Errorf("%s: %d", path, got.Code)
			}
		}
	}
	t.Run("what is not said in a language is not there in it", func(t *testing.T) {
		gone("/site/de/prices", "/site/de/blog/bowls", "/site/fr/about", "/site/de/home", "/site/de/sitemap.xml", "/site/de/de/about")
	})
	t.Run("the map has each language, with the others beside it", func(t *testing.T) {
		raw := p.get("/site/sitemap.xml").Body.Bytes()
		var set struct {
			URLs []struct {
				Address string `xml:"loc"`
				Links   []struct {
					Rel      string `xml:"rel,attr"`
					Language string `xml:"hreflang,attr"`
					Address  string `xml:"href,attr"`
				} `xml:"http://www.w3.org/1999/xhtml link"`
			} `xml:"url"`
		}
		if err := xml.Unmarshal(raw, &set); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, u := range set.URLs {
			for _, l := range u.Links {
				found[u.Address] += l.Rel + " " + l.Language + " " + l.Address + ";"
			}
			if u.Links == nil {
				found[u.Address] = ""
			}
		}
		about := "alternate en https://bot.example/site/about;alternate de https://bot.example/site/de/about;"
		if found["https://bot.example/site/about"] != about || found["https://bot.example/site/de/about"] != about || len(found) != 6 || found["https://bot.example/site/prices"] != "" {
			t.Errorf("the map has %v", found)
		}
	})
	t.Run("a language that is a draft is seen by its link alone", func(t *testing.T) {
		p.Do("updatePage", object{"id": page, "locale": "es", "name": "Nosotros"})
		gone("/site/es/about")
		p.shows("/site/about", "not", `hreflang="es"`)
		link, err := url.Parse(p.site.Preview("page", page) + "&locale=es")
		if err != nil {
			t.Fatal(err)
		}
		p.shows(link.RequestURI(), `<html lang="es">`, "Nosotros", "Hello")
	})
	t.Run("taken back in the site's own language it is gone in all", func(t *testing.T) {
		p.Do("updatePost", object{"slug": "mugs", "status": "archived"})
		gone("/site/blog/mugs", "/site/de/blog/mugs")
		p.shows("/site/de/blog", "not", "Drei Tassen")
		p.Do("updatePage", object{"id": page, "locale": "de", "status": "draft"})
		gone("/site/de/about", "/site/de/", "/site/de/blog")
		p.shows("/site/about", "Hello", "not", "hreflang")
	})
}

func TestExportHasAllLanguages(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	inGerman(p)
	var files []string
	err := p.site.Export(t.Context(), func(name string, _ []byte) error { files = append(files, name); return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"about/index.html", "de/about/index.html", "de/blog/mugs/index.html", "de/blog/index.html"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is not among %v", want, files)
		}
	}
}

func TestLanguagesThatRunFromRightToLeft(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	inGerman(p)
	for _, locale := range []string{"ar", "he", "fa"} {
		p.Do("updatePost", object{"slug": "mugs", "locale": locale, "title": "ثلاثة أكواب (3)", "content": object{"body": "هذه هي.\n\n> كوب"}, "status": "published", "confirmed": true})
		p.shows("/site/"+locale+"/blog/mugs", `<html lang="`+locale+`" dir="rtl">`)
	}
	p.shows("/site/de/blog/mugs", `<html lang="de">`)
}

func TestLanguagesInTheSiteOfAGroup(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.furnished()
	w.do("updatePost", object{"slug": "mugs", "locale": "en", "title": "In English", "content": object{"body": "English words."}, "status": "published", "confirmed": true})
	if got := w.visit("/site/painters/en/blog/mugs"); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `<html lang="en">`) || !strings.Contains(got.Body.String(), `href="https://bot.example/site/painters/blog/mugs"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := w.visit("/site/en/blog/mugs"); got.Code != http.StatusNotFound {
		t.Errorf("in the house: %d", got.Code)
	}
}

func TestLanguagesInABrowser(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	inGerman(w.public)
	w.furnishedGroup()
	server := httptest.NewServer(w.sites)
	t.Cleanup(server.Close)
	ctx := browsertest.Open(t, browsertest.Phone)
	press := func(label, path string) {
		t.Helper()
		if !browsertest.Is(t, ctx, `(() => { const a = [...document.querySelectorAll('.languages a')].find((a) => a.textContent === '`+label+`'); a?.click(); return Boolean(a) })()`) {
			t.Fatalf("there is no %s", label)
		}
		browsertest.Becomes(t, ctx, `location.pathname === '`+path+`' && document.readyState === 'complete'`)
	}
	browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/site/about"))
	press("Deutsch", "/site/de/about")
	if !browsertest.Is(t, ctx, `document.documentElement.lang === 'de' && document.body.textContent.includes('Willkommen am Ofen.') && document.querySelector('.languages [aria-current]').textContent === 'Deutsch'`) {
		t.Error("the page is not the German one")
	}
	if !browsertest.Is(t, ctx, browsertest.Fits) {
		t.Error("the page is wider than a phone")
	}
	browsertest.Accessible(t, ctx, "a page in another language")
	browsertest.Shot(t, ctx, "site-language-phone")
	press("English", "/site/about")
	w.public.Do("updatePost", object{"slug": "mugs", "locale": "ar", "title": "ثلاثة أكواب (3)", "content": object{"body": "هذه هي.\n\n> كوب"}, "status": "published", "confirmed": true})
	browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/site/ar/blog/mugs"))
	if !browsertest.Is(t, ctx, browsertest.Fits+` && document.documentElement.scrollLeft === 0 && document.querySelector('h1').getBoundingClientRect().right > innerWidth / 2`) {
		t.Error("the Arabic page does not run from right to left")
	}
	browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/site/about"))
	t.Run("the site of a group", func(t *testing.T) {
		ctx := browsertest.Open(t, browsertest.Desktop)
		browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/site/painters/"))
		if !browsertest.Is(t, ctx, `document.querySelector('header .name').textContent === 'The painters' && document.body.textContent.includes('Of the group') && !document.body.textContent.includes('Three mugs')`) {
			t.Error("the start of the group is not its own")
		}
		browsertest.Accessible(t, ctx, "the site of a group")
		browsertest.Shot(t, ctx, "site-of-a-group")
		if !browsertest.Is(t, ctx, `(document.querySelector('.cards a').click(), true)`) {
			t.Fatal("nothing leads to the post")
		}
		browsertest.Becomes(t, ctx, `location.pathname === '/site/painters/blog/mugs'`)
	})
}

package web_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/workflows"
)

// withExamples gives the house the example pictures of the bundled tools.
func withExamples(t *testing.T) option {
	files, err := fs.Glob(workflows.Examples, "examples/*.jpg")
	if err != nil {
		t.Fatal(err)
	}
	pictures := map[string][]byte{}
	for _, file := range files {
		id := strings.TrimSuffix(strings.TrimPrefix(file, "examples/"), ".jpg")
		if pictures[id], err = workflows.Examples.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return func(c *web.Config) { c.Examples = pictures }
}

// toBegin says where strangers can begin.
func toBegin(c *web.Config) {
	c.Landing = pages.Landing{Privacy: func() string { return "https://bot.example/privacy" }, Ways: func() []pages.Way {
		return []pages.Way{{Platform: "telegram", URL: "https://t.me/paintbot"}, {Platform: "discord", URL: "https://discord.com/oauth2/authorize?client_id=5"}}
	}}
}

func TestLandingPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"), withExamples(t), toBegin)
	stranger := h.visitor()
	front := func(t *testing.T) string {
		t.Helper()
		return readAll(t, stranger.do("GET", "/", "", nil, "Accept", "text/html").Body)
	}
	t.Run("a stranger sees what is made, with prices, terms, and where to begin", func(t *testing.T) {
		has(t, front(t), `src="/examples/`, "Wallpaper", "$0.02 a minute", `href="https://t.me/paintbot"`, `client_id=5`, `href="/signin"`, "published no terms", `href="/privacy"`)
	})
	t.Run("tools and what they made are named in the stranger's language", func(t *testing.T) {
		page := readAll(t, stranger.do("GET", "/", "", nil, "Accept", "text/html", "Accept-Language", "de").Body)
		has(t, page, ">Hintergrundbild</a>", "<span>Hintergrundbild</span>", "Malt ein abstraktes Hintergrundbild")
		if strings.Contains(page, "Wallpaper") {
			t.Error("a German page names a tool in English")
		}
	})
	t.Run("terms and privacy are told, or lead to what the operator has published", func(t *testing.T) {
		has(t, readAll(t, stranger.do("GET", "/terms", "", nil).Body), "published no terms")
		if res := stranger.do("GET", "/privacy", "", nil); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "https://bot.example/privacy" {
			t.Errorf("status %d to %q", res.StatusCode, res.Header.Get("Location"))
		}
	})
	t.Run("tools that are not for everybody are not shown", func(t *testing.T) {
		h.fakes.Set(func() registry.Tool { tool := studio(); tool.Visibility = registry.VisibilityInternal; return tool }())
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(front(t), "Studio") {
			t.Error("an internal tool is shown to strangers")
		}
	})
	t.Run("results that the operator picks take the place of examples, until their owner takes the link back", func(t *testing.T) {
		me := h.visitor()
		me.form("/signin", url.Values{"key": {h.developer("ann").key}})
		ann, err := h.users.ByID(t.Context(), me.accountID())
		if err != nil {
			t.Fatal(err)
		}
		run := lived{house: h}.made(ann, "wallpaper", map[string]any{"width": 96, "height": 64})
		if list, err := h.shares.List(t.Context(), false); err != nil || len(list) != 0 {
			t.Fatalf("what nobody shares is offered: %v, %v", list, err)
		}
		me.form("/run/"+run+"/share", nil)
		list, err := h.shares.List(t.Context(), false)
		if err != nil || len(list) != 1 || list[0].RunID != run || list[0].Landing {
			t.Fatalf("shared: %+v, %v", list, err)
		}
		if strings.Contains(front(t), "/thumbs/") {
			t.Error("what is only shared is shown to strangers")
		}
		if on, err := h.shares.TurnLanding(t.Context(), list[0].Link); err != nil || !on {
			t.Fatalf("%v, %v", on, err)
		}
		page := front(t)
		has(t, page, "/thumbs/", `href="/s/`+list[0].Link)
		if strings.Contains(page, ann.DisplayName) || strings.Contains(page, ann.ID) {
			t.Error("the page names whose it is")
		}
		me.form("/run/"+run+"/unshare", nil)
		if strings.Contains(front(t), "/thumbs/") {
			t.Error("the link was taken back, and the result is still shown")
		}
		if _, err := h.shares.TurnLanding(t.Context(), list[0].Link); err == nil || !strings.Contains(err.Error(), "taken the link back") {
			t.Errorf("got %v", err)
		}
	})
}

func TestLandingPageInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "http://127.0.0.1"), withExamples(t), toBegin)
	ctx := open(t, browsertest.Desktop)
	browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/"), chromedp.WaitVisible(chromedp.CSS(".wall")))
	browsertest.Becomes(t, ctx, `[...document.querySelectorAll(".wall img")].slice(0, 2).every((i) => i.complete && i.naturalWidth > 0)`)
	atEveryWidth(t, ctx, "landing")
	browsertest.Do(t, ctx, browsertest.Dark())
	atEveryWidth(t, ctx, "landing-dark")
}

func TestFirstVisitShowsPictures(t *testing.T) {
	t.Parallel()
	h := newHouse(t, withExamples(t))
	v := h.reader()
	t.Run("the list of tools and a tool's page show what is made with it", func(t *testing.T) {
		has(t, v.page("/"), `class="wall"`, `/examples/`)
		has(t, v.page("/tool/poster"), `/examples/`, "An example, made with this tool")
	})
	t.Run("an example is a picture that browsers keep", func(t *testing.T) {
		_, rest, _ := strings.Cut(v.page("/tool/poster"), `src="/examples/`)
		address, _, _ := strings.Cut(rest, `"`)
		res := v.do("GET", "/examples/"+address, "", nil, "Accept-Encoding", "gzip")
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/jpeg" || res.Header.Get("Content-Encoding") != "" || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("status %d, %v", res.StatusCode, res.Header)
		}
	})
	t.Run("who has made something sees that instead", func(t *testing.T) {
		h.started(v, "wallpaper", map[string][]string{"width": {"64"}, "height": {"64"}})
		if strings.Contains(v.page("/"), `class="wall"`) {
			t.Error("the examples stay")
		}
	})
}

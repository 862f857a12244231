package site_test

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/providers/content/contenttest"
)

// furnish fills a site with each kind of section, a post and menus.
func furnish(p *public) {
	image := p.Do("createImage", object{"buffer": p.Picture("mugs.png", 900, 600, 1), "filename": "red-mugs.png"})["imageId"]
	page := p.Page("home")
	contents := map[string]object{
		"hero":      {"eyebrow": "Stoneware", "heading": "Mugs that last longer than the coffee", "text": "From **one** kiln.", "image": image, "buttonLabel": "See them", "buttonUrl": "/site/blog"},
		"richText":  {"heading": "How", "body": "Text with `code`.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- one\n- two"},
		"imageText": {"heading": "We", "body": "Four people.", "image": image, "imageRight": true},
		"features":  {"heading": "Why", "items": []any{object{"title": "One kiln", "text": "Only one."}, object{"title": "Repairs", "text": "For ever.", "image": image}}},
		"gallery":   {"heading": "Seen", "items": []any{object{"image": image, "caption": "A shelf"}}}, "quote": {"text": "Eleven years.", "author": "Ann", "role": "customer"},
		"faq": {"items": []any{object{"question": "Dishwasher?", "answer": "Yes."}}}, "callToAction": {"heading": "Come", "text": "On Saturdays.", "buttonUrl": "mailto:hi@example.com"}, "latestPosts": {},
	}
	for _, t := range p.Templates.All() {
		p.Section(page, t.Key, contents[t.Key], live)
	}
	p.published("mugs", "Three new mugs with a title that is longer than a line on a phone", "Each autumn.\n\n## What\n\n- a\n\n> b", object{"author": "Ann", "content": object{"body": "Each autumn.\n\n## What\n\n- a\n\n> b", "cover": object{"url": image, "alt": "Three mugs"}}})
	more := p.Do("createNavItem", object{"navigationId": "main", "label": "More", "targetType": "placeholder"})["navItemId"]
	p.Do("createNavItem", object{"navigationId": "main", "label": "Start", "targetType": "page", "targetId": page, "parentId": more})
	p.Do("createNavItem", object{"navigationId": "main", "label": "Blog", "targetType": "url", "url": "/site/blog"})
	p.Do("createNavItem", object{"navigationId": "footer", "label": "Start", "targetType": "page", "targetId": page})
}

func TestSiteInABrowser(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	furnish(p)
	server := httptest.NewServer(p.site)
	t.Cleanup(server.Close)
	preview, err := url.Parse(p.site.Preview("page", p.Items("getPage", object{"slug": "home"})[0]["id"].(string)))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"home": "/site/", "list": "/site/blog", "post": "/site/blog/mugs", "search": "/site/search?q=mugs", "missing": "/site/nothing", "preview": preview.RequestURI()}
	for size, window := range map[string]browsertest.Window{"phone": browsertest.Phone, "desktop": browsertest.Desktop} {
		for _, dark := range []bool{false, true} {
			name := size
			if dark {
				name += "-dark"
			}
			t.Run("every page fits, can be read by all, and loads nothing that it may not, "+name, func(t *testing.T) {
				t.Parallel()
				window := window // each has its own: Expected is set
				window.Expected = func(_, address string) bool { return address == server.URL+"/site/nothing" }
				ctx := browsertest.Open(t, window)
				if dark {
					browsertest.Do(t, ctx, browsertest.Dark())
				}
				for page, path := range pages {
					browsertest.Do(t, ctx, chromedp.Navigate(server.URL+path), chromedp.WaitVisible(chromedp.CSS("main")))
					if !browsertest.Is(t, ctx, browsertest.Fits) {
						t.Errorf("%s is wider than the window", page)
					}
					browsertest.Accessible(t, ctx, page)
					browsertest.Shot(t, ctx, "site-"+page+"-"+name)
				}
			})
		}
	}
	t.Run("D44 D42 what is written, reordered and published is what the reader sees", func(t *testing.T) {
		ctx := browsertest.Open(t, browsertest.Desktop)
		id := p.Page("story")
		one, two := p.Section(id, "richText", object{"body": "First words."}, live), p.Section(id, "richText", object{"body": "Second words."})
		see := func(want string) {
			t.Helper()
			browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/site/story"), chromedp.WaitVisible(chromedp.CSS("main")))
			if got := browsertest.Text(t, ctx, "main"); got != want {
				t.Errorf("the page says %q, expected %q", got, want)
			}
		}
		see("Story\n\nFirst words.")
		p.Do("updateSection", object{"pageSectionId": two, "status": "published"})
		p.Do("updateSection", object{"pageSectionId": one, "sortOrder": 1})
		see("Story\n\nSecond words.\n\nFirst words.")
		p.Do("deleteSection", object{"ids": []any{two}})
		p.Do("deleteSection", object{"ids": []any{two}, "confirmed": true})
		see("Story\n\nFirst words.")
		site := p.Store.In(p.Site, contenttest.Operator)
		bin, err := site.Bin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := site.Restore(t.Context(), bin[0].ID); err != nil {
			t.Fatal(err)
		}
		see("Story\n\nFirst words.\n\nSecond words.")
	})
}

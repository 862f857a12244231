package content_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/contenttest"
)

func TestNavigation(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	page := h.Page("about")
	image := h.Image("menu.pdf.png", 1)
	entry := h.Do("createEntry", object{"collectionId": "glossary", "slug": "mug", "title": "Mug"})["entryId"].(string)
	item := func(label string, more object) string {
		t.Helper()
		inputs := object{"navigationId": "main", "label": label, "targetType": "placeholder"}
		maps.Copy(inputs, more)
		return h.Do("createNavItem", inputs)["navItemId"].(string)
	}
	about := item("About", object{"targetType": "page", "targetId": page})
	t.Run("D64 D65 D177 each kind of target, and no other", func(t *testing.T) {
		item("Entry", object{"targetType": "entry", "targetId": entry, "navigationId": "footer"})
		item("Media", object{"targetType": "media", "targetId": image, "navigationId": "footer"})
		item("Url", object{"targetType": "url", "url": "https://example.com", "navigationId": "footer"})
		item("Nowhere", object{"navigationId": "footer"})
		if got := names(h.Items("getNavItem", object{"navigationId": "footer", "all": true}), "targetType"); !slices.Equal(got, []string{"entry", "media", "url", "placeholder"}) {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "post"})
		refuses(t, h, "createNavItem", object{"label": "x", "targetType": "placeholder"}, "navigationId")
		refuses(t, h, "createNavItem", object{"navigationId": "header", "label": "x", "targetType": "placeholder"}, "footer or main")
	})
	t.Run("D66 a targetId where one is needed, one that is there, and none elsewhere", func(t *testing.T) {
		for _, kind := range []string{"page", "entry", "media"} {
			refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": kind}, "needs a targetId")
		}
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "page", "targetId": nobody}, "no page")
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "entry", "targetId": page}, "no entry")
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "media", "targetId": "asset:" + strings.Repeat("0", 64)}, "no image")
		for _, kind := range []string{"url", "placeholder"} {
			refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": kind, "targetId": page, "url": "https://x.example"}, "targetId is for")
		}
	})
	t.Run("D67 a url for url, and for nothing else", func(t *testing.T) {
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "url"}, "needs a url")
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "placeholder", "url": "https://x.example"}, "url is for")
		refuses(t, h, "createNavItem", object{"navigationId": "main", "label": "x", "targetType": "url", "url": "javascript:alert(1)"}, "https://")
	})
	more := item("More", nil)
	t.Run("D68 menus nest, without a cycle and within one navigation", func(t *testing.T) {
		below := item("Below", object{"parentId": more})
		lower := item("Lower", object{"parentId": below})
		if got := h.Items("getNavItem", object{"id": lower})[0]["parentId"]; got != below {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "updateNavItem", object{"id": more, "parentId": lower}, "below itself")
		refuses(t, h, "createNavItem", object{"navigationId": "footer", "label": "x", "targetType": "placeholder", "parentId": more}, "in this navigation")
		h.Do("deleteNavItem", object{"ids": []any{below}})
		h.Do("deleteNavItem", object{"ids": []any{below}, "confirmed": true})
		if got := h.Items("getNavItem", object{"id": lower})[0]["parentId"]; got != more {
			t.Errorf("what was below: %v", got)
		}
	})
	t.Run("D69 sortOrder orders", func(t *testing.T) {
		first := item("First", object{"sortOrder": 0})
		top := func() []string {
			var labels []string
			for _, n := range h.Items("getNavItem", object{"navigationId": "main", "all": true}) {
				if n["parentId"] == nil {
					labels = append(labels, n["label"].(string))
				}
			}
			return labels
		}
		if got := top(); !slices.Equal(got, []string{"First", "About", "More"}) {
			t.Errorf("got %v", got)
		}
		h.Do("updateNavItem", object{"id": first, "sortOrder": 2})
		if got := top(); !slices.Equal(got, []string{"About", "More", "First"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D63 D176 by id, or within a navigation", func(t *testing.T) {
		if got := h.Items("getNavItem", object{"id": about}); len(got) != 1 || got[0]["targetSlug"] != "about" {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getNavItem", object{"navigationId": "main", "label": "About"}); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getNavItem", object{"all": true}, "navigationId")
		refuses(t, h, "getNavItem", object{"label": "About"}, "navigationId")
		refuses(t, h, "getNavItem", object{"id": about, "all": true}, "one scope")
	})
	t.Run("D70 D178 an update by id merges", func(t *testing.T) {
		h.Do("updateNavItem", object{"id": about, "label": "Who we are"})
		if got := h.Items("getNavItem", object{"id": about})[0]; got["label"] != "Who we are" || got["targetId"] != page || got["visible"] != true {
			t.Errorf("got %v", got)
		}
		h.Do("updateNavItem", object{"id": about, "targetType": "url", "url": "/site/about"})
		if got := h.Items("getNavItem", object{"id": about})[0]; got["url"] != "/site/about" || got["targetId"] != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D71 the forms by label are refused with a hint", func(t *testing.T) {
		refuses(t, h, "updateNavItem", object{"label": "About", "newLabel": "Us", "href": "/us"}, "id")
		refuses(t, h, "updateNavItem", object{"label": "About"}, "needs id", "label does not name it")
		refuses(t, h, "deleteNavItem", object{"labels": []any{"About"}}, "id")
	})
	t.Run("D72 a hidden item stays", func(t *testing.T) {
		for _, visible := range []bool{false, true} {
			h.Do("updateNavItem", object{"id": about, "visible": visible})
			if got := h.Items("getNavItem", object{"id": about})[0]["visible"]; got != visible {
				t.Errorf("got %v", got)
			}
		}
	})
	t.Run("D73 D179 deleted by ids, shown first", func(t *testing.T) {
		if got := h.Do("deleteNavItem", object{"ids": []any{about}}); got["requiresConfirmation"] != true || got["message"] != "Delete 1 menu item?" {
			t.Errorf("got %v", got)
		}
		if got := h.Do("deleteNavItem", object{"ids": []any{about}, "confirmed": true}); got["deleted"].([]any)[0].(object)["id"] != about {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D74 D75 menus are apart; a limit is a setting of one, and there is none at first", func(t *testing.T) {
		for range 6 {
			item("One more", nil)
		}
		if _, err := h.Pool.Exec(t.Context(), `UPDATE site_navigations SET max_items = 5 WHERE slug = 'footer'`); err != nil {
			t.Fatal(err)
		}
		item("Fifth", object{"navigationId": "footer"})
		refuses(t, h, "createNavItem", object{"navigationId": "footer", "label": "Sixth", "targetType": "placeholder"}, "limit")
	})
}

func TestEntries(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	mug := h.Do("createEntry", object{"collectionId": "glossary", "slug": "mug", "title": "Mug", "content": object{"body": "A cup with a handle."}})["entryId"].(string)
	cup := h.Do("createEntry", object{"collectionId": "glossary", "slug": "cup", "title": "Cup", "status": "published"})["entryId"].(string)
	t.Run("D77 D188 D189 each scope, light unless content is asked for", func(t *testing.T) {
		for _, inputs := range []object{{"id": mug}, {"slug": "mug"}, {"slug": "mug", "collectionId": "glossary"}, {"collectionId": "glossary", "status": "draft"}, {"all": true, "status": "draft"}} {
			got := h.Items("getEntry", inputs)
			if len(got) != 1 || got[0]["id"] != mug || got[0]["content"] != nil {
				t.Errorf("%v: got %v", inputs, got)
			}
		}
		if got := h.Items("getEntry", object{"collectionId": "glossary", "all": true}); len(got) != 2 {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getEntry", object{"id": mug, "includeContent": true})[0]["content"].(object)["body"]; got != "A cup with a handle." {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getEntry", object{}, "provide id, slug, collectionId or all")
		refuses(t, h, "getEntry", object{"id": mug, "all": true}, "one scope")
		refuses(t, h, "getEntry", object{"collectionId": "nowhere"}, "glossary")
	})
	t.Run("D78 a draft unless published, and nothing else", func(t *testing.T) {
		if got := h.Items("getEntry", object{"id": mug})[0]["status"]; got != "draft" {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getEntry", object{"id": cup})[0]["status"]; got != "published" {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "createEntry", object{"collectionId": "glossary", "slug": "x", "title": "X", "status": "archived"})
		refuses(t, h, "createEntry", object{"collectionId": "glossary", "slug": "mug", "title": "X"}, "another post or entry")
	})
	t.Run("D79 a slug stays the only one, status may be archived, content merges", func(t *testing.T) {
		refuses(t, h, "updateEntry", object{"id": mug, "slug": "cup"}, "another post or entry")
		h.Do("updateEntry", object{"id": mug, "slug": "big-mug", "status": "archived", "content": object{"see": "cup"}})
		got := h.Items("getEntry", object{"slug": "big-mug", "includeContent": true})[0]
		if c := got["content"].(object); got["status"] != "archived" || c["body"] != "A cup with a handle." || c["see"] != "cup" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D80 shown, then deleted", func(t *testing.T) {
		if got := h.Do("deleteEntry", object{"ids": []any{mug, cup}}); got["message"] != "Delete 2 entries?" {
			t.Errorf("got %v", got)
		}
		if got := h.Do("deleteEntry", object{"ids": []any{mug, cup}, "confirmed": true}); len(got["deleted"].([]any)) != 2 || len(h.Items("getEntry", object{"all": true})) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

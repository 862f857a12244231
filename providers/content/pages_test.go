package content_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
)

type object = contenttest.Object

// refuses checks that a call is refused with words.
func refuses(t *testing.T, h *contenttest.House, tool string, inputs object, words ...string) {
	t.Helper()
	answer, err := h.As(contenttest.Operator, tool, inputs)
	e := registry.AsError(err)
	if e == nil || e.Code != registry.CodeInvalidInput {
		t.Errorf("%s %v: got %v, %v; expected a refusal", tool, inputs, answer, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("%s %v: %q does not say %q", tool, inputs, e.Message, w)
		}
	}
}

const nobody = "11111111-1111-4111-8111-111111111111" // an id that nothing has

func names(items []object, member string) []string {
	list := []string{}
	for _, item := range items {
		text, _ := item[member].(string)
		list = append(list, text)
	}
	return list
}

func TestPages(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	home := h.Page("home")
	about := h.Page("about", object{"parentId": home, "meta": object{"title": "About us", "deep": object{"n": 3}}, "indexing": false})
	team := h.Page("team", object{"parentId": about})
	h.Section(about, "richText", object{"body": "We are four."})

	t.Run("D14 exactly these inputs, unknown ones are refused", func(t *testing.T) {
		got := []string{}
		for _, f := range h.Tool("getPage").InputSchema {
			got = append(got, f.Name)
		}
		if want := []string{"id", "slug", "parentId", "includeChildren", "all", "includeContent"}; !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getPage", object{"all": true, "status": "draft"}, "status", "includeContent")
	})
	t.Run("D15 D95 by id: one or count 0, no uuid is refused", func(t *testing.T) {
		if got := h.Items("getPage", object{"id": about}); len(got) != 1 || got[0]["slug"] != "about" {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getPage", object{"id": nobody}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getPage", object{"id": "about"}, "UUID", "slug")
	})
	t.Run("D16 D155 by slug", func(t *testing.T) {
		if got := h.Items("getPage", object{"slug": "about"}); len(got) != 1 || got[0]["id"] != about {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D17 by parentId: those below that page only", func(t *testing.T) {
		if got := names(h.Items("getPage", object{"parentId": home}), "slug"); !slices.Equal(got, []string{"about"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D18 includeChildren", func(t *testing.T) {
		got := h.Items("getPage", object{"slug": "about", "includeChildren": true})[0]["children"].([]any)
		if len(got) != 1 || got[0].(object)["id"] != team {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getPage", object{"slug": "team", "includeChildren": true})[0]["children"].([]any); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		if _, there := h.Items("getPage", object{"slug": "about"})[0]["children"]; there {
			t.Error("children that nobody asked for")
		}
	})
	t.Run("D19 D20 D94 D116 D156 all, light unless includeContent asks for sections", func(t *testing.T) {
		all := h.Items("getPage", object{"all": true})
		if got := names(all, "slug"); !slices.Equal(got, []string{"about", "home", "team"}) {
			t.Errorf("got %v", got)
		}
		if _, there := all[0]["sections"]; there {
			t.Error("sections that nobody asked for")
		}
		full := h.Items("getPage", object{"all": true, "includeContent": true})
		section := full[0]["sections"].([]any)[0].(object)
		if section["content"].(object)["body"] != "We are four." || len(full[1]["sections"].([]any)) != 0 {
			t.Errorf("got %v", full)
		}
	})
	t.Run("D21 D93 no scope and two scopes are refused, with the scopes named", func(t *testing.T) {
		refuses(t, h, "getPage", object{}, "provide id, slug, parentId or all")
		refuses(t, h, "getPage", object{"all": false, "includeContent": true}, "provide id, slug")
		refuses(t, h, "getPage", object{"id": about, "slug": "about"}, "one scope", "id and slug")
	})
	t.Run("D22 D25 D157 a new page is empty, a slug is there once", func(t *testing.T) {
		made := h.Do("createPage", object{"name": "News", "slug": "news"})
		id := made["pageId"].(string)
		if preview, _ := made["previewUrl"].(string); !strings.Contains(preview, id) {
			t.Errorf("got %v", made)
		}
		if got := h.Items("getSection", object{"pageId": id}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "createPage", object{"name": "Again", "slug": "news"}, "another page has this slug")
		refuses(t, h, "createPage", object{"name": "Bad", "slug": "Not A Slug"}, "lower-case")
		refuses(t, h, "createPage", object{"name": "  ", "slug": "blank"}, "name")
	})
	t.Run("D23 below a parent, an unknown one is refused", func(t *testing.T) {
		if got := h.Items("getPage", object{"id": team})[0]["parentId"]; got != about {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "createPage", object{"name": "Lost", "slug": "lost", "parentId": nobody}, "no page with this id")
	})
	t.Run("D30 meta and indexing come back as they were sent", func(t *testing.T) {
		got := h.Items("getPage", object{"id": about})[0]
		if d := cmp.Diff(got["meta"], object{"title": "About us", "deep": object{"n": json.Number("3")}}); d != "" || got["indexing"] != false {
			t.Error(d, got)
		}
		if got := h.Items("getPage", object{"id": home})[0]; got["indexing"] != true {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D26 D118 D159 an update merges", func(t *testing.T) {
		h.Do("updatePage", object{"id": about, "name": "About", "meta": object{"description": "Who we are"}})
		got := h.Items("getPage", object{"id": about})[0]
		want := object{"title": "About us", "description": "Who we are", "deep": object{"n": json.Number("3")}}
		if d := cmp.Diff(got["meta"], want); d != "" || got["slug"] != "about" || got["indexing"] != false || got["name"] != "About" || got["parentId"] != home {
			t.Error(d, got)
		}
		h.Do("updatePage", object{"id": about, "meta": object{"deep": nil}})
		if _, there := h.Items("getPage", object{"id": about})[0]["meta"].(object)["deep"]; there {
			t.Error("null does not take a member away")
		}
	})
	t.Run("D27 a page moves, null to the top, and never below itself", func(t *testing.T) {
		refuses(t, h, "updatePage", object{"id": home, "parentId": team}, "below itself")
		refuses(t, h, "updatePage", object{"id": home, "parentId": home}, "below itself")
		h.Do("updatePage", object{"id": team, "parentId": home})
		if got := h.Items("getPage", object{"id": team})[0]["parentId"]; got != home {
			t.Errorf("got %v", got)
		}
		h.Do("updatePage", object{"id": team, "parentId": nil})
		if got := h.Items("getPage", object{"id": team})[0]["parentId"]; got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D28 the form by slug with updates is refused with a hint", func(t *testing.T) {
		refuses(t, h, "updatePage", object{"slug": "about", "updates": object{"name": "x"}}, "updates", "id")
		refuses(t, h, "updatePage", object{"slug": "about", "name": "x"}, "needs id", "a slug does not name it")
	})
	t.Run("D113 D114 another family is refused with a hint", func(t *testing.T) {
		post := h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "New."}})["postId"]
		refuses(t, h, "updatePage", object{"id": post, "name": "x"}, "post mugs", "updatePost")
		refuses(t, h, "updatePost", object{"slug": "about", "title": "x"}, "page of this slug", "updatePage", about)
		refuses(t, h, "updateEntry", object{"id": about, "title": "x"}, "page about", "updatePage")
		refuses(t, h, "updatePage", object{"id": nobody, "name": "x"}, "getPage")
	})
	t.Run("D102 arrays to create or update are refused", func(t *testing.T) {
		refuses(t, h, "updatePage", object{"id": []any{about, team}, "name": "x"})
		refuses(t, h, "createPage", object{"name": []any{"a", "b"}, "slug": "a"})
	})
}

func TestDeletePages(t *testing.T) {
	t.Parallel()
	// fresh is a house with some pages.
	fresh := func(t *testing.T) (h *contenttest.House, a, b string) {
		h = contenttest.New(t)
		a, b = h.Page("a"), h.Page("b")
		h.Section(a, "richText", object{"body": "x"})
		return h, a, b
	}
	left := func(h *contenttest.House) []string { return names(h.Items("getPage", object{"all": true}), "slug") }
	t.Run("D29 D96 D97 D115 D160 shown first, then deleted with its sections", func(t *testing.T) {
		t.Parallel()
		h, a, _ := fresh(t)
		shown := h.Do("deletePage", object{"ids": []any{a}})
		if shown["requiresConfirmation"] != true || shown["message"] != "Delete 1 page?" || len(shown["items"].([]any)) != 1 || len(left(h)) != 2 {
			t.Fatalf("got %v, left %v", shown, left(h))
		}
		gone := h.Do("deletePage", object{"ids": []any{a}, "confirmed": true})
		want := []any{object{"id": a, "slug": "a", "name": "A", "sections": json.Number("1"), "childPages": json.Number("0")}}
		if d := cmp.Diff(gone["deleted"], want); d != "" || gone["success"] != true || !slices.Equal(left(h), []string{"b"}) {
			t.Error(d, gone, left(h))
		}
		if got := h.Items("getSection", object{"pageId": a}); len(got) != 0 {
			t.Errorf("sections are left: %v", got)
		}
	})
	t.Run("D99 confirmed without a preview is a preview", func(t *testing.T) {
		t.Parallel()
		h, a, _ := fresh(t)
		for range 1 {
			if got := h.Do("deletePage", object{"ids": []any{a}, "confirmed": true}); got["requiresConfirmation"] != true || len(left(h)) != 2 {
				t.Errorf("got %v", got)
			}
		}
	})
	t.Run("D98 other ids, another account, or a change since need a new preview", func(t *testing.T) {
		t.Parallel()
		h, a, b := fresh(t)
		h.Do("deletePage", object{"ids": []any{a}})
		if got := h.Do("deletePage", object{"ids": []any{a, b}, "confirmed": true}); got["requiresConfirmation"] != true {
			t.Errorf("other ids: %v", got)
		}
		if got, err := h.As(contenttest.Editor, "deletePage", object{"ids": []any{a}, "confirmed": true}); err != nil || got["requiresConfirmation"] != true {
			t.Errorf("another account: %v, %v", got, err)
		}
		h.Do("updatePage", object{"id": a, "name": "Changed"})
		got := h.Do("deletePage", object{"ids": []any{a}, "confirmed": true})
		if note, _ := got["note"].(string); got["requiresConfirmation"] != true || !strings.Contains(note, "changed since") {
			t.Errorf("changed: %v", got)
		}
		if got := h.Do("deletePage", object{"ids": []any{a}, "confirmed": true}); got["success"] != true || got["deleted"] == nil {
			t.Errorf("shown again: %v", got)
		}
	})
	t.Run("D98 the owner's word to what they were shown is enough, as long as that is so", func(t *testing.T) {
		t.Parallel()
		h, a, _ := fresh(t)
		h.Do("deletePage", object{"ids": []any{a}})
		c, err := h.Prepare(contenttest.Operator, "deletePage", object{"ids": []any{a}, "confirmed": true})
		if err != nil {
			t.Fatal(err)
		}
		look, err := h.Preview(t.Context(), c)
		if err != nil || look.Capability != registry.CapabilityWrite || look.Message != "Delete 1 page?" || look.Said.String() != look.Message || !look.Said.Known() || len(look.Touches) != 1 {
			t.Fatalf("got %+v, %v", look, err)
		}
		c.Preview = &look
		h.Do("updatePage", object{"id": a, "name": "Changed"})
		if got, err := h.Carry(c); err != nil || got["requiresConfirmation"] != true || len(left(h)) != 2 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("D99 a call that only shows is read, so that no model deletes by confirmed alone", func(t *testing.T) {
		t.Parallel()
		h, a, _ := fresh(t)
		for _, inputs := range []object{{"ids": []any{a}}, {"ids": []any{a}, "confirmed": true}} {
			c, err := h.Prepare(contenttest.Operator, "deletePage", inputs)
			if err != nil {
				t.Fatal(err)
			}
			if look, err := h.Preview(t.Context(), c); err != nil || look.Capability != registry.CapabilityRead {
				t.Errorf("%v: got %+v, %v", inputs, look, err)
			}
		}
	})
	t.Run("D24 a protected page stays until that is lifted", func(t *testing.T) {
		t.Parallel()
		h, a, _ := fresh(t)
		h.Do("updatePage", object{"id": a, "isProtected": true})
		if got := h.Items("getPage", object{"id": a})[0]; got["isProtected"] != true {
			t.Errorf("got %v", got)
		}
		got := h.Do("deletePage", object{"ids": []any{a}, "confirmed": true})
		if why, _ := got["items"].([]any)[0].(object)["error"].(string); got["success"] != false || !strings.Contains(why, "protected") {
			t.Errorf("got %v", got)
		}
		h.Do("updatePage", object{"id": a, "isProtected": false})
		h.Do("deletePage", object{"ids": []any{a}})
		if got := h.Do("deletePage", object{"ids": []any{a}, "confirmed": true}); got["success"] != true {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D100 D103 several go together or not at all, with a report for each", func(t *testing.T) {
		t.Parallel()
		h, a, b := fresh(t)
		got := h.Do("deletePage", object{"ids": []any{a, nobody}})
		items := got["items"].([]any)
		if got["success"] != false || len(items) != 2 || items[0].(object)["error"] != nil || items[1].(object)["error"] == nil || len(left(h)) != 2 {
			t.Errorf("got %v", got)
		}
		h.Do("deletePage", object{"ids": []any{a, b}})
		if got := h.Do("deletePage", object{"ids": []any{b, a}, "confirmed": true}); got["success"] != true || len(got["deleted"].([]any)) != 2 || len(left(h)) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("pages below move up, and menus don't lead to what is gone", func(t *testing.T) {
		t.Parallel()
		h, a, b := fresh(t)
		c := h.Page("c", object{"parentId": b})
		h.Do("updatePage", object{"id": b, "parentId": a})
		item := h.Do("createNavItem", object{"navigationId": "main", "label": "B", "targetType": "page", "targetId": b})["navItemId"]
		h.Do("deletePage", object{"ids": []any{b}})
		h.Do("deletePage", object{"ids": []any{b}, "confirmed": true})
		if got := h.Items("getPage", object{"id": c})[0]["parentId"]; got != a {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getNavItem", object{"id": item})[0]["targetType"]; got != "placeholder" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what is deleted comes back from the bin, a page with its sections", func(t *testing.T) {
		t.Parallel()
		h, a, _ := fresh(t)
		h.Do("deletePage", object{"ids": []any{a}})
		h.Do("deletePage", object{"ids": []any{a}, "confirmed": true})
		site := h.Store.In(h.Site, contenttest.Operator)
		bin, err := site.Bin(t.Context())
		if err != nil || len(bin) != 1 || bin[0].Kind != "page" || bin[0].Title != "A" {
			t.Fatalf("got %+v, %v", bin, err)
		}
		if err := site.Restore(t.Context(), bin[0].ID); err != nil {
			t.Fatal(err)
		}
		if got := h.Items("getPage", object{"id": a, "includeContent": true}); len(got) != 1 || len(got[0]["sections"].([]any)) != 1 {
			t.Errorf("got %v", got)
		}
		if bin, err := site.Bin(t.Context()); err != nil || len(bin) != 0 {
			t.Errorf("the bin still has %+v, %v", bin, err)
		}
	})
}

// What a page is made of has a size that no text of people reaches: others are refused, and what was there stays.
func TestTextsHaveASize(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	long := func(n int) object { return object{"body": strings.Repeat("word ", n/5)} }
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "novel", "title": "A novel", "content": long(1_000_000)})
	refuses(t, h, "createPost", object{"collectionSlug": "blog", "slug": "library", "title": "A library", "content": long(1_050_000)}, "1048576")
	refuses(t, h, "updatePost", object{"slug": "novel", "content": long(1_050_000)}, "1048576")
	refuses(t, h, "updatePost", object{"slug": "novel", "locale": "de", "title": "Ein Roman", "content": long(1_050_000)}, "1048576")
	if posts := h.Items("getPost", object{"all": true}); len(posts) != 1 || posts[0]["version"] != json.Number("1") {
		t.Errorf("there are %d posts", len(posts))
	}
	page := h.Page("about")
	first := h.Section(page, "richText", long(600_000))
	refuses(t, h, "createSection", object{"pageId": page, "templateKey": "richText", "content": long(600_000)}, "1048576")
	refuses(t, h, "updateSection", object{"pageSectionId": first, "content": long(1_050_000)}, "1048576")
	h.Section(h.Page("another"), "richText", long(600_000))
}

package content_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
)

func TestPosts(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	cover := h.Image("mugs.png", 1)
	post := func(slug string) string {
		t.Helper()
		h.Do("createPost", object{"collectionSlug": "blog", "slug": slug, "title": strings.ToUpper(slug), "content": object{"body": "Text of **" + slug + "**."}, "author": "Ann", "excerpt": "Short."})
		return slug
	}
	get := func(slug string) object {
		t.Helper()
		return h.Items("getPost", object{"slug": slug})[0]
	}
	one, two, three := post("one"), post("two"), post("three")
	t.Run("D55 D186 D187 one by slug with content, or a light list by what it is", func(t *testing.T) {
		if got := get(one); got["content"].(object)["body"] != "Text of **one**." || got["author"] != "Ann" || got["excerpt"] != "Short." {
			t.Errorf("got %v", got)
		}
		h.Do("updatePost", object{"slug": two, "category": "news"})
		for name, inputs := range map[string]object{
			"all": {"all": true}, "collection": {"collectionSlug": "blog"}, "status": {"status": "draft"}, "category": {"category": "news"}, "both": {"collectionSlug": "blog", "category": "news", "all": true},
		} {
			got := h.Items("getPost", inputs)
			if want := map[string]int{"all": 3, "collection": 3, "status": 3, "category": 1, "both": 1}[name]; len(got) != want || got[0]["content"] != nil {
				t.Errorf("%s: got %v", name, got)
			}
		}
		refuses(t, h, "getPost", object{}, "provide slug, collectionSlug or all")
		refuses(t, h, "getPost", object{"slug": one, "all": true}, "one scope")
		refuses(t, h, "getPost", object{"collectionSlug": "glossary"}, "getEntry")
		refuses(t, h, "getPost", object{"collectionSlug": "nowhere"}, "blog")
	})
	t.Run("D56 D181 a new post is a draft, whatever is asked for", func(t *testing.T) {
		if got := get(one); got["status"] != "draft" || got["publishedAt"] != nil {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "createPost", object{"collectionSlug": "blog", "slug": "x", "title": "X", "content": object{"body": "x"}, "status": "published"}, "status")
		refuses(t, h, "createPost", object{"collectionSlug": "blog", "slug": one, "title": "X", "content": object{"body": "x"}}, "another post")
	})
	t.Run("D57 body and cover come back as they were sent", func(t *testing.T) {
		content := object{"body": "# Hi\n\ntext", "cover": object{"url": h.Items("getImage", object{"id": cover})[0]["url"], "alt": "Three mugs"}}
		h.Do("createPost", object{"collectionSlug": "blog", "slug": "covered", "title": "C", "content": content})
		got := get("covered")
		if c := got["content"].(object); c["body"] != "# Hi\n\ntext" || c["cover"].(object)["alt"] != "Three mugs" || c["cover"].(object)["url"] != content["cover"].(object)["url"] || got["featuredImage"] != cover {
			t.Errorf("got %v", got)
		}
		for _, bad := range []object{{"text": "x"}, {"body": 3}, {"cover": object{"url": "https://example.com/x.png"}}, {"cover": object{"url": cover, "alt": "x", "size": "y"}}, {"cover": object{"url": "asset:" + strings.Repeat("0", 64)}}} {
			refuses(t, h, "createPost", object{"collectionSlug": "blog", "slug": "bad", "title": "B", "content": bad})
		}
	})
	t.Run("D58 D182 an update merges", func(t *testing.T) {
		h.Do("updatePost", object{"slug": one, "title": "First", "content": object{"cover": object{"url": cover, "alt": "a"}}})
		if got := get(one); got["title"] != "First" || got["content"].(object)["body"] != "Text of **one**." || got["author"] != "Ann" || got["status"] != "draft" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D59 D183 publishing asks first, and is done when confirmed", func(t *testing.T) {
		asked := h.Do("updatePost", object{"slug": two, "status": "published", "title": "Not yet"})
		if got := get(two); asked["requiresConfirmation"] != true || asked["message"] != "Publish 1 post?" || got["status"] != "draft" || got["title"] != "TWO" {
			t.Errorf("asked %v, got %v", asked, got)
		}
		h.Do("updatePost", object{"slug": two, "status": "published", "confirmed": true})
		if got := get(two); got["status"] != "published" || got["publishedAt"] == nil {
			t.Errorf("got %v", got)
		}
		h.Do("updatePost", object{"slug": two, "status": "published", "title": "Still"}) // it is published
		if got := get(two); got["title"] != "Still" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D59 a model's publishing is a write, its asking is read", func(t *testing.T) {
		for confirmed, want := range map[bool]registry.Capability{false: registry.CapabilityRead, true: registry.CapabilityWrite} {
			c, err := h.Prepare(contenttest.Operator, "updatePost", object{"slug": three, "status": "published", "confirmed": confirmed})
			if err != nil {
				t.Fatal(err)
			}
			if look, err := h.Preview(t.Context(), c); err != nil || look.Capability != want {
				t.Errorf("confirmed %v: %+v, %v", confirmed, look, err)
			}
		}
	})
	t.Run("what was approved is not done to what was changed since", func(t *testing.T) {
		c, err := h.Prepare(contenttest.Operator, "updatePost", object{"slug": three, "title": "Approved"})
		if err != nil {
			t.Fatal(err)
		}
		look, err := h.Preview(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Preview = &look
		h.Do("updatePost", object{"slug": three, "title": "Meanwhile"})
		if _, err := h.Carry(c); err == nil || !strings.Contains(err.Error(), "changed since") || get(three)["title"] != "Meanwhile" {
			t.Errorf("got %v, %v", err, get(three)["title"])
		}
	})
	t.Run("D59 D184 archived takes it out of sight", func(t *testing.T) {
		h.Do("updatePost", object{"slug": two, "status": "archived"})
		if got := get(two); got["status"] != "archived" {
			t.Errorf("got %v", got)
		}
		if got := names(h.Items("getPost", object{"status": "archived"}), "slug"); !slices.Equal(got, []string{two}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D60 featuredImage", func(t *testing.T) {
		h.Do("updatePost", object{"slug": three, "featuredImage": cover})
		if got := get(three); got["featuredImage"] != cover {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "updatePost", object{"slug": three, "featuredImage": "asset:" + strings.Repeat("0", 64)}, "no image")
	})
	t.Run("D61 D62 D185 deleted by slugs, with the words of the preview, and archiving advised", func(t *testing.T) {
		if got := h.Do("deletePost", object{"slugs": []any{one}}); got["message"] != "Delete 1 post?" {
			t.Errorf("got %v", got)
		}
		shown := h.Do("deletePost", object{"slugs": []any{one, three}})
		if note, _ := shown["note"].(string); shown["message"] != "Delete 2 posts?" || !strings.Contains(note, "archive") {
			t.Errorf("got %v", shown)
		}
		gone := h.Do("deletePost", object{"slugs": []any{three, one}, "confirmed": true})
		if got := gone["deleted"].([]any)[0].(object); got["slug"] != three || got["title"] != "Meanwhile" {
			t.Errorf("got %v", gone)
		}
		refuses(t, h, "deletePost", object{"ids": []any{one}}, "ids", "slugs")
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "theirs", "title": "T", "content": object{"body": "x"}})
	may := func(account, tool string, inputs object, want bool) {
		t.Helper()
		answer, err := h.As(account, tool, inputs)
		if e := registry.AsError(err); (err == nil) != want || err != nil && e.Code != registry.CodeUnauthorized {
			t.Errorf("%s %v: got %v, %v; expected %v", tool, inputs, answer, err, want)
		}
	}
	t.Run("who has no role may nothing, not even look at drafts", func(t *testing.T) {
		may(contenttest.Stranger, "getPost", object{"all": true}, false)
		may(contenttest.Stranger, "createPage", object{"name": "A", "slug": "a"}, false)
		may("", "getPage", object{"all": true}, false)
	})
	t.Run("an author writes drafts, and publishes and deletes nothing", func(t *testing.T) {
		may(contenttest.Author, "getPage", object{"all": true}, true)
		may(contenttest.Author, "createPost", object{"collectionSlug": "blog", "slug": "mine", "title": "M", "content": object{"body": "x"}}, true)
		may(contenttest.Author, "updatePost", object{"slug": "mine", "title": "N"}, true)
		may(contenttest.Author, "updatePost", object{"slug": "mine", "status": "published", "confirmed": true}, false)
		may(contenttest.Author, "updatePost", object{"slug": "theirs", "title": "N"}, false)
		may(contenttest.Author, "createEntry", object{"collectionId": "glossary", "slug": "mine", "title": "M"}, true)
		may(contenttest.Author, "createEntry", object{"collectionId": "glossary", "slug": "pub", "title": "M", "status": "published"}, false)
		for tool, inputs := range map[string]object{
			"createPage": {"name": "A", "slug": "a"}, "deletePost": {"slugs": []any{"mine"}}, "createNavItem": {"navigationId": "main", "label": "x", "targetType": "placeholder"},
		} {
			may(contenttest.Author, tool, inputs, false)
		}
	})
	t.Run("an editor may all of it", func(t *testing.T) {
		may(contenttest.Editor, "createPage", object{"name": "A", "slug": "a"}, true)
		may(contenttest.Editor, "updatePost", object{"slug": "theirs", "status": "published", "confirmed": true}, true)
		may(contenttest.Editor, "deletePost", object{"slugs": []any{"mine"}}, true)
	})
}

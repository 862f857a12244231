package content_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// said gives what the first item says in a language; nil: nothing.
func said(items []object, locale string) object {
	translations, _ := items[0]["translations"].([]any)
	for _, one := range translations {
		if t := one.(object); t["locale"] == locale {
			return t
		}
	}
	return nil
}

func TestPagesInSeveralLanguages(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	page := h.Page("about")
	section := h.Section(page, "hero", object{"heading": "Hello", "text": "Welcome."})
	remove := func(account string) error {
		_, err := h.As(account, "updatePage", object{"id": page, "locale": "de", "status": "archived"})
		return err
	}
	german := func() object {
		t.Helper()
		return said(h.Items("getPage", object{"id": page, "includeContent": true}), "de")
	}
	t.Run("a name in a language that is new begins it as a draft, and the page stays what it was", func(t *testing.T) {
		h.Do("updatePage", object{"id": page, "locale": "de", "name": "Über uns", "meta": object{"description": "Wer wir sind"}})
		got := german()
		if got["title"] != "Über uns" || got["about"] != "Wer wir sind" || got["status"] != "draft" || !strings.HasSuffix(got["previewUrl"].(string), "locale=de") {
			t.Errorf("got %v", got)
		}
		if base := h.Items("getPage", object{"id": page})[0]; base["name"] != "About" || base["translations"] != nil {
			t.Errorf("got %v", base)
		}
	})
	t.Run("sections say it field by field, merged", func(t *testing.T) {
		h.Do("updateSection", object{"pageSectionId": section, "locale": "de", "content": object{"heading": "Hallo"}})
		h.Do("updateSection", object{"pageSectionId": section, "locale": "de", "content": object{"text": "Willkommen."}})
		content := german()["content"].(object)[section].(object)
		if content["heading"] != "Hallo" || content["text"] != "Willkommen." {
			t.Errorf("got %v", content)
		}
		if base := h.Items("getSection", object{"pageSectionId": section, "includeContent": true})[0]["content"].(object); base["heading"] != "Hello" {
			t.Errorf("the site's own says %v", base)
		}
	})
	t.Run("it is published and taken back by itself", func(t *testing.T) {
		for _, status := range []string{"published", "draft", "published"} {
			h.Do("updatePage", object{"id": page, "locale": "de", "status": status})
			if got := german()["status"]; got != status {
				t.Errorf("it is %v, want %s", got, status)
			}
		}
	})
	t.Run("what is the same in all languages, and what is no other language, is refused", func(t *testing.T) {
		for tool, list := range map[string][]object{
			"updatePage": {
				{"id": page, "locale": "de", "slug": "ueber"}, {"id": page, "locale": "de", "indexing": false}, {"id": page, "locale": "de", "meta": object{"access": "members"}},
				{"id": page, "locale": "en", "name": "x"}, {"id": page, "locale": "klingon-x", "name": "x"}, {"id": page, "status": "archived"},
			},
			"updateSection": {{"pageSectionId": section, "locale": "de", "hidden": true}, {"pageSectionId": section, "locale": "de", "status": "draft"}, {"pageSectionId": section, "locale": "de", "content": object{"colour": "red"}}},
		} {
			for _, inputs := range list {
				if _, err := h.As(contenttest.Operator, tool, inputs); code(err) != registry.CodeInvalidInput {
					t.Errorf("%s %v: %v", tool, inputs, err)
				}
			}
		}
	})
	t.Run("two editors of a language at once: the later is told, and who edits the site's own is not in their way", func(t *testing.T) {
		version := german()["version"].(json.Number).String()
		change := object{"pageSectionId": section, "locale": "de", "content": object{"heading": "Guten Tag"}}
		if _, err := h.UseAt(t.Context(), contenttest.Editor, "updateSection", change, nil, version); err != nil {
			t.Fatal(err)
		}
		var refused *registry.Error
		if _, err := h.UseAt(t.Context(), contenttest.Operator, "updateSection", change, nil, version); !errors.As(err, &refused) || refused.Field != "version" {
			t.Errorf("got %v", err)
		}
		if _, err := h.UseAt(t.Context(), contenttest.Operator, "updateSection", object{"pageSectionId": section, "content": object{"heading": "Hi"}}, nil, "1"); err != nil {
			t.Error(err)
		}
	})
	t.Run("its history is restored", func(t *testing.T) {
		site := h.Store.In(h.Site, "")
		revisions, err := site.History(t.Context(), "translation", german()["id"].(string))
		if err != nil || len(revisions) < 3 {
			t.Fatal(revisions, err)
		}
		if err := h.Revert(t.Context(), contenttest.Author, revisions[1].ID); code(err) != registry.CodeUnauthorized {
			t.Errorf("an author: %v", err)
		}
		if err := h.Revert(t.Context(), contenttest.Editor, revisions[1].ID); err != nil {
			t.Fatal(err)
		}
		if got := german(); got["content"].(object)[section].(object)["heading"] != "Hallo" || got["status"] != "published" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("an author, and who has no role, may not", func(t *testing.T) {
		for _, account := range []string{contenttest.Author, contenttest.Stranger} {
			_, err := h.As(account, "updatePage", object{"id": page, "locale": "fr", "name": "À propos"})
			if removed := remove(account); code(err) != registry.CodeUnauthorized || code(removed) != registry.CodeUnauthorized {
				t.Errorf("%s: %v, %v", account, err, removed)
			}
		}
	})
	t.Run("a page comes back from the bin with its languages", func(t *testing.T) {
		for _, confirmed := range []bool{false, true} {
			h.Do("deletePage", object{"ids": []any{page}, "confirmed": confirmed})
		}
		bin, err := h.Store.In(h.Site, "").Bin(t.Context())
		if err != nil || len(bin) != 1 || bin[0].Kind != "page" {
			t.Fatalf("the bin has %+v, %v", bin, err)
		}
		if err := h.Restore(t.Context(), contenttest.Editor, bin[0].ID); err != nil {
			t.Fatal(err)
		}
		if got := german(); got == nil || got["title"] != "Über uns" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a language is removed, is in the bin, and its address is free", func(t *testing.T) {
		if _, err := h.As(contenttest.Operator, "createPage", object{"name": "D", "slug": "de"}); code(err) != registry.CodeInvalidInput {
			t.Errorf("a page has the address of a language: %v", err)
		}
		if err := remove(contenttest.Editor); err != nil {
			t.Fatal(err)
		}
		if err := remove(contenttest.Editor); code(err) != registry.CodeInvalidInput {
			t.Errorf("a second time: %v", err)
		}
		site := h.Store.In(h.Site, "")
		bin, err := site.Bin(t.Context())
		if err != nil || len(bin) != 1 || bin[0].Kind != "translation" {
			t.Fatalf("the bin has %+v, %v", bin, err)
		}
		if err := h.Restore(t.Context(), contenttest.Editor, bin[0].ID); err != nil || german() == nil {
			t.Errorf("%v, %v", german(), err)
		}
		if house, err := h.Store.Site(t.Context(), store.House); err != nil || len(house.Locales) != 1 {
			t.Errorf("the site has %v, %v", house.Locales, err)
		}
		if err := remove(contenttest.Editor); err != nil {
			t.Fatal(err)
		}
		h.Do("createPage", object{"name": "D", "slug": "de"})
		if _, err := h.As(contenttest.Operator, "updatePage", object{"id": page, "locale": "de", "name": "x"}); code(err) != registry.CodeInvalidInput {
			t.Errorf("a language has the address of a page: %v", err)
		}
	})
}

func TestPostsInSeveralLanguages(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "Here."}})
	german := func() object {
		t.Helper()
		return said(h.Items("getPost", object{"slug": "mugs"}), "de")
	}
	h.Do("updatePost", object{"slug": "mugs", "locale": "de", "title": "Tassen", "content": object{"body": "Da."}})
	t.Run("publishing a language asks, for that language alone", func(t *testing.T) {
		if got := h.Do("updatePost", object{"slug": "mugs", "locale": "de", "status": "published"}); got["requiresConfirmation"] != true || german()["status"] != "draft" {
			t.Errorf("got %v", got)
		}
		h.Do("updatePost", object{"slug": "mugs", "locale": "de", "status": "published", "confirmed": true})
		post := h.Items("getPost", object{"slug": "mugs"})[0]
		if german()["status"] != "published" || post["status"] != "draft" || post["title"] != "Mugs" {
			t.Errorf("got %v", post)
		}
	})
	t.Run("a language is published at its time, once", func(t *testing.T) {
		h.Do("updatePost", object{"slug": "mugs", "locale": "fr", "title": "Tasses", "publishAt": "2020-01-01T00:00:00Z", "confirmed": true})
		if n, err := h.Store.PublishDue(t.Context()); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := h.Store.PublishDue(t.Context()); n != 0 || err != nil {
			t.Errorf("again %d, %v", n, err)
		}
		french := said(h.Items("getPost", object{"slug": "mugs"}), "fr")
		if french["status"] != "published" || french["publishAt"] != nil {
			t.Errorf("got %v", french)
		}
	})
	t.Run("authors translate drafts of their own, and publish nothing", func(t *testing.T) {
		mine := object{"slug": "mine", "locale": "de", "title": "Meins"}
		if _, err := h.As(contenttest.Author, "createPost", object{"collectionSlug": "blog", "slug": "mine", "title": "Mine", "content": object{"body": "B"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.As(contenttest.Author, "updatePost", mine); err != nil {
			t.Error(err)
		}
		for _, inputs := range []object{{"slug": "mine", "locale": "de", "status": "published", "confirmed": true}, {"slug": "mugs", "locale": "de", "title": "Anders"}} {
			if _, err := h.As(contenttest.Author, "updatePost", inputs); code(err) != registry.CodeUnauthorized {
				t.Errorf("%v: %v", inputs, err)
			}
		}
	})
	t.Run("entries as well", func(t *testing.T) {
		id := h.Do("createEntry", object{"collectionId": "glossary", "slug": "kiln", "title": "Kiln"})["entryId"]
		h.Do("updateEntry", object{"id": id, "locale": "de", "title": "Brennofen", "status": "published"})
		if got := said(h.Items("getEntry", object{"id": id, "includeContent": true}), "de"); got["title"] != "Brennofen" || got["status"] != "published" {
			t.Errorf("got %v", got)
		}
		_, err := h.UseAt(t.Context(), contenttest.Operator, "updateEntry", object{"id": id, "locale": "de", "title": "Ofen"}, nil, "7")
		if refused := registry.AsError(err); refused == nil || refused.Field != content.VersionField {
			t.Errorf("of a version that was not: %v", err)
		}
		h.Do("updateEntry", object{"id": id, "locale": "de", "status": "archived"})
		entry := h.Items("getEntry", object{"id": id, "includeContent": true})
		if said(entry, "de") != nil || entry[0]["status"] != "draft" {
			t.Errorf("got %v", entry)
		}
	})
	t.Run("an image that is deleted goes from the languages too", func(t *testing.T) {
		image := h.Image("a.png", 1)
		h.Do("updatePost", object{"slug": "mugs", "locale": "de", "content": object{"cover": object{"url": image, "alt": "Rot"}}})
		shown := h.Do("deleteImage", object{"ids": []any{image}})
		if uses := shown["items"].([]any)[0].(object)["usedIn"].([]any); len(uses) != 1 || uses[0].(object)["kind"] != "translation" {
			t.Errorf("it is used in %v", uses)
		}
		h.Do("deleteImage", object{"ids": []any{image}, "confirmed": true})
		if got := german()["content"].(object); got["body"] != "Da." || strings.Contains(string(mustJSON(t, got)), image) {
			t.Errorf("got %v", got)
		}
	})
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

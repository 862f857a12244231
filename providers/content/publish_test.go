package content_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/contenttest"
)

// A page is published with its sections in one transaction: what goes wrong in between publishes nothing.
func TestPublishPage(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	page := h.Page("story")
	refuses(t, h, "updatePage", object{"id": page, "status": "published"}, "no sections")
	one, two := h.Section(page, "richText", object{"body": "One."}), h.Section(page, "richText", object{"body": "Two."})
	hidden := h.Section(page, "quote", object{"text": "Hidden."}, object{"hidden": true})
	are := func(want string) {
		t.Helper()
		for _, s := range h.Items("getSection", object{"pageId": page}) {
			if s["status"] != want {
				t.Errorf("the section %v is %v, expected %s", s["pageSectionId"], s["status"], want)
			}
		}
		status := "draft"
		if want == "published" {
			status = want
		}
		if got := h.Items("getPage", object{"id": page})[0]["status"]; got != status {
			t.Errorf("the page is %v, expected %s", got, status)
		}
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := h.Pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("D43 all sections are published together, and taken back together; hidden ones stay hidden", func(t *testing.T) {
		if got := h.Do("updatePage", object{"id": page, "status": "published", "name": "The story"})["page"].(object); got["status"] != "published" || got["name"] != "The story" {
			t.Errorf("got %v", got)
		}
		are("published")
		if s := h.Items("getSection", object{"pageSectionId": hidden})[0]; s["hidden"] != true {
			t.Errorf("got %v", s)
		}
		h.Do("updatePage", object{"id": page, "status": "unpublished"})
		are("unpublished")
	})
	t.Run("D43 a fault after the first section publishes none of them, and changes nothing else", func(t *testing.T) {
		exec(`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`)
		exec(`CREATE TRIGGER fault BEFORE UPDATE ON site_sections FOR EACH ROW WHEN (OLD.position = 1) EXECUTE FUNCTION fault()`)
		if _, err := h.As(contenttest.Editor, "updatePage", object{"id": page, "status": "published", "name": "Half"}); err == nil {
			t.Error("it was published")
		}
		are("unpublished")
		if got := h.Items("getPage", object{"id": page})[0]["name"]; got != "The story" {
			t.Errorf("the page is called %v", got)
		}
		exec(`DROP TRIGGER fault ON site_sections`)
	})
	t.Run("D43 a section that can't be shown keeps the page from being published", func(t *testing.T) {
		exec(`UPDATE site_sections SET template = 'gone' WHERE id = $1`, two)
		if _, err := h.As(contenttest.Editor, "updatePage", object{"id": page, "status": "published"}); err == nil || !strings.Contains(err.Error(), "template gone") {
			t.Errorf("got %v", err)
		}
		are("unpublished")
	})
	t.Run("a section that is as it was keeps its version", func(t *testing.T) {
		exec(`UPDATE site_sections SET template = 'richText' WHERE id = $1`, two)
		h.Do("updateSection", object{"pageSectionId": one, "status": "published"})
		before := h.Items("getSection", object{"pageSectionId": one})[0]["version"]
		h.Do("updatePage", object{"id": page, "status": "published"})
		if after := h.Items("getSection", object{"pageSectionId": one})[0]["version"]; after != before {
			t.Errorf("the version was %v and is %v", before, after)
		}
		are("published")
	})
	t.Run("D43 with locale all of it is published in that language, and nothing in the site's own", func(t *testing.T) {
		h.Do("updatePage", object{"id": page, "status": "unpublished"})
		for id, text := range map[string]string{one: "Eins.", two: "Zwei."} {
			h.Do("updateSection", object{"pageSectionId": id, "locale": "de", "content": object{"body": text}})
		}
		german := func() object { return said(h.Items("getPage", object{"id": page, "includeContent": true}), "de") }
		h.Do("updatePage", object{"id": page, "locale": "de", "status": "published"})
		if got := german(); got["status"] != "published" || len(got["content"].(object)) != 2 {
			t.Errorf("got %v", got)
		}
		are("unpublished")
		h.Do("updatePage", object{"id": page, "status": "published"})
		h.Do("updatePage", object{"id": page, "locale": "de", "status": "unpublished"})
		if got := german(); got["status"] != "draft" {
			t.Errorf("got %v", got)
		}
		are("published")
		refuses(t, h, "updatePage", object{"id": page, "status": "archived"}, "locale")
	})
	t.Run("authors publish no pages", func(t *testing.T) {
		if _, err := h.As(contenttest.Author, "updatePage", object{"id": page, "status": "unpublished"}); err == nil {
			t.Error("an author took the page back")
		}
	})
}

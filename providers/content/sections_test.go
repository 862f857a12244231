package content_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/contenttest"
)

func orders(items []object) string {
	list := []string{}
	for _, item := range items {
		list = append(list, item["sortOrder"].(json.Number).String())
	}
	return strings.Join(list, "")
}

func TestSectionTemplates(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	hero := h.Items("getSectionTemplate", object{"key": "hero"})[0]
	t.Run("D31 D161 D162 by id, by key and all, with fields and structure", func(t *testing.T) {
		if got := h.Items("getSectionTemplate", object{"id": hero["id"]}); len(got) != 1 || got[0]["key"] != "hero" {
			t.Errorf("got %v", got)
		}
		all := h.Items("getSectionTemplate", object{"all": true})
		if len(all) < 8 || !slices.Contains(names(all, "key"), "gallery") {
			t.Errorf("got %v", names(all, "key"))
		}
		for _, one := range all {
			for _, f := range one["fields"].([]any) {
				if f.(object)["type"] == "" || f.(object)["description"] == nil {
					t.Errorf("%v: a field without type or description: %v", one["key"], f)
				}
			}
		}
		if got := h.Items("getSectionTemplate", object{"key": "none"}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getSectionTemplate", object{}, "provide id, key or all")
		refuses(t, h, "getSectionTemplate", object{"key": "hero", "all": true}, "one scope")
	})
	t.Run("D32 D165 each key is createSection's templateKey, its id is not", func(t *testing.T) {
		page := h.Page("all")
		for _, one := range h.Items("getSectionTemplate", object{"all": true}) {
			h.Section(page, one["key"].(string), object{})
		}
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": hero["id"]}, "hero", "not its id")
	})
}

func TestSections(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	page := h.Page("about")
	one := h.Section(page, "hero", object{"heading": "Hello", "eyebrow": "Hi"})
	two := h.Section(page, "richText", object{"body": "Two"})
	get := func(id string) object {
		t.Helper()
		return h.Items("getSection", object{"pageSectionId": id, "includeContent": true})[0]
	}
	t.Run("D33 D163 D164 one, or all of a page in their order; one scope is needed", func(t *testing.T) {
		got := h.Items("getSection", object{"pageId": page})
		if names := names(got, "pageSectionId"); !slices.Equal(names, []string{one, two}) || orders(got) != "01" {
			t.Errorf("got %v", got)
		}
		if _, there := got[0]["content"]; there {
			t.Error("content that nobody asked for")
		}
		if got := get(one); got["content"].(object)["heading"] != "Hello" {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getSection", object{}, "provide pageSectionId or pageId")
		refuses(t, h, "getSection", object{"pageSectionId": one, "pageId": page}, "one scope")
	})
	t.Run("D34 an unknown template, page or field is refused", func(t *testing.T) {
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": "nothing"}, "hero", "gallery")
		refuses(t, h, "createSection", object{"pageId": nobody, "templateKey": "hero"}, "no page with this id")
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": "hero", "content": object{"headline": "x"}}, "headline", "heading")
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": "hero", "content": object{"heading": 3}}, "a text")
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": "hero", "content": object{"buttonUrl": "javascript:alert(1)"}}, "https://")
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": "gallery", "content": object{"items": []any{object{"picture": "x"}}}}, "items[0]")
	})
	t.Run("D35 D37 status and hidden are stored, other values refused", func(t *testing.T) {
		for _, status := range []string{"published", "unpublished", "draft"} {
			id := h.Section(h.Page("of-"+status), "richText", object{}, object{"status": status, "hidden": status == "draft"})
			if got := get(id); got["status"] != status || got["hidden"] != (status == "draft") {
				t.Errorf("got %v", got)
			}
		}
		refuses(t, h, "createSection", object{"pageId": page, "templateKey": "hero", "status": "archived"})
		if got := get(one); got["status"] != "draft" || got["hidden"] != false {
			t.Errorf("by itself: %v", got)
		}
	})
	t.Run("D36 the id of a template is refused with a hint", func(t *testing.T) {
		id := h.Items("getSectionTemplate", object{"key": "hero"})[0]["id"]
		refuses(t, h, "updateSection", object{"pageSectionId": id, "hidden": true}, "template hero", "pageSectionId")
	})
	t.Run("D38 D42 D43 D45 D129 D180 any of them alone is valid", func(t *testing.T) {
		for _, change := range []object{{"content": object{"heading": "A"}}, {"status": "published"}, {"hidden": true}, {"sortOrder": 0}, {}} {
			inputs := object{"pageSectionId": one}
			maps.Copy(inputs, change)
			h.Do("updateSection", inputs)
		}
		if got := get(one); got["status"] != "published" || got["hidden"] != true || got["content"].(object)["heading"] != "A" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D39 D101 D166 content merges, null empties a field", func(t *testing.T) {
		h.Do("updateSection", object{"pageSectionId": one, "content": object{"heading": "B"}})
		if got := get(one)["content"].(object); got["heading"] != "B" || got["eyebrow"] != "Hi" {
			t.Errorf("got %v", got)
		}
		h.Do("updateSection", object{"pageSectionId": one, "content": object{"eyebrow": nil}})
		if got := get(one)["content"].(object); got["eyebrow"] != nil || got["heading"] != "B" {
			t.Errorf("got %v", got)
		}
	})
	image := h.Image("mug.png", 1)
	t.Run("D40 D167 D168 an image goes into a field of that name, both or neither", func(t *testing.T) {
		refuses(t, h, "updateSection", object{"pageSectionId": one, "imageId": image}, "go together")
		refuses(t, h, "updateSection", object{"pageSectionId": one, "imageField": "image"}, "go together")
		refuses(t, h, "updateSection", object{"pageSectionId": one, "imageId": image, "imageField": "Image"}, "image fields: image")
		refuses(t, h, "updateSection", object{"pageSectionId": one, "imageId": image, "imageField": "heading"}, "no image field")
		refuses(t, h, "updateSection", object{"pageSectionId": one, "imageId": "asset:" + strings.Repeat("0", 64), "imageField": "image"}, "no image")
		h.Do("updateSection", object{"pageSectionId": one, "imageId": image, "imageField": "image"})
		if got := get(one)["content"].(object); got["image"] != image || got["heading"] != "B" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D41 content and image are one change", func(t *testing.T) {
		before := get(one)["version"]
		refuses(t, h, "updateSection", object{"pageSectionId": one, "content": object{"heading": "never"}, "imageId": "nothing", "imageField": "image"})
		if got := get(one); got["version"] != before || got["content"].(object)["heading"] != "B" {
			t.Errorf("half of it was done: %v", got)
		}
		h.Do("updateSection", object{"pageSectionId": one, "content": object{"heading": "C"}, "imageId": image, "imageField": "image", "status": "draft"})
		n, _ := before.(json.Number).Int64()
		if got, _ := get(one)["version"].(json.Number).Int64(); got != n+1 {
			t.Errorf("%d changes", got-n)
		}
	})
	t.Run("D44 D154 sortOrder moves, and the others make room", func(t *testing.T) {
		three := h.Section(page, "quote", object{}, object{"sortOrder": 0})
		want := func(ids ...string) {
			t.Helper()
			got := h.Items("getSection", object{"pageId": page})
			if !slices.Equal(names(got, "pageSectionId"), ids) || orders(got) != "012" {
				t.Errorf("got %v, %s; want %v", names(got, "pageSectionId"), orders(got), ids)
			}
		}
		want(three, one, two)
		h.Do("updateSection", object{"pageSectionId": three, "sortOrder": 1})
		want(one, three, two)
		h.Do("updateSection", object{"pageSectionId": one, "sortOrder": 99})
		want(three, two, one)
		h.Do("deleteSection", object{"ids": []any{two}})
		h.Do("deleteSection", object{"ids": []any{two}, "confirmed": true})
		if got := h.Items("getSection", object{"pageId": page}); orders(got) != "01" {
			t.Errorf("after a delete: %s", orders(got))
		}
	})
	t.Run("D46 D169 D170 sections are deleted by ids, one or several", func(t *testing.T) {
		a, b := h.Section(page, "quote", object{}), h.Section(page, "quote", object{})
		if got := h.Do("deleteSection", object{"ids": []any{a, b}}); got["message"] != "Delete 2 sections?" || got["requiresConfirmation"] != true {
			t.Errorf("got %v", got)
		}
		if got := h.Do("deleteSection", object{"ids": []any{a, b}, "confirmed": true}); len(got["deleted"].([]any)) != 2 {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "deleteSection", object{"pageSectionIds": []any{one}}, "ids")
	})
	t.Run("D131 D158 a page with content is made by three tools", func(t *testing.T) {
		id := h.Page("composed")
		section := h.Section(id, "hero", object{})
		h.Do("updateSection", object{"pageSectionId": section, "content": object{"heading": "Done"}, "status": "published"})
		got := h.Items("getPage", object{"slug": "composed", "includeContent": true})[0]
		if got["status"] != "published" || got["sections"].([]any)[0].(object)["content"].(object)["heading"] != "Done" {
			t.Errorf("got %v", got)
		}
	})
}

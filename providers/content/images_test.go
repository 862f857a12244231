package content_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/providers/content/contenttest"
)

func TestImages(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	ids := map[string]string{}
	for i, name := range []string{"DSC-0042.png", "office-team.png", "red-mugs-on-a-shelf.png", "beach.png"} {
		ids[name] = h.Image(name, i)
	}
	peak := ids["DSC-0042.png"]
	h.Do("updateImage", object{"id": peak, "description": "Alpine peak in the last light", "tags": []any{"alps", "dusk"}})
	t.Run("D47 D54 D171 D172 D173 by id, by query and all; one scope is needed", func(t *testing.T) {
		if got := h.Items("getImage", object{"id": peak}); len(got) != 1 || !strings.HasPrefix(got[0]["url"].(string), "/uploads/") {
			t.Errorf("by id: %v", got)
		}
		if got := h.Items("getImage", object{"query": "mug", "limit": 1}); len(got) != 1 || got[0]["id"] != ids["red-mugs-on-a-shelf.png"] {
			t.Errorf("by query: %v", got)
		}
		if got := h.Items("getImage", object{"all": true}); len(got) != 4 {
			t.Errorf("all: %v", got)
		}
		refuses(t, h, "getImage", object{"limit": 3}, "provide id, query or all")
		refuses(t, h, "getImage", object{"id": peak, "all": true}, "one scope")
		refuses(t, h, "getImage", object{"id": "7"}, "no id of an image")
	})
	t.Run("D48 by what is meant, offline, and said how", func(t *testing.T) {
		answer := h.Do("getImage", object{"query": "mountain landscape sunset"})
		items := answer["items"].([]any)
		if len(items) == 0 || items[0].(object)["id"] != peak || answer["mode"] != "words" {
			t.Errorf("got %v", answer)
		}
		if got := h.Items("getImage", object{"query": "Meer"}); len(got) != 1 || got[0]["id"] != ids["beach.png"] {
			t.Errorf("in German: %v", got)
		}
		if got := h.Items("getImage", object{"query": "'); DROP TABLE & | !"}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D49 D50 limit and status", func(t *testing.T) {
		if got := h.Items("getImage", object{"all": true, "limit": 2}); len(got) != 2 {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getImage", object{"all": true, "status": "completed"}); len(got) != 4 {
			t.Errorf("got %v", got)
		}
		if got := h.Items("getImage", object{"all": true, "status": "failed"}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "getImage", object{"all": true, "status": "gone"})
	})
	t.Run("D51 a file becomes an image, once; what is no picture is refused", func(t *testing.T) {
		buffer := h.Picture("kettle.png", 30, 20, 9)
		made := h.Do("createImage", object{"buffer": buffer, "filename": "blue-kettle.png", "sessionId": "s1"})
		image := made["image"].(object)
		if made["imageId"] != buffer || image["width"] != json.Number("30") || image["status"] != "completed" || image["sessionId"] != "s1" || image["description"] != "blue kettle" {
			t.Errorf("got %v", made)
		}
		if again := h.Do("createImage", object{"buffer": buffer, "filename": "other.png"}); again["imageId"] != made["imageId"] || again["image"].(object)["filename"] != "blue-kettle.png" {
			t.Errorf("got %v", again)
		}
		painted := h.Picture("00001.png", 30, 20, 10)
		h.Prompts[painted] = "a lighthouse in a storm"
		if got := h.Do("createImage", object{"buffer": painted, "filename": "00001.png"})["image"].(object); got["description"] != "a lighthouse in a storm" || !slices.Contains(got["tags"].([]any), any("lighthouse")) {
			t.Errorf("what is known of its making is not: %v", got)
		}
		svg, _, err := h.Files.Keep(t.Context(), strings.NewReader(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), assets.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		refuses(t, h, "createImage", object{"buffer": svg, "filename": "x.png"}, "svg", "expected PNG")
		theirs, _, err := h.Files.Keep(t.Context(), strings.NewReader("\x89PNG\r\n\x1a\n"), assets.Meta{Name: "private.png", Owner: contenttest.Stranger, Kind: assets.Upload})
		if err != nil {
			t.Fatal(err)
		}
		refuses(t, h, "createImage", object{"buffer": theirs, "filename": "mine.png"}, "no such file")
	})
	t.Run("D52 an update merges, and searches find it by the new words", func(t *testing.T) {
		id := ids["office-team.png"]
		h.Do("updateImage", object{"id": id, "description": "Six people around a table", "categories": []any{"company"}})
		h.Do("updateImage", object{"id": id, "tags": []any{"xylophone"}})
		got := h.Items("getImage", object{"query": "xylophones"})
		if len(got) != 1 || got[0]["description"] != "Six people around a table" || got[0]["categories"].([]any)[0] != "company" {
			t.Errorf("got %v", got)
		}
		refuses(t, h, "updateImage", object{"id": "asset:" + strings.Repeat("0", 64), "description": "x"}, "no such image")
	})
	t.Run("D53 D175 a delete shows where an image is used, and takes it out there", func(t *testing.T) {
		id := ids["red-mugs-on-a-shelf.png"]
		section := h.Section(h.Page("shop"), "gallery", object{"items": []any{object{"image": id, "caption": "Mugs"}}})
		h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "New mugs", "content": object{"body": "x", "cover": object{"url": id, "alt": "Mugs"}}})
		shown := h.Do("deleteImage", object{"ids": []any{id}})
		where := []string{}
		for _, use := range shown["items"].([]any)[0].(object)["usedIn"].([]any) {
			where = append(where, use.(object)["where"].(string))
		}
		slices.Sort(where)
		if !slices.Equal(where, []string{"New mugs", "Shop"}) {
			t.Errorf("used in %v", where)
		}
		h.Section(h.Page("shop2"), "hero", object{"image": id})
		if got := h.Do("deleteImage", object{"ids": []any{id}, "confirmed": true}); got["requiresConfirmation"] != true {
			t.Errorf("a use that nobody was shown: %v", got)
		}
		if got := h.Do("deleteImage", object{"ids": []any{id}, "confirmed": true}); got["success"] != true || len(got["deleted"].([]any)) != 1 {
			t.Errorf("got %v", got)
		}
		item := h.Items("getSection", object{"pageSectionId": section, "includeContent": true})[0]["content"].(object)["items"].([]any)[0].(object)
		if _, there := item["image"]; there || item["caption"] != "Mugs" {
			t.Errorf("the section still has %v", item)
		}
		if got := h.Items("getImage", object{"id": id}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D5 getImage finds what is here, and asks nobody", func(t *testing.T) {
		for _, f := range h.Tool("getImage").InputSchema {
			if f.Name == "provider" {
				t.Error("it asks a service")
			}
		}
		if got := h.Items("getImage", object{"query": "zebra"}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

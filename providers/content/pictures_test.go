package content_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/test/housetest"
)

// elsewhere has the house's files, and some of other hosts.
type elsewhere struct {
	housetest.Files
	files map[string][]byte
	asked int
}

func (e *elsewhere) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	if strings.HasPrefix(ref, "asset:") {
		return e.Files.OpenMedia(ctx, ref)
	}
	e.asked++
	file, there := e.files[ref]
	if !there {
		return nil, registry.MediaInfo{}, errors.New("404 Not Found")
	}
	return io.NopCloser(bytes.NewReader(file)), registry.MediaInfo{}, nil
}

func TestPicturesOfTextsAreImported(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	media := &elsewhere{h.Files, map[string][]byte{"https://pictures.example/kiln.png": picture.Bytes(), "https://pictures.example/page.png": []byte("<html><script>1</script>")}, 0}
	use := func(tool string, inputs object) object {
		t.Helper()
		c, err := h.Prepare(contenttest.Operator, tool, inputs)
		if err != nil {
			t.Fatal(err)
		}
		c.Media = media
		answer, err := h.Carry(c)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const body = "![The kiln](https://pictures.example/kiln.png) ![again](https://pictures.example/kiln.png) [link](https://pictures.example/kiln.png)"
	text := func(answer object, of string) string {
		return answer[of].(object)["content"].(object)["body"].(string)
	}
	post := use("createPost", object{"collectionSlug": "blog", "slug": "kiln", "title": "Kiln", "content": object{"body": body}})
	id := h.Items("getImage", object{"query": "kiln"})[0]["id"].(string)
	want := "![The kiln](" + id + ") ![again](" + id + ") [link](https://pictures.example/kiln.png)"
	t.Run("pictures that a text shows from elsewhere become images of the site, each once", func(t *testing.T) {
		if got := text(post, "item"); got != want || media.asked != 1 || post["notes"] != nil {
			t.Errorf("asked %d times: %s, %v", media.asked, got, post["notes"])
		}
		if images := h.Items("getImage", object{"all": true}); len(images) != 1 || images[0]["description"] != "The kiln" {
			t.Errorf("got %v", images)
		}
	})
	t.Run("also in another language, in posts and in sections, with notes on those that stay links", func(t *testing.T) {
		german := func(tool string, inputs object) string {
			t.Helper()
			answer := use(tool, inputs)
			if notes, _ := answer["notes"].([]any); len(notes) != 1 || !strings.Contains(notes[0].(string), "gone.png stays a link") {
				t.Errorf("%s: got the notes %v", tool, answer["notes"])
			}
			return string(mustJSON(t, answer))
		}
		words := body + " ![gone](https://pictures.example/gone.png)"
		if got := german("updatePost", object{"slug": "kiln", "locale": "de", "title": "Ofen", "content": object{"body": words}}); !strings.Contains(got, want) {
			t.Errorf("got %s", got)
		}
		page := h.Page("oven")
		section := h.Section(page, "richText", object{"body": "x"})
		german("updateSection", object{"pageSectionId": section, "locale": "de", "content": object{"body": words}})
		if got := mustJSON(t, said(h.Items("getPage", object{"id": page, "includeContent": true}), "de")); !strings.Contains(string(got), want) {
			t.Errorf("got %s", got)
		}
		images := len(h.Items("getImage", object{"all": true}))
		asked := media.asked
		if _, err := h.UseAt(t.Context(), contenttest.Operator, "updateSection", object{"pageSectionId": section, "locale": "de", "hidden": true, "content": object{"body": words}}, media, ""); err == nil || media.asked != asked || len(h.Items("getImage", object{"all": true})) != images {
			t.Errorf("a change that is refused asked for pictures: %v", err)
		}
	})
	t.Run("also in updates, entries, sections and the items of their lists", func(t *testing.T) {
		if got := text(use("updatePost", object{"slug": "kiln", "content": object{"body": "x " + body}}), "item"); got != "x "+want {
			t.Errorf("got %s", got)
		}
		entry := use("createEntry", object{"collectionId": "glossary", "slug": "kiln", "title": "Kiln", "content": object{"body": body}})
		if got := text(entry, "item"); got != want {
			t.Errorf("got %s", got)
		}
		if got := text(use("updateEntry", object{"id": entry["entryId"], "content": object{"body": body}}), "item"); got != want {
			t.Errorf("got %s", got)
		}
		page := h.Page("kilns")
		section := use("createSection", object{"pageId": page, "templateKey": "richText", "content": object{"heading": "![no](https://pictures.example/kiln.png)", "body": body}})
		if got := text(section, "section"); got != want {
			t.Errorf("got %s", got)
		}
		if got := text(use("updateSection", object{"pageSectionId": section["pageSectionId"], "content": object{"body": body + "!"}}), "section"); got != want+"!" {
			t.Errorf("got %s", got)
		}
		faq := use("createSection", object{"pageId": page, "templateKey": "faq", "content": object{"items": []any{object{"question": "?", "answer": body}}}})
		if got := faq["section"].(object)["content"].(object)["items"].([]any)[0].(object)["answer"]; got != want {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what can't be had, or is no picture, stays a link and is told", func(t *testing.T) {
		const bad = "![gone](https://pictures.example/gone.png) ![page](https://pictures.example/page.png) ![near](/uploads/x.png)"
		got := use("updatePost", object{"slug": "kiln", "content": object{"body": bad}})
		notes, _ := got["notes"].([]any)
		if text(got, "item") != bad || len(notes) != 2 || !strings.Contains(notes[0].(string), "gone.png stays a link: 404") || !strings.Contains(notes[1].(string), "html") {
			t.Errorf("got %v", got)
		}
	})
}

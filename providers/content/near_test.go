package content_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/internal/upstream/embeddings/embeddingstest"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/store"
)

func TestImagesByVectors(t *testing.T) {
	t.Parallel()
	service := embeddingstest.New(t, 512)
	client, err := embeddings.New(embeddings.Config{URL: service.URL, Model: embeddingstest.Model, Key: embeddingstest.Key})
	if err != nil {
		t.Fatal(err)
	}
	h := contenttest.New(t, func(c *content.Config) { c.Embedder = client })
	mug, lake := h.Image("1.png", 1), h.Image("2.png", 2)
	h.Do("updateImage", object{"id": mug, "description": "the red one of them", "tags": []any{}})
	h.Do("updateImage", object{"id": lake, "description": "a lake at dawn", "tags": []any{}})
	ask := func(query string, more ...object) (ids []any, mode any) {
		t.Helper()
		inputs := object{"query": query}
		for _, m := range more {
			maps.Copy(inputs, m)
		}
		answer := h.Do("getImage", inputs)
		for _, item := range answer["items"].([]any) {
			ids = append(ids, item.(object)["id"])
		}
		return ids, answer["mode"]
	}
	t.Run("D48 vectors find what no word of the search in words does, and the answer says how", func(t *testing.T) {
		// The search in words leaves out such as "of" and "them"; the imitation's vectors are made of all words.
		if ids, mode := ask("of them"); len(ids) != 1 || ids[0] != mug || mode != "words and vectors" {
			t.Errorf("got %v by %v", ids, mode)
		}
		if ids, _ := ask("lake"); len(ids) == 0 || ids[0] != lake {
			t.Errorf("got %v", ids)
		}
		if ids, _ := ask("zebra"); len(ids) != 0 {
			t.Errorf("what is near to nothing found %v", ids)
		}
		if ids, _ := ask("of them", object{"status": "failed"}); len(ids) != 0 {
			t.Errorf("got %v", ids)
		}
	})
	t.Run("D48 each site finds its own images", func(t *testing.T) {
		if _, err := h.Store.SwitchOn(t.Context(), painters, store.Site{Slug: "painters", Title: "Painters", Language: "de"}, admin); err != nil {
			t.Fatal(err)
		}
		group := h.In("painters")
		use := func(tool string, inputs object) object {
			t.Helper()
			answer, err := group.Use(t.Context(), admin, tool, inputs, h.Files)
			if err != nil {
				t.Fatal(err)
			}
			var told object
			if err := json.Unmarshal(mustJSON(t, answer), &told); err != nil {
				t.Fatal(err)
			}
			return told
		}
		theirs := use("createImage", object{"buffer": h.Picture("3.png", 64, 48, 3), "filename": "3.png"})["imageId"]
		use("updateImage", object{"id": theirs, "description": "one of them all", "tags": []any{}})
		if got := use("getImage", object{"query": "of them"}); got["mode"] != "words and vectors" || len(got["items"].([]any)) != 1 || got["items"].([]any)[0].(object)["id"] != theirs {
			t.Errorf("the group finds %v", got)
		}
		if ids, _ := ask("of them"); len(ids) != 1 || ids[0] != mug {
			t.Errorf("the house finds %v", ids)
		}
	})
	t.Run("D52 vectors are made once, and anew for what is changed", func(t *testing.T) {
		before := service.Texts()
		ask("of them")
		if made := service.Texts() - before; made != 1 {
			t.Errorf("%d texts were sent for a search, expected the query alone", made)
		}
		h.Do("updateImage", object{"id": lake, "description": "where it is of them"})
		before = service.Texts()
		if ids, _ := ask("of them"); len(ids) != 2 || service.Texts()-before != 2 {
			t.Errorf("got %v, %d texts were sent", ids, service.Texts()-before)
		}
		h.Do("deleteImage", object{"ids": []any{mug}})
		h.Do("deleteImage", object{"ids": []any{mug}, "confirmed": true})
		if ids, _ := ask("of them"); len(ids) != 1 || ids[0] != lake {
			t.Errorf("got %v", ids)
		}
	})
	t.Run("D48 while the service is in trouble words find, and the answer says so", func(t *testing.T) {
		service.Break("no")
		h.Do("updateImage", object{"id": lake, "tags": []any{"heron"}})
		if ids, mode := ask("heron"); len(ids) != 1 || mode != "words" {
			t.Errorf("got %v by %v", ids, mode)
		}
	})
}

package content_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/test/housetest"
)

// TestImagesAreSeen has a model look at images that come. What it sees depends on the image; each look is counted.
func TestImagesAreSeen(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t, func(c *content.Config) { c.Looks = true })
	var looks atomic.Int64
	answers := map[string]func() (content.Seen, error){}
	image := func(name string, n int, answer func() (content.Seen, error)) string {
		id := h.Picture(name, 40, 30, n)
		answers[id] = answer
		return h.Do("createImage", object{"buffer": id, "filename": name})["imageId"].(string)
	}
	seen := func(description string, tags ...string) func() (content.Seen, error) {
		return func() (content.Seen, error) { return content.Seen{Description: description, Tags: tags}, nil }
	}
	mug := image("IMG_1.png", 1, seen("A red mug stands on a shelf.", "mug", "shelf", "mug"))
	written := image("IMG_2.png", 2, seen("Something else."))
	h.Do("updateImage", object{"id": written, "description": "Our house"})
	meanwhile := image("IMG_3.png", 3, nil)
	answers[meanwhile] = func() (content.Seen, error) {
		h.Do("updateImage", object{"id": meanwhile, "tags": []any{"mine"}})
		return content.Seen{Description: "Something else."}, nil
	}
	refused := image("blue-kettle.png", 4, func() (content.Seen, error) { return content.Seen{}, errors.New("no pictures") })
	tomorrow := image("IMG_5.png", 5, func() (content.Seen, error) { return content.Seen{}, content.ErrLater })
	gone := image("IMG_6.png", 6, seen("Nothing."))
	h.Do("deleteImage", object{"ids": []any{gone}})
	h.Do("deleteImage", object{"ids": []any{gone}, "confirmed": true})

	worker := content.NewLooker(content.LookerConfig{
		Pool: h.Pool, Now: time.Now, Poll: 5 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		See: func(_ context.Context, picture registry.Media, language string) (content.Seen, error) {
			looks.Add(1)
			if language != "en" {
				t.Errorf("the language is %q", language)
			}
			return answers[picture]()
		},
	})
	housetest.Begin(t, worker)
	until := func(condition string, args ...any) {
		t.Helper()
		clocktest.Until(t, condition, func() (holds bool) {
			if err := h.Pool.QueryRow(t.Context(), `SELECT `+condition, args...).Scan(&holds); err != nil {
				t.Fatal(err)
			}
			return holds
		})
	}
	until(`(SELECT count(*) FROM site_image_looks WHERE claimed_by IS NULL AND next_at > now() + interval '5 minutes') = 2 AND (SELECT count(*) FROM site_image_looks) = 2`)
	get := func(id string) object { return h.Items("getImage", object{"id": id})[0] }
	t.Run("D48 what a model saw is the description, is told, and is found", func(t *testing.T) {
		got := get(mug)
		if got["description"] != "A red mug stands on a shelf." || len(got["tags"].([]any)) != 2 || got["describedBy"] != "model" {
			t.Errorf("got %v", got)
		}
		if found := h.Items("getImage", object{"query": "shelf"}); len(found) != 1 || found[0]["id"] != mug {
			t.Errorf("found %v", found)
		}
	})
	t.Run("D48 what somebody wrote stays, also while a model looks", func(t *testing.T) {
		if got := get(written); got["description"] != "Our house" || got["describedBy"] != "given" {
			t.Errorf("got %v", got)
		}
		if got := get(meanwhile); got["description"] == "Something else." || got["tags"].([]any)[0] != "mine" || got["describedBy"] != "given" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D48 an image that no model describes keeps what its name says, after three looks", func(t *testing.T) {
		for range 2 {
			if _, err := h.Pool.Exec(t.Context(), `UPDATE site_image_looks SET next_at = now() WHERE hash = substr($1, 7)`, refused); err != nil {
				t.Fatal(err)
			}
			until(`NOT EXISTS (SELECT FROM site_image_looks WHERE hash = substr($1, 7) AND next_at <= now())`, refused)
		}
		until(`NOT EXISTS (SELECT FROM site_image_looks WHERE hash = substr($1, 7))`, refused)
		if got := get(refused); got["description"] != "blue kettle" || got["describedBy"] != "name" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D48 one that has to wait for tomorrow has lost no try", func(t *testing.T) {
		until(`EXISTS (SELECT FROM site_image_looks WHERE hash = substr($1, 7) AND tries = 0)`, tomorrow)
		if n := looks.Load(); n != 6 { // mug, meanwhile, tomorrow, refused three times
			t.Errorf("there were %d looks", n)
		}
	})
}

package content_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/providers/content/contenttest"
)

func TestPublishAt(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "later", "title": "Later", "content": object{"body": "x"}})
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	status := func() (string, any) {
		post := h.Items("getPost", object{"slug": "later"})[0]
		return post["status"].(string), post["publishAt"]
	}
	if asked := h.Do("updatePost", object{"slug": "later", "publishAt": at.Format(time.RFC3339)}); asked["requiresConfirmation"] != true {
		t.Errorf("a time is set unasked: %v", asked)
	}
	h.Do("updatePost", object{"slug": "later", "publishAt": at.Format(time.RFC3339), "confirmed": true})
	if n, err := h.Store.PublishDue(t.Context()); n != 0 || err != nil {
		t.Fatalf("%d were published before their time, %v", n, err)
	}
	if s, due := status(); s != "draft" || due != at.Format(time.RFC3339) {
		t.Errorf("the draft is %s and due %v, expected %v", s, due, at)
	}
	if _, err := h.Pool.Exec(t.Context(), `UPDATE site_entries SET publish_at = now() - interval '1 second' WHERE slug = 'later'`); err != nil {
		t.Fatal(err)
	}
	var published atomic.Int64
	var all sync.WaitGroup
	for range 4 { // processes
		all.Go(func() {
			n, err := h.Store.PublishDue(t.Context())
			if published.Add(n); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s, due := status(); published.Load() != 1 || s != "published" || due != nil {
		t.Errorf("published %d times, now %s and due %v", published.Load(), s, due)
	}
	h.Do("updatePost", object{"slug": "later", "status": "draft"})
	h.Do("updatePost", object{"slug": "later", "publishAt": at.Format(time.RFC3339), "confirmed": true})
	h.Do("updatePost", object{"slug": "later", "publishAt": nil})
	if s, due := status(); s != "draft" || due != nil {
		t.Errorf("taken back it is %s and due %v", s, due)
	}
}

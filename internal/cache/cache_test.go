package cache_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/cache"
)

func TestCache(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	c := cache.Cache[string, int]{Life: time.Minute, Most: 2}
	kept := func(key string, at time.Time) bool {
		_, ok := c.Get(key, at)
		return ok
	}
	c.Put("ann", 1, now)
	if !kept("ann", now.Add(59*time.Second)) || kept("ann", now.Add(time.Minute)) {
		t.Error("a value is not kept for exactly its life")
	}
	c.Put("bob", 2, now.Add(30*time.Second))
	c.Put("cid", 3, now.Add(70*time.Second))
	if kept("ann", now) || !kept("bob", now.Add(70*time.Second)) || !kept("cid", now.Add(70*time.Second)) {
		t.Error("room is not made by dropping what is too old")
	}
	c.Put("dan", 4, now.Add(71*time.Second))
	if kept("bob", now) || kept("cid", now) || !kept("dan", now.Add(72*time.Second)) {
		t.Error("more than two values are kept")
	}
	c.Drop(func(n int) bool { return n == 4 })
	if kept("dan", now.Add(72*time.Second)) {
		t.Error("a dropped value is there")
	}
}

// Package cache keeps a bounded number of values for a limited time, or one value that is expensive to read.
package cache

import (
	"sync"
	"time"
)

// Cache keeps at most Most values, each for Life. It is safe for concurrent use. Its zero value keeps one value for no time.
type Cache[K comparable, V any] struct {
	Life time.Duration
	Most int

	mu     sync.RWMutex
	values map[K]entry[V]
}

type entry[V any] struct {
	value V
	until time.Time
}

// Get gives the value that is kept for key, if there is one now.
func (c *Cache[K, V]) Get(key K, now time.Time) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.values[key]
	return e.value, ok && now.Before(e.until)
}

// Put keeps a value. When there is no room, it drops all that is too old, or else everything.
func (c *Cache[K, V]) Put(key K, value V, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.values) >= c.Most {
		c.drop(func(e entry[V]) bool { return !now.Before(e.until) })
	}
	if c.values == nil || len(c.values) >= c.Most {
		c.values = map[K]entry[V]{}
	}
	c.values[key] = entry[V]{value, now.Add(c.Life)}
}

// Drop drops the values that which chooses.
func (c *Cache[K, V]) Drop(which func(V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(func(e entry[V]) bool { return which(e.value) })
}

func (c *Cache[K, V]) drop(which func(entry[V]) bool) {
	for key, e := range c.values {
		if which(e) {
			delete(c.values, key)
		}
	}
}

package web

import (
	"sync"
	"time"
)

// memory remembers a bounded number of values for a while each. Its zero value remembers nothing.
type memory[K comparable, V any] struct {
	life time.Duration
	most int

	mu    sync.RWMutex
	known map[K]remembered[V]
}

type remembered[V any] struct {
	value V
	until time.Time
}

func (m *memory[K, V]) get(key K, now time.Time) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.known[key]
	return r.value, ok && now.Before(r.until)
}

// put remembers a value. When there is no room, all that is too old goes, or else everything.
func (m *memory[K, V]) put(key K, value V, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= m.most {
		m.drop(func(r remembered[V]) bool { return !now.Before(r.until) })
	}
	if m.known == nil || len(m.known) >= m.most {
		m.known = map[K]remembered[V]{}
	}
	m.known[key] = remembered[V]{value, now.Add(m.life)}
}

// forget drops the values that which chooses.
func (m *memory[K, V]) forget(which func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(func(r remembered[V]) bool { return which(r.value) })
}

func (m *memory[K, V]) drop(which func(remembered[V]) bool) {
	for key, r := range m.known {
		if which(r) {
			delete(m.known, key)
		}
	}
}

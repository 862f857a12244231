package clock

import (
	"sync"
	"time"
)

// Recent remembers answers for a while. It is safe for concurrent use.
type Recent[K comparable, V any] struct {
	clock Clock
	keep  time.Duration

	mu      sync.Mutex
	answers map[K]recentAnswer[V]
}

type recentAnswer[V any] struct {
	value V
	until time.Time
}

// NewRecent remembers each answer for keep.
func NewRecent[K comparable, V any](c Clock, keep time.Duration) *Recent[K, V] {
	return &Recent[K, V]{clock: c, keep: keep, answers: map[K]recentAnswer[V]{}}
}

// Get gives the answer for key, if one was set lately.
func (r *Recent[K, V]) Get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer, ok := r.answers[key]
	return answer.value, ok && r.clock.Now().Before(answer.until)
}

// Set also forgets what is too old, so that no more is kept than was asked for lately.
func (r *Recent[K, V]) Set(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	for old, answer := range r.answers {
		if !now.Before(answer.until) {
			delete(r.answers, old)
		}
	}
	r.answers[key] = recentAnswer[V]{value, now.Add(r.keep)}
}

package cache

import (
	"sync"
	"time"
)

// Latest keeps one value for Life, for those who all want the same and need not have it as it is this moment. It is safe for concurrent use.
type Latest[V any] struct {
	Life time.Duration

	mu    sync.Mutex // held while it is read: others wait for that reading
	value V
	at    time.Time // when it was so; zero: never
}

// Get gives the value and when it was so: what is kept, if that is not too old, else what read gives. A clock may be set back. An error is
// not kept, and what was kept before stays.
func (l *Latest[V]) Get(now time.Time, read func() (V, error)) (V, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := now.Sub(l.at); l.at.IsZero() || age < 0 || age >= l.Life {
		value, err := read()
		if err != nil {
			return value, now, err
		}
		l.value, l.at = value, now
	}
	return l.value, l.at, nil
}

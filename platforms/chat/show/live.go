package show

import (
	"sync"
)

// liveMessages keeps edits of one status message apart: nobody shows an old state over a new one.
type liveMessages struct {
	mu    sync.Mutex
	locks map[string]*liveMessage
}

type liveMessage struct {
	sync.Mutex
	users int
}

// lock gives the message of a run to one goroutine until unlock is called.
func (l *liveMessages) lock(runID string) (unlock func()) {
	l.mu.Lock()
	if l.locks == nil {
		l.locks = map[string]*liveMessage{}
	}
	m := l.locks[runID]
	if m == nil {
		m = &liveMessage{}
		l.locks[runID] = m
	}
	m.users++
	l.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(l.locks, runID)
		}
	}
}

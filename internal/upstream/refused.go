package upstream

import "sync"

// maxRefused bounds how many refusals are remembered.
const maxRefused = 10_000

// Refused remembers the handles of runs whose submission was refused for the moment, for services that can't be
// asked after a run without its id: they have surely not taken these, so that they may be sent again. After a restart
// nobody knows. The zero value is ready; it is safe for concurrent use.
type Refused struct {
	mu    sync.Mutex
	known map[string]bool
}

// Note remembers a handle.
func (r *Refused) Note(handle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= maxRefused {
		r.known = map[string]bool{}
	}
	r.known[handle] = true
}

// Take forgets a handle and reports whether it was known.
func (r *Refused) Take(handle string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[handle]
	delete(r.known, handle)
	return known
}

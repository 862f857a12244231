package upstream

import (
	"sync"

	"github.com/signalbox/signalbox/registry"
)

// maxRefused bounds how many refusals are remembered.
const maxRefused = 10_000

// Refused remembers the handles of runs whose submission was refused for the moment, for services that can't be
// asked after a run without its id: they have surely not taken these, so that they may be sent again. After a restart
// nobody knows. The zero value is ready; it is safe for concurrent use.
type Refused struct {
	mu    sync.Mutex
	known map[string]bool
}

// Start begins the run of a call by start, which gives its id at the service. A repeated call may have begun one before, and nobody can tell: it
// fails with lost, unless the one before was refused.
func (r *Refused) Start(c registry.Call, lost *registry.Error, start func() (id string, err error)) (id string, err error) {
	if c.Repeated && !r.take(c.Handle) {
		return "", lost
	}
	id, err = start()
	if err != nil && registry.AsError(err).Retryable {
		r.note(c.Handle)
	}
	return id, err
}

func (r *Refused) note(handle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= maxRefused {
		r.known = map[string]bool{}
	}
	r.known[handle] = true
}

// take forgets a handle and reports whether it was known.
func (r *Refused) take(handle string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[handle]
	delete(r.known, handle)
	return known
}

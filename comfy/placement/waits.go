package placement

import (
	"sync"
	"time"
)

// Waits are what waits in the house's queue, as far as placement knows. They are safe for concurrent use; the zero value works.
type Waits struct {
	mu     sync.Mutex
	counts map[string]int       // by tool
	sets   map[string]string    // the set of models that a tool needs, of tools that waited
	first  map[string]time.Time // when a set of models was refused first, after it was placed last
}

// Refused notes that a job waits.
func (w *Waits) Refused(j Job, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sets == nil {
		w.sets, w.first = make(map[string]string), make(map[string]time.Time)
	}
	w.sets[j.Tool] = j.Set
	if w.first[j.Set].IsZero() {
		w.first[j.Set] = now
	}
}

// Placed notes that a job has begun.
func (w *Waits) Placed(j Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.first, j.Set)
	if w.counts[j.Tool] > 0 {
		w.counts[j.Tool]--
	}
}

// Since tells how long jobs with these models have waited for one of them to begin.
func (w *Waits) Since(j Job, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.first[j.Set]
	if first.IsZero() {
		return 0
	}
	return now.Sub(first)
}

// Work is how many seconds of an average engine wait for a set of models.
func (w *Waits) Work(set string, seconds func(tool string) float64) (all float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tool, of := range w.sets {
		if of == set {
			all += float64(w.counts[tool]) * seconds(tool)
		}
	}
	return all
}

// Any tells whether something waits.
func (w *Waits) Any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sets) > 0
}

// Count takes how many runs wait, by tool.
func (w *Waits) Count(counts map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts = counts
	if len(counts) == 0 {
		clear(w.sets)
		clear(w.first)
	}
}

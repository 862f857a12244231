package comfy

import (
	"context"
	"sync"
	"time"
)

// waits is what waits in the house's queue, as far as placement knows.
type waits struct {
	mu     sync.Mutex
	counts map[string]int       // by tool
	sets   map[string]string    // the set of models that a tool needs, of tools that waited
	first  map[string]time.Time // when a set of models was refused first, after it was placed last
}

// refused notes that a job waits.
func (w *waits) refused(j job, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sets == nil {
		w.sets, w.first = make(map[string]string), make(map[string]time.Time)
	}
	w.sets[j.tool] = j.set
	if w.first[j.set].IsZero() {
		w.first[j.set] = now
	}
}

func (w *waits) placed(j job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.first, j.set)
	if w.counts[j.tool] > 0 {
		w.counts[j.tool]--
	}
}

// since tells how long jobs with these models have waited for one of them to begin.
func (w *waits) since(j job, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.first[j.set]
	if first.IsZero() {
		return 0
	}
	return now.Sub(first)
}

// work is how many seconds of an average engine wait for a set of models.
func (w *waits) work(set string, seconds func(tool string) float64) (all float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tool, of := range w.sets {
		if of == set {
			all += float64(w.counts[tool]) * seconds(tool)
		}
	}
	return all
}

// countWaiting counts what waits, while something does.
func (f *Fleet) countWaiting(ctx context.Context) {
	w := &f.waits
	w.mu.Lock()
	idle := f.cfg.Waiting == nil || len(w.first) == 0 && len(w.sets) == 0
	w.mu.Unlock()
	if idle {
		return
	}
	counts, err := f.cfg.Waiting(ctx)
	if err != nil {
		f.cfg.Logger.Debug("what waits can't be counted", "error", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts = counts
	if len(counts) == 0 {
		clear(w.sets)
		clear(w.first)
	}
}

package runs

import (
	"sync"
	"time"
)

// freshFor is how long a run is worked on as it was accepted, without reading it again. Under load a job is
// fetched within milliseconds by the process that accepted it. Should another machine cancel the run
// in that moment, unheard, then the first progress to be written, or the finish, finds out.
const freshFor = time.Second

// maxRecent bounds the memory of what was accepted.
const maxRecent = 4096

// recent remembers runs that were accepted a moment ago.
type recent struct {
	mu   sync.Mutex
	runs map[string]record
}

func (m *recent) put(r record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs == nil || len(m.runs) >= maxRecent {
		m.runs = make(map[string]record)
	}
	m.runs[r.ID] = r
}

// take gives a run and forgets it.
func (m *recent) take(runID string, now time.Time) (record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.runs[runID]
	delete(m.runs, runID)
	return r, ok && now.Sub(r.CreatedAt) < freshFor
}

// forget forgets runs that somebody has changed.
func (m *recent) forget(runIDs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range runIDs {
		delete(m.runs, id)
	}
}

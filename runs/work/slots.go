package work

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// slots are for the runs that this process works on at a time, one each; what a provider has for them is a place. Anyone who accepts a run keeps it when
// there is a slot here and a place at the provider; what finds none is queued in the database until there is one.
type slots struct {
	mu     sync.Mutex
	most   int               // of them
	taken  int               // also by claims under way
	runs   map[string]string // under work here; the service of those that their provider may not have counted yet
	unsent map[string]int    // the number of these by service
	open   bool              // from Start to Stop
	more   bool              // more runs may lie in the database than there were slots here
	queues map[string]bool   // services with runs in the database, for want of a slot here or a place there: those come first
	coming int               // runs on their way there
	lying  int               // runs that came there since the last look began; with those that are coming, each has a slot saved
	Wake   chan struct{}     // look for them
	idle   chan struct{}     // closed when they are closed and nobody is at work
}

func newSlots(most int) *slots {
	return &slots{
		most: most, runs: make(map[string]string), unsent: make(map[string]int), queues: make(map[string]bool),
		Wake: make(chan struct{}, 1), idle: make(chan struct{}),
	}
}

// start opens the slots.
func (s *slots) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
}

// close lets nobody take a slot any more; idle is closed when all have left.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	if s.taken == 0 {
		close(s.idle)
	}
}

// Keep takes a slot for a run that is being accepted, where its service has places for so many more; false: it has to be put into
// the queue, and queued is called when that is done or has failed.
func (s *slots) Keep(runID, service string, room int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.queues[service] || s.unsent[service] >= room || s.taken+s.coming+s.lying >= s.most {
		s.coming++
		return false
	}
	s.taken++
	s.begin(runID, service)
	return true
}

// begin is called with mu held.
func (s *slots) begin(runID, service string) {
	s.runs[runID] = service
	s.unsent[service]++
}

// sent takes note that the provider counts a run by now, or does not have it.
func (s *slots) sent(runID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if service, here := s.runs[runID]; here && s.count(runID, service) {
		s.lookFor(service)
	}
}

// free takes note that a provider may have a place again.
func (s *slots) free(service string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookFor(service)
}

// lookFor is called with mu held.
func (s *slots) lookFor(service string) {
	if s.open && s.queues[service] && s.taken < s.most {
		s.Look()
	}
}

// count has a run of the service no longer count as unsent, and reports whether it did. It is called with mu held.
func (s *slots) count(runID, service string) bool {
	if service == "" {
		return false
	}
	s.runs[runID] = ""
	if s.unsent[service]--; s.unsent[service] == 0 {
		delete(s.unsent, service)
	}
	return true
}

// room is what is left for a service of so many places at its provider.
func (s *slots) room(service string, places int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return places - s.unsent[service]
}

// Queued takes note that a run for which there was no slot is in the queue.
func (s *slots) Queued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming--
	s.lying++
	s.lookIfFree()
}

// reserve takes up to n slots for runs from the queue, and occupy fills them. more says that there were too few here; without
// it nothing is left in the queue but what has come meanwhile, and what waits for its provider.
func (s *slots) reserve(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return 0
	}
	n = min(n, s.most-s.taken)
	s.taken += n
	if n > 0 {
		s.lying = 0
	}
	return n
}

// occupy fills the slots that were reserved; queues are the services that may have more runs.
func (s *slots) occupy(reserved int, found []claimed, more bool, queues map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= reserved - len(found)
	for _, c := range found {
		s.begin(c.ID, c.Service)
	}
	s.more, s.queues = more, queues
	s.freed()
}

// wait notes that a service has runs in the database, for want of a place at the provider.
func (s *slots) wait(service string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[service] = true
}

// mayWait reports whether runs may lie in the database by what the last look found, and by what has come there from here since.
func (s *slots) mayWait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.more || s.lying > 0 || len(s.queues) > 0 || s.taken == s.most
}

// Leave gives a run's slot back.
func (s *slots) Leave(runID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(runID, s.runs[runID])
	delete(s.runs, runID)
	s.taken--
	s.freed()
}

// freed is called with mu held.
func (s *slots) freed() {
	s.lookIfFree()
	if !s.open && s.taken == 0 {
		close(s.idle)
	}
}

// lookIfFree is called with mu held.
func (s *slots) lookIfFree() {
	if s.open && (s.more || s.lying > 0) && s.taken < s.most {
		s.Look()
	}
}

// Look has the queue looked at.
func (s *slots) Look() {
	select {
	case s.Wake <- struct{}{}:
	default:
	}
}

// has reports whether a run is under work here.
func (s *slots) has(runID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, here := s.runs[runID]
	return here
}

// slotsCollector tells of a process' slots for runs.
type slotsCollector struct{ *slots }

var placesDesc = prometheus.NewDesc("signalbox_runs_places", "Places of this process for runs under work, by state.", []string{"state"}, nil)

func (c slotsCollector) Describe(d chan<- *prometheus.Desc) { d <- placesDesc }

func (c slotsCollector) Collect(m chan<- prometheus.Metric) {
	c.mu.Lock()
	used, free := c.taken, c.most-c.taken
	c.mu.Unlock()
	m <- prometheus.MustNewConstMetric(placesDesc, prometheus.GaugeValue, float64(used), "used")
	m <- prometheus.MustNewConstMetric(placesDesc, prometheus.GaugeValue, float64(free), "free")
}

// claimed is a run taken from the queue.
type claimed struct {
	ID        string
	Service   string
	AccountID string
	First     bool // nobody has worked on it before
}

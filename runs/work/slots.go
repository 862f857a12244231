package work

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// slots has a place for each run that this process works on at a time. Anyone who accepts a run keeps it when
// there is a place, here and at the provider; what finds none is queued in the database until there is one.
type slots struct {
	mu     sync.Mutex
	places int
	taken  int               // of them, also by claims under way
	runs   map[string]string // under work here; the service of those that their provider may not have counted yet
	unsent map[string]int    // the number of these by service
	open   bool              // from Start to Stop
	more   bool              // more runs may lie in the database than there were places here
	queues map[string]bool   // services with runs in the database, for want of a place here or there: those come first
	coming int               // runs on their way there
	lying  int               // runs that came there since the last look began; with those that are coming, each has a place saved
	Wake   chan struct{}     // look for them
	idle   chan struct{}     // closed when they are closed and nobody is at work
}

func newSlots(places int) *slots {
	return &slots{
		places: places, runs: make(map[string]string), unsent: make(map[string]int), queues: make(map[string]bool),
		Wake: make(chan struct{}, 1), idle: make(chan struct{}),
	}
}

// start opens the slots.
func (d *slots) start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = true
}

// close lets nobody take a place any more; idle is closed when all have left.
func (d *slots) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = false
	if d.taken == 0 {
		close(d.idle)
	}
}

// Keep takes a place for a run that is being accepted, where its service has room for so many more; false: it has to be put into
// the queue, and queued is called when that is done or has failed.
func (d *slots) Keep(runID, service string, room int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open || d.queues[service] || d.unsent[service] >= room || d.taken+d.coming+d.lying >= d.places {
		d.coming++
		return false
	}
	d.taken++
	d.begin(runID, service)
	return true
}

// begin is called with mu held.
func (d *slots) begin(runID, service string) {
	d.runs[runID] = service
	d.unsent[service]++
}

// sent takes note that the provider counts a run by now, or does not have it.
func (d *slots) sent(runID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if service, here := d.runs[runID]; here && d.count(runID, service) {
		d.lookFor(service)
	}
}

// free takes note that a provider may have a place again.
func (d *slots) free(service string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookFor(service)
}

// lookFor is called with mu held.
func (d *slots) lookFor(service string) {
	if d.open && d.queues[service] && d.taken < d.places {
		d.Look()
	}
}

// count has a run of the service no longer count as unsent, and reports whether it did. It is called with mu held.
func (d *slots) count(runID, service string) bool {
	if service == "" {
		return false
	}
	d.runs[runID] = ""
	if d.unsent[service]--; d.unsent[service] == 0 {
		delete(d.unsent, service)
	}
	return true
}

// room is what is left for a service of so many places at its provider.
func (d *slots) room(service string, places int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return places - d.unsent[service]
}

// Queued takes note that a run for which there was no place is in the queue.
func (d *slots) Queued() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.coming--
	d.lying++
	d.lookIfFree()
}

// reserve takes up to n places for runs from the queue, and occupy fills them. more says that there were too few places here; without
// it nothing is left in the queue but what has come meanwhile, and what waits for its provider.
func (d *slots) reserve(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return 0
	}
	n = min(n, d.places-d.taken)
	d.taken += n
	if n > 0 {
		d.lying = 0
	}
	return n
}

// occupy fills the places that were reserved; queues are the services that may have more runs.
func (d *slots) occupy(reserved int, found []claimed, more bool, queues map[string]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken -= reserved - len(found)
	for _, c := range found {
		d.begin(c.ID, c.Service)
	}
	d.more, d.queues = more, queues
	d.freed()
}

// wait notes that a service has runs in the database, for want of a place at the provider.
func (d *slots) wait(service string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues[service] = true
}

// Leave gives a run's place back.
func (d *slots) Leave(runID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count(runID, d.runs[runID])
	delete(d.runs, runID)
	d.taken--
	d.freed()
}

// freed is called with mu held.
func (d *slots) freed() {
	d.lookIfFree()
	if !d.open && d.taken == 0 {
		close(d.idle)
	}
}

// lookIfFree is called with mu held.
func (d *slots) lookIfFree() {
	if d.open && (d.more || d.lying > 0) && d.taken < d.places {
		d.Look()
	}
}

// Look has the queue looked at.
func (d *slots) Look() {
	select {
	case d.Wake <- struct{}{}:
	default:
	}
}

// has reports whether a run is under work here.
func (d *slots) has(runID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, here := d.runs[runID]
	return here
}

// slotsCollector tells of a process' places for runs.
type slotsCollector struct{ *slots }

var placesDesc = prometheus.NewDesc("signalbox_runs_places", "Places of this process for runs under work, by state.", []string{"state"}, nil)

func (c slotsCollector) Describe(d chan<- *prometheus.Desc) { d <- placesDesc }

func (c slotsCollector) Collect(m chan<- prometheus.Metric) {
	c.mu.Lock()
	used, free := c.taken, c.places-c.taken
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

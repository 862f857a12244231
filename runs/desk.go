package runs

import "sync"

// desk has a place for each run that this process works on at a time. Whoever accepts a run keeps it when
// there is a place; what finds none lies in the database until somebody has one.
type desk struct {
	mu     sync.Mutex
	places int
	taken  int             // of them, also by claims under way
	runs   map[string]bool // under work here
	open   bool            // from Start to Stop
	queue  bool            // more runs may lie in the database than there are places: those come first
	coming int             // runs on their way there
	lying  int             // runs that came there since the last look began; with those that are coming, each has a place saved
	wake   chan struct{}   // look for them
	idle   chan struct{}   // closed when the desk is closed and nobody is at work
}

func newDesk(places int) *desk {
	return &desk{places: places, runs: make(map[string]bool), wake: make(chan struct{}, 1), idle: make(chan struct{})}
}

// start opens the desk.
func (d *desk) start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = true
}

// close lets nobody take a place any more; idle is closed when all have left.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = false
	if d.taken == 0 {
		close(d.idle)
	}
}

// keep takes a place for a run that is being accepted; false: it has to be put into the queue, and queued is called when
// that is done or has failed.
func (d *desk) keep(runID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open || d.queue || d.taken+d.coming+d.lying >= d.places {
		d.coming++
		return false
	}
	d.taken++
	d.runs[runID] = true
	return true
}

// queued takes note that a run for which there was no place is in the queue.
func (d *desk) queued() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.coming--
	d.lying++
	d.lookIfFree()
}

// reserve takes up to n places for runs from the queue, and occupy fills them: with fewer runs than there were places
// nothing is left in the queue but what has come meanwhile.
func (d *desk) reserve(n int) int {
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

func (d *desk) occupy(reserved int, runIDs []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken -= reserved - len(runIDs)
	for _, id := range runIDs {
		d.runs[id] = true
	}
	d.queue = len(runIDs) == reserved
	d.freed()
}

// leave gives a run's place back.
func (d *desk) leave(runID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.runs, runID)
	d.taken--
	d.freed()
}

// freed is called with mu held.
func (d *desk) freed() {
	d.lookIfFree()
	if !d.open && d.taken == 0 {
		close(d.idle)
	}
}

// lookIfFree is called with mu held.
func (d *desk) lookIfFree() {
	if d.open && (d.queue || d.lying > 0) && d.taken < d.places {
		d.look()
	}
}

// look has the queue looked at.
func (d *desk) look() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// has reports whether a run is under work here.
func (d *desk) has(runID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runs[runID]
}

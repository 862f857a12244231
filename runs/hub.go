package runs

import (
	"sync"

	"github.com/google/uuid"
)

// hub passes changes of runs on to those who watch them in this process, and gathers what other
// machines must be told.
type hub struct {
	*env
	store    *store
	mu       sync.Mutex
	watchers map[string][]*watcher
	live     map[string]*liveRun
	changes  map[string]bool // run ids to tell others about
	wake     chan struct{}   // changes is no longer empty
}

// watcher is one subscription. Its channel holds the latest state that was not read yet.
type watcher struct {
	states chan Run
	closed bool
}

// liveRun is a run that this process works on.
type liveRun struct {
	nudge   chan struct{} // look at the provider now
	cancel  func(cause error)
	run     Run
	preview []byte
}

func newHub(e *env, st *store) *hub {
	return &hub{
		env: e, store: st,
		watchers: make(map[string][]*watcher), live: make(map[string]*liveRun),
		changes: make(map[string]bool), wake: make(chan struct{}, 1),
	}
}

// Subscribe gives every change of a run from now on, here or on another machine; who reads slowly gets
// the latest state only. The first state is the present one. After the final one the channel is closed, and at
// once for what is no run's id. cancel must be called; it closes the channel too.
func (s *hub) Subscribe(runID string) (states <-chan Run, cancel func()) {
	id, err := uuid.Parse(runID)
	if err != nil {
		none := make(chan Run)
		close(none)
		return none, func() {}
	}
	runID = id.String()
	w := s.watch(runID)
	s.spawn(func() { s.refresh([]string{runID}) })
	return w.states, func() { s.unwatch(runID, w) }
}

// PreviewOf gives the latest preview picture (JPEG or PNG) of a run that this process works on, or nil.
func (s *hub) PreviewOf(runID string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[runID]; l != nil {
		return l.preview
	}
	return nil
}

func (h *hub) watch(runID string) *watcher {
	w := &watcher{states: make(chan Run, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers[runID] = append(h.watchers[runID], w)
	return w
}

func (h *hub) unwatch(runID string, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.watchers[runID][:0:0]
	for _, other := range h.watchers[runID] {
		if other != w {
			kept = append(kept, other)
		}
	}
	if h.watchers[runID] = kept; len(kept) == 0 {
		delete(h.watchers, runID)
	}
	w.close()
}

// close is called with the hub locked.
func (w *watcher) close() {
	if !w.closed {
		w.closed = true
		close(w.states)
	}
}

// changed publishes a new state here, and soon to the other machines.
func (h *hub) changed(run *Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publish(run)
	h.gather(run.ID)
}

// tell has the other machines look at a run.
func (h *hub) tell(runID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gather(runID)
}

// gather is called with mu held.
func (h *hub) gather(runID string) {
	h.changes[runID] = true
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// publish hands a state to the watchers. The caller holds mu.
func (h *hub) publish(run *Run) {
	for _, w := range h.watchers[run.ID] {
		if w.closed {
			continue
		}
		select {
		case <-w.states: // the reader is slow: the latest state wins
		default:
		}
		w.states <- *run
		if run.Status.Final() {
			w.close()
		}
	}
	if run.Status.Final() {
		delete(h.watchers, run.ID)
	}
}

// heard publishes a state that was read from the database. A run that this process works on is known
// better here, unless it was ended elsewhere: then its work is stopped.
func (h *hub) heard(run Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.live[run.ID]; l != nil {
		if !run.Status.Final() {
			if l.run.ID != "" {
				run = l.run
			}
			select {
			case l.nudge <- struct{}{}: // somebody else's news of it: it may be a callback
			default:
			}
		} else if run.Status == StatusCanceled || run.Status == StatusTimedOut {
			l.cancel(errGone)
		}
	}
	h.publish(&run)
}

// enter registers a run that this process starts to work on; the returned function ends that.
func (h *hub) enter(runID string, cancel func(error)) (*liveRun, func()) {
	l := &liveRun{nudge: make(chan struct{}, 1), cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[runID] = l
	return l, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.live[runID] == l {
			delete(h.live, runID)
		}
	}
}

// stop ends the work on a run in this process with a cause, and reports whether there was any.
func (h *hub) stop(runID string, cause error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.live[runID]
	if l != nil {
		l.cancel(cause)
	}
	return l != nil
}

// nudge makes the work on a run look at its provider now.
func (h *hub) nudge(runID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.live[runID]
	if l == nil {
		return false
	}
	select {
	case l.nudge <- struct{}{}:
	default:
	}
	return true
}

// begin keeps the state that the work on a run begins with.
func (h *hub) begin(l *liveRun, run *Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.run = *run
}

// setLive keeps what is known of a run under work and publishes it.
func (h *hub) setLive(l *liveRun, run Run, preview []byte) {
	h.mu.Lock()
	if preview != nil {
		l.preview = preview
	}
	l.run = run
	h.mu.Unlock()
	h.changed(&run)
}

// takeChanges gives the runs to tell others about, and forgets them.
func (h *hub) takeChanges() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]string, 0, len(h.changes))
	for id := range h.changes {
		ids = append(ids, id)
	}
	clear(h.changes)
	return ids
}

// submitted counts, by service, the runs under work here that their provider has and has not begun.
func (h *hub) submitted() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := make(map[string]int)
	for _, l := range h.live {
		if l.run.Status == StatusSubmitted {
			counts[l.run.Tool.Service]++
		}
	}
	return counts
}

// interesting keeps those ids that somebody here watches or works on.
func (h *hub) interesting(ids []string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := ids[:0:0]
	for _, id := range ids {
		if h.live[id] != nil || len(h.watchers[id]) > 0 {
			kept = append(kept, id)
		}
	}
	return kept
}

// watchedElsewhere gives the runs that are watched here and worked on by others.
func (h *hub) watchedElsewhere() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for id := range h.watchers {
		if h.live[id] == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

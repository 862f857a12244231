package store

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/runs"
)

// Hub passes changes of runs on to those who watch them in this process, and gathers what other
// machines must be told.
type Hub struct {
	*Env
	store    *Store
	mu       sync.Mutex
	watchers map[string][]*watcher
	live     map[string]*LiveRun
	changes  map[string]bool // run ids to tell others about
	wake     chan struct{}   // changes is no longer empty
}

// watcher is one subscription. Its channel holds the latest state that was not read yet.
type watcher struct {
	states chan runs.Run
	closed bool
}

// LiveRun is a run that this process works on.
type LiveRun struct {
	Nudge   chan struct{} // look at the provider now
	cancel  func(cause error)
	run     runs.Run
	preview []byte
}

// NewHub makes a Hub that reads from a Store.
func NewHub(e *Env, st *Store) *Hub {
	h := &Hub{
		Env: e, store: st,
		watchers: make(map[string][]*watcher), live: make(map[string]*LiveRun),
		changes: make(map[string]bool), wake: make(chan struct{}, 1),
	}
	st.ahead = h.submitted
	return h
}

// Subscribe gives every change of a run from now on, here or on another machine; who reads slowly gets
// the latest state only. The first state is the present one. After the final one the channel is closed, and at
// once for what is no run's id. cancel must be called; it closes the channel too.
func (s *Hub) Subscribe(runID string) (states <-chan runs.Run, cancel func()) {
	id, err := uuid.Parse(runID)
	if err != nil {
		none := make(chan runs.Run)
		close(none)
		return none, func() {}
	}
	runID = id.String()
	w := s.watch(runID)
	s.Spawn(func() { s.Refresh([]string{runID}) })
	return w.states, func() { s.unwatch(runID, w) }
}

// PreviewOf gives the latest preview picture (JPEG or PNG) of a run that this process works on, or nil.
func (s *Hub) PreviewOf(runID string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[runID]; l != nil {
		return l.preview
	}
	return nil
}

func (h *Hub) watch(runID string) *watcher {
	w := &watcher{states: make(chan runs.Run, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers[runID] = append(h.watchers[runID], w)
	return w
}

func (h *Hub) unwatch(runID string, w *watcher) {
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

// Changed publishes a new state here, and soon to the other machines.
func (h *Hub) Changed(run *runs.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publish(run)
	h.gather(run.ID)
}

// Tell has the other machines look at a run.
func (h *Hub) Tell(runID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gather(runID)
}

// gather is called with mu held.
func (h *Hub) gather(runID string) {
	h.changes[runID] = true
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// publish hands a state to the watchers. The caller holds mu.
func (h *Hub) publish(run *runs.Run) {
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
func (h *Hub) heard(run runs.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.live[run.ID]; l != nil {
		if !run.Status.Final() {
			if l.run.ID != "" {
				run = l.run
			}
			select {
			case l.Nudge <- struct{}{}: // somebody else's news of it: it may be a callback
			default:
			}
		} else if run.Status == runs.StatusCanceled || run.Status == runs.StatusTimedOut {
			l.cancel(ErrGone)
		}
	}
	h.publish(&run)
}

// Enter registers a run that this process starts to work on; the returned function ends that.
func (h *Hub) Enter(runID string, cancel func(error)) (*LiveRun, func()) {
	l := &LiveRun{Nudge: make(chan struct{}, 1), cancel: cancel}
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

// Interrupt ends the work on a run in this process with a cause, and reports whether there was any.
func (h *Hub) Interrupt(runID string, cause error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.live[runID]
	if l != nil {
		l.cancel(cause)
	}
	return l != nil
}

// Nudge makes the work on a run look at its provider now.
func (h *Hub) Nudge(runID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.live[runID]
	if l == nil {
		return false
	}
	select {
	case l.Nudge <- struct{}{}:
	default:
	}
	return true
}

// Begin keeps the state that the work on a run begins with.
func (h *Hub) Begin(l *LiveRun, run *runs.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.run = *run
}

// SetLive keeps what is known of a run under work and publishes it.
func (h *Hub) SetLive(l *LiveRun, run runs.Run, preview []byte) {
	h.mu.Lock()
	if preview != nil {
		l.preview = preview
	}
	l.run = run
	h.mu.Unlock()
	h.Changed(&run)
}

// takeChanges gives the runs to tell others about, and forgets them.
func (h *Hub) takeChanges() []string {
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
func (h *Hub) submitted() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := make(map[string]int)
	for _, l := range h.live {
		if l.run.Status == runs.StatusSubmitted {
			counts[l.run.Tool.Service]++
		}
	}
	return counts
}

// Interesting keeps those ids that somebody here watches or works on.
func (h *Hub) Interesting(ids []string) []string {
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

// WatchedElsewhere gives the runs that are watched here and worked on by others.
func (h *Hub) WatchedElsewhere() []string {
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

// Channel is where processes tell each other by NOTIFY which runs have changed: "instance:run,run,...", and that there are runs in
// the queue, ":", or deliveries, ":deliveries". It is a hint only: what counts is in the table, and is read from there.
const Channel = "signalbox_runs"

const (
	tellEvery  = 50 * time.Millisecond
	tellSlowly = 200 * time.Millisecond // while many runs change: a notification wakes all connections that listen
	many       = 20
	tellAtOnce = 150 // run ids in one notification, which may have 8000 bytes
)

// Refresh reads runs and publishes their states here.
func (s *Hub) Refresh(ids []string) {
	for page := range slices.Chunk(ids, 500) {
		ctx, cancel := context.WithTimeout(s.Base, group.FlushTimeout)
		records, err := s.store.Query(ctx, `WHERE r.id = ANY ($1::uuid[])`, page)
		s.store.tellPositions(ctx, records)
		cancel()
		if err != nil {
			if s.Base.Err() == nil {
				s.Log.WarnContext(ctx, "reading the states of watched runs failed", "error", err)
			}
			return
		}
		for i := range records {
			s.heard(records[i].Run)
		}
	}
}

// TellOthers notifies the other machines of what changed here, gathered for a moment.
func (s *Hub) TellOthers() {
	for {
		select {
		case <-s.Base.Done():
			return
		case <-s.wake:
		}
		changed, pause := s.takeChanges(), tellEvery
		if len(changed) > many {
			pause = tellSlowly
		}
		for page := range slices.Chunk(changed, tellAtOnce) {
			_, err := s.Config.Pool.Exec(s.Base, `SELECT pg_notify($1, $2)`, Channel, s.Instance+":"+strings.Join(page, ","))
			if err != nil && s.Base.Err() == nil {
				s.Log.WarnContext(s.Base, "telling other machines of changed runs failed", "error", err)
			}
		}
		select {
		case <-s.Base.Done():
			return
		case <-time.After(pause):
		}
	}
}

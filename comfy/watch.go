package comfy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/tracking"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/registry"
)

const (
	// reconcileEvery bounds how long a lost event can stay unnoticed: sockets can fall silent without
	// breaking, for instance when another client took the id over.
	reconcileEvery = 5 * time.Second
	reconcileLimit = 20 * time.Second // of one question to the engine

	redialLimit = 5
	redialPause = 200 * time.Millisecond // doubles

	// lostLimit is how often in a row an engine must not know the prompt before it counts as lost: its history can
	// lag behind its events.
	lostLimit = 3
	lostPause = 300 * time.Millisecond
)

// watcher follows an engine for all runs of this process there, whatever their number: it reads one socket, and asks now and then for
// the queue. The prompts of a process have one client id, which is that of the socket. A program that takes over the runs of
// another has a second watcher for them, since events go to the id that the prompt came with.
type watcher struct {
	engine   *Engine
	clientID string
	every    time.Duration
	asks     chan struct{} // ask for the queue now
	stop     context.CancelFunc
	work     sync.WaitGroup

	// Guarded by the engine's mutex.
	followers map[*follower]bool
	running   string     // the prompt that events without an id are about; empty after a connect
	stray     *api.Event // which came before that was known
	heard     bool       // an event of ours came over the present connection
}

// follower is a run that is watched.
type follower struct {
	promptID string
	news     chan struct{} // something of the following has changed

	// Guarded by the engine's mutex.
	tracker  *tracking.Tracker
	progress *registry.Progress // not reported yet
	look     bool               // the prompt may be over
	err      error              // why the engine can't be followed
}

// client is the id that prompts are sent with. It is not used again once its socket was closed: a server that hears of a new
// connection before it hears of the old one's end forgets the id.
func (e *Engine) client() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.clientID == "" {
		e.clientID = uuid.NewString()
	}
	return e.clientID
}

// follow has a prompt watched.
func (e *Engine) follow(clientID string, f *follower, every time.Duration) *watcher {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.watchers[clientID]
	if w == nil {
		ctx, stop := context.WithCancel(context.Background())
		w = &watcher{engine: e, clientID: clientID, every: every, asks: make(chan struct{}, 1), stop: stop, followers: make(map[*follower]bool)}
		e.watchers[clientID] = w
		w.work.Go(func() { w.listen(ctx) })
		w.work.Go(func() { w.reconcile(ctx) })
	}
	w.followers[f] = true
	e.has(f.promptID)
	w.ask() // what happened until now was not for this follower
	return w
}

// leave ends the watch over a run. After the last one everything that the watcher started has ended.
func (w *watcher) leave(f *follower) {
	e := w.engine
	e.mu.Lock()
	delete(w.followers, f)
	last := len(w.followers) == 0
	if last {
		w.retire()
	}
	e.mu.Unlock()
	if last {
		w.stop()
		w.work.Wait()
	}
}

// retire keeps others from following by this watcher. The caller holds the engine's mutex.
func (w *watcher) retire() {
	e := w.engine
	if e.watchers[w.clientID] == w {
		delete(e.watchers, w.clientID)
	}
	if len(e.watchers) == 0 {
		e.inQueue = 0
	}
	if e.clientID == w.clientID {
		e.clientID = ""
	}
}

func (w *watcher) ask() {
	select {
	case w.asks <- struct{}{}:
	default:
	}
}

// listen reads the socket and opens it again when it breaks. When that doesn't help it gives up, and so do the followers.
func (w *watcher) listen(ctx context.Context) {
	for failures := 0; ; failures++ {
		err := w.read(ctx)
		if ctx.Err() != nil {
			return
		}
		w.engine.mu.Lock()
		if w.heard {
			failures = 0
			w.engine.known.infoAt = time.Time{} // it may have been restarted, with other nodes; the next probe asks
		}
		gaveUp := failures >= redialLimit
		if gaveUp {
			w.retire()
			for f := range w.followers {
				f.err = err
				f.wake()
			}
		}
		w.engine.mu.Unlock()
		if gaveUp || clock.Sleep(ctx, redialPause<<failures) != nil {
			return
		}
	}
}

// read makes a connection and hands on what it says, until it breaks or ctx ends.
func (w *watcher) read(ctx context.Context) error {
	w.engine.mu.Lock()
	w.heard, w.running, w.stray = false, "", nil
	w.engine.mu.Unlock()
	socket, err := w.engine.Client.Dial(ctx, w.clientID)
	w.ask() // a socket keeps nothing: what was missed is asked for
	if err != nil {
		return err
	}
	defer socket.Close()
	for {
		event, err := socket.Read(ctx)
		if err != nil {
			return err
		}
		w.hear(event)
	}
}

// hear hands an event to the run it is about. Some, of old servers and right after a connect, don't name it: then it is the one that runs.
func (w *watcher) hear(event api.Event) {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	w.heard = w.heard || event.Type != "status" // which a server that has forgotten us sends, too
	switch {
	case event.Type == "status":
		w.engine.inQueue = event.Queue
		return
	case event.PromptID != "":
		w.running = event.PromptID
	case w.running != "":
		event.PromptID = w.running
	default:
		if event.Type == "executing" {
			w.stray = &event
		}
		return
	}
	w.apply(event)
}

// apply is called with the engine's mutex held.
func (w *watcher) apply(event api.Event) {
	for f := range w.followers {
		if f.promptID != event.PromptID {
			continue
		}
		switch f.tracker.Apply(event) {
		case tracking.MaybeOver:
			f.look = true
			f.wake()
		case tracking.News:
			p := f.tracker.Progress()
			p.Preview = event.Image
			f.tell(p)
		}
	}
}

// reconcile asks for the queue again and again, once for all followers, since events get lost.
func (w *watcher) reconcile(ctx context.Context) {
	timer := time.NewTimer(w.every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.asks:
		case <-timer.C:
		}
		if q, err := w.engine.queue(ctx); err == nil {
			w.place(q)
		}
		timer.Reset(w.every)
	}
}

// place tells the followers where their prompts are in the queue. One that isn't there may be over.
func (w *watcher) place(q api.Queue) {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	if w.running == "" && len(q.Running) > 0 {
		w.running = q.Running[0]
		if w.stray != nil {
			w.stray.PromptID = w.running
			w.apply(*w.stray)
		}
	}
	for f := range w.followers {
		switch n := q.Position(f.promptID); {
		case n == 0:
			f.tell(f.tracker.Progress())
		case n > 0:
			f.tell(registry.Progress{State: registry.RunQueued, QueuePosition: n})
		default:
			f.look = true
			f.wake()
		}
	}
}

// tell keeps the latest progress, and the latest picture, for when the run has time for it. The caller holds the engine's mutex.
func (f *follower) tell(p registry.Progress) {
	if f.progress != nil && p.Preview == nil {
		p.Preview = f.progress.Preview
	}
	f.progress = &p
	f.wake()
}

func (f *follower) wake() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Watch follows a prompt by the engine's watcher until it is over. An error means that the engine can't be followed or does not know
// the prompt; the caller falls back to Poll.
func (p *Provider) Watch(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error {
	e, err := p.engineOf(t)
	if err != nil {
		return err
	}
	if e.endpoint != nil {
		return p.watchJob(ctx, e, t, report)
	}
	pl, err := planOf(t)
	if err != nil {
		return err
	}
	usual := p.cfg.Workflows.Learned().Usual(ctx, pl.Tool, pl.Classes)
	f := &follower{promptID: t.ProviderID, news: make(chan struct{}, 1), tracker: tracking.New(t.ProviderID, pl.Titles, usual, p.cfg.Now)}
	w := e.follow(clientOf(t), f, p.cfg.ReconcileEvery)
	var ended registry.RunState
	defer func() {
		w.leave(f)
		p.observeTimings(pl, f.tracker.Timings())
		if ended == registry.RunSucceeded { // an end before its time shows nothing
			p.cfg.Workflows.Learned().Took(ctx, pl.Tool, pl.Classes, f.tracker.Timings())
		}
	}()
	again := time.NewTimer(0)
	again.Stop()
	defer again.Stop()
	for lost := 0; ; {
		look := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.news:
			if look, err = p.take(e, t, f, report); err != nil {
				return err
			}
		case <-again.C:
			progress, err := p.askAbout(ctx, t)
			switch {
			case err == nil:
				lost = 0
				if progress.State != registry.RunRunning { // of which the events tell more
					report(progress)
				}
				if ended = progress.State; ended.Terminal() {
					return nil
				}
			case registry.AsError(err).Code == registry.CodeLost:
				if lost++; lost >= lostLimit {
					return fmt.Errorf("following run %s on %s: %w", t.RunID, e.Name, err)
				}
				again.Reset(min(lostPause, p.cfg.ReconcileEvery))
			}
		}
		if !look {
			continue
		}
		if progress, over := p.over(ctx, e, t, pl); over {
			ended = progress.State
			report(progress)
			return nil
		}
		again.Reset(min(lostPause, p.cfg.ReconcileEvery)) // unless an event comes first: histories lag behind
	}
}

// take reports what the engine's watcher has left for f. look says that the prompt seems to be over.
func (p *Provider) take(e *Engine, t registry.Ticket, f *follower, report func(registry.Progress)) (look bool, err error) {
	e.mu.Lock()
	progress, look, err := f.progress, f.look, f.err
	f.progress, f.look = nil, false
	e.mu.Unlock()
	switch {
	case p.cfg.Fleet.isReleased(e):
		return false, gone(e)
	case err != nil:
		return false, fmt.Errorf("following run %s on %s: %w", t.RunID, e.Name, err)
	case progress != nil:
		report(*progress)
	}
	return look, nil
}

// askAbout is Poll with its time bounded.
func (p *Provider) askAbout(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	return p.Poll(ctx, t)
}

// over looks for a prompt in the history.
func (p *Provider) over(ctx context.Context, e *Engine, t registry.Ticket, pl plan) (registry.Progress, bool) {
	ctx, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	entry, over, err := e.Client.History(ctx, t.ProviderID)
	if err != nil || !over {
		return registry.Progress{}, false
	}
	return p.finish(ctx, e, t, entry, pl), true
}

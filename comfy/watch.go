package comfy

import (
	"context"
	"fmt"
	"sync"
	"time"

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

// Watch follows a prompt over the engine's socket until it is over. Since a socket keeps nothing, the
// queue and the history are asked after each connect, whenever an event says that the end may have come, and every few
// seconds. An error means that the engine can't be followed or does not know the prompt; the caller falls back to Poll.
func (p *Provider) Watch(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error {
	e, err := p.engineOf(t)
	if err != nil {
		return err
	}
	pl, err := planOf(t)
	if err != nil {
		return err
	}
	w := &watcher{provider: p, engine: e, ticket: t, report: report, tracker: newTracker(t.ProviderID, pl.Titles, p.cfg.Now)}
	defer func() { p.observeTimings(pl, w.tracker.timings) }()
	for failures := 0; ; failures++ {
		w.heard = false
		over, err := w.follow(ctx)
		if over || ctx.Err() != nil {
			return ctx.Err()
		}
		if w.heard {
			failures = 0
		}
		if w.lost >= lostLimit || failures >= redialLimit {
			return fmt.Errorf("following run %s on %s: %w", t.RunID, e.Name, err)
		}
		if err := pause(ctx, redialPause<<failures); err != nil {
			return err
		}
	}
}

type watcher struct {
	provider *Provider
	engine   *Engine
	ticket   registry.Ticket
	report   func(registry.Progress)
	tracker  *tracker
	heard    bool // an event of ours came over the present connection
	lost     int  // times in a row that the engine did not know the prompt
}

// follow reads one connection. It is over when the prompt is; everything it started has ended when it returns.
func (w *watcher) follow(ctx context.Context) (over bool, err error) {
	socket, err := w.engine.Client.Dial(ctx, w.ticket.ProviderID)
	if err != nil {
		over, _ = w.reconcile(ctx)
		return over, err
	}
	ctx, cancel := context.WithCancel(ctx)
	events, broken := make(chan Event), make(chan error, 1)
	var pump sync.WaitGroup
	pump.Go(func() { broken <- read(ctx, socket, events) })
	defer pump.Wait()
	defer socket.Close()
	defer cancel()
	ask := time.NewTimer(0)
	defer ask.Stop()
	for {
		over, err = false, nil
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case err := <-broken:
			return false, err
		case <-ask.C:
			over, err = w.reconcile(ctx)
			ask.Reset(w.interval())
		case e := <-events:
			if over, err = w.handle(ctx, e); w.lost > 0 {
				ask.Reset(w.interval())
			}
		}
		if over || w.lost >= lostLimit {
			return over, err
		}
	}
}

// read hands on what a socket says, until it breaks or ctx ends.
func read(ctx context.Context, socket *Socket, events chan<- Event) error {
	for {
		e, err := socket.Read(ctx)
		if err != nil {
			return err
		}
		select {
		case events <- e:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// interval is the time until the engine is asked again, unless an event comes first.
func (w *watcher) interval() time.Duration {
	if w.lost > 0 {
		return min(lostPause, w.provider.cfg.ReconcileEvery)
	}
	return w.provider.cfg.ReconcileEvery
}

func (w *watcher) handle(ctx context.Context, e Event) (over bool, err error) {
	w.heard = w.heard || e.Type != "status" // which a server that has forgotten us sends, too
	switch w.tracker.apply(e) {
	case maybeOver:
		return w.reconcile(ctx)
	case news:
		p := w.tracker.progress()
		p.Preview = e.Image
		w.report(p)
	}
	return false, nil
}

// reconcile asks the engine and reports what it says; a final state with its result.
func (w *watcher) reconcile(ctx context.Context) (over bool, err error) {
	asking, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	progress, err := w.provider.Poll(asking, w.ticket)
	if err != nil {
		if registry.AsError(err).Code == registry.CodeLost {
			w.lost++
		}
		return false, err
	}
	w.lost = 0
	if progress.State == registry.RunRunning {
		progress = w.tracker.progress()
	}
	w.report(progress)
	return progress.State.Terminal(), nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

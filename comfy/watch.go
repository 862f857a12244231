package comfy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/registry"
)

const (
	// reconcileEvery bounds how long a lost event can stay unnoticed: sockets can fall silent without
	// breaking, for instance when another client took the id over.
	reconcileEvery = 5 * time.Second
	redialLimit    = 5
)

// plan is what a ticket carries to read a prompt's progress and results without its workflow.
type plan struct {
	Nodes   int               `json:"nodes"`
	Titles  map[string]string `json:"titles,omitempty"`
	Classes map[string]string `json:"classes,omitempty"`
	Outputs []planOutput      `json:"outputs"`
}

type planOutput struct {
	Name string `json:"name"` // key of the tool's OutputSchema
	Node string `json:"node"`
	Type string `json:"type"`
}

const planKey = "plan"

func (p plan) encode() (map[string]string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return map[string]string{planKey: string(data)}, nil
}

func planOf(t registry.Ticket) (plan, error) {
	var p plan
	if err := json.Unmarshal([]byte(t.Extra[planKey]), &p); err != nil {
		return plan{}, fmt.Errorf("ticket of run %s: %w", t.RunID, err)
	}
	return p, nil
}

// Watch follows a prompt over the engine's socket until it is over. Since a socket keeps nothing, the
// queue and the history are asked after each connect and every few seconds. An error means that the
// engine can't be followed; the caller falls back to Poll.
func (p *Provider) Watch(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error {
	e, err := p.engineOf(t)
	if err != nil {
		return err
	}
	pl, err := planOf(t)
	if err != nil {
		return err
	}
	w := &watcher{provider: p, engine: e, ticket: t, report: report, tracker: newTracker(t.ProviderID, pl.Nodes, pl.Titles, p.cfg.Now)}
	defer func() { p.observeTimings(pl, w.tracker.timings) }()
	for failures := 0; ; failures++ {
		over, err := w.follow(ctx)
		if over || ctx.Err() != nil {
			return ctx.Err()
		}
		if w.heard {
			failures, w.heard = 0, false
		}
		if failures >= redialLimit {
			return fmt.Errorf("following run %s on %s: %w", t.RunID, e.Name, err)
		}
		if err := pause(ctx, time.Duration(1<<failures)*200*time.Millisecond); err != nil {
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
	heard    bool // an event came over the present connection
}

// follow reads one connection. It is over when the prompt is.
func (w *watcher) follow(ctx context.Context) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	socket, err := w.engine.Client.Dial(ctx, w.ticket.ProviderID)
	if err != nil {
		return w.reconcile(ctx), err
	}
	defer socket.Close()
	events, broken := pump(ctx, socket)
	if w.reconcile(ctx) {
		return true, nil
	}
	tick := time.NewTicker(reconcileEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case err := <-broken:
			return false, err
		case <-tick.C:
			if w.reconcile(ctx) {
				return true, nil
			}
		case e := <-events:
			w.heard = true
			if w.handle(ctx, e) {
				return true, nil
			}
		}
	}
}

// pump reads a socket in a goroutine that ends with ctx or the connection.
func pump(ctx context.Context, socket *Socket) (<-chan Event, <-chan error) {
	events, broken := make(chan Event), make(chan error, 1)
	go func() {
		for {
			e, err := socket.Read(ctx)
			if err != nil {
				broken <- err
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events, broken
}

func (w *watcher) handle(ctx context.Context, e Event) (over bool) {
	progress, news := w.tracker.apply(e)
	if w.tracker.finished {
		return w.reconcile(ctx)
	}
	if news {
		w.report(progress)
	}
	return false
}

// reconcile asks the engine. A state that is final is reported, too, with its result.
func (w *watcher) reconcile(ctx context.Context) (over bool) {
	progress, err := w.provider.Poll(ctx, w.ticket)
	if err != nil {
		// A prompt that the engine does not know any more is the caller's to judge: it polls.
		return registry.AsError(err).Code == registry.CodeLost
	}
	if progress.State == registry.RunRunning {
		progress = w.tracker.progress()
	}
	w.report(progress)
	return progress.State.Terminal()
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

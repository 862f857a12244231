package comfy

import (
	"context"
	"sync"

	"github.com/signalbox/signalbox/comfy/api"
)

// Queues asks all engines at once what they work on, in the order of Status. An engine that does not answer in time, or
// that can't be asked, as an endpoint, has an empty queue.
func (f *Fleet) Queues(ctx context.Context) []api.Queue {
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	queues := make([]api.Queue, len(f.engines))
	var wg sync.WaitGroup
	for i, e := range f.engines {
		if !e.knowledge().up() || e.endpoint != nil {
			continue
		}
		wg.Go(func() {
			if q, err := e.queue(ctx); err == nil {
				queues[i] = q
			}
		})
	}
	wg.Wait()
	return queues
}

// question is a request of the queue and those who wait for its answer.
type question struct {
	asking int // guarded by the engine's mutex
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	answer api.Queue
	err    error
}

// queue asks for the engine's queue, which holds whole prompts. One request is under way at a time, for however many ask: who comes
// meanwhile shares the next one, since the answer has to be younger than the asking.
func (e *Engine) queue(ctx context.Context) (api.Queue, error) {
	e.mu.Lock()
	q := e.next
	if q == nil {
		q = &question{done: make(chan struct{})}
		q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
		e.next = q
	}
	q.asking++
	if !e.asked {
		e.askNext()
	}
	e.mu.Unlock()
	select {
	case <-q.done:
		return q.answer, q.err
	case <-ctx.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if q.asking--; q.asking == 0 {
		q.cancel()
		if e.next == q {
			e.next = nil
		}
	}
	return api.Queue{}, ctx.Err()
}

// askNext is called with the engine's mutex held.
func (e *Engine) askNext() {
	q := e.next
	e.next, e.asked = nil, q != nil
	if q == nil {
		return
	}
	taken := e.takenLocked() // before the question: what the answer lacks of them is over
	go func() {
		limited, cancel := context.WithTimeout(q.ctx, reconcileLimit)
		q.answer, q.err = e.Client.Queue(limited)
		cancel()
		q.cancel()
		close(q.done)
		e.mu.Lock()
		defer e.mu.Unlock()
		if q.err == nil {
			e.inQueue = len(q.answer.Running) + len(q.answer.Pending)
			for _, id := range taken {
				if q.answer.Position(id) < 0 {
					e.drop(id)
				}
			}
		}
		e.askNext()
	}()
}

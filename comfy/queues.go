package comfy

import (
	"context"
	"sync"
)

// Queues asks all engines at once what they work on, in the order of Status. An engine that does not answer in time
// has an empty queue.
func (f *Fleet) Queues(ctx context.Context) []Queue {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	queues := make([]Queue, len(f.engines))
	var wg sync.WaitGroup
	for i, e := range f.engines {
		if !e.knowledge().up() {
			continue
		}
		wg.Go(func() {
			if q, err := e.Client.Queue(ctx); err == nil {
				queues[i] = q
			}
		})
	}
	wg.Wait()
	return queues
}

package versions

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/registry/history"
)

// followEvery is how often a running program looks whether an operator pinned another version.
const followEvery = 5 * time.Second

// Follow calls reload when an operator pinned another version, until ctx ends.
func Follow(ctx context.Context, store *history.Store, reload func(context.Context)) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	known := ""
	for {
		// While the database is away, which is told elsewhere, nothing is known to have changed.
		if mark, err := store.PinMark(ctx); err == nil && mark != known {
			if known != "" {
				reload(ctx)
			}
			known = mark
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

package router

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/platforms/chat"
)

// doubt is the updates whose storing failed. They may be stored all the same, when only the answer was lost, and then this Router has them
// without knowing: the platform sends them again, they are no news, and nobody handles them.
type doubt struct {
	storing sync.RWMutex // held for writing while doubtful ones are freed: none of them may be stored, and queued, meanwhile

	mu    sync.Mutex
	since map[doubtful]time.Time
}

type doubtful struct{ platform, id string }

// doubtFor is how long an update is in doubt. Platforms send again at once what they could not hand over.
const doubtFor = 10 * time.Minute

func newDoubt() *doubt { return &doubt{since: map[doubtful]time.Time{}} }

func (d *doubt) add(platform string, updates []chat.Incoming) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range updates {
		d.since[doubtful{platform, u.ID}] = time.Now()
	}
}

func (d *doubt) settle(platform string, ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		delete(d.since, doubtful{platform, id})
	}
}

// of gives the ids of a platform that are in doubt, and forgets those that were for too long.
func (d *doubt) of(platform string) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.since, func(_ doubtful, since time.Time) bool { return time.Since(since) > doubtFor })
	for one := range d.since {
		if one.platform == platform {
			ids = append(ids, one.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// freeDoubtful gives up the claims of updates that are stored although their storing failed.
func (b inbox) freeDoubtful(ctx context.Context, platform string) error {
	if len(b.doubt.of(platform)) == 0 {
		return nil
	}
	b.doubt.storing.Lock()
	defer b.doubt.storing.Unlock()
	rows, err := b.pool.Query(ctx, `UPDATE chat_updates SET claimed_by = NULL
		WHERE platform = $1 AND update_id = ANY ($2) AND claimed_by = $3 AND handled_at IS NULL RETURNING update_id`, platform, b.doubt.of(platform), b.claimant)
	if err != nil {
		return fmt.Errorf("free updates that are in doubt: %w", err)
	}
	freed, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("free updates that are in doubt: %w", err)
	}
	b.doubt.settle(platform, freed)
	return nil
}

package router

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/errs"
)

// held is the updates that a Router has: from when they are stored or taken until they are handled. What is claimed for it beyond them it got
// by a write whose answer was lost: it does not know of them, and who sends them again brings no news.
type held struct {
	claiming sync.RWMutex // held for writing while the others are freed: nothing may be claimed, and not be among them yet, meanwhile

	mu     sync.Mutex
	ids    map[heldUpdate]bool
	unsure time.Time // when a claim last failed
}

type heldUpdate struct{ platform, id string }

// unsureFor is how long after a failed claim rows of it may appear: the database may be at it still.
const unsureFor = 10 * time.Minute

func newHeld() *held { return &held{ids: map[heldUpdate]bool{}} }

func (h *held) add(platform string, ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		h.ids[heldUpdate{platform, id}] = true
	}
}

func (h *held) drop(platform string, ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		delete(h.ids, heldUpdate{platform, id})
	}
}

// failed notes that a claim failed, and may be in the database all the same.
func (h *held) failed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsure = time.Now()
}

func (h *held) isUnsure() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.unsure) < unsureFor
}

// of gives the ids of a platform.
func (h *held) of(platform string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := []string{}
	for one := range h.ids {
		if one.platform == platform {
			ids = append(ids, one.id)
		}
	}
	return ids
}

// freeLost gives up the claims of a platform's updates that this Router does not know it has.
func (b inbox) freeLost(ctx context.Context, platform string) error {
	if !b.held.isUnsure() {
		return nil
	}
	b.held.claiming.Lock()
	defer b.held.claiming.Unlock()
	_, err := b.pool.Exec(ctx, `UPDATE chat_updates SET claimed_by = NULL
		WHERE platform = $1 AND claimed_by = $2 AND handled_at IS NULL AND update_id <> ALL ($3)`, platform, b.claimant, b.held.of(platform))
	return errs.Wrap(err, "free updates whose claim was lost")
}

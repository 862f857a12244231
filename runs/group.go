package runs

import (
	"context"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"sync"
	"time"
)

// flushTimeout bounds one flush of a group. What it writes is idempotent, so whoever gave up may repeat.
const flushTimeout = 30 * time.Second

// group commits together what is asked for at the same time. While one flush is at the database the next
// items gather, and whoever is next in line flushes them all in one transaction: under load a commit, which
// is the dear part, serves many; without load nobody waits for anything. No goroutine of its own takes
// part: the callers themselves take turns as leaders.
type group[T any] struct {
	max   int // items in one flush
	lanes int // flushes at a time
	flush func(ctx context.Context, items []*T) error

	// gather is how long a flush that follows right upon another waits for those whom the other has just
	// answered and who will be back in a moment; zero for not at all.
	gather time.Duration

	mu      sync.Mutex
	waiting []*member[T]
	leaders int
	busy    bool // a flush ended just now, and another follows
}

// member is one caller in line.
type member[T any] struct {
	item    *T
	leading bool          // lead was sent
	lead    chan struct{} // it is this one's turn to flush
	done    chan error
}

func newGroup[T any](size, lanes int, flush func(context.Context, []*T) error) *group[T] {
	return &group[T]{max: size, lanes: lanes, flush: flush}
}

// groups are several groups side by side. Each has its own share of the keys, so that what belongs to one key is
// flushed by one group.
type groups[T any] []*group[T]

// of gives the group of a key.
func (g groups[T]) of(key string) *group[T] {
	h := fnv.New32a()
	h.Write([]byte(key))
	return g[h.Sum32()%uint32(len(g))]
}

// do has item flushed, alone or with others, and returns the flush's error. When ctx ends before
// item's flush began, item is withdrawn; once it began, do waits for its end.
func (g *group[T]) do(ctx context.Context, item *T) error {
	m := &member[T]{item: item, lead: make(chan struct{}, 1), done: make(chan error, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, m)
	if g.leaders < g.lanes {
		g.leaders++
		g.passLead()
	}
	g.mu.Unlock()
	for {
		select {
		case err := <-m.done:
			g.returnLead(m)
			return err
		case <-m.lead:
			g.leadOnce(ctx)
		case <-ctx.Done():
			if g.withdraw(m) {
				return context.Cause(ctx)
			}
			err := <-m.done
			g.returnLead(m)
			return err
		}
	}
}

// leadOnce flushes what waits and passes the lead on.
func (g *group[T]) leadOnce(ctx context.Context) {
	g.gatherMore()
	g.mu.Lock()
	batch := g.waiting[:min(len(g.waiting), g.max)]
	g.waiting = append([]*member[T](nil), g.waiting[len(batch):]...)
	g.mu.Unlock()
	if len(batch) > 0 {
		g.run(ctx, batch)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = len(g.waiting) > 0
	g.passLead()
}

// gatherMore waits a moment under load.
func (g *group[T]) gatherMore() {
	g.mu.Lock()
	busy := g.busy
	g.mu.Unlock()
	if busy && g.gather > 0 {
		time.Sleep(g.gather)
	}
}

// passLead makes the next in line a leader, or lets the lane rest. The caller holds mu.
func (g *group[T]) passLead() {
	for _, m := range g.waiting {
		if !m.leading {
			m.leading = true
			m.lead <- struct{}{}
			return
		}
	}
	g.leaders--
}

// returnLead passes on the lead of a member that another lane has served before it took its turn.
func (g *group[T]) returnLead(m *member[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-m.lead:
		g.passLead()
	default:
	}
}

// run flushes a batch. When that fails each item gets a flush of its own, so that a bad one spoils only
// itself.
func (g *group[T]) run(ctx context.Context, batch []*member[T]) {
	// The others must not fail because the leader's caller went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	items := make([]*T, len(batch))
	for i, m := range batch {
		items[i] = m.item
	}
	err := g.guarded(ctx, items)
	for i, m := range batch {
		if err != nil && len(batch) > 1 {
			m.done <- g.guarded(ctx, items[i:i+1])
			continue
		}
		m.done <- err
	}
}

// guarded is flush, with a panic as an error: the leader must live, or the whole group would wait for ever.
func (g *group[T]) guarded(ctx context.Context, items []*T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a flush panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return g.flush(ctx, items)
}

// withdraw takes m out of the line; false: its flush has begun. A lead that m had is passed on.
func (g *group[T]) withdraw(m *member[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, other := range g.waiting {
		if other != m {
			continue
		}
		g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
		select {
		case <-m.lead:
			g.passLead()
		default:
		}
		return true
	}
	return false
}

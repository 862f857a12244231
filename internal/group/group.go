// Package group does together what is asked for at the same time, such as writing to a database, where one commit
// serves many.
package group

import (
	"context"
	"fmt"
	"hash/fnv"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// FlushTimeout bounds one flush. What it does should be idempotent, so that whoever gave up may repeat.
const FlushTimeout = 30 * time.Second

// yields is how often a flush lets others run first: once for those who were answered, and once for whom they wake.
const yields = 2

// A flush waits for regulars for a part of the time that the last one took, and never for longer than mostPatience: what
// took so long may have been a database that was away.
const (
	patience     = 4
	mostPatience = time.Millisecond
)

// Group flushes together what is asked for at the same time. While one flush is under way the next
// items gather, and whoever is next in line flushes them all: under load a flush, which
// is the dear part, serves many; without load nobody waits for anything. No goroutine of its own takes
// part: the callers themselves take turns as leaders.
type Group[T any] struct {
	// Flush does what the items ask for, all or nothing.
	Flush func(ctx context.Context, items []*T) error

	// Gather is how long a flush that follows right upon another waits for more; zero for only as long as those take
	// whom the other has just answered and who come back at once.
	Gather time.Duration

	// Regulars says that whoever was served mostly comes back to this group. A flush then waits until as many have come as were
	// there at the last one, but at most for a part of the time that the last one took. Gather has no effect.
	Regulars bool

	max   int // items in one flush
	lanes int // flushes at a time

	mu      sync.Mutex
	waiting []*member[T]
	leaders int
	busy    bool          // a flush ended just now, and another follows
	crowd   int           // served by the last flush, or waiting at its end
	ended   time.Time     // when that was
	took    time.Duration // by it
}

// member is one caller in line.
type member[T any] struct {
	item    *T
	leading bool          // lead was sent
	lead    chan struct{} // it is this one's turn to flush
	done    chan error
}

// New makes a Group whose flushes have at most size items, and of which at most lanes are under way at a time.
func New[T any](size, lanes int, flush func(context.Context, []*T) error) *Group[T] {
	return &Group[T]{max: size, lanes: lanes, Flush: flush}
}

// Groups are several groups side by side. Each has its own share of the keys, so that what belongs to one key is
// flushed by one group.
type Groups[T any] []*Group[T]

// Of gives the group of a key.
func (g Groups[T]) Of(key string) *Group[T] {
	h := fnv.New32a()
	h.Write([]byte(key))
	return g[h.Sum32()%uint32(len(g))]
}

// Do has item flushed, alone or with others, and returns the flush's error. When ctx ends before
// item's flush began, item is withdrawn; once it began, Do waits for its end.
func (g *Group[T]) Do(ctx context.Context, item *T) error {
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
func (g *Group[T]) leadOnce(ctx context.Context) {
	g.gatherMore()
	g.mu.Lock()
	batch := g.waiting[:min(len(g.waiting), g.max)]
	g.waiting = append([]*member[T](nil), g.waiting[len(batch):]...)
	g.mu.Unlock()
	began := time.Now()
	if len(batch) > 0 {
		g.run(ctx, batch)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy, g.crowd, g.ended = len(g.waiting) > 0, len(batch)+len(g.waiting), time.Now()
	g.took = g.ended.Sub(began)
	g.passLead()
}

// gatherMore waits a moment under load. Without a time of its own it lets the others run instead of sleeping, since
// the shortest sleep of an idle processor is longer than many a flush.
func (g *Group[T]) gatherMore() {
	if g.Regulars {
		for g.expects(time.Now()) {
			runtime.Gosched()
		}
		return
	}
	g.mu.Lock()
	more := g.busy && len(g.waiting) < g.max
	g.mu.Unlock()
	switch {
	case !more:
	case g.Gather > 0:
		time.Sleep(g.Gather)
	default:
		for range yields {
			runtime.Gosched()
		}
	}
}

// expects reports whether regulars are likely to come at once: those who came to the last flush.
func (g *Group[T]) expects(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting) < min(g.crowd, g.max) && now.Sub(g.ended) < min(g.took/patience, mostPatience)
}

// passLead makes the next in line a leader, or lets the lane rest. The caller holds mu.
func (g *Group[T]) passLead() {
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
func (g *Group[T]) returnLead(m *member[T]) {
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
func (g *Group[T]) run(ctx context.Context, batch []*member[T]) {
	// The others must not fail because the leader's caller went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), FlushTimeout)
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

// guarded is Flush, with a panic as an error: the leader must live, or the whole group would wait for ever.
func (g *Group[T]) guarded(ctx context.Context, items []*T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a flush panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return g.Flush(ctx, items)
}

// withdraw takes m out of the line; false: its flush has begun. A lead that m had is passed on.
func (g *Group[T]) withdraw(m *member[T]) bool {
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

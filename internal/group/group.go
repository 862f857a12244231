// Package group collects requests that come at the same time and carries them out together, such as several writes to a database in
// one commit.
package group

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// FlushTimeout bounds one flush. What it does should be idempotent, so that the one who gave up may repeat.
const FlushTimeout = 30 * time.Second

// yields is how often a flush lets others run first: once for those who were answered, and once for whom they wake.
const yields = 2

// mostPatience is how long a flush waits for regulars at most: a flush that took longer may have met a database that was away.
const mostPatience = time.Millisecond

// Group flushes together what is asked for at the same time. While one flush is under way the next
// items gather, and the next in line flushes them all: under load a flush, which
// is the dear part, serves many; without load nobody waits for anything. No goroutine of its own takes
// part: the callers themselves take turns as leaders.
type Group[T any] struct {
	// Flush does what the items ask for, all or nothing.
	Flush func(ctx context.Context, items []*T) error

	// Place gives an item's lane and its key. What has one key is never flushed by two lanes at a time: transactions that
	// change the same rows would wait for each other, or have to begin anew. A lane that has waited for a key is next,
	// and takes along what waits for that key in the others. nil: everything goes to the first lane.
	Place func(*T) (lane int, key string)

	max int // items in one flush

	mu      sync.Mutex
	lanes   []lane
	waiting []*member[T]   // in the order in which they came
	flying  map[string]int // the lane that flushes a key
	turns   map[string]int // the lane whose turn is next, for keys that another has just flushed
}

// Lane is one of a group's lanes. Each makes one flush at a time.
type Lane struct {
	// Gather is how long a flush that follows right upon another waits for more; zero for only as long as those take
	// whom the other has just answered and who come back at once. In a group of several lanes it waits only while another
	// is at work.
	Gather time.Duration

	// Regulars says that anyone who was served mostly comes back to this lane. A flush then waits until as many have come as were
	// there at the last one, but no longer than that one took. Gather has no effect.
	Regulars bool
}

// lane is a Lane at work.
type lane struct {
	Lane

	led     bool
	waiting int
	wanted  int           // a flush waits until so many are waiting; 0: none does
	came    chan struct{} // closed then
	busy    bool          // a flush ended just now, and another follows
	crowd   int           // served by the last flush, or waiting at its end
	ended   time.Time     // when that was
	took    time.Duration // by it
}

// member is one caller in line.
type member[T any] struct {
	item *T
	lane int
	key  string
	lead chan struct{} // it is this one's turn to flush
	done chan error
}

// New makes a Group whose flushes have at most size items. Without lanes it has one.
func New[T any](size int, flush func(context.Context, []*T) error, lanes ...Lane) *Group[T] {
	g := &Group[T]{Flush: flush, max: size, flying: make(map[string]int), turns: make(map[string]int)}
	for _, l := range lanes {
		g.lanes = append(g.lanes, lane{Lane: l})
	}
	if len(lanes) == 0 {
		g.lanes = make([]lane, 1)
	}
	return g
}

// Lanes gives the number of lanes.
func (g *Group[T]) Lanes() int { return len(g.lanes) }

// Do has item flushed, alone or with others, and returns the flush's error. When ctx ends before
// item's flush began, item is withdrawn; once it began, Do waits for its end.
func (g *Group[T]) Do(ctx context.Context, item *T) error {
	m := &member[T]{item: item, lead: make(chan struct{}, 1), done: make(chan error, 1)}
	if g.Place != nil {
		m.lane, m.key = g.Place(item)
	}
	g.mu.Lock()
	g.waiting = append(g.waiting, m)
	g.lanes[m.lane].add()
	if !g.lanes[m.lane].led && g.isReady(m) { // and else a flush that ends finds it
		g.lead(m)
	}
	g.mu.Unlock()
	for {
		select {
		case err := <-m.done:
			g.returnLead(m)
			return err
		case <-m.lead:
			g.leadOnce(ctx, m.lane)
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

// isReady reports whether m may be flushed now. The caller holds mu.
func (g *Group[T]) isReady(m *member[T]) bool {
	if _, flies := g.flying[m.key]; flies {
		return false
	}
	turn, taken := g.turns[m.key]
	return !taken || turn == m.lane
}

// mayBoard reports whether a lane's flush may serve m. The caller holds mu.
func (g *Group[T]) mayBoard(m *member[T], lane int) bool {
	if m.lane == lane {
		return g.isReady(m)
	}
	turn, taken := g.turns[m.key]
	return taken && turn == lane
}

// lead makes m, which is ready, the leader of its lane, which has none. The caller holds mu.
func (g *Group[T]) lead(m *member[T]) {
	g.lanes[m.lane].led = true
	m.lead <- struct{}{}
}

// wakeAll gives a leader to each lane that has none and could flush something. The caller holds mu.
func (g *Group[T]) wakeAll() {
	for _, m := range g.waiting {
		if !g.lanes[m.lane].led && g.isReady(m) {
			g.lead(m)
		}
	}
}

// leadOnce flushes what is ready in a lane and passes the lead on.
func (g *Group[T]) leadOnce(ctx context.Context, lane int) {
	g.gatherMore(lane)
	batch := g.board(lane)
	began := time.Now()
	g.run(ctx, batch)
	g.land(lane, batch, time.Since(began))
}

// board takes what a flush is to serve out of the line.
func (g *Group[T]) board(lane int) (batch []*member[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := make([]*member[T], 0, len(g.waiting))
	for _, m := range g.waiting {
		if len(batch) < g.max && g.mayBoard(m, lane) {
			batch = append(batch, m)
		} else {
			rest = append(rest, m)
		}
	}
	g.waiting = rest
	for _, m := range batch {
		g.lanes[m.lane].waiting--
		g.flying[m.key] = lane
		delete(g.turns, m.key)
	}
	return batch
}

// land ends a flush: its keys are free for those who wait for them in other lanes, and then for all.
func (g *Group[T]) land(lane int, batch []*member[T], took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.waiting {
		if by, flies := g.flying[m.key]; flies && by == lane && m.lane != lane {
			if _, taken := g.turns[m.key]; !taken {
				g.turns[m.key] = m.lane
			}
		}
	}
	for _, m := range batch {
		delete(g.flying, m.key)
	}
	l := &g.lanes[lane]
	l.busy, l.crowd, l.ended, l.took, l.led = l.waiting > 0, len(batch)+l.waiting, time.Now(), took, false
	g.wakeAll()
}

// gatherMore waits a moment under load. Without a time of its own it lets the others run instead of sleeping, since
// the shortest sleep of an idle processor is longer than many a flush.
func (g *Group[T]) gatherMore(lane int) {
	l := g.look(lane)
	switch {
	case l.Regulars:
		g.awaitRegulars(lane)
	case !l.busy || l.waiting >= g.max:
	case l.Gather > 0 && !g.isAlone(lane):
		time.Sleep(l.Gather)
	default:
		for range yields {
			runtime.Gosched()
		}
	}
}

func (g *Group[T]) look(lane int) lane {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lanes[lane]
}

// isAlone reports whether all the other lanes rest, if there are any.
func (g *Group[T]) isAlone(lane int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, l := range g.lanes {
		if i != lane && l.led {
			return false
		}
	}
	return len(g.lanes) > 1
}

// awaitRegulars waits until all have come who were there at the last flush, or not in time.
func (g *Group[T]) awaitRegulars(lane int) {
	g.mu.Lock()
	l := &g.lanes[lane]
	limit := l.patience(g.max, time.Now())
	if limit <= 0 {
		g.mu.Unlock()
		return
	}
	l.wanted, l.came = min(l.crowd, g.max), make(chan struct{})
	came := l.came
	g.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-came:
	case <-timer.C:
		g.mu.Lock()
		l.wanted = 0
		g.mu.Unlock()
	}
}

// patience is how long to wait for regulars who are not here yet: not for more than a flush of size serves, and counted from the end of the
// last flush.
func (l *lane) patience(size int, now time.Time) time.Duration {
	if l.waiting >= min(l.crowd, size) {
		return 0
	}
	return min(l.took, mostPatience) - now.Sub(l.ended)
}

// add counts one more who waits.
func (l *lane) add() {
	l.waiting++
	if l.wanted > 0 && l.waiting >= l.wanted {
		l.wanted = 0
		close(l.came)
	}
}

// run flushes a batch. When that fails each item gets a flush of its own, so that a bad one spoils only
// itself.
func (g *Group[T]) run(ctx context.Context, batch []*member[T]) {
	if len(batch) == 0 {
		return
	}
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

// returnLead passes on the lead of a member that another lane has served before it took its turn.
func (g *Group[T]) returnLead(m *member[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dropLead(m)
}

// dropLead passes on the lead that m may have. The caller holds mu.
func (g *Group[T]) dropLead(m *member[T]) {
	select {
	case <-m.lead:
		g.lanes[m.lane].led = false
		g.wakeAll()
	default:
	}
}

// withdraw takes m out of the line; false: its flush has begun. A lead or a turn that m had is passed on.
func (g *Group[T]) withdraw(m *member[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, m)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	g.lanes[m.lane].waiting--
	same := func(other *member[T]) bool { return other.lane == m.lane && other.key == m.key }
	if turn, ok := g.turns[m.key]; ok && turn == m.lane && !slices.ContainsFunc(g.waiting, same) {
		delete(g.turns, m.key)
		g.wakeAll()
	}
	g.dropLead(m)
	return true
}

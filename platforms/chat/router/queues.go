package router

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// errStopping is the cause of what ends because the Router stops.
var errStopping = errors.New("the program is stopping")

// queues handles updates: those of one queue one after the other in the order they came, different queues
// at the same time, at most width of them. Parts of an album, and of a text that a client has split, are put together first.
type queues struct {
	handle    func(context.Context, turn.Update)
	albumWait time.Duration
	splitsAt  int           // see chat.Capabilities
	slots     chan struct{} // bounds how many are handled at once
	room      chan struct{} // bounds how many wait
	reserving chan struct{} // held by who takes room

	stopping chan struct{} // closed by stop

	mu      sync.Mutex
	closed  bool
	waiting map[string][]turn.Update // by queue, which is present while somebody works on it
	albums  map[string]*album        // and texts that may go on, by queue
	wg      sync.WaitGroup
	ctx     context.Context // ends the handlers at a stop; owned by newLanes' caller
}

type album struct {
	turn.Update
	room  int // how much of room it takes
	timer *time.Timer
}

func newQueues(ctx context.Context, width, waiting int, albumWait time.Duration, splitsAt int, handle func(context.Context, turn.Update)) *queues {
	return &queues{
		handle: handle, albumWait: albumWait, splitsAt: splitsAt, ctx: ctx,
		slots: make(chan struct{}, width), room: make(chan struct{}, waiting), reserving: make(chan struct{}, 1), stopping: make(chan struct{}),
		waiting: map[string][]turn.Update{}, albums: map[string]*album{},
	}
}

// reserve waits for room for n updates, which is no more than there is in all.
func (l *queues) reserve(ctx context.Context, n int) error {
	// One at a time: two that each hold half of the room would wait for one another.
	if err := l.take(ctx, l.reserving); err != nil {
		return err
	}
	defer func() { <-l.reserving }()
	for i := range n {
		if err := l.take(ctx, l.room); err != nil {
			l.release(i)
			return err
		}
	}
	return nil
}

// take takes a slot of a channel, unless ctx or the queues end first.
func (l *queues) take(ctx context.Context, slot chan struct{}) error {
	select {
	case <-l.stopping:
		return errStopping
	default:
	}
	select {
	case slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.stopping:
		return errStopping
	}
}

func (l *queues) release(n int) {
	for range n {
		<-l.room
	}
}

// add takes updates for which room was reserved. After stop they are dropped: they stay in the inbox.
func (l *queues) add(list ...turn.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.release(len(list))
		return
	}
	for _, r := range list {
		switch {
		case l.goesOn(r):
		case r.Kind == chat.KindMessage && r.Album != "":
			l.collect(r)
		default:
			l.enqueue(r, 1)
		}
	}
}

// collect adds a part of an album, which is complete when none has come for albumWait.
func (l *queues) collect(r turn.Update) {
	key := r.Platform + "\x00" + r.Chat.Chat + "\x00" + r.Album
	if a, ok := l.albums[key]; ok {
		a.Merge(r)
		a.room++
		a.timer.Reset(l.albumWait)
		return
	}
	l.hold(key, r)
}

// hold keeps an update until nothing more of it has come for albumWait.
func (l *queues) hold(key string, r turn.Update) {
	a := &album{Update: r, room: 1}
	l.albums[key] = a
	a.timer = time.AfterFunc(l.albumWait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.albums[key] != a {
			return
		}
		delete(l.albums, key)
		if !l.closed {
			l.enqueue(a.Update, a.room)
		}
	})
}

// enqueue puts an update at the end of its queue; the caller holds mu.
func (l *queues) enqueue(r turn.Update, room int) {
	key := queueOf(r)
	queue, working := l.waiting[key]
	l.waiting[key] = append(queue, r)
	l.release(room - 1)
	if !working {
		l.wg.Go(func() { l.work(key) })
	}
}

// queueOf names the queue of an update. What one person does in one chat is done in that order. Others
// in the same chat don't wait for it, and presses don't wait for messages: a slow download would keep
// them from being answered in time.
func queueOf(r turn.Update) string {
	key := r.Platform + "\x00" + r.Chat.Chat + "\x00" + r.From.ExternalID
	if r.Kind == chat.KindPress || r.Kind == chat.KindForm {
		key += "\x00press"
	}
	return key
}

// work handles a queue until it is empty.
func (l *queues) work(key string) {
	for {
		r, ok := l.next(key)
		if !ok {
			return
		}
		if l.take(l.ctx, l.slots) != nil { // it stays in the inbox
			l.release(1)
			continue
		}
		l.handle(l.ctx, r)
		<-l.slots
		l.release(1)
	}
}

func (l *queues) next(key string) (turn.Update, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.waiting[key]
	if len(queue) == 0 || l.closed {
		delete(l.waiting, key)
		return turn.Update{}, false
	}
	l.waiting[key] = queue[1:]
	return queue[0], true
}

// stop takes no more, lets the handlers at work end and waits for them.
func (l *queues) stop() {
	l.mu.Lock()
	if !l.closed {
		close(l.stopping)
	}
	l.closed = true
	for _, a := range l.albums {
		a.timer.Stop()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

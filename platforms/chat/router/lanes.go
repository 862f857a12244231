package router

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// lanes handles updates: those of one lane one after the other in the order they came, different lanes
// at the same time, at most width of them. Parts of an album are put together first.
type lanes struct {
	handle    func(context.Context, turn.Update)
	albumWait time.Duration
	slots     chan struct{} // bounds how many are handled at once
	room      chan struct{} // bounds how many wait
	reserving chan struct{} // held by who takes room

	stopping chan struct{} // closed by stop

	mu     sync.Mutex
	closed bool
	queues map[string][]turn.Update // a lane is present while somebody works on it
	albums map[string]*album
	wg     sync.WaitGroup
	ctx    context.Context // ends the handlers at a stop; owned by newLanes' caller
}

type album struct {
	turn.Update
	room  int // how many places in room it takes
	timer *time.Timer
}

func newLanes(ctx context.Context, width, waiting int, albumWait time.Duration, handle func(context.Context, turn.Update)) *lanes {
	return &lanes{
		handle: handle, albumWait: albumWait, ctx: ctx,
		slots: make(chan struct{}, width), room: make(chan struct{}, waiting), reserving: make(chan struct{}, 1), stopping: make(chan struct{}),
		queues: map[string][]turn.Update{}, albums: map[string]*album{},
	}
}

// reserve waits for room for n updates, which is no more than there is in all.
func (l *lanes) reserve(ctx context.Context, n int) error {
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

// take takes a place in a channel, unless ctx or the lanes end first.
func (l *lanes) take(ctx context.Context, place chan struct{}) error {
	select {
	case <-l.stopping:
		return errStopping
	default:
	}
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.stopping:
		return errStopping
	}
}

func (l *lanes) release(n int) {
	for range n {
		<-l.room
	}
}

// add takes updates for which room was reserved. After stop they are dropped: they stay in the inbox.
func (l *lanes) add(list ...turn.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.release(len(list))
		return
	}
	for _, r := range list {
		if r.Album == "" || r.Kind != chat.KindMessage {
			l.enqueue(r, 1)
		} else {
			l.collect(r)
		}
	}
}

// collect adds a part of an album, which is complete when none has come for albumWait.
func (l *lanes) collect(r turn.Update) {
	key := r.Platform + "\x00" + r.Chat.Chat + "\x00" + r.Album
	if a, ok := l.albums[key]; ok {
		a.Merge(r)
		a.room++
		a.timer.Reset(l.albumWait)
		return
	}
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

// enqueue puts an update at the end of its lane; the caller holds mu.
func (l *lanes) enqueue(r turn.Update, room int) {
	key := lane(r)
	queue, working := l.queues[key]
	l.queues[key] = append(queue, r)
	l.release(room - 1)
	if !working {
		l.wg.Go(func() { l.work(key) })
	}
}

// lane names the order an update belongs to. What one person does in one chat is done in that order. Others
// in the same chat don't wait for it, and presses don't wait for messages: a slow download would keep
// them from being answered in time.
func lane(r turn.Update) string {
	key := r.Platform + "\x00" + r.Chat.Chat + "\x00" + r.From.ExternalID
	if r.Kind == chat.KindPress || r.Kind == chat.KindForm {
		key += "\x00press"
	}
	return key
}

// work handles a lane until it is empty.
func (l *lanes) work(key string) {
	for {
		r, ok := l.next(key)
		if !ok {
			return
		}
		l.slots <- struct{}{}
		l.handle(l.ctx, r)
		<-l.slots
		l.release(1)
	}
}

func (l *lanes) next(key string) (turn.Update, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[key]
	if len(queue) == 0 || l.closed {
		delete(l.queues, key)
		return turn.Update{}, false
	}
	l.queues[key] = queue[1:]
	return queue[0], true
}

// stop takes no more, lets the handlers at work end and waits for them.
func (l *lanes) stop() {
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

package webchat

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// hub wakes the streams of open pages.
type hub struct {
	mu      sync.Mutex
	streams map[string]map[stream]bool // by conversation
}

// stream is what an open page waits for.
type stream struct {
	changed chan struct{} // after each change; several may be one
	working chan struct{} // something is being done
}

// join opens a stream of a conversation.
func (h *hub) join(chatID string) (s stream, leave func()) {
	s = stream{make(chan struct{}, 1), make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams == nil {
		h.streams = map[string]map[stream]bool{}
	}
	if h.streams[chatID] == nil {
		h.streams[chatID] = map[stream]bool{}
	}
	h.streams[chatID][s] = true
	return s, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.streams[chatID], s)
		if len(h.streams[chatID]) == 0 {
			delete(h.streams, chatID)
		}
	}
}

func (h *hub) wake(chatID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams[chatID] {
		signal(s.changed)
	}
}

// work shows on the pages of a conversation that something is being done.
func (h *hub) work(chatID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams[chatID] {
		signal(s.working)
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, streams := range h.streams {
		for s := range streams {
			signal(s.changed)
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it knows already
	}
}

const (
	answerWait = 15 * time.Second // how long a page waits for the answer to a press
	answerKept = time.Minute      // how long an answer is remembered for a press that is sent again
)

// presses are the pressed buttons that pages wait for.
type presses struct {
	mu   sync.Mutex
	open map[string]*pressed
}

type pressed struct {
	answered chan struct{} // closed once answer is there
	answer   chat.PressAnswer
}

// expect notes a press; known tells that it was sent before.
func (p *presses) expect(id string) (waiting *pressed, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if press := p.open[id]; press != nil {
		return press, true
	}
	if p.open == nil {
		p.open = map[string]*pressed{}
	}
	p.open[id] = &pressed{answered: make(chan struct{})}
	time.AfterFunc(answerKept, func() { p.forget(id) })
	return p.open[id], false
}

// forget lets a press be sent anew.
func (p *presses) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, id)
}

func (p *presses) answer(id string, a chat.PressAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	press := p.open[id]
	if press == nil {
		return // too old, or pressed in another process
	}
	select {
	case <-press.answered: // answered before
	default:
		press.answer = a
		close(press.answered)
	}
}

// wait gives the answer; the zero one when there is none in time.
func (p *pressed) wait(ctx context.Context) chat.PressAnswer {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	select {
	case <-p.answered:
		return p.answer
	case <-ctx.Done():
		return chat.PressAnswer{}
	}
}

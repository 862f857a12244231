// Package penpot connects a person's Penpot with their drawings. The house serves a plugin for Penpot, whose window is paired with an account by a
// code from /link and stays connected over a WebSocket. Messages are {source, messageId, type, payload}, answers {source, messageId, success,
// message, payload}.
package penpot

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/registry"
)

// The sources of messages and answers.
const (
	Client = "penpotWizardClient" // we
	Plugin = "penpotWizardPlugin"
)

// beat is how often a connection is looked at: whether anybody is there, and whether its owner has ended it.
const beat = 15 * time.Second

// answerWait is how long an answer may take, from the question or the last sign of life.
const answerWait = 30 * time.Second

// message is what we ask of the plugin.
type message struct {
	Source  string `json:"source"`
	ID      string `json:"messageId"`
	Type    string `json:"type"`
	Payload any    `json:"payload"`
}

// answer is what it says.
type answer struct {
	Source  string          `json:"source"`
	ID      string          `json:"messageId"`
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Payload json.RawMessage `json:"payload"`
	Working bool            `json:"working"` // it is no answer yet, but a sign of life
}

// link is a connected plugin.
type link struct {
	send func(context.Context, message) error
	gone chan struct{} // closed when the connection ends

	mu      sync.Mutex
	waiting map[string]chan answer
}

// Hub knows the connected plugins: at most one of each account, the one that came last.
type Hub struct {
	wait  time.Duration
	beat  time.Duration
	mu    sync.Mutex
	links map[string]*link
}

// NewHub makes a hub without connections.
func NewHub() *Hub { return &Hub{wait: answerWait, beat: beat, links: map[string]*link{}} }

// Ask sends a message to an account's plugin and waits for its answer, for 30 seconds after the last sign of life. Without a plugin, and where it does not answer or the connection is
// cut, the error is a *registry.Error with CodeUnavailable or CodeTimeout; what the plugin refuses is one with CodeProvider and its words.
func (h *Hub) Ask(ctx context.Context, accountID, kind string, payload any) (json.RawMessage, error) {
	h.mu.Lock()
	l := h.links[accountID]
	h.mu.Unlock()
	if l == nil {
		return nil, registry.Errorf(registry.CodeUnavailable, "no Penpot is connected: open the plugin there, and enter a code from /link")
	}
	m := message{Client, uuid.NewString(), kind, payload}
	answered := make(chan answer, 2) // the answer always has room beside a sign of life
	l.mu.Lock()
	l.waiting[m.ID] = answered
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, m.ID)
		l.mu.Unlock()
	}()
	sending, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	if err := l.send(sending, m); err != nil {
		return nil, &registry.Error{Code: registry.CodeUnavailable, Message: "the connection to Penpot was cut", Cause: err}
	}
	for late := time.NewTimer(h.wait); ; late.Reset(h.wait) {
		select {
		case a := <-answered:
			if a.Working {
				continue
			}
			if !a.Success {
				return nil, registry.Errorf(registry.CodeProvider, "Penpot says: %s", a.Message)
			}
			return a.Payload, nil
		case <-l.gone:
			return nil, registry.Errorf(registry.CodeUnavailable, "the connection to Penpot was cut")
		case <-late.C:
			return nil, registry.Errorf(registry.CodeTimeout, "Penpot did not answer within %s", h.wait)
		case <-ctx.Done():
			return nil, registry.Errorf(registry.CodeTimeout, "Penpot did not answer in time")
		}
	}
}

// join takes a plugin for an account until leave is called. The one before it is told to go.
func (h *Hub) join(accountID string, l *link) (leave func()) {
	h.mu.Lock()
	before := h.links[accountID]
	h.links[accountID] = l
	h.mu.Unlock()
	if before != nil {
		before.close()
	}
	return func() {
		l.close()
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.links[accountID] == l {
			delete(h.links, accountID)
		}
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.gone:
	default:
		close(l.gone)
	}
}

// take gives an answer to who waits for it. One that nobody waits for, any more or at all, is dropped.
func (l *link) take(a answer) {
	if a.Source != Plugin {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answered, ok := l.waiting[a.ID]
	if !ok || a.Working && len(answered) > 0 {
		return
	}
	if !a.Working {
		delete(l.waiting, a.ID) // a second answer is nobody's
	}
	answered <- a
}

package router

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/runs"
)

// desk is what the Router and the Deliverer share.
type desk struct {
	surfaces   map[string]*surface // by platform
	writer     *postgres.Writer
	keyboards  keyboards
	deliveries deliveries
	questions  questions
	texts      *i18n.Catalogue
	live       liveMessages
}

func (d *desk) platforms() []string { return slices.Sorted(maps.Keys(d.surfaces)) }

// target is where a run was asked for, as it is kept with the run.
type target struct {
	Chat     chat.Chat       `json:"chat"`
	Request  chat.MessageRef `json:"request"`
	Status   chat.MessageRef `json:"status"` // the message that shows the run's state
	Language string          `json:"language,omitempty"`
	Person   string          `json:"person"` // external id of who asked
	// Notes are what was to be said at the start and holds for the result, too: that message takes the place of the first.
	Notes []string `json:"notes,omitempty"`
}

func (t target) encode() json.RawMessage {
	raw, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings only
	}
	return raw
}

// targetOf reads where a run's messages are.
func targetOf(run runs.Run) (target, error) {
	var t target
	if err := unmarshal(run.Origin.Target, &t); err != nil {
		return t, fmt.Errorf("run %s has an unreadable chat target: %w", run.ID, err)
	}
	return t, nil
}

// liveMessages keeps edits of one status message apart: nobody shows an old state over a new one.
type liveMessages struct {
	mu    sync.Mutex
	locks map[string]*liveMessage
}

type liveMessage struct {
	sync.Mutex
	users int
}

// lock gives the message of a run to one goroutine until unlock is called.
func (l *liveMessages) lock(runID string) (unlock func()) {
	l.mu.Lock()
	if l.locks == nil {
		l.locks = map[string]*liveMessage{}
	}
	m := l.locks[runID]
	if m == nil {
		m = &liveMessage{}
		l.locks[runID] = m
	}
	m.users++
	l.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(l.locks, runID)
		}
	}
}

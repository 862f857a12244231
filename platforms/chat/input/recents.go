package input

import (
	"fmt"
	"sync"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Bounds of what is remembered for completion.
const (
	recentPeople = 5000
	recentTools  = 10
	recentValues = 10
	RecentRuns   = 30 // read for somebody who types for the first time
)

// Recents remembers what people used lately, newest first.
type Recents struct {
	mu     sync.Mutex
	people map[users.Identity]*recent
}

// recent is what one person used lately.
type recent struct {
	tools  []string // ids
	values map[inputKey][]any
	read   bool // what came before this program started was asked for, too
}

// inputKey names an input of a tool.
type inputKey struct{ toolID, input string }

// Claim reports whether what a person used before this program started has still to be read. Of several who ask, one is
// told so.
func (r *Recents) Claim(who users.Identity) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.person(who)
	unread := !p.read
	p.read = true
	return unread
}

// Tools are the ids of the tools that a person used lately.
func (r *Recents) Tools(who users.Identity) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.person(who).tools
}

// Values are what a person gave for an input of a tool lately.
func (r *Recents) Values(who users.Identity, toolID, input string) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.person(who).values[inputKey{toolID, input}]
}

// personKey leaves out what changes.
func personKey(who users.Identity) users.Identity {
	return users.Identity{Platform: who.Platform, ExternalID: who.ExternalID}
}

// person gives what is known of a person, to be changed; the caller holds mu. Somebody else is forgotten where there
// are too many.
func (r *Recents) person(who users.Identity) *recent {
	key := personKey(who)
	if r.people == nil {
		r.people = map[users.Identity]*recent{}
	}
	if p := r.people[key]; p != nil {
		return p
	}
	for other := range r.people {
		if len(r.people) < recentPeople {
			break
		}
		delete(r.people, other)
	}
	p := &recent{values: map[inputKey][]any{}}
	r.people[key] = p
	return p
}

// Forget leaves nothing of a person.
func (r *Recents) Forget(who users.Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.people, personKey(who))
}

// Note notes the tool and the values of a person's run.
func (r *Recents) Note(who users.Identity, run runs.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.person(who)
	p.tools = first(run.Tool.ToolID, p.tools, recentTools)
	for _, f := range run.Tool.InputSchema {
		value, ok := run.Inputs[f.Name]
		if from := run.Sources[f.Name]; ok && IsTyped(f) && from != runs.FromDefault && from != runs.FromRandom {
			key := inputKey{run.Tool.ToolID, f.Name}
			p.values[key] = first(value, p.values[key], recentValues)
		}
	}
}

// first puts one thing before a list, which keeps at most n and has nothing twice. The list itself stays as it is:
// readers may hold it.
func first[T any](one T, list []T, n int) []T {
	kept := []T{one}
	for _, other := range list {
		if len(kept) < n && fmt.Sprint(other) != fmt.Sprint(one) {
			kept = append(kept, other)
		}
	}
	return kept
}

package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// refusedFor is how long a list that Discord refuses is not sent again: it counts how many commands are made in a day.
const refusedFor = time.Hour

// refusedList is a list of commands that Discord does not take.
type refusedList struct {
	hash  string
	until time.Time
}

// registered is a command as Discord lists it.
type registered struct {
	ID      string `json:"id"`
	Version string `json:"version"` // changes with every change
}

// SyncCommands makes Discord's list of commands equal to sets. The whole list is written at once, and only when it
// has changed: Discord counts what is created. At the first time in a process it is compared with what Discord has.
func (a *Adapter) SyncCommands(ctx context.Context, sets []chat.CommandSet) error {
	a.syncing.Lock()
	defer a.syncing.Unlock()
	list, wanted := commandsOf(sets)
	raw, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("discord: commands: %w", err)
	}
	sum := sha256.Sum256(raw)
	wanted.Hash = hex.EncodeToString(sum[:])
	if wanted.Hash == a.refused.hash && a.clock.Now().Before(a.refused.until) {
		return nil // it was told when it was refused
	}
	known := *a.commands.Load()
	if known.Hash == wanted.Hash {
		same, err := a.unchanged(ctx, known)
		if err != nil || same {
			return err
		}
	}
	both := known.and(wanted) // people use the new list before we hear that it was taken
	a.commands.Store(&both)
	var now []registered
	err = a.client.do(ctx, call{
		method: http.MethodPut, path: "/applications/" + a.client.app + "/commands", route: "/applications/{}/commands",
		body: json.RawMessage(raw), repeatable: true,
	}, &now)
	var e *Error
	if errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusForbidden) {
		a.refused = refusedList{wanted.Hash, a.clock.Now().Add(refusedFor)}
		a.log.ErrorContext(ctx, "Discord refuses the list of commands; it is sent again when it has changed, or in an hour", "error", err)
		return nil
	}
	if err != nil {
		return contract(err)
	}
	wanted.Versions = versions(now)
	a.commands.Store(&wanted)
	a.checked = true
	return a.storage.setPublished(ctx, wanted)
}

// unchanged reports whether Discord still has the commands as they were published. It needs a.syncing.
func (a *Adapter) unchanged(ctx context.Context, known published) (bool, error) {
	if a.checked {
		return true, nil
	}
	var now []registered
	err := a.client.do(ctx, call{
		method: http.MethodGet, path: "/applications/" + a.client.app + "/commands", route: "/applications/{}/commands", repeatable: true,
	}, &now)
	if err != nil {
		return false, contract(err)
	}
	a.checked = true
	return maps.Equal(versions(now), known.Versions), nil
}

func versions(list []registered) map[string]string {
	m := make(map[string]string, len(list))
	for _, c := range list {
		m[c.ID] = c.Version
	}
	return m
}

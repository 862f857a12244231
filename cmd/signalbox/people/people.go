// Package people lets an operator find people in the terminal, and set the rules about who may use the tools.
package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/users"
)

// Find finds the one account that is meant: by its id, by a platform's id of somebody (telegram:12345), by a handle (@ann, or
// discord:@ann) or by the whole of a name, in any case. Where several people may be meant it finds nobody, and the error lists them.
func Find(ctx context.Context, store *users.Store, whom string) (users.Account, error) {
	if _, err := uuid.Parse(whom); err == nil {
		a, err := store.ByID(ctx, whom)
		if errors.Is(err, users.ErrNotFound) {
			return a, fmt.Errorf("there is no account %s; signalbox people lists all", whom)
		}
		return a, err
	}
	platform, id, onPlatform := strings.Cut(whom, ":")
	handle := strings.HasPrefix(id, "@")
	if onPlatform && platform != "" && id != "" && !handle {
		a, err := store.ByIdentity(ctx, platform, id)
		if errors.Is(err, users.ErrNotFound) {
			return a, fmt.Errorf("nobody has come as %s yet; they have to write to the bot or open the page first", whom)
		}
		return a, err
	}
	if !onPlatform || !handle {
		platform, id = "", whom
	}
	return byName(ctx, store, platform, id)
}

// byName finds who alone has a name or a handle.
func byName(ctx context.Context, store *users.Store, platform, name string) (users.Account, error) {
	near, err := store.People(ctx, users.PeopleQuery{Text: strings.TrimPrefix(name, "@"), Platform: platform, Limit: maxListed})
	if err != nil {
		return users.Account{}, err
	}
	found := slices.DeleteFunc(slices.Clone(near), func(p users.Person) bool { return !isCalled(p, platform, name) })
	if len(found) == 1 && len(near) < maxListed {
		return found[0].Account, nil
	}
	var b strings.Builder
	switch {
	case len(found) > 0:
		fmt.Fprintf(&b, "%q may be several people; name one by an id:", name)
	case len(near) > 0:
		found = near
		fmt.Fprintf(&b, "nobody is called %q; similar are:", name)
	default:
		fmt.Fprintf(&b, "nobody is called %q; signalbox people lists who has been here, with their ids", name)
	}
	for _, p := range found[:min(len(found), maxTold)] {
		fmt.Fprintf(&b, "\n  %s  %s", p.ID, oneLine(p))
	}
	return users.Account{}, errors.New(b.String())
}

// isCalled reports whether a person has the name, or, with an @ before it, the handle; on one platform, or anywhere.
func isCalled(p users.Person, platform, name string) bool {
	handle, onlyHandle := strings.CutPrefix(name, "@")
	for _, i := range p.Identities {
		if platform != "" && i.Platform != platform {
			continue
		}
		if handle != "" && strings.EqualFold(strings.TrimPrefix(i.Handle, "@"), handle) || !onlyHandle && strings.EqualFold(i.Name, name) {
			return true
		}
	}
	return !onlyHandle && strings.EqualFold(p.DisplayName, name)
}

// How many people are listed, and how many are told of in an error.
const (
	maxListed = 200
	maxTold   = 5
)

// Print prints people, newest first, whose name, handle or id has the text; with an empty one everybody. One line each: what grant
// and access take, and the name.
func Print(ctx context.Context, w io.Writer, store *users.Store, text string) error {
	list, err := store.People(ctx, users.PeopleQuery{Text: strings.TrimPrefix(text, "@"), Limit: maxListed})
	if err != nil {
		return err
	}
	if len(list) == 0 && text == "" {
		_, err := fmt.Fprintln(w, "Nobody has been here yet. Who writes to the bot or opens the page is listed.")
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(w, "Nobody's name, handle or id has %q in it.\n", text)
		return err
	}
	for _, p := range list {
		fmt.Fprintf(w, "%s  %s\n", p.ID, oneLine(p))
	}
	if len(list) == maxListed {
		fmt.Fprintf(w, "These are the newest %d; signalbox people TEXT finds others.\n", maxListed)
	}
	return nil
}

// oneLine is a person's name, what they are, and the ids and handles by which platforms know them.
func oneLine(p users.Person) string {
	parts := []string{orDash(p.DisplayName)}
	for _, i := range p.Identities {
		as := i.Platform + ":" + i.ExternalID
		if i.Handle != "" {
			as += " @" + strings.TrimPrefix(i.Handle, "@")
		}
		parts = append(parts, as)
	}
	if p.Operator {
		parts = append(parts, "operator")
	}
	if p.Blocked {
		parts = append(parts, "blocked")
	}
	return strings.Join(parts, "  ")
}

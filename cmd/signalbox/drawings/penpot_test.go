package drawings

import (
	"cmp"
	"log/slog"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/users"
)

// TestWhatKeysSee has runs of keys of all kinds, and of one that has ended since.
func TestWhatKeysSee(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	people := users.New(postgrestest.New(t), users.Config{})
	ann, err := people.Identify(ctx, users.Identity{Platform: "web", ExternalID: "ann", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	sees := func(budget, want string) {
		t.Helper()
		if got, err := Sees(people)(ctx, ann.ID, budget); err != nil || got != want {
			t.Errorf("%q sees what was made by %q, %v; want %q", budget, got, err, want)
		}
	}
	sees("", "")
	sees("question:1", "")
	var last users.Key
	for _, c := range []struct {
		wanted users.NewKey
		own    bool
	}{{users.NewKey{}, false}, {users.NewKey{SpendLimit: 1, AllRuns: true}, false}, {users.NewKey{SpendLimit: 1}, true}, {users.NewKey{Agent: true}, true}} {
		if _, err := people.MakeKey(ctx, ann.ID, c.wanted); err != nil {
			t.Fatal(err)
		}
		keys, err := people.Keys(ctx, ann.ID)
		if err != nil {
			t.Fatal(err)
		}
		last = slices.MaxFunc(keys, func(a, b users.Key) int { return cmp.Compare(a.ID, b.ID) })
		sees(last.Budget(), map[bool]string{true: last.Budget()}[c.own])
	}
	if err := people.RevokeKey(ctx, ann.ID, last.ID, ""); err != nil {
		t.Fatal(err)
	}
	sees(last.Budget(), last.Budget())
}

// TestPairedPenpot has plugins come and go, and be signed out by their owner.
func TestPairedPenpot(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	people := users.New(postgrestest.New(t), users.Config{})
	ann, err := people.Identify(ctx, users.Identity{Platform: "web", ExternalID: "ann", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	pairs := func() func() (listed int, ended bool) {
		p, err := pair(ctx, people, slog.New(slog.DiscardHandler), users.Session{AccountID: ann.ID, Way: "penpot", Agent: "Penpot"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Leave(ctx) })
		return func() (int, bool) {
			sessions, err := people.Sessions(ctx, ann.ID)
			if err != nil {
				t.Fatal(err)
			}
			return len(sessions), p.Ended(ctx)
		}
	}
	is := pairs()
	if listed, ended := is(); listed != 1 || ended {
		t.Errorf("after pairing %d are listed, ended: %v", listed, ended)
	}
	if _, err := people.EndSessions(ctx, ann.ID, ""); err != nil {
		t.Fatal(err)
	}
	if listed, ended := is(); listed != 0 || !ended {
		t.Errorf("after signing out everywhere %d are listed, ended: %v", listed, ended)
	}
}

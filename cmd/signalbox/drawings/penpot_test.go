package drawings

import (
	"log/slog"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/users"
)

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

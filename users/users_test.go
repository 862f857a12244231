package users

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
)

func newStore(t *testing.T, config Config) (*Store, *pgxpool.Pool) {
	t.Helper()
	pool := postgrestest.New(t)
	return New(pool, config), pool
}

func identify(t *testing.T, s *Store, identity Identity) Account {
	t.Helper()
	account, err := s.Identify(t.Context(), identity)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	var created atomic.Int32
	s, _ := newStore(t, Config{OnCreate: func(context.Context, pgx.Tx, Account) error { created.Add(1); return nil }})
	ctx := t.Context()

	t.Run("many at once make one account", func(t *testing.T) {
		ids := make([]string, 8)
		var wait sync.WaitGroup
		for i := range ids {
			wait.Go(func() {
				account, err := s.Identify(ctx, Identity{Platform: "telegram", ExternalID: "1", Name: "Ann"})
				if err != nil {
					t.Error(err)
				}
				ids[i] = account.ID
			})
		}
		wait.Wait()
		for _, id := range ids {
			if id != ids[0] || id == "" {
				t.Errorf("accounts differ: %v", ids)
			}
		}
		if created.Load() != 1 {
			t.Errorf("OnCreate ran %d times", created.Load())
		}
	})
	t.Run("a platform's new name and language are taken over, the user's own language stays", func(t *testing.T) {
		who := Identity{Platform: "telegram", ExternalID: "2", Name: "Bob", Language: "en"}
		first := identify(t, s, who)
		who.Name, who.Language = "Bobby", "de"
		if got := identify(t, s, who); got.ID != first.ID || got.DisplayName != "Bobby" || got.Language != "de" {
			t.Errorf("got %+v", got)
		}
		if err := s.SetLanguage(ctx, first.ID, "cs"); err != nil {
			t.Fatal(err)
		}
		who.Language = "fr"
		if got := identify(t, s, who); got.Language != "cs" {
			t.Errorf("got %+v", got)
		}
		who.Language, who.Name = "", ""
		if got := identify(t, s, who); got.DisplayName != "Bobby" {
			t.Errorf("an unknown name replaced a known one: %+v", got)
		}
	})
	t.Run("linked identities are one person", func(t *testing.T) {
		ann := identify(t, s, Identity{Platform: "telegram", ExternalID: "1"})
		if err := s.Link(ctx, ann.ID, Identity{Platform: "discord", ExternalID: "9"}); err != nil {
			t.Fatal(err)
		}
		if got := identify(t, s, Identity{Platform: "discord", ExternalID: "9"}); got.ID != ann.ID {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("operators", func(t *testing.T) {
		ann := identify(t, s, Identity{Platform: "telegram", ExternalID: "1"})
		if err := s.SetOperator(ctx, ann.ID, true); err != nil {
			t.Fatal(err)
		}
		if got, err := s.ByID(ctx, ann.ID); err != nil || !got.Operator {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("nobody", func(t *testing.T) {
		for _, id := range []string{"", "x", "00000000-0000-7000-8000-000000000000"} {
			if _, err := s.ByID(ctx, id); !errors.Is(err, ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
		if _, err := s.Identify(ctx, Identity{Platform: "telegram"}); err == nil {
			t.Error("an identity without an id was taken")
		}
	})
}

func TestAnAccountIsMadeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	failure := errors.New("no credit today")
	s, pool := newStore(t, Config{OnCreate: func(context.Context, pgx.Tx, Account) error { return failure }})
	if _, err := s.Identify(t.Context(), Identity{Platform: "web", ExternalID: "1"}); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	var left int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM users`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d accounts are left, %v", left, err)
	}
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"}).ID
	bob := identify(t, s, Identity{Platform: "web", ExternalID: "2"}).ID
	set := func(who, tool, field string, value any) {
		t.Helper()
		if err := s.SetPreference(ctx, who, tool, field, value); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(t *testing.T, s *Store, who, tool string, want map[string]any) {
		t.Helper()
		got, err := s.PreferencesFor(ctx, who, registry.Tool{ToolID: tool})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("A58 a value is for its user and tool only, exact, and there after a restart", func(t *testing.T) {
		set(ann, "flux", "seed", json.Number("18446744073709551615"))
		set(ann, "flux", "cfg", json.Number("1.50"))
		set(ann, "flux", "cfg", json.Number("7.0"))
		set(ann, "other", "cfg", "x")
		wants(t, New(pool, Config{}), ann, "flux", map[string]any{"seed": json.Number("18446744073709551615"), "cfg": json.Number("7.0")})
		wants(t, s, bob, "flux", map[string]any{})
		if err := s.ResetPreference(ctx, ann, "flux", "cfg"); err != nil {
			t.Fatal(err)
		}
		wants(t, s, ann, "flux", map[string]any{"seed": json.Number("18446744073709551615")})
		if err := s.ResetPreferences(ctx, ann, "flux"); err != nil {
			t.Fatal(err)
		}
		wants(t, s, ann, "flux", map[string]any{})
		wants(t, s, ann, "other", map[string]any{"cfg": "x"})
	})
	t.Run("A88 values follow a renamed tool and renamed inputs", func(t *testing.T) {
		set(bob, "old", "steps", json.Number("9"))
		set(bob, "new", "cfg", json.Number("2"))
		set(bob, "old", "cfg", json.Number("1"))
		tool := registry.Tool{ToolID: "new", Listing: registry.Listing{Aliases: []string{"old"}}, Migrations: []registry.Rename{{From: "steps", To: "quality"}}}
		want := map[string]any{"quality": json.Number("9"), "cfg": json.Number("2")}
		got, err := s.PreferencesFor(ctx, bob, tool)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, moved := range []int{1, 0} {
			if n, err := s.MigratePreferences(ctx, tool); err != nil || n != moved {
				t.Errorf("migrated %d, %v; want %d", n, err, moved)
			}
		}
		wants(t, s, bob, "new", want)
		wants(t, s, bob, "old", map[string]any{})
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"})
	key, err := s.MakeKey(ctx, ann.ID, NewKey{Label: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.KeyOf(ctx, key); err != nil || got.ID != ann.ID {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, wrong := range []string{"", "sbx_", key + "0", key[4:]} {
		if _, _, err := s.KeyOf(ctx, wrong); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	var stored string
	if err := pool.QueryRow(ctx, `SELECT encode(hash, 'hex') || label FROM user_keys`).Scan(&stored); err != nil || stored == key {
		t.Errorf("stored %q, %v", stored, err)
	}
}

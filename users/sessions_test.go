package users

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "ann"})
	open := func(agent string) (secret string, session Session) {
		t.Helper()
		secret, err := s.NewSession(ctx, Session{AccountID: ann.ID, Way: "code", Agent: agent, Address: "192.0.2.1"})
		if err != nil {
			t.Fatal(err)
		}
		_, session, err = s.BySession(ctx, secret)
		if err != nil {
			t.Fatal(err)
		}
		return secret, session
	}
	secret, session := open("phone")

	t.Run("the secret opens the account, and is not in the database", func(t *testing.T) {
		account, got, err := s.BySession(ctx, secret)
		if err != nil || account.ID != ann.ID || got.Way != "code" || got.Agent != "phone" || got.Address != "192.0.2.1" {
			t.Errorf("%+v, %+v, %v", account, got, err)
		}
		var found bool
		if err := pool.QueryRow(ctx, `SELECT bool_or(position($1 in s::text) > 0) FROM user_sessions s`, secret).Scan(&found); err != nil || found {
			t.Errorf("stored in the clear: %v, %v", found, err)
		}
		if _, _, err := s.BySession(ctx, session.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("by its id: %v", err)
		}
	})

	t.Run("being seen prolongs it, and it ends when it was not seen for long", func(t *testing.T) {
		secret, session := open("tablet")
		if _, err := pool.Exec(ctx, `UPDATE user_sessions SET created_at = now() - interval '3 days', seen_at = now() - interval '2 days', expires_at = now() + interval '1 day' WHERE id = $1`, session.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.BySession(ctx, secret); err != nil {
			t.Fatal(err)
		}
		_, session, err := s.BySession(ctx, secret)
		if err != nil || time.Until(session.ExpiresAt) < SessionLife-time.Minute {
			t.Errorf("ends at %v, %v", session.ExpiresAt, err)
		}
		if _, err := pool.Exec(ctx, `UPDATE user_sessions SET created_at = now() - interval '90 days', expires_at = now() - interval '1 second' WHERE id = $1`, session.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.BySession(ctx, secret); !errors.Is(err, ErrNotFound) {
			t.Errorf("after its end: %v", err)
		}
	})

	t.Run("the owner ends one, or all others; strangers end none", func(t *testing.T) {
		bob := identify(t, s, Identity{Platform: "web", ExternalID: "bob"})
		other, second := open("laptop")
		if err := s.EndSession(ctx, bob.ID, second.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.BySession(ctx, other); err != nil {
			t.Errorf("a stranger ended it: %v", err)
		}
		if err := s.EndSession(ctx, ann.ID, second.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.BySession(ctx, other); !errors.Is(err, ErrNotFound) {
			t.Errorf("after its end: %v", err)
		}
		open("a")
		open("b")
		if n, err := s.EndSessions(ctx, ann.ID, session.ID); err != nil || n != 2 {
			t.Errorf("ended %d, %v", n, err)
		}
		if left, err := s.Sessions(ctx, ann.ID); err != nil || len(left) != 1 || left[0].ID != session.ID {
			t.Errorf("left %+v, %v", left, err)
		}
	})

	t.Run("a proof is used once, no matter who comes at the same time", func(t *testing.T) {
		var used atomic.Int32
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				switch err := s.UseProof(ctx, "signed message", time.Now().Add(time.Hour)); {
				case err == nil:
					used.Add(1)
				case !errors.Is(err, ErrUsed):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if used.Load() != 1 {
			t.Errorf("used %d times", used.Load())
		}
	})
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	var granted atomic.Int64
	invitations := NewInvitations(s, func(_ context.Context, _ pgx.Tx, _ string, nanoUSD int64, _ string) error {
		granted.Add(nanoUSD)
		return nil
	})
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "ann"})
	invite := func() (string, Invitation) {
		t.Helper()
		secret, v, err := invitations.Create(ctx, Invitation{By: "admin", Note: "Ann", Credit: 5, ExpiresAt: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return secret, v
	}

	t.Run("used once, with its credit, no matter who comes at the same time", func(t *testing.T) {
		secret, _ := invite()
		var used atomic.Int32
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				switch _, err := invitations.Use(ctx, secret, ann.ID); {
				case err == nil:
					used.Add(1)
				case !errors.Is(err, ErrNoInvitation):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if used.Load() != 1 || granted.Load() != 5 {
			t.Errorf("used %d times, granted %d", used.Load(), granted.Load())
		}
	})
	t.Run("revoked and expired ones open nothing", func(t *testing.T) {
		revoked, v := invite()
		if got, err := invitations.Peek(ctx, revoked); err != nil || got.Note != "Ann" {
			t.Errorf("%+v, %v", got, err)
		}
		if err := invitations.Revoke(ctx, v.ID); err != nil {
			t.Fatal(err)
		}
		if err := invitations.Revoke(ctx, v.ID); !errors.Is(err, ErrNoInvitation) {
			t.Errorf("revoked twice: %v", err)
		}
		expired, v := invite()
		if _, err := pool.Exec(ctx, `UPDATE user_invitations SET expires_at = now() WHERE id = $1`, v.ID); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{revoked, expired, "guess", ""} {
			if _, err := invitations.Peek(ctx, secret); !errors.Is(err, ErrNoInvitation) {
				t.Errorf("peek: %v", err)
			}
			if _, err := invitations.Use(ctx, secret, ann.ID); !errors.Is(err, ErrNoInvitation) {
				t.Errorf("use: %v", err)
			}
		}
	})
	t.Run("the list tells what became of each", func(t *testing.T) {
		list, err := invitations.List(ctx)
		if err != nil || len(list) != 3 {
			t.Fatalf("%d, %v", len(list), err)
		}
		if first := list[2]; first.UsedBy != ann.ID || first.UsedAt == nil {
			t.Errorf("%+v", first)
		}
	})
}

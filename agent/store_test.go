package agent_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	s := agent.NewStore(pool, 1000)
	ann, bob := uuid.NewString(), uuid.NewString()
	said := func(text string) agent.Remembered {
		return agent.Remembered{Exchanges: []agent.Exchange{{Question: text, Answer: "yes"}}}
	}
	keep := func(account, name, text string) {
		t.Helper()
		if err := s.Remember(t.Context(), account, name, said(text)); err != nil {
			t.Fatal(err)
		}
	}
	recalled := func(account, name string) string {
		t.Helper()
		r, err := s.Recall(t.Context(), account, name)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Exchanges) == 0 {
			return ""
		}
		return r.Exchanges[0].Question
	}
	inTx := func(do func(tx pgx.Tx) error) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), pool, do); err != nil {
			t.Fatal(err)
		}
	}
	keep(ann, "a", "first")
	keep(ann, "a", "second")
	keep(bob, "a", "bob's")
	keep(bob, "b", "bob's other")
	t.Run("the last is kept, for its own account", func(t *testing.T) {
		if recalled(ann, "a") != "second" || recalled(bob, "a") != "bob's" || recalled(ann, "none") != "" {
			t.Errorf("got %q, %q", recalled(ann, "a"), recalled(bob, "a"))
		}
	})
	t.Run("what is used in a day is counted, and nothing is left when it is used up", func(t *testing.T) {
		for range 3 {
			if err := s.Used(t.Context(), ann, agent.Usage{Input: 300, Output: 100}); err != nil {
				t.Fatal(err)
			}
		}
		annLeft, err := s.Left(t.Context(), ann)
		if err != nil || annLeft != 0 {
			t.Errorf("left: %d, %v", annLeft, err)
		}
		if bobLeft, err := s.Left(t.Context(), bob); err != nil || bobLeft != 1000 {
			t.Errorf("left of another: %d, %v", bobLeft, err)
		}
	})
	t.Run("merged accounts have the conversations of both, and what both have used", func(t *testing.T) {
		inTx(func(tx pgx.Tx) error { return agent.Adopt(t.Context(), tx, ann, bob) })
		if recalled(bob, "a") != "bob's" || recalled(ann, "a") != "" {
			t.Errorf("got %q, %q", recalled(bob, "a"), recalled(ann, "a"))
		}
		if left, _ := s.Left(t.Context(), bob); left != 0 {
			t.Errorf("left: %d", left)
		}
	})
	t.Run("one is forgotten, and then all", func(t *testing.T) {
		if there, err := s.ForgetConversation(t.Context(), bob, "a"); !there || err != nil || recalled(bob, "a") != "" || recalled(bob, "b") == "" {
			t.Errorf("there: %v, %v", there, err)
		}
		if there, _ := s.ForgetConversation(t.Context(), bob, "a"); there {
			t.Error("it was there again")
		}
		inTx(func(tx pgx.Tx) error { return agent.Forget(t.Context(), tx, bob) })
		if recalled(bob, "b") != "" {
			t.Error("it is remembered")
		}
	})
}

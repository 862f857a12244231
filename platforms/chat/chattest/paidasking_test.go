package chattest

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	journal "github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// dear is a scripted model of this name at its rate: "first" has half a dollar for a thousand tokens, "second" a cent; what it reads is nearly free.
func (s *scene) dear(name string, m *thinker) agent.Model {
	s.t.Helper()
	rates, err := billing.ParseModelRates([]byte(`{"models":{"first":[{"input":"0.001","output":"500"}],"second":[{"input":"0.001","output":"10"}]}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	return agent.NewPriced(m, name, rates)
}

// asksPaid connects models whose words are paid by who asks; perDay is the house's bound for an account's day.
func (s *scene) asksPaid(perDay billing.NanoUSD, models ...agent.Model) {
	s.t.Helper()
	s.Stop()
	s.Journal = journal.New(journal.Config{
		Pool: s.Pool, Ledger: s.Ledger, PerDay: perDay,
		Room: func(ctx context.Context, tx pgx.Tx, account string, b runs.Budget, least, most billing.NanoUSD) (billing.NanoUSD, error) {
			return s.Runs.Room(ctx, tx, account, b, least, most)
		},
	})
	s.connect(agent.NewReliable(agent.Patience{Tries: 1}, models...))
	s.Start()
}

// TestPaidQuestions bounds what the questions of somebody in a chat may cost, and says so.
func TestPaidQuestions(t *testing.T) {
	t.Parallel()
	answer := func(context.Context, agent.Conversation) (agent.Turn, error) {
		return agent.Turn{Text: "It is red.", Usage: agent.Usage{Input: 10, Output: 10}, Model: "second"}, nil
	}
	for name, limits := range map[string]users.Limits{
		"the account's day":   {DayCap: int64(billing.Dollar) / 50},
		"the account's month": {MonthCap: int64(billing.Dollar) / 50},
	} {
		t.Run(name+" is full", func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.asksPaid(0, s.dear("second", &thinker{say: answer}))
			s.say("what colour is it?")
			s.AwaitText(s.room, "It is red.")
			s.Handled()
			if err := s.People.SetLimits(t.Context(), s.LastAccount().ID, limits, users.BySystem, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Pool.Exec(t.Context(), `UPDATE agent_questions SET held = $1, charged = $1`, limits.DayCap+limits.MonthCap); err != nil {
				t.Fatal(err)
			}
			s.say("and now?")
			s.AwaitText(s.room, "$0.02", "Nothing was charged")
		})
	}
	t.Run("the house's bound of an account's day is told", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.asksPaid(billing.Dollar/1000, s.dear("second", &thinker{say: answer}))
		s.say("what colour is it?")
		s.AwaitText(s.room, "questions of today")
	})
	t.Run("who has too little is told what is missing, and no model is asked", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		m := &thinker{say: answer}
		s.asksPaid(0, s.dear("first", m))
		s.say("/balance")
		s.AwaitText(s.room, "$1.00")
		id := s.LastAccount().ID
		err := pgx.BeginFunc(t.Context(), s.Pool, func(tx pgx.Tx) error { return s.Ledger.Hold(t.Context(), tx, id, id, 9*billing.Dollar/10) })
		if err != nil {
			t.Fatal(err)
		}
		s.say("what colour is it?")
		s.AwaitText(s.room, "does not cover this", "$0.10")
		s.Handled()
		if m.heard() != "" {
			t.Error("the model was asked")
		}
	})
	t.Run("when the second model answers, its rate is paid", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		broken := &thinker{say: func(context.Context, agent.Conversation) (agent.Turn, error) {
			return agent.Turn{}, errors.Join(registry.Errorf(registry.CodeUnavailable, "too much to do"))
		}}
		s.asksPaid(0, s.dear("first", broken), s.dear("second", &thinker{say: answer}))
		s.say("what colour is it?")
		s.AwaitText(s.room, "It is red.")
		s.Handled()
		got, err := s.Ledger.Balance(t.Context(), s.LastAccount().ID)
		if want := signupCredit - 10*10_000 - 10; err != nil || got.Available != want || got.Held != 0 {
			t.Errorf("the balance is %+v, %v; want %s", got, err, want)
		}
	})
}

package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/demo"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/runs"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	s, err := defaultSettings()
	if err != nil {
		t.Fatal(err)
	}
	s.DataDir, s.ListenAddr, s.WorkflowsDir = t.TempDir(), "127.0.0.1:0", t.TempDir()
	a := startApp(t, s)
	now, done := time.Now(), 0
	filled, err := demo.Fill(t.Context(), demo.Config{
		Pool: a.db.Pool, Users: a.users, Ledger: a.ledger, Runs: a.runs, Now: now, AtMost: 2 * time.Minute, Count: 24, Done: func() { done++ },
	})
	if err != nil || filled.Runs != 24 || done != 24 || filled.People < 5 {
		t.Fatalf("%+v, %d told: %v", filled, done, err)
	}
	t.Run("its runs lie in the last week, in their order, and took as long as they did", func(t *testing.T) {
		list, err := a.runs.List(t.Context(), runs.Filter{Limit: 100})
		if err != nil || len(list) != 24 {
			t.Fatalf("%d runs, %v", len(list), err)
		}
		ended := map[runs.Status]int{}
		refunded := 0
		for i, r := range list {
			ended[r.Status]++
			if r.RefundedAt != nil {
				refunded++
			}
			if now.Sub(r.CreatedAt) > 7*24*time.Hour || r.CreatedAt.After(now) || i > 0 && r.CreatedAt.After(list[i-1].CreatedAt) || r.EndedAt.Sub(r.CreatedAt) > time.Minute {
				t.Errorf("run %d: from %v to %v", i, r.CreatedAt, r.EndedAt)
			}
		}
		if days := list[0].CreatedAt.Sub(list[len(list)-1].CreatedAt); days < 2*24*time.Hour || ended[runs.StatusSucceeded] < 15 || ended[runs.StatusCanceled] == 0 || ended[runs.StatusFailed] == 0 || refunded != 1 {
			t.Errorf("they span %v: %v, %d refunded", days, ended, refunded)
		}
	})
	t.Run("the books balance, and refuse changes again", func(t *testing.T) {
		if report, err := a.ledger.Check(t.Context()); err != nil || len(report.Problems) != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if _, err := a.db.Pool.Exec(t.Context(), `UPDATE ledger_transfers SET note = 'x'`); err == nil {
			t.Error("the ledger can be changed")
		}
	})
}

// startApp starts the program without a command line, until the test ends.
func startApp(t *testing.T, s settings.Settings) *app {
	t.Helper()
	c, err := config.Check(s)
	if err != nil {
		t.Fatal(err)
	}
	a := newApp(c, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := a.stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

package main

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/demo"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	s, err := defaultSettings()
	if err != nil {
		t.Fatal(err)
	}
	s.DataDir, s.ListenAddr, s.WorkflowsDir = t.TempDir(), "127.0.0.1:0", workflowstest.SmallDir(t)
	s.DatabaseURL = postgrestest.DSN(postgrestest.New(t))
	now, done, count := time.Now(), 0, 24
	if os.Getenv("SCREENSHOTS_DIR") != "" {
		s.WorkflowsDir, count = t.TempDir(), 48 // pictures for the documents show a fuller house, in full size
	}
	a := startApp(t, s)
	filled, err := demo.Fill(t.Context(), demo.Config{
		Pool: a.db.Pool, Users: a.users, Ledger: a.ledger, Runs: a.runs, Now: now, AtMost: 10 * time.Minute, Count: count, Done: func() { done++ },
	})
	if err != nil || filled.Runs != count || done != count || filled.People < 5 {
		t.Fatalf("%+v, %d told: %v", filled, done, err)
	}
	t.Run("its runs lie in the last week, in their order, and took as long as they did", func(t *testing.T) {
		list, err := a.runs.List(t.Context(), runs.Filter{Limit: 200})
		if err != nil || len(list) != count {
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
	t.Run("its pages are worth looking at", func(t *testing.T) {
		ctx := browsertest.Open(t, browsertest.Desktop)
		phone := browsertest.Open(t, browsertest.Phone)
		site := "http://" + a.listener.Addr().String()
		browsertest.Do(t, ctx, chromedp.Navigate(site+"/tool/wallpaper"), chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS("#run figure img")))
		browsertest.Becomes(t, ctx, `!document.getElementById("start").disabled && document.getElementById("start").textContent !== document.getElementById("start").dataset.busy`)
		look(t, ctx, "playground", "")
		look(t, ctx, "page", site+"/")
		look(t, ctx, "gallery", site+"/gallery")
		look(t, ctx, "console", site+"/operator/plots?span=7d")
		look(t, phone, "phone", site+"/gallery")
		browsertest.Do(t, ctx, chromedp.Navigate(site+"/chat"), chromedp.WaitVisible(chromedp.CSS("#say")), chromedp.Click(chromedp.CSS("#say")),
			chromedp.KeyEvent("/wallpaper colors=5"), chromedp.Click(chromedp.CSS("#send")))
		look(t, ctx, "webchat", "")
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
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// look opens a page, unless it is open, wants pictures or plots in its window to be there, and keeps a picture of it for the documents:
// SCREENSHOTS_DIR=/tmp/pictures go test -run TestDemo ./cmd/signalbox
func look(t *testing.T, ctx context.Context, name, address string) {
	t.Helper()
	if address != "" {
		browsertest.Do(t, ctx, chromedp.Navigate(address))
	}
	browsertest.Becomes(t, ctx, `(() => {
		const inWindow = (e) => { const box = e.getBoundingClientRect(); return box.width > 40 && box.top < innerHeight && box.bottom > 0; };
		const drawn = [...document.querySelectorAll("main img, main canvas")].filter(inWindow);
		return drawn.length > 0 && drawn.every((e) => e.matches("canvas") || e.complete && e.naturalWidth > 0);
	})()`)
	browsertest.WindowShot(t, ctx, name)
}

package botapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// instantly is a clock that never makes anybody wait but notes how long they would have.
type instantly struct {
	mu    sync.Mutex
	waits []time.Duration
}

func (c *instantly) Now() time.Time { return time.Now() }

func (c *instantly) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	ring := make(chan time.Time, 1)
	ring <- time.Now()
	return ring
}

func (c *instantly) longest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var longest time.Duration
	for _, d := range c.waits {
		longest = max(longest, d)
	}
	return longest
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// each hands updates on one by one.
func each(handle func(context.Context, Update) error) Handler {
	return func(ctx context.Context, updates []Update) error {
		for _, u := range updates {
			if err := handle(ctx, u); err != nil {
				return err
			}
		}
		return nil
	}
}

// run starts a poller and returns what it hands over, its end, and a way to stop it.
func run(t *testing.T, w world, clock clock.Clock, handle func(context.Context, Update) error) (ended <-chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	p := &Poller{Client: w.client, Clock: clock, Logger: quiet(), Allowed: []string{"message"}, Handle: each(handle)}
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(cancel)
	return done, cancel
}

func TestPoller(t *testing.T) {
	t.Parallel()
	t.Run("trap 5 an update is confirmed after it was handled, and a stop may come twice and at any time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		handling, release := make(chan Update), make(chan struct{})
		ended, stop := run(t, w, clock.System{}, func(ctx context.Context, u Update) error {
			handling <- u
			<-release
			return nil
		})
		<-handling
		if n := w.PendingUpdates(); n != 1 {
			t.Errorf("%d updates pending while one is handled, expected it to be unconfirmed", n)
		}
		close(release)
		w.Await(t.Context(), "the confirmation", func() bool { return w.PendingUpdates() == 0 }, func() string { return "still pending" })
		stop()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("a stopped poller ended with %v", err)
		}
	})
	t.Run("trap 5 rate limits, a second instance and a broken server are waited out", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		for _, f := range []telegramtest.Fault{
			telegramtest.Refuse(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"),
			telegramtest.ServerError(502), telegramtest.CutBefore(), telegramtest.BrokenJSON(),
		} {
			w.Inject(f.On("getUpdates"))
		}
		clock := &instantly{}
		got := make(chan Update, 1)
		run(t, w, clock, func(_ context.Context, u Update) error { got <- u; return nil })
		if u := <-got; u.Message == nil || u.Message.Text != "/start" {
			t.Errorf("got %+v", u)
		}
		if clock.longest() < 5*time.Second {
			t.Errorf("pauses %v: a second instance must be left alone for a while", clock.waits)
		}
	})
	t.Run("trap 5 a wrong token stops the polling with advice and without the token", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		w.RevokeToken()
		ended, _ := run(t, w, clock.System{}, func(context.Context, Update) error { return nil })
		err := <-ended
		if ReasonOf(err) != Unauthorized || !strings.Contains(err.Error(), "TELEGRAM_BOT_TOKEN") || strings.Contains(err.Error(), w.Token) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("an update that fails is repeated until it is handled, in its order", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		w.ann.Send(w.chat, "later")
		var handled []string
		done := make(chan struct{})
		clock, attempts := &instantly{}, 0
		run(t, w, clock, func(_ context.Context, u Update) error {
			if attempts++; attempts < 12 {
				return errors.New("the database is away")
			}
			if handled = append(handled, u.Message.Text); len(handled) == 2 {
				close(done)
			}
			return nil
		})
		<-done
		if got := strings.Join(handled, " "); got != "/start later" || clock.longest() > time.Minute {
			t.Errorf("handled %q with pauses %v", got, clock.waits)
		}
	})
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	t.Run("trap 15 the secret token is demanded and a failure makes the update come again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		got := make(chan Update, 4)
		var mu sync.Mutex
		failing := true
		hook := &Webhook{Secret: "s3cret", Logger: quiet(), Handle: each(func(_ context.Context, u Update) error {
			mu.Lock()
			defer mu.Unlock()
			if failing {
				failing = false
				return errors.New("not now")
			}
			got <- u
			return nil
		})}
		server := httptest.NewServer(hook)
		t.Cleanup(server.Close)
		if err := w.client.SetWebhook(t.Context(), WebhookConfig{URL: server.URL, Secret: "s3cret"}); err != nil {
			t.Fatal(err)
		}
		if u := <-got; u.Message == nil || u.Message.Text != "/start" {
			t.Errorf("got %+v", u)
		}
		info, err := w.client.GetWebhookInfo(t.Context())
		if err != nil || !strings.Contains(info.LastError, "500") {
			t.Errorf("%+v %v", info, err)
		}
	})
	for name, test := range map[string]struct {
		secret, given, body string
		want                int
	}{
		"wrong secret":    {"s3cret", "guess", `{"update_id":1}`, 401},
		"no secret":       {"s3cret", "", `{"update_id":1}`, 401},
		"none configured": {"", "", `{"update_id":1}`, 401},
		"no update":       {"s3cret", "s3cret", `hello`, 400},
		"too much":        {"s3cret", "s3cret", `{"update_id":1,"x":"` + strings.Repeat("x", maxUpdateBytes) + `"}`, 400},
		"a broken update": {"s3cret", "s3cret", `{"update_id":1,"message":5}`, 200},
		"a good one":      {"s3cret", "s3cret", `{"update_id":1}`, 200},
	} {
		t.Run("trap 15 "+name, func(t *testing.T) {
			t.Parallel()
			hook := &Webhook{Secret: test.secret, Logger: quiet(), Handle: func(context.Context, []Update) error { return nil }}
			req := httptest.NewRequest(http.MethodPost, "/webhooks/telegram", strings.NewReader(test.body))
			if test.given != "" {
				req.Header.Set("X-Telegram-Bot-Api-Secret-Token", test.given)
			}
			rec := httptest.NewRecorder()
			hook.ServeHTTP(rec, req)
			if rec.Code != test.want {
				t.Errorf("status %d, want %d", rec.Code, test.want)
			}
		})
	}
}

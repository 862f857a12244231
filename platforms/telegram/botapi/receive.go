package botapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
)

// Handler is given updates in their order, every one once or more often: after a crash, and from a webhook
// at any time, one may come again. It must take all of them into safe keeping before it returns nil; only
// then are they confirmed. After an error all come again.
type Handler func(ctx context.Context, updates []Update) error

const (
	pollTimeout    = 50 * time.Second
	maxUpdateBytes = 1 << 20
)

// Poller receives updates by long polling.
type Poller struct {
	Client *Client
	Clock  clock.Clock
	Logger *slog.Logger
	// Allowed names the kinds of updates wanted.
	Allowed []string
	// Handle is called for one answer of the server after the other.
	Handle Handler
}

// Run polls until ctx ends, and then returns nil, or until the token turns out to be wrong. A second
// instance (409), rate limits and failures of the server are waited out. Updates are confirmed after they
// were handled, never before: what fails is repeated until it succeeds.
func (p *Poller) Run(ctx context.Context) error {
	var offset int64
	for failures := 0; ctx.Err() == nil; {
		updates, err := p.Client.GetUpdates(ctx, offset, pollTimeout, p.Allowed)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			failures++
			if ReasonOf(err) == Unauthorized {
				return fmt.Errorf("polling has stopped: Telegram does not accept the token; check TELEGRAM_BOT_TOKEN: %w", err)
			}
			p.wait(ctx, PauseAfter(err, failures))
			p.Logger.WarnContext(ctx, "polling Telegram failed", "error", err, "failures", failures)
			continue
		}
		failures = 0
		if len(updates) > 0 && p.handle(ctx, updates) {
			offset = updates[len(updates)-1].ID + 1
		}
	}
	return nil
}

// PauseAfter says how long to leave the server alone.
func PauseAfter(err error, failures int) time.Duration {
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	pause := min(time.Second<<min(failures-1, 5), longestPause)
	if ReasonOf(err) == Conflict {
		return max(pause, 5*time.Second)
	}
	return pause
}

func (p *Poller) wait(ctx context.Context, d time.Duration) {
	select {
	case <-p.Clock.After(d):
	case <-ctx.Done():
	}
}

// handle hands updates over until that succeeds; false when ctx ended before.
func (p *Poller) handle(ctx context.Context, updates []Update) bool {
	updates = readable(ctx, p.Logger, updates)
	for failures := 1; len(updates) > 0; failures++ {
		err := p.Handle(ctx, updates)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return false
		}
		p.Logger.ErrorContext(ctx, "updates are not handled yet", "first", updates[0].ID, "count", len(updates), "error", err, "failures", failures)
		p.wait(ctx, PauseAfter(err, failures))
	}
	return true
}

// readable leaves out updates that can't be read, with a word in the log.
func readable(ctx context.Context, log *slog.Logger, updates []Update) []Update {
	kept := updates[:0:0]
	for _, u := range updates {
		if u.Broken != nil {
			log.ErrorContext(ctx, "an update cannot be read and is skipped", "error", u.Broken)
			continue
		}
		kept = append(kept, u)
	}
	return kept
}

// Webhook receives updates by HTTP. Requests without the secret are answered 401 and not read; an update the
// handler fails on is answered 500, so that the service sends it again.
type Webhook struct {
	Secret string
	Logger *slog.Logger
	Handle Handler
}

// ServeHTTP takes one update.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given := r.Header.Get("X-Telegram-Bot-Api-Secret-Token")
	if h.Secret == "" || subtle.ConstantTimeCompare([]byte(given), []byte(h.Secret)) != 1 {
		http.Error(w, "the secret token is missing or wrong", http.StatusUnauthorized)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdateBytes))
	if err != nil {
		http.Error(w, "the update cannot be read", http.StatusBadRequest)
		return
	}
	u, err := ParseUpdate(data)
	if err != nil {
		http.Error(w, "the body is not an update", http.StatusBadRequest)
		return
	}
	updates := readable(r.Context(), h.Logger, []Update{u})
	if len(updates) == 0 {
		return
	}
	if err := h.Handle(r.Context(), updates); err != nil {
		h.Logger.ErrorContext(r.Context(), "an update was not handled", "update", u.ID, "error", err)
		http.Error(w, "not handled", http.StatusInternalServerError)
	}
}

package selling

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/payments/stripe/stripetest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/words"
)

// TestStripeAway has people told in time and in words that nothing can be paid now, while the operator reads why.
func TestStripeAway(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer   http.HandlerFunc
		patience time.Duration
		logged   string
	}{
		"it is silent": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice who gives up
			<-r.Context().Done()
		}, 100 * time.Millisecond, "deadline exceeded"},
		"the key is wrong": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided: sk_test_****7dc"}}`, http.StatusUnauthorized)
		}, time.Minute, "it answered 401: Invalid API Key provided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tc.answer)
			t.Cleanup(server.Close)
			till := paymentstest.New(t)
			s, log := sellerAt(t, till, server.URL)
			s.patience = tc.patience
			address, err := s.Checkout(t.Context(), till.User(t), web.Platform, "en", words.Offer{Product: "small", Currency: "USD"})
			if !errors.Is(err, payments.ErrAway) || words.BuyingProblem(err) != "pay.away" || address != "" {
				t.Errorf("the address is %q, %v", address, err)
			}
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, tc.logged) || strings.Contains(got, stripetest.Key) {
				t.Errorf("logged is %q, want one line with %q", got, tc.logged)
			}
			if err := s.Look(t.Context(), "cs_test_1"); err == nil {
				t.Error("a session was looked at")
			}
		})
	}
	t.Run("who leaves meanwhile is no error", func(t *testing.T) {
		t.Parallel()
		ctx, leave := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			leave()
			<-r.Context().Done()
		}))
		t.Cleanup(server.Close)
		till := paymentstest.New(t)
		s, log := sellerAt(t, till, server.URL)
		_, err := s.Checkout(ctx, till.User(t), web.Platform, "en", words.Offer{Product: "small", Currency: "USD"})
		if !errors.Is(err, context.Canceled) || log.Len() > 0 {
			t.Errorf("%v, logged is %q", err, log.String())
		}
	})
}

// TestWhatDiscordRefundsHasNoButton has the console offer a refund only where the house can give one.
func TestWhatDiscordRefundsHasNoButton(t *testing.T) {
	t.Parallel()
	till := paymentstest.New(t)
	s, err := New(Config{Store: till.Store, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	user := till.User(t)
	till.Pays(t, till.Ordered(t, user, billing.Stripe, "small", "USD"))
	till.Pays(t, payments.Paid{Source: billing.Discord, Ref: "entitlement", AccountID: user, ProductID: "small"})
	table, err := s.payments(t.Context(), "")
	if err != nil || len(table.Rows) != 2 || table.Rows[0].ID != "" || table.Rows[1].ID != "1" {
		t.Errorf("%+v, %v", table.Rows, err)
	}
}

// sellerAt has Stripe at an address, and writes a log.
func sellerAt(t *testing.T, till *paymentstest.Till, address string) (*Seller, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := New(Config{
		Store: till.Store, Page: &url.URL{Scheme: "https", Host: "bot.example"}, Stripe: stripe.Config{Key: stripetest.Key, BaseURL: address, Secrets: []string{stripetest.Secret}},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, &log
}

package stripe_test

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/payments/stripe/stripetest"
)

// stripeMock starts Stripe's own imitation, which refuses addresses and parameters that its description of the API does not know, and gives its
// address. Where it is not installed the test fails under CI, and is skipped elsewhere.
func stripeMock(t *testing.T) *url.URL {
	t.Helper()
	path, err := exec.LookPath("stripe-mock")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("no stripe-mock: go install github.com/stripe/stripe-mock@v0.203.0")
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it was ended with the test's context
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "Listening for HTTP at address: "); ok {
			return &url.URL{Scheme: "http", Host: address}
		}
	}
	t.Fatal("stripe-mock ended before it listened")
	return nil
}

// TestRequestsAreThoseThatStripeDescribes sends every request that a till makes to Stripe's own imitation. What that answers is a fixture, so that
// only the requests count.
func TestRequestsAreThoseThatStripeDescribes(t *testing.T) {
	t.Parallel()
	proxy := httputil.NewSingleHostReverseProxy(stripeMock(t))
	var mu sync.Mutex
	sent := map[string]bool{}
	proxy.ModifyResponse = func(r *http.Response) error {
		mu.Lock()
		defer mu.Unlock()
		method, path := r.Request.Method, r.Request.URL.Path
		sent[method+" "+path[:strings.LastIndex(path, "/")+1]] = true
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s %s: %s", method, path, r.Status)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	s := paymentstest.New(t)
	till, err := stripe.New(stripe.Config{Store: s.Store, Key: "sk_test_123", BaseURL: server.URL, Secrets: []string{stripetest.Secret}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	user := s.User(t)
	for _, product := range []string{"small", "monthly"} {
		o, err := s.Order(t.Context(), user, billing.Stripe, product, "USD")
		if err != nil {
			t.Fatal(err)
		}
		if page, err := till.Checkout(t.Context(), o, "de", "https://bot.example/buy?session={CHECKOUT_SESSION_ID}"); err != nil || page == "" {
			t.Errorf("%s: %q, %v", product, page, err)
		}
	}
	if err := till.Look(t.Context(), "cs_test_1"); err != nil {
		t.Error(err)
	}
	if _, err = till.Refund(t.Context(), payments.Payment{ID: "1", Ref: "pi_1"}, 100, "op"); err != nil {
		t.Error(err)
	}
	if err := till.End(t.Context(), "sub_1"); err != nil {
		t.Error(err)
	}
	for kind, id := range map[string]string{"invoice.paid": "in_1", "refund.created": "re_1", "charge.dispute.created": "dp_1"} {
		body, err := json.Marshal(map[string]any{"id": "evt_" + id, "type": kind, "data": map[string]any{"object": map[string]any{"id": id, "payment_intent": "pi_1"}}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, stripe.WebhookPath, strings.NewReader(string(body)))
		r.Header.Set("Stripe-Signature", stripetest.Sign(stripetest.Secret, time.Now(), body))
		till.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := []string{"DELETE /v1/subscriptions/", "GET /v1/", "GET /v1/checkout/sessions/", "GET /v1/disputes/", "GET /v1/invoices/", "POST /v1/", "POST /v1/checkout/"}
	if got := slices.Sorted(maps.Keys(sent)); !slices.Equal(got, want) {
		t.Errorf("sent to %q, want %q", got, want)
	}
}

package stripe_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
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

const d = billing.Dollar

// shop is a till at a simulated Stripe.
type shop struct {
	*paymentstest.Till
	stripe *stripetest.Server
	till   *stripe.Till
	mu     sync.Mutex
	told   []payments.Payment
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Till: paymentstest.New(t), stripe: stripetest.New(t)}
	var err error
	s.till, err = stripe.New(stripe.Config{
		Store: s.Store, Key: stripetest.Key, BaseURL: s.stripe.URL, Secrets: []string{"whsec_the_next_one_0123", stripetest.Secret}, Logger: slog.New(slog.DiscardHandler),
		Paid: func(_ context.Context, p payments.Payment) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, p)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// page orders a product and gives the page where it is paid.
func (s *shop) page(t *testing.T, user, product string) string {
	t.Helper()
	o, err := s.Order(t.Context(), user, billing.Stripe, product, "USD")
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.till.Checkout(t.Context(), o, "de", "https://bot.example/buy?session={CHECKOUT_SESSION_ID}")
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (s *shop) send(body []byte, header string) int {
	r := httptest.NewRequest(http.MethodPost, stripe.WebhookPath, strings.NewReader(string(body)))
	r.Header.Set("Stripe-Signature", header)
	w := httptest.NewRecorder()
	s.till.ServeHTTP(w, r)
	return w.Code
}

// deliver sends what happened in a random order, all of it two times and in part at once.
func (s *shop) deliver(t *testing.T) {
	t.Helper()
	events := s.stripe.Events(t)
	events = append(events, events...)
	rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	var wait sync.WaitGroup
	for _, e := range events {
		wait.Go(func() {
			if code := s.send(e.Body, stripetest.Sign(stripetest.Secret, time.Now(), e.Body)); code != http.StatusOK {
				t.Errorf("%s: %d", e.Type, code)
			}
		})
	}
	wait.Wait()
}

func TestStripe(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	t.Run("a pack is credited once when it is paid, and told once", func(t *testing.T) {
		user := s.User(t)
		page := s.page(t, user, "small")
		s.deliver(t)
		s.Wants(t, user, 0, 0)
		s.stripe.Pays(page)
		s.deliver(t)
		s.Wants(t, user, 5*d, 0)
		if len(s.told) != 1 || s.told[0].AccountID != user {
			t.Errorf("told: %+v", s.told)
		}
	})
	t.Run("money that comes later is credited when it is there", func(t *testing.T) {
		user := s.User(t)
		page := s.page(t, user, "small")
		s.stripe.Completes(page)
		s.deliver(t)
		s.Wants(t, user, 0, 0)
		s.stripe.Pays(page)
		s.deliver(t)
		s.Wants(t, user, 5*d, 0)
	})
	t.Run("anyone who comes back before the webhook has the credit already", func(t *testing.T) {
		user := s.User(t)
		page := s.page(t, user, "small")
		s.stripe.Pays(page)
		session := page[strings.LastIndex(page, "/")+1:]
		if err := s.till.Look(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		s.deliver(t)
		s.Wants(t, user, 5*d, 0)
		if err := s.till.Look(t.Context(), "../../refunds"); err == nil {
			t.Error("a path is a session")
		}
	})
	t.Run("each paid period of a subscription is credited", func(t *testing.T) {
		user := s.User(t)
		page := s.page(t, user, "monthly")
		s.stripe.Pays(page)
		s.deliver(t)
		s.Wants(t, user, 10*d, 0)
		s.stripe.Renews(page)
		s.deliver(t)
		s.Wants(t, user, 20*d, 0)
	})
	t.Run("a Payment Link is credited where its price is the ordered one", func(t *testing.T) {
		user := s.User(t)
		s.stripe.PaysLink(t, s.page(t, user, "linked"), "usd", 300)
		s.stripe.PaysLink(t, s.page(t, user, "linked"), "usd", 100)
		s.stripe.PaysLink(t, "https://buy.stripe.com/other?client_reference_id=another-shop", "usd", 300)
		s.deliver(t)
		s.Wants(t, user, 3*d, 0)
	})
	t.Run("refunds from the dashboard, in parts, one of which fails late", func(t *testing.T) {
		user := s.User(t)
		page := s.page(t, user, "small")
		intent := s.stripe.Pays(page)
		s.stripe.Refunds(intent, 100, "succeeded")
		late := s.stripe.Refunds(intent, 200, "pending")
		s.deliver(t)
		s.Wants(t, user, 2*d, 0)
		s.stripe.FailRefund(late)
		s.deliver(t)
		s.Wants(t, user, 4*d, 0)
	})
	t.Run("an operator's refund is one, also when it is asked for again", func(t *testing.T) {
		user := s.User(t)
		s.stripe.Pays(s.page(t, user, "small"))
		s.deliver(t)
		list, err := s.List(t.Context(), payments.Query{AccountID: user})
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		for range 2 {
			p, err := s.till.Refund(t.Context(), list[0], 100, "op")
			if err != nil || p.Refunded != 100 {
				t.Fatalf("%+v, %v", p, err)
			}
		}
		s.deliver(t)
		s.Wants(t, user, 4*d, 0)
	})
	t.Run("a dispute after the credit was spent stops runs until it is won", func(t *testing.T) {
		user := s.User(t)
		intent := s.stripe.Pays(s.page(t, user, "small"))
		s.deliver(t)
		s.Spend(t, user, 3*d)
		id := s.stripe.Disputes(intent, 500)
		s.deliver(t)
		s.Wants(t, user, 0, 3*d)
		s.stripe.Decides(id, "won")
		s.deliver(t)
		s.Wants(t, user, 2*d, 0)
	})
	t.Run("of more refunds than one list of Stripe's has, all are booked by the last one's event", func(t *testing.T) {
		user := s.User(t)
		intent := s.stripe.Pays(s.page(t, user, "small"))
		s.deliver(t)
		for range 12 {
			s.stripe.Refunds(intent, 10, "succeeded")
		}
		events := s.stripe.Events(t)
		last := events[len(events)-1]
		if code := s.send(last.Body, stripetest.Sign(stripetest.Secret, time.Now(), last.Body)); code != http.StatusOK {
			t.Errorf("%s: %d", last.Type, code)
		}
		s.Wants(t, user, 5*d-12*d/10, 0)
	})
	t.Run("what cannot be worked on is refused, so that it comes again", func(t *testing.T) {
		user := s.User(t)
		s.stripe.Pays(s.page(t, user, "small"))
		events := s.stripe.Events(t)
		s.stripe.Break(true)
		if code := s.send(events[0].Body, stripetest.Sign(stripetest.Secret, time.Now(), events[0].Body)); code != http.StatusServiceUnavailable {
			t.Errorf("got %d", code)
		}
		s.stripe.Break(false)
		unread := regexp.MustCompile(`"payment_intent":"[^"]*"`).ReplaceAll(events[0].Body, []byte(`"payment_intent":7`))
		if code := s.send(unread, stripetest.Sign(stripetest.Secret, time.Now(), unread)); code != http.StatusServiceUnavailable {
			t.Errorf("a payment that can't be read: %d", code)
		}
		if code := s.send(events[0].Body, stripetest.Sign(stripetest.Secret, time.Now(), events[0].Body)); code != http.StatusOK {
			t.Errorf("got %d", code)
		}
		s.Wants(t, user, 5*d, 0)
	})
	s.Balances(t)
}

func TestWhoseEventsAreTaken(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	user := s.User(t)
	s.stripe.Pays(s.page(t, user, "small"))
	e := s.stripe.Events(t)[0]
	for name, header := range map[string]string{
		"none":                "",
		"of another secret":   stripetest.Sign("whsec_0123456789", time.Now(), e.Body),
		"of an empty secret":  stripetest.Sign("", time.Now(), e.Body),
		"too old":             stripetest.Sign(stripetest.Secret, time.Now().Add(-301*time.Second), e.Body),
		"of another body":     stripetest.Sign(stripetest.Secret, time.Now(), e.Body[1:]),
		"of a former version": strings.ReplaceAll(stripetest.Sign(stripetest.Secret, time.Now(), e.Body), "v1", "v0"),
	} {
		if code := s.send(e.Body, header); code != http.StatusBadRequest {
			t.Errorf("a signature %s: %d", name, code)
		}
	}
	live := []byte(strings.ReplaceAll(string(e.Body), `"livemode":false`, `"livemode":true`))
	if code := s.send(live, stripetest.Sign(stripetest.Secret, time.Now(), live)); code != http.StatusOK {
		t.Errorf("an event of the other mode: %d", code)
	}
	s.Wants(t, user, 0, 0)
	old := stripetest.Sign(stripetest.Secret, time.Now().Add(-290*time.Second), e.Body)
	if code := s.send(e.Body, old+",v1="+strings.Repeat("0", 64)); code != http.StatusOK {
		t.Errorf("a signature of 290 seconds ago beside a wrong one: %d", code)
	}
	s.Wants(t, user, 5*d, 0)
	open, err := stripe.New(stripe.Config{Store: s.Store, Key: stripetest.Key, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.till = open
	if code := s.send(e.Body, stripetest.Sign("", time.Now(), e.Body)); code != http.StatusNotFound {
		t.Errorf("without a secret: %d", code)
	}
}

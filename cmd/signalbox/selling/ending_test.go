package selling

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/payments/stripe/stripetest"
)

// endings is Telegram, which answers each try to end a subscription with the next of its errors.
type endings struct {
	Stars
	answers []error
	asked   []payments.Ending
}

func (e *endings) EndSubscription(_ context.Context, ending payments.Ending) (err error) {
	e.asked = append(e.asked, ending)
	err, e.answers = e.answers[0], e.answers[1:]
	return err
}

// TestSubscriptionsOfDeletedAccountsAreEnded has everything about people deleted who pay monthly: nothing more is collected from them where the
// house can end that, however often it takes, and the operator reads of what goes on.
func TestSubscriptionsOfDeletedAccountsAreEnded(t *testing.T) {
	t.Parallel()
	till, server := paymentstest.New(t), stripetest.New(t)
	s, log := sellerAt(t, till, server.URL)
	telegram := &endings{}
	s.TakeStars(telegram)
	forget := func(account string) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), till.Pool, func(tx pgx.Tx) error { return payments.Forget(t.Context(), tx, account) }); err != nil {
			t.Fatal(err)
		}
	}
	// subscribed has an account with identities, one of which pays monthly at a source.
	subscribed := func(source billing.Source, currency, subscription string) (string, payments.Paid) {
		t.Helper()
		account := till.User(t)
		if _, err := till.Pool.Exec(t.Context(), `INSERT INTO user_identities (user_id, platform, external_id) VALUES ($1::text::uuid, 'web', $1)`, account); err != nil {
			t.Fatal(err)
		}
		paid := payments.Paid{Source: source, Ref: "first-" + subscription, AccountID: account, ProductID: "monthly"}
		if source != billing.Discord {
			paid = till.Ordered(t, account, source, "monthly", currency)
		}
		paid.Subscription, paid.Payer = subscription, "7"
		if p := till.Pays(t, paid); p.Gone {
			t.Errorf("%+v", p)
		}
		return account, paid
	}
	work := func() string {
		t.Helper()
		log.Reset()
		if err := s.EndSubscriptions(t.Context()); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	later := func() {
		t.Helper()
		if _, err := till.Pool.Exec(t.Context(), `UPDATE payment_ends SET next_at = now()`); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func() (n int) {
		t.Helper()
		if err := till.Pool.QueryRow(t.Context(), `SELECT count(*) FROM payment_ends`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}

	t.Run("in Stars, also when Telegram is away at first, and again after a payment that crossed it", func(t *testing.T) {
		account, paid := subscribed(billing.Stars, payments.XTR, "order-1")
		renewal := paid
		renewal.Ref += "-2"
		till.Pass(time.Hour)
		till.Pays(t, renewal)
		forget(account)
		telegram.answers = []error{errors.New("502"), nil, nil}
		if said := work(); !strings.Contains(said, "another try follows") || waiting() != 1 {
			t.Errorf("%s", said)
		}
		if said := work(); said != "" {
			t.Errorf("it is not due yet: %s", said)
		}
		later()
		if said := work(); !strings.Contains(said, "was ended") || waiting() != 0 {
			t.Errorf("%s", said)
		}
		got := telegram.asked[1]
		if len(telegram.asked) != 2 || got.Payer != "7" || len(got.Refs) != 2 || got.Refs[0] != paid.Ref || got.Refs[1] != renewal.Ref || got.Tries != 1 {
			t.Errorf("asked for %+v", telegram.asked)
		}
		if _, err := till.Pool.Exec(t.Context(), `DELETE FROM user_identities WHERE user_id = $1`, account); err != nil {
			t.Fatal(err)
		}
		renewal.Ref += "-3"
		log.Reset()
		p := till.Pays(t, renewal)
		if s.thank(t.Context(), p); !p.Gone || !strings.Contains(log.String(), p.Receipt()) {
			t.Errorf("%+v: %s", p, log)
		}
		if work(); len(telegram.asked) != 3 || waiting() != 0 {
			t.Errorf("%d wait, asked for %+v", waiting(), telegram.asked)
		}
	})
	t.Run("at Stripe, whose page was paid before or after", func(t *testing.T) {
		account, _ := subscribed(billing.Stripe, "USD", "sub_gone_already")
		o, err := till.Order(t.Context(), account, billing.Stripe, "monthly", "USD")
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.till.Checkout(t.Context(), o, "en", "https://bot.example/buy")
		if err != nil {
			t.Fatal(err)
		}
		forget(account)
		if _, err := till.Pool.Exec(t.Context(), `DELETE FROM user_identities WHERE user_id = $1`, account); err != nil {
			t.Fatal(err)
		}
		server.Pays(page)
		for _, e := range server.Events(t) {
			r := httptest.NewRequest(http.MethodPost, stripe.WebhookPath, bytes.NewReader(e.Body))
			r.Header.Set("Stripe-Signature", stripetest.Sign(stripetest.Secret, time.Now(), e.Body))
			s.till.ServeHTTP(httptest.NewRecorder(), r)
		}
		if said := work(); strings.Count(said, "was ended") != 2 || server.Status(page) != "canceled" || waiting() != 0 {
			t.Errorf("%s: %s", server.Status(page), said)
		}
		if list, err := till.List(t.Context(), payments.Query{AccountID: account}); err != nil || len(list) != 2 {
			t.Errorf("what was paid after is not in the books: %+v, %v", list, err)
		}
	})
	t.Run("what Telegram does not know is told the operator at once, what never answers in the end", func(t *testing.T) {
		account, _ := subscribed(billing.Stars, payments.XTR, "order-2")
		forget(account)
		telegram.answers = []error{payments.ErrCannotEnd}
		if said := work(); !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "order-2") || waiting() != 0 {
			t.Errorf("%s", said)
		}
		forget(account)
		tries, said := 0, ""
		for ; waiting() > 0 && tries < 100; tries++ {
			telegram.answers = []error{errors.New("502")}
			said = work()
			later()
		}
		if !strings.Contains(said, "level=ERROR") || tries != 24 {
			t.Errorf("after %d tries: %s", tries, said)
		}
	})
	t.Run("in Discord's store only who pays can", func(t *testing.T) {
		account, _ := subscribed(billing.Discord, "", "entitlement")
		forget(account)
		if waiting() != 0 {
			t.Error("one waits")
		}
	})
	till.Balances(t)
}

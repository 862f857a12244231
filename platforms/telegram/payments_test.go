package telegram

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/users"
)

// starShop sells for Stars to accounts that were made beforehand.
type starShop struct {
	*paymentstest.Till
	mu       sync.Mutex
	accounts map[string]string // by the id at Telegram
	fails    int               // so many payments can't be stored
	told     chan payments.Payment
}

func (s *starShop) account(from users.Identity) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts[from.ExternalID]
}

func (s *starShop) MayPay(ctx context.Context, from users.Identity, p payments.Paid) (string, error) {
	p.AccountID = s.account(from)
	if err := s.Check(ctx, p); err != nil {
		return err.Error(), nil
	}
	return "", nil
}

func (s *starShop) Paid(ctx context.Context, from users.Identity, p payments.Paid) error {
	s.mu.Lock()
	s.fails--
	failing := s.fails >= 0
	s.mu.Unlock()
	if failing {
		return errors.New("the database is away")
	}
	p.AccountID = s.account(from)
	paid, _, err := s.Pay(ctx, p)
	if err == nil {
		s.told <- paid
	}
	return err
}

func (s *starShop) Refunded(ctx context.Context, c payments.Change) error {
	p, err := s.Change(ctx, c)
	if err == nil {
		s.told <- p
	}
	return err
}

type nobody struct{}

func (nobody) Receive(context.Context, string, ...chat.Incoming) error { return nil }

func TestStars(t *testing.T) {
	t.Parallel()
	server := telegramtest.New(t, telegramtest.Options{})
	shop := &starShop{Till: paymentstest.New(t), accounts: map[string]string{}, told: make(chan payments.Payment, 100)}
	client, err := botapi.NewClient(botapi.Config{Token: server.Token, BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAdapter(t.Context(), AdapterConfig{Client: client, Pool: shop.Pool, Logger: slog.New(slog.DiscardHandler), Limits: fastLimits(), Payments: shop})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Run(ctx, nobody{}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	comes := func(name string) (*telegramtest.User, string) {
		u, account := server.User(name), shop.User(t)
		shop.mu.Lock()
		defer shop.mu.Unlock()
		shop.accounts[idText(u.ID())] = account
		return u, account
	}
	link := func(t *testing.T, account, product string) string {
		t.Helper()
		o, err := shop.Order(ctx, account, billing.Stars, product, payments.XTR)
		if err != nil {
			t.Fatal(err)
		}
		link, err := a.InvoiceLink(ctx, o, "en")
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	t.Run("a pack is paid once, though its update comes twice and could not be stored at first", func(t *testing.T) {
		ann, account := comes("Ann")
		pay := link(t, account, "small")
		shop.mu.Lock()
		shop.fails = 1
		shop.mu.Unlock()
		server.RepeatUpdates(2)
		if _, refusal := ann.Pays(ctx, pay); refusal != "" {
			t.Fatal(refusal)
		}
		<-shop.told
		<-shop.told
		shop.Wants(t, account, 5*billing.Dollar, 0)
		if _, refusal := ann.Pays(ctx, pay); !strings.Contains(refusal, "paid already") {
			t.Errorf("it may be paid again: %q", refusal)
		}
	})
	t.Run("nobody pays what somebody else ordered", func(t *testing.T) {
		_, account := comes("Bob")
		eve, _ := comes("Eve")
		if _, refusal := eve.Pays(ctx, link(t, account, "small")); refusal == "" {
			t.Error("she may")
		}
	})
	t.Run("a subscription is paid and renewed, and ended by its first charge", func(t *testing.T) {
		cat, account := comes("Cat")
		pay := link(t, account, "monthly")
		first, refusal := cat.Pays(ctx, pay)
		if refusal != "" {
			t.Fatal(refusal)
		}
		<-shop.told
		renewal := cat.Renews(pay)
		p := <-shop.told
		if p.Subscription == "" {
			t.Errorf("%+v", p)
		}
		shop.Wants(t, account, 20*billing.Dollar, 0)
		for range 2 { // it may be asked for again after a crash
			if err := a.EndSubscription(ctx, payments.Ending{Subscription: p.Subscription, Payer: p.Payer, Refs: []string{renewal, first}}); err != nil || !server.Canceled(first) {
				t.Error(err)
			}
		}
		for name, e := range map[string]payments.Ending{
			"what Telegram does not know": {Payer: p.Payer, Refs: []string{renewal, "stx0"}}, "nobody's": {Refs: []string{first}}, "somebody else's": {Payer: "7", Refs: []string{first}},
		} {
			if err := a.EndSubscription(ctx, e); !errors.Is(err, payments.ErrCannotEnd) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("an operator refunds, and again, and Telegram tells of it too", func(t *testing.T) {
		dan, account := comes("Dan")
		dan.Pays(ctx, link(t, account, "small"))
		p := <-shop.told
		for range 2 {
			c, err := a.RefundStars(ctx, p, "op")
			if err != nil {
				t.Fatal(err)
			}
			shop.Changes(t, c)
		}
		<-shop.told
		shop.Wants(t, account, 0, 0)
	})
	t.Run("Stars that Telegram gives back by itself are taken back", func(t *testing.T) {
		fay, account := comes("Fay")
		charge, _ := fay.Pays(ctx, link(t, account, "small"))
		<-shop.told
		shop.Spend(t, account, 2*billing.Dollar)
		server.RefundsStars(charge)
		if p := <-shop.told; p.Absorbed != 2*billing.Dollar {
			t.Errorf("%+v", p)
		}
		shop.Wants(t, account, 0, 0)
	})
	shop.Balances(t)
}

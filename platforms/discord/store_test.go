package discord

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/users"
)

// The SKUs that paymentstest.Sold names.
const packSKU, monthlySKU = "77", "78"

// shop sells in Discord's store to accounts that are made as people come.
type shop struct {
	*paymentstest.Till
	h *harness
	t *testing.T

	mu       sync.Mutex
	accounts map[string]string // by the id at Discord
	dies     func(booked bool) bool
	told     int
}

var errDead = errors.New("the process died here")

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Till: paymentstest.New(t), h: newHarness(t), t: t, accounts: map[string]string{}}
	s.h.server.Sells(packSKU, discordtest.Consumable)
	s.h.server.Sells(monthlySKU, discordtest.Subscribable)
	return s
}

// comes makes a person who has an account.
func (s *shop) comes(name string) (*discordtest.User, string) {
	s.t.Helper()
	u, account := s.h.server.User(name), s.User(s.t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[u.ID()] = account
	return u, account
}

func (s *shop) dead(booked bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dies != nil && s.dies(booked)
}

// Paid books a payment, unless the process dies before or after that.
func (s *shop) Paid(ctx context.Context, from users.Identity, p payments.Paid) error {
	if s.dead(false) {
		return errDead
	}
	s.mu.Lock()
	p.AccountID = s.accounts[from.ExternalID]
	s.told++
	s.mu.Unlock()
	_, _, err := s.Pay(ctx, p)
	if err == nil && s.dead(true) {
		return errDead
	}
	return err
}

// Refunded books what was given back.
func (s *shop) Refunded(ctx context.Context, c payments.Change) error {
	_, err := s.Change(ctx, c)
	return err
}

type nobody struct{}

func (nobody) Receive(context.Context, string, ...chat.Incoming) error { return nil }

// opens runs an adapter; closes ends it.
func (s *shop) opens(change ...func(*AdapterConfig)) (closes func()) {
	s.t.Helper()
	a := s.h.adapter(s.t, append([]func(*AdapterConfig){func(c *AdapterConfig) { c.Payments = s }}, change...)...)
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Run(ctx, nobody{}); err != nil {
			s.t.Error(err)
		}
	})
	closes = sync.OnceFunc(func() { stop(); running.Wait() })
	s.t.Cleanup(closes)
	return closes
}

// has waits until an account has so much to spend.
func (s *shop) has(t *testing.T, account string, want billing.NanoUSD) {
	t.Helper()
	clocktest.Until(t, "the credit "+want.String(), func() bool {
		got, err := s.Ledger.Balance(t.Context(), account)
		return err == nil && got.Available == want
	})
}

// receipts are what an account has bought, the newest first.
func (s *shop) receipts(t *testing.T, account string) []payments.Payment {
	t.Helper()
	list, err := s.List(t.Context(), payments.Query{AccountID: account})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	early, earlier := s.comes("Early")
	away := early.Buys(packSKU)
	closes := s.opens()
	s.h.server.WaitReady(t.Context(), 1)
	t.Run("what was bought while nobody listened is found at the start", func(t *testing.T) {
		s.has(t, earlier, 5*billing.Dollar)
		clocktest.Until(t, "its consumption", away.Consumed)
	})
	t.Run("a pack is credited once though it is told twice, and can be bought again", func(t *testing.T) {
		ann, account := s.comes("Ann")
		e := ann.Buys(packSKU)
		clocktest.Until(t, "its consumption", e.Consumed)
		e.Repeat()
		again := ann.Buys(packSKU)
		clocktest.Until(t, "the consumption of the second", again.Consumed)
		s.has(t, account, 10*billing.Dollar)
		list := s.receipts(t, account)
		if len(list) != 2 || list[1].Ref != e.ID() || list[1].Source != billing.Discord || list[1].Price() != "" || list[1].Title != "Small" {
			t.Errorf("%+v", list)
		}
	})
	t.Run("a refund takes back what is left, and the purchase gives nothing when it is told again", func(t *testing.T) {
		bob, account := s.comes("Bob")
		e := bob.Buys(packSKU)
		clocktest.Until(t, "its consumption", e.Consumed)
		s.Spend(t, account, 2*billing.Dollar)
		e.Deleted()
		s.has(t, account, 0)
		e.Repeat()
		again := bob.Buys(packSKU)
		clocktest.Until(t, "the consumption of the second", again.Consumed)
		s.has(t, account, 5*billing.Dollar)
		if p := s.receipts(t, account)[1]; p.Returned != 3*billing.Dollar || p.Absorbed != 2*billing.Dollar {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a subscription gives credit for each period once", func(t *testing.T) {
		cat, account := s.comes("Cat")
		x := cat.Subscribes(monthlySKU)
		s.has(t, account, 10*billing.Dollar)
		x.Renews()
		s.has(t, account, 20*billing.Dollar)
		x.Entitlement().Repeat()
		x.Entitlement().Deleted() // the last period is refunded
		s.has(t, account, 10*billing.Dollar)
		if list := s.receipts(t, account); len(list) != 2 || list[0].Subscription != x.Entitlement().ID() {
			t.Errorf("%+v", list)
		}
	})
	t.Run("what is for tests has no credit", func(t *testing.T) {
		dan, account := s.comes("Dan")
		dan.BuysAsTest(packSKU)
		s.h.server.TestEntitlement(monthlySKU, dan)
		last := dan.Buys(packSKU)
		clocktest.Until(t, "its consumption", last.Consumed)
		s.has(t, account, 5*billing.Dollar)
	})
	t.Run("a renewal while nobody listened is found after a new session", func(t *testing.T) {
		eve, account := s.comes("Eve")
		x := eve.Subscribes(monthlySKU)
		s.has(t, account, 10*billing.Dollar)
		closes()
		x.Renews()
		closes = s.opens()
		s.has(t, account, 20*billing.Dollar)
	})
	t.Run("an end gives nothing and takes nothing", func(t *testing.T) {
		fay, account := s.comes("Fay")
		x := fay.Subscribes(monthlySKU)
		s.has(t, account, 10*billing.Dollar)
		x.Ends()
		x.Entitlement().Repeat()
		last := fay.Buys(packSKU)
		clocktest.Until(t, "its consumption", last.Consumed)
		s.has(t, account, 15*billing.Dollar)
	})
	s.Balances(t)
}

// TestStoreTests has test purchases count.
func TestStoreTests(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ann, account := s.comes("Ann")
	given := s.h.server.TestEntitlement(monthlySKU, ann)
	s.opens(func(c *AdapterConfig) { c.TestPurchases = true })
	s.has(t, account, 10*billing.Dollar)
	e := ann.BuysAsTest(packSKU)
	clocktest.Until(t, "its consumption", e.Consumed)
	s.has(t, account, 15*billing.Dollar)
	for _, p := range s.receipts(t, account) {
		if p.Title != "Small (test)" && p.Title != "Monthly (test)" {
			t.Errorf("nothing says that it is a test: %+v", p)
		}
	}
	given.Deleted()
	s.has(t, account, 5*billing.Dollar)
	s.Balances(t)
}

// TestStoreDeaths ends a process at each step of a purchase. The next one ends it: credited once, consumed once.
func TestStoreDeaths(t *testing.T) {
	t.Parallel()
	const consuming = "POST /applications/{application_id}/entitlements/{entitlement_id}/consume"
	for name, dies := range map[string]func(s *shop, died chan<- struct{}){
		"before it is booked": func(s *shop, died chan<- struct{}) {
			s.dies = func(booked bool) bool { return told(died, !booked) }
		},
		"when it is booked and not consumed": func(s *shop, died chan<- struct{}) {
			s.dies = func(booked bool) bool { return told(died, booked) }
		},
		"while it is consumed, which was never heard": func(s *shop, died chan<- struct{}) {
			s.h.server.Inject(discordtest.Refuse(http.StatusForbidden, 50001, "Missing Access").On(consuming))
			s.dies = func(booked bool) bool { told(died, booked); return false }
		},
		"when it is consumed, without knowing": func(s *shop, died chan<- struct{}) {
			s.h.server.Inject(discordtest.CutAfter().On(consuming))
			s.dies = func(booked bool) bool { told(died, booked); return false }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			ann, account := s.comes("Ann")
			died := make(chan struct{}, 1)
			dies(s, died)
			closes := s.opens()
			s.h.server.WaitReady(t.Context(), 1)
			e := ann.Buys(packSKU)
			<-died
			closes()
			s.mu.Lock()
			s.dies = nil
			s.mu.Unlock()
			s.opens()
			clocktest.Until(t, "its consumption", e.Consumed)
			s.has(t, account, 5*billing.Dollar)
			if list := s.receipts(t, account); len(list) != 1 {
				t.Errorf("%+v", list)
			}
			s.Balances(t)
		})
	}
}

// told says that a process died, where it did.
func told(died chan<- struct{}, did bool) bool {
	if did {
		select {
		case died <- struct{}{}:
		default:
		}
	}
	return did
}

// TestStoreByHTTP has no gateway that tells of purchases: the store is looked at each minute, page by page.
func TestStoreByHTTP(t *testing.T) {
	t.Parallel()
	b := newBench(t, discordtest.Options{})
	b.stop()
	s := &shop{Till: paymentstest.New(t), h: b.harness, t: t, accounts: map[string]string{}}
	b.server.Sells(packSKU, discordtest.Consumable)
	s.opens(func(c *AdapterConfig) {
		c.Shards.Off, c.Clock, c.Client.clock, c.Client.limits.clock = true, b.clock, b.clock, b.clock
	})
	const people = storePage + 5
	accounts := make([]string, people)
	var last *discordtest.Entitlement
	for i := range people {
		var u *discordtest.User
		u, accounts[i] = s.comes("Somebody")
		last = u.Buys(packSKU)
	}
	clocktest.Until(t, "the last consumption", func() bool {
		b.clock.Advance(time.Second)
		return last.Consumed()
	})
	for _, account := range accounts {
		s.has(t, account, 5*billing.Dollar)
	}
	s.Balances(t)
}

// Package sales books what is bought in Discord's own store: each purchase once, whatever was missed meanwhile.
package sales

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/platforms/discord/gateway"
	"github.com/signalbox/signalbox/users"
)

// Payments are what becomes of purchases in Discord's store. All may be told the same again.
type Payments interface {
	// Products are what is sold.
	Products() payments.Products
	// Paid books a payment. After an error it is told again.
	Paid(ctx context.Context, from users.Identity, p payments.Paid) error
	// Refunded books what was given back.
	Refunded(ctx context.Context, c payments.Change) error
	// LastPaid is the last payment of a subscription, by its reference; "" for none.
	LastPaid(ctx context.Context, source billing.Source, subscription string) (ref string, err error)
}

const (
	every     = time.Hour            // how often the store is looked at, since events can be lost
	alone     = time.Minute          // likewise without events
	looksBack = 180 * 24 * time.Hour // for how long after a purchase its refund is looked for; events tell of later ones
	idEpoch   = 1420070400000        // ms; the time in ids counts from there
)

// Types of entitlements, and of what a subscription can be
// (https://docs.discord.com/developers/resources/entitlement, https://docs.discord.com/developers/resources/subscription).
const (
	ofPurchase     = 1
	ofTestPurchase = 4
	ofGift         = 6
	ofSubscription = 8

	inactive = 1 // a subscription
)

// Entitlement is what somebody came by in the store.
type Entitlement struct {
	ID       string     `json:"id"`
	SKU      string     `json:"sku_id"`
	User     string     `json:"user_id"` // empty: a guild has it
	Type     int        `json:"type"`
	Deleted  bool       `json:"deleted"`
	Consumed bool       `json:"consumed"`
	StartsAt *time.Time `json:"starts_at"`
	EndsAt   *time.Time `json:"ends_at"`
}

// forTest tells purchases in the application's test mode, and subscriptions that a developer made for tests, which have no time.
func (e Entitlement) forTest() bool {
	return e.Type == ofTestPurchase || e.Type == ofSubscription && e.StartsAt == nil
}

// paid tells whether somebody paid for it, unlike for what the developer or Discord gave away.
func (e Entitlement) paid() bool {
	return slices.Contains([]int{ofPurchase, ofGift, ofSubscription}, e.Type) && !e.forTest()
}

// Subscription is one that gives an entitlement. Its renewals are told by nothing else.
type Subscription struct {
	ID           string    `json:"id"`
	User         string    `json:"user_id"`
	Entitlements []string  `json:"entitlement_ids"`
	Start        time.Time `json:"current_period_start"`
	Status       int       `json:"status"`
}

// API is what Discord's API tells of its store.
type API interface {
	// Entitlements lists those that a query selects, oldest first.
	Entitlements(ctx context.Context, q url.Values) ([]Entitlement, error)
	// Subscriptions lists those of a person with a SKU.
	Subscriptions(ctx context.Context, sku, person string) ([]Subscription, error)
	// Consume has an entitlement used up. Where its answer was lost, it may be refused the second time; the next look at the store finds it
	// consumed. once: it can't be, and is bought once only.
	Consume(ctx context.Context, entitlement string) (once bool, err error)
}

// Config is what a Store works with.
type Config struct {
	Payments Payments // nil: nothing is sold
	ForTests bool     // purchases for tests count, too
	API      API
	Clock    clock.Clock
	Jitter   func() float64
	Logger   *slog.Logger
	NoEvents bool // the gateway, which tells of purchases, is not used
}

// Store books what is bought in Discord's store.
type Store struct {
	Config
	news chan struct{} // it is to be looked at
}

// New makes a Store.
func New(cfg Config) *Store {
	return &Store{Config: cfg, news: make(chan struct{}, 1)}
}

// Event takes an event of the gateway about the store. What can't be booked now is found again by Keep.
func (s *Store) Event(ctx context.Context, kind string, raw json.RawMessage) error {
	if strings.HasPrefix(kind, "SUBSCRIPTION_") {
		var of Subscription
		if err := json.Unmarshal(raw, &of); err != nil {
			return fmt.Errorf("read a subscription: %w", err)
		}
		if !isID(of.User) {
			return fmt.Errorf("read a subscription: found the user %.20q, expected an id", of.User)
		}
		return s.look(ctx, of.User)
	}
	var e Entitlement
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("read an entitlement: %w", err)
	}
	e.Deleted = e.Deleted || kind == "ENTITLEMENT_DELETE"
	return s.take(ctx, e)
}

// LookSoon has Keep look at once.
func (s *Store) LookSoon() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Keep finds what no event told of: at the start, after each new session of the gateway, and now and then.
func (s *Store) Keep(ctx context.Context) {
	if s.Payments == nil {
		return
	}
	usual, failures := every, 0
	if s.NoEvents {
		usual = alone
	}
	for {
		pause := usual
		if err := s.look(ctx, ""); err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			failures++
			pause = gateway.Backoff(failures, s.Jitter)
			s.Logger.WarnContext(ctx, "what was bought at Discord is not all booked; it is looked for again", "error", err, "pause", pause)
		}
		select {
		case <-s.news:
		case <-s.Clock.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// look books what a person has bought, or everybody (""): what they still have, and what they had not long ago.
func (s *Store) look(ctx context.Context, person string) error {
	var skus []string
	for _, p := range s.Payments.Products() {
		skus = append(skus, p.Discord...)
	}
	if len(skus) == 0 {
		return nil
	}
	since := (s.Clock.Now().Add(-looksBack).UnixMilli() - idEpoch) << 22
	seen := map[string]bool{}
	var failed error
	for _, q := range []url.Values{
		{"exclude_ended": {"true"}, "after": {"0"}},
		{"exclude_deleted": {"false"}, "after": {strconv.FormatInt(since, 10)}},
	} {
		q.Set("sku_ids", strings.Join(skus, ","))
		if person != "" {
			q.Set("user_id", person)
		}
		list, err := s.API.Entitlements(ctx, q)
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, e := range list {
			if !seen[e.ID] {
				failed = errors.Join(failed, s.take(ctx, e))
			}
			seen[e.ID] = true
		}
	}
	return failed
}

// take books what an entitlement says, and has what is used up be bought again. Only what is booked is consumed: what is
// consumed was booked.
func (s *Store) take(ctx context.Context, e Entitlement) error {
	if e.Deleted {
		return s.takeRefund(ctx, e)
	}
	product, sold := s.Payments.Products().BySKU(e.SKU)
	switch {
	case e.Consumed && product.Kind != payments.Subscription:
		return nil
	case e.forTest() && !s.ForTests:
		s.Logger.InfoContext(ctx, "a purchase for tests at Discord has no credit; DISCORD_TEST_PURCHASES=true gives it", "entitlement", e.ID)
		return nil
	case !e.forTest() && !e.paid():
		s.Logger.InfoContext(ctx, "nothing was paid at Discord for what was given away: it has no credit", "entitlement", e.ID, "type", e.Type)
		return nil
	case !sold:
		s.Logger.ErrorContext(ctx, "something was bought at Discord that is no product; name its SKU in PRODUCTS_FILE, and it is credited", "sku", e.SKU, "entitlement", e.ID)
		return nil
	case !isID(e.User):
		s.Logger.ErrorContext(ctx, "something was bought at Discord for a server; only what is for people has credit", "sku", e.SKU, "entitlement", e.ID)
		return nil
	}
	paid := payments.Paid{Source: billing.Discord, Ref: e.ID, ProductID: product.ID, Payer: e.User, Test: e.forTest()}
	if product.Kind == payments.Subscription {
		paid.Subscription = e.ID
		if !e.forTest() {
			return s.takePeriods(ctx, e, paid)
		}
		return s.pay(ctx, paid)
	}
	if err := s.pay(ctx, paid); err != nil {
		return err
	}
	once, err := s.API.Consume(ctx, e.ID)
	if once {
		s.Logger.WarnContext(ctx, "what was bought at Discord can be bought once only; make its SKU a consumable", "sku", e.SKU)
	}
	return err
}

func (s *Store) pay(ctx context.Context, p payments.Paid) error {
	return s.Payments.Paid(ctx, users.Identity{Platform: string(billing.Discord), ExternalID: p.Payer}, p)
}

// takePeriods books the present period of the subscription that gives an entitlement, once by its beginning.
func (s *Store) takePeriods(ctx context.Context, e Entitlement, paid payments.Paid) error {
	if e.EndsAt != nil && !e.EndsAt.After(s.Clock.Now()) {
		return nil
	}
	list, err := s.API.Subscriptions(ctx, e.SKU, e.User)
	for _, of := range list {
		if of.Status == inactive || !slices.Contains(of.Entitlements, e.ID) {
			continue
		}
		paid.Ref = fmt.Sprintf("%s:%d", of.ID, of.Start.Unix())
		err = errors.Join(err, s.pay(ctx, paid))
	}
	return err
}

// takeRefund takes back what a deleted entitlement gave: of a subscription its last period.
func (s *Store) takeRefund(ctx context.Context, e Entitlement) error {
	ref, err := s.Payments.LastPaid(ctx, billing.Discord, e.ID)
	if err != nil {
		return err
	}
	ref = cmp.Or(ref, e.ID)
	return s.Payments.Refunded(ctx, payments.Change{Source: billing.Discord, Ref: "refund:" + ref, Payment: ref, Kind: payments.Refund, State: payments.Done})
}

func isID(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

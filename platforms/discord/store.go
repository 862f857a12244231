package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
	storeEvery     = time.Hour            // how often the store is looked at, since events can be lost
	storeAlone     = time.Minute          // likewise without the gateway, which tells of purchases
	storeLooksBack = 180 * 24 * time.Hour // for how long after a purchase its refund is looked for; events tell of later ones
	storePage      = 100                  // the most that Discord gives at once
	idEpoch        = 1420070400000        // ms; the time in ids counts from there
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

// entitlement is what somebody came by in the store.
type entitlement struct {
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
func (e entitlement) forTest() bool {
	return e.Type == ofTestPurchase || e.Type == ofSubscription && e.StartsAt == nil
}

// paid tells whether somebody paid for it, unlike for what the developer or Discord gave away.
func (e entitlement) paid() bool {
	return slices.Contains([]int{ofPurchase, ofGift, ofSubscription}, e.Type) && !e.forTest()
}

// subscription is one that gives an entitlement. Its renewals are told by nothing else.
type subscription struct {
	ID           string    `json:"id"`
	User         string    `json:"user_id"`
	Entitlements []string  `json:"entitlement_ids"`
	Start        time.Time `json:"current_period_start"`
	Status       int       `json:"status"`
}

// store books what is bought in Discord's store.
type store struct {
	payments Payments // nil: nothing is sold
	forTests bool     // purchases for tests count, too
	client   *Client
	clock    clock.Clock
	jitter   func() float64
	log      *slog.Logger
	every    time.Duration // how often it is looked at
	news     chan struct{} // it is to be looked at
}

func newStore(a *Adapter, cfg AdapterConfig) *store {
	s := &store{
		payments: cfg.Payments, forTests: cfg.TestPurchases, client: a.client, clock: a.clock, jitter: a.jitter, log: a.log,
		every: storeEvery, news: make(chan struct{}, 1),
	}
	if a.shards.Off {
		s.every = storeAlone
	}
	return s
}

// takeStoreEvent takes an event about the store aside. What can't be booked now is found again by store.keep.
func (a *Adapter) takeStoreEvent(ctx context.Context, kind string, raw json.RawMessage) {
	a.gate.RLock()
	defer a.gate.RUnlock()
	if a.running == nil || a.store.payments == nil {
		return
	}
	a.handling.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiveLimit)
		defer cancel()
		a.guarded(ctx, "an event of Discord's store", func(ctx context.Context) error {
			err := a.store.event(ctx, kind, raw)
			if err != nil {
				a.store.lookSoon()
			}
			return err
		})
	})
}

func (s *store) event(ctx context.Context, kind string, raw json.RawMessage) error {
	if strings.HasPrefix(kind, "SUBSCRIPTION_") {
		var of subscription
		if err := json.Unmarshal(raw, &of); err != nil || !isID(of.User) {
			return fmt.Errorf("read a subscription of user %.20q: %w", of.User, err)
		}
		return s.look(ctx, of.User)
	}
	var e entitlement
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("read an entitlement: %w", err)
	}
	e.Deleted = e.Deleted || kind == "ENTITLEMENT_DELETE"
	return s.take(ctx, e)
}

// lookSoon has keep look at once.
func (s *store) lookSoon() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// keep finds what no event told of: at the start, after each new session of the gateway, and now and then.
func (s *store) keep(ctx context.Context) {
	if s.payments == nil {
		return
	}
	failures := 0
	for {
		pause := s.every
		if err := s.look(ctx, ""); err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			failures++
			pause = gateway.Backoff(failures, s.jitter)
			s.log.WarnContext(ctx, "what was bought at Discord is not all booked; it is looked for again", "error", err, "pause", pause)
		}
		select {
		case <-s.news:
		case <-s.clock.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// look books what a person has bought, or everybody (""): what they still have, and what they had not long ago.
func (s *store) look(ctx context.Context, person string) error {
	var skus []string
	for _, p := range s.payments.Products() {
		skus = append(skus, p.Discord...)
	}
	if len(skus) == 0 {
		return nil
	}
	since := (s.clock.Now().Add(-storeLooksBack).UnixMilli() - idEpoch) << 22
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
		list, err := s.client.entitlements(ctx, q)
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
func (s *store) take(ctx context.Context, e entitlement) error {
	if e.Deleted {
		return s.takeRefund(ctx, e)
	}
	product, sold := s.payments.Products().BySKU(e.SKU)
	switch {
	case e.Consumed && product.Kind != payments.Subscription:
		return nil
	case e.forTest() && !s.forTests:
		s.log.InfoContext(ctx, "a purchase for tests at Discord has no credit; DISCORD_TEST_PURCHASES=true gives it", "entitlement", e.ID)
		return nil
	case !e.forTest() && !e.paid():
		s.log.InfoContext(ctx, "nothing was paid at Discord for what was given away: it has no credit", "entitlement", e.ID, "type", e.Type)
		return nil
	case !sold:
		s.log.ErrorContext(ctx, "something was bought at Discord that is no product; name its SKU in PRODUCTS_FILE, and it is credited", "sku", e.SKU, "entitlement", e.ID)
		return nil
	case !isID(e.User):
		s.log.ErrorContext(ctx, "something was bought at Discord for a server; only what is for people has credit", "sku", e.SKU, "entitlement", e.ID)
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
	return s.consume(ctx, e)
}

func (s *store) pay(ctx context.Context, p payments.Paid) error {
	return s.payments.Paid(ctx, users.Identity{Platform: Platform, ExternalID: p.Payer}, p)
}

// takePeriods books the present period of the subscription that gives an entitlement, once by its beginning.
func (s *store) takePeriods(ctx context.Context, e entitlement, paid payments.Paid) error {
	if e.EndsAt != nil && !e.EndsAt.After(s.clock.Now()) {
		return nil
	}
	list, err := s.client.subscriptions(ctx, e.SKU, e.User)
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
func (s *store) takeRefund(ctx context.Context, e entitlement) error {
	ref, err := s.payments.LastPaid(ctx, billing.Discord, e.ID)
	if err != nil {
		return err
	}
	if ref == "" {
		ref = e.ID
	}
	return s.payments.Refunded(ctx, payments.Change{Source: billing.Discord, Ref: "refund:" + ref, Payment: ref, Kind: payments.Refund, State: payments.Done})
}

// consume has an entitlement used up. Where its answer was lost, it may be refused the second time; the next look at the store finds it
// consumed.
func (s *store) consume(ctx context.Context, e entitlement) error {
	err := s.client.do(ctx, call{
		method: http.MethodPost, path: "/applications/" + s.client.app + "/entitlements/" + e.ID + "/consume",
		route: "/applications/{}/entitlements/{}/consume", repeatable: true,
	}, nil)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == codeNotConsumable {
		s.log.WarnContext(ctx, "what was bought at Discord can be bought once only; make its SKU a consumable", "sku", e.SKU)
		return nil
	}
	return err
}

// entitlements lists them, oldest first, all pages.
func (c *Client) entitlements(ctx context.Context, q url.Values) (all []entitlement, err error) {
	q.Set("limit", strconv.Itoa(storePage))
	for {
		var page []entitlement
		err := c.do(ctx, call{
			method: http.MethodGet, path: "/applications/" + c.app + "/entitlements", route: "/applications/{}/entitlements", query: q, repeatable: true,
		}, &page)
		if err != nil {
			return all, err
		}
		all = append(all, page...)
		if len(page) < storePage {
			return all, nil
		}
		last := slices.MaxFunc(page, func(x, y entitlement) int { return compareIDs(x.ID, y.ID) })
		if compareIDs(last.ID, q.Get("after")) <= 0 {
			return all, fmt.Errorf("discord: the list of entitlements does not go on after %s", last.ID)
		}
		q.Set("after", last.ID)
	}
}

// compareIDs compares by age: ids are numbers that grow.
func compareIDs(x, y string) int {
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(x, y)
}

// subscriptions are those of a person with a SKU.
func (c *Client) subscriptions(ctx context.Context, sku, person string) (list []subscription, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, path: "/skus/" + sku + "/subscriptions", route: "/skus/{}/subscriptions", resource: sku,
		query: url.Values{"user_id": {person}, "limit": {strconv.Itoa(storePage)}}, repeatable: true,
	}, &list)
	return list, err
}

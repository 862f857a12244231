package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/discord/sales"
)

// storePage is the most that Discord gives at once.
const storePage = 100

func newStore(a *Adapter, cfg AdapterConfig) *sales.Store {
	return sales.New(sales.Config{
		Payments: cfg.Payments, ForTests: cfg.TestPurchases, API: storeAPI{a.client}, Clock: a.clock, Jitter: a.jitter, Logger: a.log, NoEvents: a.shards.Off,
	})
}

// takeStoreEvent takes an event about the store aside. What can't be booked now is found again by sales.Store.Keep.
func (a *Adapter) takeStoreEvent(ctx context.Context, kind string, raw json.RawMessage) {
	a.gate.RLock()
	defer a.gate.RUnlock()
	if a.running == nil || a.store.Payments == nil {
		return
	}
	a.handling.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiveLimit)
		defer cancel()
		a.guarded(ctx, "an event of Discord's store", func(ctx context.Context) error {
			err := a.store.Event(ctx, kind, raw)
			if err != nil {
				a.store.LookSoon()
			}
			return err
		})
	})
}

// storeAPI is what the API tells of the store.
type storeAPI struct{ *Client }

// Consume has an entitlement used up, where it can be.
func (c storeAPI) Consume(ctx context.Context, entitlement string) (once bool, err error) {
	err = c.do(ctx, call{
		method: http.MethodPost, path: "/applications/" + c.app + "/entitlements/" + entitlement + "/consume",
		route: "/applications/{}/entitlements/{}/consume", repeatable: true,
	}, nil)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == codeNotConsumable {
		return true, nil
	}
	return false, err
}

// Entitlements lists them, oldest first, all pages.
func (c storeAPI) Entitlements(ctx context.Context, q url.Values) (all []sales.Entitlement, err error) {
	q.Set("limit", strconv.Itoa(storePage))
	for {
		var page []sales.Entitlement
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
		last := slices.MaxFunc(page, func(x, y sales.Entitlement) int { return compareIDs(x.ID, y.ID) })
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

// Subscriptions are those of a person with a SKU.
func (c storeAPI) Subscriptions(ctx context.Context, sku, person string) (list []sales.Subscription, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, path: "/skus/" + sku + "/subscriptions", route: "/skus/{}/subscriptions", resource: sku,
		query: url.Values{"user_id": {person}, "limit": {strconv.Itoa(storePage)}}, repeatable: true,
	}, &list)
	return list, err
}

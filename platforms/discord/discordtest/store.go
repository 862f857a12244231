package discordtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SKUKind is what an application sells.
type SKUKind int

// The kinds of SKUs.
const (
	Durable      SKUKind = 2
	Consumable   SKUKind = 3
	Subscribable SKUKind = 5
)

// The types of entitlements that people come by.
const (
	bought         = 1
	boughtAsTest   = 4
	ofSubscription = 8
)

// States of subscriptions.
const (
	subscriptionActive   = 0
	subscriptionInactive = 1
)

// period is how long a subscription is paid for.
const period = 30 * 24 * time.Hour

// store is what the application sells, and who has what of it.
type store struct {
	skus          map[string]SKUKind
	entitlements  []*Entitlement // oldest first
	subscriptions []*Subscription
}

// Entitlement is what somebody came by in the store.
type Entitlement struct {
	s                 *Server
	id, sku           string
	owner             *User
	kind              int
	starts, ends      time.Time // zero: not told
	deleted, consumed bool
	subscription      *Subscription
}

// Subscription is a subscription of somebody.
type Subscription struct {
	s           *Server
	id, sku     string
	owner       *User
	entitlement *Entitlement
	start, end  time.Time
	status      int
}

// Sells puts a SKU on sale.
func (s *Server) Sells(sku string, kind SKUKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store.skus == nil {
		s.store.skus = map[string]SKUKind{}
	}
	s.store.skus[sku] = kind
}

// ID is the entitlement's id.
func (e *Entitlement) ID() string { return e.id }

// Consumed tells whether the application has consumed it.
func (e *Entitlement) Consumed() bool {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	return e.consumed
}

// Buys has the person buy something that is paid once. What is used up can be bought again when it was consumed only.
func (u *User) Buys(sku string) *Entitlement { return u.buys(sku, bought) }

// BuysAsTest is Buys in the application's test mode: nothing is paid.
func (u *User) BuysAsTest(sku string) *Entitlement { return u.buys(sku, boughtAsTest) }

func (u *User) buys(sku string, kind int) *Entitlement {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	if of := u.s.store.skus[sku]; of != Consumable && of != Durable {
		u.s.t.Fatalf("discordtest: %s is nothing that can be bought once", sku)
	}
	if kind == bought && slices.ContainsFunc(u.s.store.entitlements, func(e *Entitlement) bool {
		return e.sku == sku && e.owner == u && e.kind == bought && !e.consumed && !e.deleted
	}) {
		u.s.t.Fatalf("discordtest: %s has %s already, and it is not consumed", u.name, sku)
	}
	return u.s.entitle(&Entitlement{sku: sku, owner: u, kind: kind})
}

// Subscribes has the person subscribe to something.
func (u *User) Subscribes(sku string) *Subscription {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	if u.s.store.skus[sku] != Subscribable {
		u.s.t.Fatalf("discordtest: %s is no subscription", sku)
	}
	x := &Subscription{s: u.s, id: u.s.newID(), sku: sku, owner: u, start: u.s.now(), end: u.s.now().Add(period)}
	x.entitlement = u.s.entitle(&Entitlement{sku: sku, owner: u, kind: ofSubscription, starts: x.start, subscription: x})
	u.s.store.subscriptions = append(u.s.store.subscriptions, x)
	x.tell("SUBSCRIPTION_CREATE")
	return x
}

// TestEntitlement gives somebody a subscription for tests, as a developer does.
func (s *Server) TestEntitlement(sku string, u *User) *Entitlement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entitle(&Entitlement{sku: sku, owner: u, kind: ofSubscription})
}

// entitle needs s.mu.
func (s *Server) entitle(e *Entitlement) *Entitlement {
	e.s, e.id = s, s.newID()
	s.store.entitlements = append(s.store.entitlements, e)
	e.tell("ENTITLEMENT_CREATE")
	return e
}

// Deleted takes the entitlement away, as a refund does.
func (e *Entitlement) Deleted() {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	e.deleted = true
	e.tell("ENTITLEMENT_DELETE")
	if x := e.subscription; x != nil {
		x.status = subscriptionInactive
		x.tell("SUBSCRIPTION_UPDATE")
	}
}

// Repeat tells of the entitlement's beginning again, as a resume may.
func (e *Entitlement) Repeat() {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	e.tell("ENTITLEMENT_CREATE")
}

// Entitlement is what the subscription gives.
func (x *Subscription) Entitlement() *Entitlement { return x.entitlement }

// Renews begins the next period, which is paid: no event tells of it but the subscription's.
func (x *Subscription) Renews() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.start, x.end = x.end, x.end.Add(period)
	x.tell("SUBSCRIPTION_UPDATE")
}

// Ends ends the subscription.
func (x *Subscription) Ends() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.status, x.entitlement.ends = subscriptionInactive, x.s.now()
	x.entitlement.tell("ENTITLEMENT_UPDATE")
	x.tell("SUBSCRIPTION_UPDATE")
}

// tell needs s.mu. Shard 0 hears of the store, whatever it asked for.
func (s *Server) tellOfStore(event string, data any) {
	for _, session := range s.gateway.sessions {
		if session.shard.owns("") {
			session.send(event, data)
		}
	}
	s.signal()
}

func (e *Entitlement) tell(event string)  { e.s.tellOfStore(event, e.wire()) }
func (x *Subscription) tell(event string) { x.s.tellOfStore(event, x.wire()) }

// wire is the entitlement as the API shows it. What is paid once, and what is for tests, has no time.
func (e *Entitlement) wire() map[string]any {
	w := map[string]any{
		"id": e.id, "sku_id": e.sku, "application_id": e.s.ApplicationID, "user_id": e.owner.id, "type": e.kind, "deleted": e.deleted, "consumed": e.consumed,
		"starts_at": nil, "ends_at": nil, "gift_code_flags": 0, "promotion_id": nil,
	}
	if !e.starts.IsZero() {
		w["starts_at"] = iso(e.starts)
	}
	if !e.ends.IsZero() {
		w["ends_at"] = iso(e.ends)
	}
	return w
}

func (x *Subscription) wire() map[string]any {
	return map[string]any{
		"id": x.id, "user_id": x.owner.id, "sku_ids": []string{x.sku}, "renewal_sku_ids": nil, "entitlement_ids": []string{x.entitlement.id},
		"current_period_start": iso(x.start), "current_period_end": iso(x.end), "status": x.status, "canceled_at": nil,
	}
}

func (e *Entitlement) ended(now time.Time) bool {
	return e.consumed || !e.ends.IsZero() && !e.ends.After(now)
}

// listQuery is what lists of the store can be asked for.
type listQuery struct {
	user                         string
	skus                         []string
	before, after                int64
	limit                        int
	excludeEnded, excludeDeleted bool
}

// listed reads a query strictly: what the description does not name is a mistake of the program.
func (s *Server) listed(r *request, names ...string) (q listQuery, refused *apiError) {
	q = listQuery{limit: 100, excludeDeleted: true}
	for name, values := range r.query {
		if !slices.Contains(names, name) || len(values) != 1 {
			s.violation("%s %s: the query %s=%v is none of %v", r.method, r.route, name, values, names)
			continue
		}
		if err := q.read(name, values[0]); err != nil {
			return q, invalid(name, "QUERY_PARAMETER", "%v", err)
		}
	}
	return q, nil
}

func (q *listQuery) read(name, value string) (err error) {
	switch name {
	case "user_id":
		q.user = value
		_, err = strconv.ParseUint(value, 10, 64)
	case "sku_ids":
		q.skus = strings.Split(value, ",")
		for _, id := range q.skus {
			if _, err := strconv.ParseUint(id, 10, 64); err != nil {
				return err
			}
		}
	case "before":
		q.before, err = strconv.ParseInt(value, 10, 64)
	case "after":
		q.after, err = strconv.ParseInt(value, 10, 64)
	case "limit":
		if q.limit, err = strconv.Atoi(value); err == nil && (q.limit < 1 || q.limit > 100) {
			err = fmt.Errorf("the limit is %d, expected 1 to 100", q.limit)
		}
	case "exclude_ended":
		q.excludeEnded, err = strconv.ParseBool(value)
	case "exclude_deleted":
		q.excludeDeleted, err = strconv.ParseBool(value)
	}
	return err
}

func (q *listQuery) wants(e *Entitlement, now time.Time) bool {
	id, _ := strconv.ParseInt(e.id, 10, 64)
	return (q.user == "" || q.user == e.owner.id) && (q.skus == nil || slices.Contains(q.skus, e.sku)) && id > q.after && (q.before == 0 || id < q.before) &&
		!(q.excludeEnded && e.ended(now)) && !(q.excludeDeleted && e.deleted)
}

// listEntitlements gives the ones next to what they shall come after, else the newest.
func (s *Server) listEntitlements(r *request) (any, *apiError) {
	q, refused := s.listed(r, "user_id", "sku_ids", "guild_id", "before", "after", "limit", "exclude_ended", "exclude_deleted", "only_active")
	if refused != nil {
		return nil, refused
	}
	out := []any{}
	for _, e := range s.store.entitlements {
		if q.wants(e, s.now()) {
			out = append(out, e.wire())
		}
	}
	if len(out) <= q.limit {
		return out, nil
	}
	if r.query.Has("after") {
		return out[:q.limit], nil
	}
	return out[len(out)-q.limit:], nil
}

func (s *Server) consumeEntitlement(r *request) (any, *apiError) {
	i := slices.IndexFunc(s.store.entitlements, func(e *Entitlement) bool { return e.id == r.vars["entitlement_id"] && !e.deleted })
	if i < 0 {
		return nil, unknown(codeUnknownEntitlement, "entitlement")
	}
	e := s.store.entitlements[i]
	switch {
	case s.store.skus[e.sku] != Consumable:
		return nil, refuse(http.StatusBadRequest, codeNotConsumable, "Only consumable SKUs can be consumed")
	case e.consumed: // what the service says then is not documented
		return nil, unknown(codeUnknownEntitlement, "entitlement")
	}
	e.consumed = true
	s.signal()
	return nil, nil
}

func (s *Server) listSubscriptions(r *request) (any, *apiError) {
	q, refused := s.listed(r, "before", "after", "limit", "user_id")
	switch {
	case refused != nil:
		return nil, refused
	case s.store.skus[r.vars["sku_id"]] == 0:
		return nil, unknown(codeUnknownSKU, "SKU")
	case q.user == "":
		return nil, invalid("user_id", "BASE_TYPE_REQUIRED", "This field is required")
	}
	out := []any{}
	for _, x := range s.store.subscriptions {
		if x.sku == r.vars["sku_id"] && x.owner.id == q.user && len(out) < q.limit {
			out = append(out, x.wire())
		}
	}
	return out, nil
}

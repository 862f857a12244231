package runner

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

const cent = billing.Dollar / 100

// aCent is a tool at a cent a run.
func aCent() registry.Tool {
	tool := perSecond()
	tool.CostingModel = &registry.CostingModel{Rate: json.Number("0.01"), Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	return tool
}

// crowd is a group with a wallet in a house.
type crowd struct {
	*house
	*groups.Store
	place users.Place
	now   time.Time // of the wallets, where it is not zero
}

func newCrowd(t *testing.T, rules func(*groups.Terms), adapt func(*runs.Config), tools ...registry.Tool) *crowd {
	t.Helper()
	if len(tools) == 0 {
		tools = []registry.Tool{aCent()}
	}
	c := &crowd{house: newHouse(t, adapt, tools...), place: users.Place{Platform: "post", Kind: users.PlaceChat, ID: "7"}}
	c.Store = groups.New(groups.Config{Pool: c.pool, Ledger: c.ledger, Now: func() time.Time {
		if c.now.IsZero() {
			return time.Now()
		}
		return c.now
	}})
	if err := c.Set(t.Context(), c.place, json.RawMessage(`{}`), "", func(t *groups.Terms) { rules(t) }); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *crowd) gift(user string, amount billing.NanoUSD) groups.Contribution {
	return groups.Contribution{Place: c.place, Chat: json.RawMessage(`{}`), AccountID: user, Amount: amount, Key: uuid.NewString()}
}

func (c *crowd) sponsor(t *testing.T, amount billing.NanoUSD) (user string) {
	t.Helper()
	user = c.user(t, amount)
	if err := c.Sponsor(t.Context(), c.gift(user, amount)); err != nil {
		t.Fatal(err)
	}
	return user
}

func (c *crowd) terms(t *testing.T) groups.Terms {
	t.Helper()
	terms, err := c.At(t.Context(), c.place)
	if err != nil {
		t.Fatal(err)
	}
	return terms
}

// here asks for a run in the group.
func (c *crowd) here(t *testing.T, user string) runs.Request {
	r := sing(user)
	r.Group = c.terms(t).ID
	return r
}

func (c *crowd) wantLimit(t *testing.T, err error, kind runs.LimitKind) {
	t.Helper()
	var limit *runs.LimitError
	if !errors.As(err, &limit) || limit.Kind != kind {
		t.Errorf("got %v, want %s", err, kind)
	}
}

func TestGroupPays(t *testing.T) {
	t.Parallel()
	t.Run("a hundred members at the same moment, on two machines: the budget holds and the books are exact", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.Pays, t.Day = groups.OnlyGroup, 30*cent }, nil)
		c.sponsor(t, billing.Dollar)
		services, ids := []*Service{c.Service, c.open(t)}, make([]string, 100)
		c.start(t, services...)
		var wait sync.WaitGroup
		for i := range ids {
			r := c.here(t, c.user(t, 0))
			wait.Go(func() {
				run, err := services[i%2].Accept(t.Context(), r)
				if ids[i] = run.ID; err != nil {
					c.wantLimit(t, err, runs.LimitGroupDay)
				}
			})
		}
		wait.Wait()
		paid := 0
		for _, id := range ids {
			if id != "" {
				paid++
				if run := c.ends(t, id); run.Payer != c.terms(t).ID || run.Cost != cent {
					t.Errorf("the run cost %s, paid by %q", run.Cost, run.Payer)
				}
			}
		}
		if paid != 30 {
			t.Errorf("the group paid for %d runs", paid)
		}
		c.wantBalance(t, c.terms(t).ID, 70*cent, 0)
		c.wantBooksBalance(t)
	})
	t.Run("a hundred members and a wallet that covers ten: it never goes below zero, the others pay themselves", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.Pays = groups.GroupFirst }, nil)
		c.sponsor(t, 10*cent)
		members := make([]string, 100)
		c.start(t)
		var wait sync.WaitGroup
		for i := range members {
			members[i] = c.user(t, cent)
			r := c.here(t, members[i])
			wait.Go(func() {
				if _, err := c.Accept(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		left := billing.NanoUSD(0)
		for _, user := range members {
			list, err := c.Service.List(t.Context(), runs.Filter{AccountID: user})
			if err != nil || len(list) != 1 {
				t.Fatal(len(list), err)
			}
			c.ends(t, list[0].ID)
			b, err := c.ledger.Balance(t.Context(), user)
			if err != nil {
				t.Fatal(err)
			}
			left += b.Available
		}
		if left != 10*cent {
			t.Errorf("the members have %s, want $0.10", left)
		}
		c.wantBalance(t, c.terms(t).ID, 0, 0)
		c.wantBooksBalance(t)
	})
	t.Run("a failure, a refund and another try go to where the hold was", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.Pays = groups.OnlyGroup }, nil)
		c.provider.OnSubmit = manual
		c.start(t)
		c.sponsor(t, 10*cent)
		user := c.user(t, 5*cent)
		run := c.accept(t, c.here(t, user))
		c.wantBalance(t, c.terms(t).ID, 9*cent, cent)
		c.submitted(t, run.ID)
		if _, err := c.Cancel(t.Context(), run.ID, user); err != nil {
			t.Fatal(err)
		}
		c.ends(t, run.ID)
		c.wantBalance(t, c.terms(t).ID, 10*cent, 0)
		again, err := c.Retry(t.Context(), run.ID)
		if err != nil || again.Payer != c.terms(t).ID {
			t.Fatalf("the second try is paid by %q, %v", again.Payer, err)
		}
		c.submitted(t, again.ID)
		c.provider.Finish(again.ID, registry.Usage{}, registry.Output{Name: "result", Text: "la"})
		c.ends(t, again.ID)
		c.wantBalance(t, c.terms(t).ID, 9*cent, 0)
		if _, err := c.Refund(t.Context(), again.ID, "sorry"); err != nil {
			t.Fatal(err)
		}
		c.wantBalance(t, c.terms(t).ID, 10*cent, 0)
		c.wantBalance(t, user, 5*cent, 0)
		c.wantBooksBalance(t)
	})
	t.Run("a group pays an author's share, within its budget, and gets it back with the rest", func(t *testing.T) {
		t.Parallel()
		author, tool := uuid.NewString(), aCent()
		tool.CostingModel.Share = &registry.Share{Author: author, Percent: "20"}
		c := newCrowd(t, func(t *groups.Terms) { t.Pays, t.Day = groups.OnlyGroup, 2*cent }, nil, tool)
		if err := pgx.BeginFunc(t.Context(), c.pool, func(tx pgx.Tx) error { return c.ledger.EnsureWallet(t.Context(), tx, author) }); err != nil {
			t.Fatal(err)
		}
		c.sponsor(t, 10*cent)
		c.start(t)
		user, group := c.user(t, 0), c.terms(t).ID
		run := c.ends(t, c.accept(t, c.here(t, user)).ID)
		if run.Payer != group || run.Cost != cent*6/5 {
			t.Errorf("the run cost %s, paid by %q", run.Cost, run.Payer)
		}
		c.wantBalance(t, group, 10*cent-cent*6/5, 0)
		c.wantBalance(t, author, cent/5, 0)
		_, err := c.Accept(t.Context(), c.here(t, user))
		c.wantLimit(t, err, runs.LimitGroupDay)
		if _, err := c.Refund(t.Context(), run.ID, "a test"); err != nil {
			t.Fatal(err)
		}
		c.wantBalance(t, group, 10*cent, 0)
		c.wantBalance(t, author, 0, 0)
		c.wantBooksBalance(t)
	})
	t.Run("who pays for a run that is confirmed is decided then", func(t *testing.T) {
		t.Parallel()
		tool := aCent()
		tool.Confirmation = "structured-booking"
		c := newCrowd(t, func(t *groups.Terms) { t.Pays = groups.GroupFirst }, nil, tool)
		sponsor, user := c.sponsor(t, 10*cent), c.user(t, cent)
		run := c.accept(t, c.here(t, user))
		if run.Status != runs.StatusAwaitingConfirmation || run.Payer != c.terms(t).ID {
			t.Fatalf("%s, paid by %q", run.Status, run.Payer)
		}
		group := c.terms(t).ID
		if left, err := c.Close(t.Context(), c.place, ""); err != nil || left != 10*cent {
			t.Fatal(left, err)
		}
		run, err := c.Confirm(t.Context(), run.ID, user)
		if err != nil || run.Payer != "" {
			t.Fatalf("paid by %q, %v", run.Payer, err)
		}
		c.wantBalance(t, user, 0, cent)
		c.wantBalance(t, sponsor, 10*cent, 0)
		c.wantBalance(t, group, 0, 0)
	})
	t.Run("a member's own cap is not touched by what the group pays, and does not keep the group from paying", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.Pays = groups.MemberFirst }, limited(users.Limits{DayCap: int64(2 * cent)}))
		c.sponsor(t, 10*cent)
		user := c.user(t, 10*cent)
		for range 4 {
			c.accept(t, c.here(t, user))
		}
		usage, err := c.Usage(t.Context(), user)
		if err != nil || usage.SpentDay != 2*cent {
			t.Errorf("the member spent %s, %v", usage.SpentDay, err)
		}
		c.wantBalance(t, c.terms(t).ID, 8*cent, 2*cent)
		c.wantBalance(t, user, 8*cent, 2*cent)
	})
	t.Run("a key whose limit is near warns, whoever pays", func(t *testing.T) {
		t.Parallel()
		for _, pays := range []groups.Pays{groups.MemberFirst, groups.GroupFirst} {
			c := newCrowd(t, func(t *groups.Terms) { t.Pays = pays }, nil)
			c.sponsor(t, 10*cent)
			r := c.here(t, c.user(t, 10*cent))
			r.Budget = runs.Budget{Name: "key:1", Limit: cent}
			if run := c.accept(t, r); len(run.Warnings) != 1 || run.Warnings[0].Kind != runs.LimitBudget {
				t.Errorf("%v: the run warns of %+v", pays, run.Warnings)
			}
		}
	})
	t.Run("guests have so many runs a day", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.GuestRuns = 2 }, nil)
		c.sponsor(t, 10*cent)
		guest := c.user(t, 0)
		c.accept(t, c.here(t, guest))
		c.accept(t, c.here(t, guest))
		_, err := c.Accept(t.Context(), c.here(t, guest))
		c.wantLimit(t, err, runs.LimitGroupGuest)
		c.accept(t, c.here(t, c.user(t, 0)))
	})
	t.Run("the budget of a day warns at 80 %", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.Pays, t.Day = groups.OnlyGroup, 10*cent }, nil)
		c.sponsor(t, billing.Dollar)
		for n := 1; n <= 10; n++ {
			run := c.accept(t, c.here(t, c.user(t, 0)))
			if warned := len(run.Warnings) == 1 && run.Warnings[0].Kind == runs.LimitGroupDay; warned != (n >= 8) {
				t.Errorf("after %d of 10: %+v", n, run.Warnings)
			}
		}
	})
}

func TestFundsEnd(t *testing.T) {
	t.Parallel()
	t.Run("what is left of a wallet goes back by what each gave, and what comes later follows", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(t *groups.Terms) { t.Pays = groups.OnlyGroup }, nil)
		c.provider.OnSubmit = manual
		c.start(t)
		ann, bob := c.sponsor(t, 30*cent), c.sponsor(t, 10*cent)
		group := c.terms(t).ID
		paid, canceled := c.accept(t, c.here(t, c.user(t, 0))), c.accept(t, c.here(t, c.user(t, 0)))
		c.submitted(t, paid.ID)
		c.submitted(t, canceled.ID)
		if left, err := c.Close(t.Context(), c.place, ""); err != nil || left != 38*cent {
			t.Fatal(left, err)
		}
		c.wantBalance(t, ann, 285*cent/10, 0)
		c.wantBalance(t, bob, 95*cent/10, 0)
		c.wantBalance(t, group, 0, 2*cent)
		c.provider.Finish(paid.ID, registry.Usage{}, registry.Output{Name: "result", Text: "la"})
		if _, err := c.Cancel(t.Context(), canceled.ID, ""); err != nil {
			t.Fatal(err)
		}
		c.ends(t, paid.ID)
		c.ends(t, canceled.ID)
		c.tend(t)
		c.wantBalance(t, ann, 2925*cent/100, 0)
		c.wantBalance(t, bob, 975*cent/100, 0)
		c.wantBalance(t, group, 0, 0)
		c.wantBooksBalance(t)
		if _, err := c.Close(t.Context(), c.place, ""); !errors.Is(err, groups.ErrNoWallet) {
			t.Errorf("closed twice: %v", err)
		}
	})
	t.Run("a gift that is asked for twice is given once, and one that the wallet does not cover not at all", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(*groups.Terms) {}, nil)
		user := c.user(t, 10*cent)
		gift := c.gift(user, 6*cent)
		for range 2 {
			if err := c.Sponsor(t.Context(), gift); err != nil {
				t.Fatal(err)
			}
		}
		var poor billing.ErrInsufficient
		if err := c.Sponsor(t.Context(), c.gift(user, 6*cent)); !errors.As(err, &poor) || poor.Have != 4*cent {
			t.Errorf("got %v", err)
		}
		c.wantBalance(t, user, 4*cent, 0)
		list, err := c.Sponsors(t.Context(), c.terms(t).ID)
		if err != nil || len(list) != 1 || list[0].Given != 6*cent {
			t.Errorf("%+v, %v", list, err)
		}
		c.wantBooksBalance(t)
	})
	t.Run("a party pays for everybody until its time is over, and what is left goes back", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(*groups.Terms) {}, nil)
		c.start(t)
		host, user := c.user(t, 10*cent), c.user(t, 10*cent)
		until, gift := time.Now().Add(time.Hour), c.gift(host, 5*cent)
		if err := c.StartParty(t.Context(), gift, until); err != nil {
			t.Fatal(err)
		}
		run := c.accept(t, c.here(t, user))
		if run.Payer != c.terms(t).Party {
			t.Errorf("paid by %q", run.Payer)
		}
		c.ends(t, run.ID)
		if told := c.tend(t); len(told) != 0 {
			t.Errorf("told of %+v", told)
		}
		c.now = until
		if told := c.tend(t); len(told) != 1 || told[0].Given != 5*cent || told[0].Left != 4*cent {
			t.Errorf("told of %+v", told)
		}
		if told := c.tend(t); len(told) != 0 {
			t.Errorf("told again of %+v", told)
		}
		if err := c.StartParty(t.Context(), gift, until.Add(time.Hour)); err != nil || c.terms(t).Party != "" {
			t.Errorf("asked for again, the party goes on: %v", err)
		}
		c.wantBalance(t, host, 9*cent, 0)
		c.wantBalance(t, user, 10*cent, 0)
		c.wantBooksBalance(t)
	})
	t.Run("a party is over when its fund is empty, and not before what it holds is decided", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(*groups.Terms) {}, nil)
		c.provider.OnSubmit = manual
		c.start(t)
		host := c.user(t, 10*cent)
		if err := c.StartParty(t.Context(), c.gift(host, cent), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		run := c.accept(t, c.here(t, c.user(t, 0)))
		c.submitted(t, run.ID)
		if told := c.tend(t); len(told) != 0 {
			t.Errorf("told of %+v", told)
		}
		c.provider.Finish(run.ID, registry.Usage{}, registry.Output{Name: "result", Text: "la"})
		c.ends(t, run.ID)
		if told := c.tend(t); len(told) != 1 || told[0].Left != 0 {
			t.Errorf("told of %+v", told)
		}
	})
	t.Run("the share of who is no longer known goes to the house", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t, func(*groups.Terms) {}, nil)
		ann, bob := c.sponsor(t, 5*cent), c.sponsor(t, 5*cent)
		exec(t, c.house, `UPDATE group_gifts SET account_id = NULL WHERE account_id = $1`, bob)
		if _, err := c.Close(t.Context(), c.place, ""); err != nil {
			t.Fatal(err)
		}
		c.wantBalance(t, ann, 5*cent, 0)
		c.wantBalance(t, bob, 0, 0)
		c.wantBooksBalance(t)
	})
}

// tend has what is due done, and gives the ends that were told.
func (c *crowd) tend(t *testing.T) (told []groups.Ended) {
	t.Helper()
	err := c.Tend(t.Context(), func(_ context.Context, e groups.Ended) error {
		told = append(told, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func TestWarningsComeOnce(t *testing.T) {
	t.Parallel()
	told := make(chan runs.Run, 10)
	h := newHouse(t, func(c *runs.Config) { c.Warn = func(_ context.Context, run runs.Run) { told <- run } }, aCent())
	user := h.user(t, billing.Dollar)
	byKey := sing(user)
	byKey.Budget = runs.Budget{Name: "key:1", Limit: 5 * cent}
	for range 3 {
		h.accept(t, byKey)
	}
	for n := 4; n <= 5; n++ {
		if run := h.accept(t, byKey); len(run.Warnings) != 1 || run.Warnings[0].Kind != runs.LimitBudget || run.Warnings[0].Used != int64(n)*int64(cent) {
			t.Fatalf("run %d warns of %+v", n, run.Warnings)
		}
		select {
		case run := <-told:
			fresh, err := h.Warn(t.Context(), run)
			if err != nil || (len(fresh) == 1) != (n == 4) {
				t.Errorf("run %d tells of %+v, %v", n, fresh, err)
			}
		case <-t.Context().Done():
			t.Fatal("nobody was told")
		}
	}
	if len(told) != 0 {
		t.Errorf("runs below 80 %% were told")
	}
	other := byKey
	other.Budget.Name = "key:2"
	for range 4 {
		h.accept(t, other)
	}
	if fresh, err := h.Warn(t.Context(), <-told); err != nil || len(fresh) != 1 {
		t.Errorf("another key tells of %+v, %v", fresh, err)
	}
}

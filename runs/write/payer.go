package write

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
)

// groupUse is what decides whether a group pays for runs: its rules, and what they have cost it.
type groupUse struct {
	terms      groups.Terms
	day, month billing.NanoUSD
	members    map[string]memberUse
}

type memberUse struct {
	month billing.NanoUSD
	today int
}

// queueGroups adds to batch the reading of what decides whether groups pay. For a decision that holds they are locked by then.
func (u *usages) queueGroups(batch *pgx.Batch, ids []string) {
	if len(ids) == 0 {
		return
	}
	groups.QueueTerms(batch, ids, func(t groups.Terms) { u.groups[t.ID] = &groupUse{terms: t, members: map[string]memberUse{}} })
	u.queueSpending(batch, spentByPayers, ids, func(s spentBy) {
		if g := u.groups[s.subject]; g != nil {
			m := g.members[s.member]
			m.month += s.month
			m.today += s.today
			g.members[s.member] = m
			g.day += s.day
			g.month += s.month
		}
	})
}

func (g *groupUse) spent(account string) groups.Spent {
	m := g.members[account]
	return groups.Spent{Day: g.day, Month: g.month, MemberMonth: m.month, MemberToday: m.today}
}

// add counts a run that the group's wallet pays for.
func (g *groupUse) add(account string, price billing.NanoUSD) {
	m := g.members[account]
	m.month += price
	m.today++
	g.members[account] = m
	g.day += price
	g.month += price
}

// choosesPayer reports whether it is decided with the hold who pays for a run. Parts are paid by the account, and so is their author's share.
func choosesPayer(r *store.Record) bool { return r.Group != "" && r.Quote.Held() > 0 && !r.Quote.Parts }

// holdFor is the hold of a run. In a group with a wallet it says who pays, and counts that.
func (u *usages) holdFor(r *store.Record, party string, limits users.Limits) billing.HoldRequest {
	h := billing.HoldRequest{AccountID: r.AccountID, RunID: r.ID, Amount: r.Quote.Held()}
	if !choosesPayer(r) {
		return h
	}
	h.Others = []string{r.Group}
	if party != "" {
		h.Others = append(h.Others, party)
	}
	h.Choose = func(covers func(owner string) error) (string, error) {
		payer, err := u.payer(r, limits, covers)
		if err != nil {
			return "", err
		}
		u.pays(r, payer)
		return payer, nil
	}
	return h
}

// payer decides who pays for a run.
func (u *usages) payer(r *store.Record, limits users.Limits, covers func(owner string) error) (string, error) {
	used, price := u.of(r.AccountID), r.Quote.Held()
	used.Limits = limits
	poor := covers(r.AccountID)
	own := used.CapRefusal(price, u.now)
	if own == nil {
		own = poor
	}
	g := u.groups[r.Group]
	if g == nil { // its wallet was closed
		return r.AccountID, own
	}
	payer, err := g.terms.Choose(groups.Case{
		Account: r.AccountID, Price: price, Spent: g.spent(r.AccountID), Own: own, Guest: poor != nil, Covers: covers, Now: u.now,
	})
	var over *groups.OverError
	if errors.As(err, &over) {
		err = &runs.LimitError{LimitUse: limitUse(*over), Need: int64(price), Now: u.now}
	}
	if errors.Is(err, groups.ErrPoor) {
		err = registry.Say(registry.CodeInvalidInput, said.GroupPoor)
	}
	return payer, err
}

func limitUse(o groups.OverError) runs.LimitUse {
	return runs.LimitUse{Kind: runs.LimitKind(o.Bound), Limit: o.Limit, Used: o.Used, FreeAt: o.FreeAt}
}

// pays notes who pays for a run, and counts it for those that come after.
func (u *usages) pays(r *store.Record, payer string) {
	used, price := u.of(r.AccountID), r.Quote.Held()
	r.Payer = ""
	if payer == r.AccountID {
		used.SpentDay += price
		used.SpentMonth += price
	} else {
		r.Payer = payer
	}
	r.Warnings = append(r.Warnings, used.Warnings()...)
	if g := u.groups[r.Payer]; g != nil {
		g.add(r.AccountID, price)
		for _, near := range g.terms.Near(g.spent(r.AccountID), u.now) {
			r.Warnings = append(r.Warnings, limitUse(near))
		}
	}
}

// Hold sets aside what a run that was confirmed may cost, within the limits of its account, and notes who pays. The account and the group are locked.
func (s *Limiter) Hold(ctx context.Context, tx pgx.Tx, r *store.Record) error {
	limits, err := s.LimitsOf(ctx, r.AccountID)
	if err != nil {
		return err
	}
	used := s.newUsages()
	party := ""
	if (runs.Usage{Limits: limits}).Bounds() || choosesPayer(r) {
		if err := used.read(ctx, tx, r.AccountID, groupsOf(r)); err != nil {
			return err
		}
		need := r.Quote.Held()
		if choosesPayer(r) {
			need = 0
		}
		u := used.of(r.AccountID)
		u.Limits = limits
		if err := u.Refusal(need, used.now); err != nil {
			return err
		}
		if g := used.groups[r.Group]; g != nil {
			party = g.terms.Party
		}
	}
	return s.Config.Ledger.HoldOne(ctx, tx, used.holdFor(r, party, limits))
}

func groupsOf(r *store.Record) []string {
	if choosesPayer(r) {
		return []string{r.Group}
	}
	return nil
}

// Payer is who would pay now for a run of a price in a group: the owner of a wallet. It decides nothing. Errors: those of a run that is accepted.
func (s *Limiter) Payer(ctx context.Context, groupID, accountID string, price billing.NanoUSD) (string, error) {
	if groupID == "" || price == 0 {
		return accountID, nil
	}
	limits, err := s.LimitsOf(ctx, accountID)
	if err != nil {
		return "", err
	}
	used := s.newUsages()
	if err := used.read(ctx, s.Config.Pool, accountID, []string{groupID}); err != nil {
		return "", err
	}
	s.foldUnsummed(used)
	r := store.Record{Run: runs.Run{AccountID: accountID, Group: groupID, Quote: billing.Quote{High: price}}}
	return used.payer(&r, limits, func(owner string) error {
		b, err := s.Config.Ledger.Balance(ctx, owner)
		if err == nil && (b.Owed > 0 || b.Available < price) {
			err = billing.ErrInsufficient{Have: b.Available, Need: price, Held: b.Held, Owed: b.Owed}
		}
		return err
	})
}

// GroupSpent is what a group's wallet has spent by now, in all and for one of its members.
func (s *Limiter) GroupSpent(ctx context.Context, groupID, accountID string) (groups.Spent, error) {
	used := s.newUsages()
	if err := used.read(ctx, s.Config.Pool, accountID, []string{groupID}); err != nil {
		return groups.Spent{}, err
	}
	s.foldUnsummed(used)
	if g := used.groups[groupID]; g != nil {
		return g.spent(accountID), nil
	}
	return groups.Spent{}, nil
}

// read reads what an account has used of its limits, and what groups have spent.
func (u *usages) read(ctx context.Context, on sender, accountID string, groupIDs []string) error {
	batch := &pgx.Batch{}
	u.queue(batch, []string{accountID})
	u.queueFiles(batch, []string{accountID})
	u.queueQuestions(batch, []string{accountID})
	u.queueGroups(batch, groupIDs)
	return on.SendBatch(ctx, batch).Close()
}

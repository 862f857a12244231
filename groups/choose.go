package groups

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
)

// Pays says who pays for what members of a group ask for there.
type Pays string

// Who pays.
const (
	MemberFirst Pays = "member" // the member, and the group for who can't
	GroupFirst  Pays = "group"  // the group, and the member where it can't
	OnlyGroup   Pays = "only"
)

// Terms are the rules of a group's wallet as they are at the moment.
type Terms struct {
	ID        string // of the group, and the owner of its wallet
	Pays      Pays
	Day       billing.NanoUSD // what the wallet may spend in a day; 0: no limit, as below. Days and months are those of UTC
	Month     billing.NanoUSD
	Member    billing.NanoUSD // what it may spend for each member in a month
	GuestRuns int             // how many runs a day it pays for each guest
	Party     string          // the fund of the party under way; empty: there is none
	PartyEnds time.Time
}

// QueueTerms adds to batch the reading of the terms of those of the groups whose wallets are open.
func QueueTerms(batch *pgx.Batch, ids []string, put func(Terms)) {
	batch.Queue(termsSQL+` WHERE g.id = ANY ($1::text[]::uuid[]) AND g.closed_at IS NULL`, ids).Query(func(rows pgx.Rows) error {
		list, err := pgx.CollectRows(rows, scanTerms)
		for _, t := range list {
			put(t)
		}
		return err
	})
}

// TermsOf gives the terms of a group; the zero Terms where its wallet was closed.
func TermsOf(ctx context.Context, pool *pgxpool.Pool, id string) (t Terms, err error) {
	batch := &pgx.Batch{}
	QueueTerms(batch, []string{id}, func(read Terms) { t = read })
	if err := pool.SendBatch(ctx, batch).Close(); err != nil {
		return Terms{}, fmt.Errorf("read the wallet of group %s: %w", id, err)
	}
	return t, nil
}

const (
	termsColumns = `g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch')`
	termsTables  = ` FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL`
	termsSQL     = `SELECT ` + termsColumns + termsTables
)

// columns are where termsColumns are scanned to.
func (t *Terms) columns() []any {
	return []any{&t.ID, &t.Pays, &t.Day, &t.Month, &t.Member, &t.GuestRuns, &t.Party, &t.PartyEnds}
}

func scanTerms(row pgx.CollectableRow) (t Terms, err error) {
	err = row.Scan(t.columns()...)
	return t, err
}

// Spent is what runs have cost a group's wallet, or may cost while they are under way.
type Spent struct {
	Day, Month  billing.NanoUSD
	MemberMonth billing.NanoUSD // for the member who asks
	MemberToday int             // their runs of the day
}

// Case is a run that somebody has to pay for.
type Case struct {
	Account string // the member's
	Price   billing.NanoUSD
	Spent   Spent
	Own     error                    // why the member can't pay; nil: they can
	Guest   bool                     // the member's own credit does not cover it
	Covers  func(owner string) error // why a wallet can't pay the price
	Now     time.Time
}

// Bound names what bounds a group's spending.
type Bound string

// The bounds.
const (
	BoundDay    Bound = "group_day"
	BoundMonth  Bound = "group_month"
	BoundMember Bound = "group_member"
	BoundGuest  Bound = "group_guest"
)

// OverError says which bound of a group's spending leaves no room for a run.
type OverError struct {
	Bound       Bound
	Limit, Used int64 // nano-dollars; runs for BoundGuest
	FreeAt      time.Time
}

// Error says how much is used.
func (e *OverError) Error() string {
	if e.Bound == BoundGuest {
		return fmt.Sprintf("the group pays for %d runs a day of who has no credit of their own, and %d were made", e.Limit, e.Used)
	}
	return fmt.Sprintf("of the group's budget (%s) of %s %s is spent or set aside", e.Bound, billing.NanoUSD(e.Limit), billing.NanoUSD(e.Used))
}

// ErrPoor says that a group's wallet, which alone pays in it, does not cover a run.
var ErrPoor = errors.New("the group's wallet does not cover it")

// Choose decides who pays for a run: a party as long as there is one that covers it, and else who pays by the rule of the group. It gives the
// owner of the wallet.
func (t Terms) Choose(c Case) (payer string, err error) {
	if t.Party != "" && c.Now.Before(t.PartyEnds) && c.Covers(t.Party) == nil {
		return t.Party, nil
	}
	group := t.refusal(c)
	switch {
	case t.Pays != GroupFirst && t.Pays != OnlyGroup && c.Own == nil:
		return c.Account, nil
	case group == nil:
		return t.ID, nil
	case t.Pays == GroupFirst && c.Own == nil:
		return c.Account, nil
	}
	var over *OverError
	if t.Pays == OnlyGroup || errors.As(group, &over) {
		return "", group
	}
	return "", c.Own // the group's wallet is empty: that is no news
}

// refusal is why the group's wallet does not pay, or nil.
func (t Terms) refusal(c Case) error {
	for _, b := range t.bounds(c.Spent, c.Now) {
		need := int64(c.Price)
		if b.Bound == BoundGuest {
			need = 1
		}
		if (b.Bound != BoundGuest || c.Guest) && b.Used+need > b.Limit {
			return &b
		}
	}
	if c.Covers(t.ID) != nil {
		return ErrPoor
	}
	return nil
}

// bounds are those that are set, with what is used of them.
func (t Terms) bounds(s Spent, now time.Time) (set []OverError) {
	year, month, day := now.UTC().Date()
	tomorrow, next := time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC), time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
	for _, b := range []OverError{
		{BoundDay, int64(t.Day), int64(s.Day), tomorrow},
		{BoundMonth, int64(t.Month), int64(s.Month), next},
		{BoundMember, int64(t.Member), int64(s.MemberMonth), next},
		{BoundGuest, int64(t.GuestRuns), int64(s.MemberToday), tomorrow},
	} {
		if b.Limit > 0 {
			set = append(set, b)
		}
	}
	return set
}

// Near lists the group's budgets of the day and the month of which at least 80 % is used.
func (t Terms) Near(s Spent, now time.Time) (near []OverError) {
	for _, b := range t.bounds(s, now) {
		if (b.Bound == BoundDay || b.Bound == BoundMonth) && b.Used >= b.Limit-b.Limit/5 {
			near = append(near, b)
		}
	}
	return near
}

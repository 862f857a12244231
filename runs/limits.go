package runs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Limiter gives what bounds an account's runs. It is asked for every run, so it answers from memory.
type Limiter interface {
	// LimitsOf gives the limits in force. An error refuses the run: a *registry.Error for somebody who may
	// not run anything.
	LimitsOf(ctx context.Context, accountID string) (users.Limits, error)
	// MayRun refuses, by a *registry.Error, somebody who may look and run nothing for a while.
	MayRun(ctx context.Context, accountID string) error
}

// LimitKind names a limit.
type LimitKind string

// The kinds of limits.
const (
	LimitAtOnce   LimitKind = "at_once"   // runs under way
	LimitPerDay   LimitKind = "per_day"   // runs of a day that are under way or succeeded
	LimitDayCap   LimitKind = "day_cap"   // spending of a day
	LimitMonthCap LimitKind = "month_cap" // spending of a calendar month
	LimitBudget   LimitKind = "budget"    // spending of a calendar month from one Budget
	LimitUploads  LimitKind = "uploads"   // bytes of files that were sent
	LimitResults  LimitKind = "results"   // bytes of files that runs made

	// What bounds what a group pays for.
	LimitGroupDay    = LimitKind(groups.BoundDay)
	LimitGroupMonth  = LimitKind(groups.BoundMonth)
	LimitGroupMember = LimitKind(groups.BoundMember) // spending for one member in a calendar month
	LimitGroupGuest  = LimitKind(groups.BoundGuest)  // runs a day of somebody without credit of their own
)

// LimitUse is how much of a limit is used. Days and months are those of UTC.
type LimitUse struct {
	Kind   LimitKind
	Limit  int64 // runs, nano-dollars, or bytes
	Used   int64
	FreeAt time.Time // when it begins anew; zero for LimitAtOnce: when a run ends
	Budget string    // the name of the pot, of LimitBudget in a warning
}

// LimitError refuses a run that a limit does not leave room for. It is a *registry.Error with
// CodeRateLimited, too.
type LimitError struct {
	LimitUse
	Need int64 // what the run would have added

	Now time.Time
}

// Error says which limit, what is used, and when it frees.
func (e *LimitError) Error() string {
	switch e.Kind {
	case LimitAtOnce:
		return fmt.Sprintf("%d runs are under way and the limit is %d: the next can start when one of them ends", e.Used, e.Limit)
	case LimitPerDay:
		return fmt.Sprintf("%d runs were made today and the limit is %d: there is room again %s", e.Used, e.Limit, e.when())
	case LimitDayCap:
		return e.capped("today")
	case LimitUploads, LimitResults:
		return fmt.Sprintf("your %s take %s of %s: delete runs that you need no more, or ask the operator for more room", e.Kind, assets.Words(e.Used), assets.Words(e.Limit))
	case LimitBudget:
		return e.capped("this month from this budget, such as the API key's,")
	case LimitGroupDay:
		return e.capped("today by this group")
	case LimitGroupMonth:
		return e.capped("this month by this group")
	case LimitGroupMember:
		return e.capped("this month by this group for you")
	case LimitGroupGuest:
		return fmt.Sprintf("this group pays for %d runs a day of who has no credit of their own, and %d were made: there is room again %s", e.Limit, e.Used, e.when())
	default:
		return e.capped("this month")
	}
}

func (e *LimitError) capped(period string) string {
	return fmt.Sprintf("this may cost %s, and of the limit of %s %s is spent or set aside %s: there is room again %s",
		billing.NanoUSD(e.Need), billing.NanoUSD(e.Limit), billing.NanoUSD(e.Used), period, e.when())
}

func (e *LimitError) when() string { return "from " + e.FreeAt.Format("2 January, 15:04 UTC") }

// Unwrap gives the error as platforms and the API know it.
func (e *LimitError) Unwrap() error {
	typed := registry.Errorf(registry.CodeRateLimited, "%s", e.Error())
	typed.Retryable = true
	if !e.FreeAt.IsZero() {
		typed.RetryAfter = e.FreeAt.Sub(e.Now)
	}
	return typed
}

// Usage is what an account has used of its limits. Spending is what runs have cost plus what is promised for
// those under way, counted at the time when they were accepted.
type Usage struct {
	Limits     users.Limits // zero members: none
	AtOnce     int
	Today      int
	SpentDay   billing.NanoUSD
	SpentMonth billing.NanoUSD
	Uploads    int64 // bytes
	Results    int64
	DayEnds    time.Time
	MonthEnds  time.Time
}

// uses lists the limits that are set, with what is used of them.
func (u Usage) uses() (uses []LimitUse) {
	for _, use := range []LimitUse{
		{Kind: LimitAtOnce, Limit: int64(u.Limits.AtOnce), Used: int64(u.AtOnce)},
		{Kind: LimitPerDay, Limit: int64(u.Limits.PerDay), Used: int64(u.Today), FreeAt: u.DayEnds},
		{Kind: LimitDayCap, Limit: u.Limits.DayCap, Used: int64(u.SpentDay), FreeAt: u.DayEnds},
		{Kind: LimitMonthCap, Limit: u.Limits.MonthCap, Used: int64(u.SpentMonth), FreeAt: u.MonthEnds},
		{Kind: LimitResults, Limit: u.Limits.ResultBytes, Used: u.Results},
	} {
		if use.Limit > 0 {
			uses = append(uses, use)
		}
	}
	return uses
}

// Bounds reports whether any limit is set that bounds runs. Others bound what else an account does, such as its event streams.
func (u Usage) Bounds() bool { return len(u.uses()) > 0 }

// Warnings lists the limits of days and months of which at least 80 % is used.
func (u Usage) Warnings() (near []LimitUse) {
	for _, use := range u.uses() {
		if use.Kind != LimitAtOnce && use.Kind != LimitResults && use.Near() {
			near = append(near, use)
		}
	}
	return near
}

// Refusal is why a run that may cost amount has no room, or nil.
func (u Usage) Refusal(amount billing.NanoUSD, now time.Time) error {
	return refusal(u.uses(), amount, now)
}

// CapRefusal is Refusal by what bounds spending alone.
func (u Usage) CapRefusal(amount billing.NanoUSD, now time.Time) error {
	return refusal(slices.DeleteFunc(u.uses(), func(use LimitUse) bool { return !use.caps() }), amount, now)
}

// OfGroup reports whether the limit bounds what a group pays for.
func (u LimitUse) OfGroup() bool {
	switch u.Kind {
	case LimitGroupDay, LimitGroupMonth, LimitGroupMember, LimitGroupGuest:
		return true
	}
	return false
}

// Near reports whether at least 80 % of the limit is used.
func (u LimitUse) Near() bool { return u.Used >= u.Limit-u.Limit/5 }

func (u LimitUse) caps() bool { return u.Kind == LimitDayCap || u.Kind == LimitMonthCap }

func refusal(uses []LimitUse, amount billing.NanoUSD, now time.Time) error {
	for _, use := range uses {
		need := int64(1)
		if use.caps() {
			need = int64(amount)
		}
		if need > 0 && use.Used+need > use.Limit {
			return &LimitError{LimitUse: use, Need: need, Now: now}
		}
	}
	return nil
}

// Add counts a run that is accepted.
func (u *Usage) Add(amount billing.NanoUSD) {
	u.AtOnce++
	u.Today++
	u.SpentDay += amount
	u.SpentMonth += amount
}

// Budget is a pot of money that some runs of an account draw on, such as those of an API key. The account's own
// limits hold besides.
type Budget struct {
	Name  string          // the same for all runs that draw on it; empty: none
	Limit billing.NanoUSD // what they may cost in a calendar month (UTC); zero: no limit
}

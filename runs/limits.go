package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Limiter gives what bounds an account's runs. It is asked for every run, so it answers from memory.
type Limiter interface {
	// LimitsOf gives the limits in force. An error refuses the run: a *registry.Error for somebody who may
	// not run anything.
	LimitsOf(ctx context.Context, accountID string) (users.Limits, error)
}

// limiter counts what accounts use of their limits.
type limiter struct{ *env }

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
)

// LimitUse is how much of a limit is used. Days and months are those of UTC.
type LimitUse struct {
	Kind   LimitKind
	Limit  int64 // runs, nano-dollars, or bytes
	Used   int64
	FreeAt time.Time // when it begins anew; zero for LimitAtOnce: when a run ends
}

// LimitError refuses a run that a limit does not leave room for. It is a *registry.Error with
// CodeRateLimited, too.
type LimitError struct {
	LimitUse
	Need int64 // what the run would have added

	now time.Time
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
		typed.RetryAfter = e.FreeAt.Sub(e.now)
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

// Usage gives what an account has used of its limits by now.
func (s *limiter) Usage(ctx context.Context, accountID string) (Usage, error) {
	limits, err := s.limitsOf(ctx, accountID)
	if err != nil {
		return Usage{}, fmt.Errorf("usage of %s: %w", accountID, err)
	}
	used := s.newUsages()
	batch := &pgx.Batch{}
	used.queue(batch, []string{accountID})
	used.queueFiles(batch, []string{accountID})
	if err := s.config.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return Usage{}, fmt.Errorf("usage of %s: %w", accountID, err)
	}
	u := used.of(accountID)
	u.Limits = limits
	return *u, nil
}

// limitsOf asks the Limiter, if there is one.
func (s *limiter) limitsOf(ctx context.Context, accountID string) (users.Limits, error) {
	if s.config.Limits == nil {
		return users.Limits{}, nil
	}
	return s.config.Limits.LimitsOf(ctx, accountID)
}

// uses lists the limits that are set, with what is used of them.
func (u Usage) uses() (uses []LimitUse) {
	for _, use := range []LimitUse{
		{LimitAtOnce, int64(u.Limits.AtOnce), int64(u.AtOnce), time.Time{}},
		{LimitPerDay, int64(u.Limits.PerDay), int64(u.Today), u.DayEnds},
		{LimitDayCap, u.Limits.DayCap, int64(u.SpentDay), u.DayEnds},
		{LimitMonthCap, u.Limits.MonthCap, int64(u.SpentMonth), u.MonthEnds},
		{LimitResults, u.Limits.ResultBytes, u.Results, time.Time{}},
	} {
		if use.Limit > 0 {
			uses = append(uses, use)
		}
	}
	return uses
}

// Warnings lists the limits of days and months of which at least 80 % is used.
func (u Usage) Warnings() (near []LimitUse) {
	for _, use := range u.uses() {
		if use.Kind != LimitAtOnce && use.Kind != LimitResults && use.Used >= use.Limit-use.Limit/5 {
			near = append(near, use)
		}
	}
	return near
}

// refusal is why a run that may cost amount has no room, or nil.
func (u Usage) refusal(amount billing.NanoUSD, now time.Time) error {
	for _, use := range u.uses() {
		need := int64(1)
		if use.Kind == LimitDayCap || use.Kind == LimitMonthCap {
			need = int64(amount)
		}
		if need > 0 && use.Used+need > use.Limit {
			return &LimitError{LimitUse: use, Need: need, now: now}
		}
	}
	return nil
}

// add counts a run that is accepted.
func (u *Usage) add(amount billing.NanoUSD) {
	u.AtOnce++
	u.Today++
	u.SpentDay += amount
	u.SpentMonth += amount
}

// usages are read for accounts together.
type usages struct {
	now        time.Time
	day, month time.Time // their beginnings
	byAccount  map[string]*Usage
	budgets    map[budgetKey]billing.NanoUSD
}

func (s *limiter) newUsages() *usages {
	now := s.now().UTC()
	year, month, day := now.Date()
	return &usages{
		now: now, day: time.Date(year, month, day, 0, 0, 0, 0, time.UTC), month: time.Date(year, month, 1, 0, 0, 0, 0, time.UTC),
		byAccount: map[string]*Usage{}, budgets: map[budgetKey]billing.NanoUSD{},
	}
}

// of gives an account's usage, which is there from the first call.
func (u *usages) of(accountID string) *Usage {
	found := u.byAccount[accountID]
	if found == nil {
		found = &Usage{DayEnds: u.day.AddDate(0, 0, 1), MonthEnds: u.month.AddDate(0, 1, 0)}
		u.byAccount[accountID] = found
	}
	return found
}

// usageSQL counts what is under way and what began in the month; that ids are in order of time spares reading the
// rest of the account's history.
const usageSQL = `
	SELECT account_id::text, count(*) FILTER (WHERE ended_at IS NULL),
		count(*) FILTER (WHERE created_at >= $2 AND (ended_at IS NULL OR status = 'succeeded')),
		coalesce(sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END) FILTER (WHERE created_at >= $2), 0)::bigint,
		coalesce(sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END) FILTER (WHERE created_at >= $3), 0)::bigint
	FROM runs WHERE account_id = ANY ($1::uuid[]) AND (id >= $4 OR ended_at IS NULL) AND status <> 'awaiting_confirmation'
	GROUP BY account_id`

// queue adds the reading of the accounts' usage to batch.
func (u *usages) queue(batch *pgx.Batch, accounts []string) {
	batch.Queue(usageSQL, accounts, u.day, u.month, firstID(u.earliest())).Query(func(rows pgx.Rows) error {
		var account string
		var read Usage
		_, err := pgx.ForEachRow(rows, []any{&account, &read.AtOnce, &read.Today, &read.SpentDay, &read.SpentMonth}, func() error {
			found := u.of(account)
			read.DayEnds, read.MonthEnds, read.Uploads, read.Results = found.DayEnds, found.MonthEnds, found.Uploads, found.Results
			*found = read
			return nil
		})
		return err
	})
}

// queueFiles adds the reading of what the accounts' files take to batch.
func (u *usages) queueFiles(batch *pgx.Batch, accounts []string) {
	batch.Queue(`SELECT account_id::text, coalesce(sum(size) FILTER (WHERE kind = 'upload'), 0)::bigint, coalesce(sum(size) FILTER (WHERE kind = 'result'), 0)::bigint
		FROM asset_owners WHERE account_id = ANY ($1::uuid[]) GROUP BY account_id`, accounts).Query(func(rows pgx.Rows) error {
		var account string
		var uploads, results int64
		_, err := pgx.ForEachRow(rows, []any{&account, &uploads, &results}, func() error {
			found := u.of(account)
			found.Uploads, found.Results = uploads, results
			return nil
		})
		return err
	})
}

// earliest is a time before the ids of the month's runs, which have the time of the machine that made them.
func (u *usages) earliest() time.Time {
	if now := time.Now(); now.Before(u.month) {
		return now.AddDate(0, -1, 0)
	}
	return u.month
}

// queueLimits adds the reading of what the accounts of requests with limits have used to batch; nil where no request
// has any. The accounts are locked by then.
func (s *limiter) queueLimits(batch *pgx.Batch, accepts []*acceptance) *usages {
	var accounts, filed []string
	budgets := false
	for _, a := range accepts {
		if a.limited() {
			accounts = append(accounts, a.record.AccountID)
			budgets = budgets || a.budget.Limit > 0
			if a.limits.ResultBytes > 0 {
				filed = append(filed, a.record.AccountID)
			}
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	used := s.newUsages()
	used.queue(batch, accounts)
	if budgets {
		used.queueBudgets(batch, accounts)
	}
	if len(filed) > 0 {
		used.queueFiles(batch, filed)
	}
	return used
}

// limited reports whether the request is from an account with limits, or draws on a budget that has one.
func (a *acceptance) limited() bool {
	return a.limits != (users.Limits{}) || a.budget.Limit > 0
}

// admit refuses a request that its account's limits have no room for, and counts it otherwise.
func (u *usages) admit(a *acceptance) {
	if u == nil || !a.limited() {
		return
	}
	used := u.of(a.record.AccountID)
	used.Limits = a.limits
	if a.refused = used.refusal(a.record.Quote.High, u.now); a.refused == nil {
		a.refused = u.draw(a)
	}
	if a.refused != nil || a.record.Status != StatusQueued {
		return
	}
	used.add(a.record.Quote.High)
	a.record.Warnings = used.Warnings()
}

// checkLimits refuses to confirm a run for which there is no room. The account is locked.
func (s *limiter) checkLimits(ctx context.Context, tx pgx.Tx, r record) error {
	limits, err := s.limitsOf(ctx, r.AccountID)
	if err != nil || limits == (users.Limits{}) {
		return err
	}
	used := s.newUsages()
	batch := &pgx.Batch{}
	used.queue(batch, []string{r.AccountID})
	used.queueFiles(batch, []string{r.AccountID})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	u := used.of(r.AccountID)
	u.Limits = limits
	return u.refusal(r.Quote.High, used.now)
}

package write

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
)

// Limiter counts what accounts use of their limits.
type Limiter struct {
	*store.Env
	folding sync.Map // ids of the accounts and groups that fold is adding up
}

// NewLimiter makes a Limiter.
func NewLimiter(e *store.Env) *Limiter { return &Limiter{Env: e} }

// Usage gives what an account has used of its limits by now.
func (s *Limiter) Usage(ctx context.Context, accountID string) (runs.Usage, error) {
	limits, err := s.LimitsOf(ctx, accountID)
	if err != nil {
		return runs.Usage{}, fmt.Errorf("usage of %s: %w", accountID, err)
	}
	used := s.newUsages()
	batch := &pgx.Batch{}
	used.queue(batch, []string{accountID})
	used.queueFiles(batch, []string{accountID})
	used.queueQuestions(batch, []string{accountID})
	if err := s.Config.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return runs.Usage{}, fmt.Errorf("usage of %s: %w", accountID, err)
	}
	s.foldUnsummed(used)
	u := used.of(accountID)
	u.Limits = limits
	return *u, nil
}

// LimitsOf asks the Limiter, if there is one.
func (s *Limiter) LimitsOf(ctx context.Context, accountID string) (users.Limits, error) {
	if s.Config.Limits == nil {
		return users.Limits{}, nil
	}
	return s.Config.Limits.LimitsOf(ctx, accountID)
}

// MayRun refuses those who may run nothing for a while.
func (s *Limiter) MayRun(ctx context.Context, accountID string) error {
	if s.Config.Limits == nil {
		return nil
	}
	return s.Config.Limits.MayRun(ctx, accountID)
}

// usages are read for accounts together.
type usages struct {
	now        time.Time
	day, month time.Time // their beginnings
	byAccount  map[string]*runs.Usage
	budgets    map[budgetKey]billing.NanoUSD
	groups     map[string]*groupUse
	unsummed   []string // accounts and groups of which many runs were read
}

func (s *Limiter) newUsages() *usages {
	now := s.Now().UTC()
	year, month, day := now.Date()
	return &usages{
		now: now, day: time.Date(year, month, day, 0, 0, 0, 0, time.UTC), month: time.Date(year, month, 1, 0, 0, 0, 0, time.UTC),
		byAccount: map[string]*runs.Usage{}, budgets: map[budgetKey]billing.NanoUSD{}, groups: map[string]*groupUse{},
	}
}

// of gives an account's usage, which is there from the first call.
func (u *usages) of(accountID string) *runs.Usage {
	found := u.byAccount[accountID]
	if found == nil {
		found = &runs.Usage{DayEnds: u.day.AddDate(0, 0, 1), MonthEnds: u.month.AddDate(0, 1, 0)}
		u.byAccount[accountID] = found
	}
	return found
}

// queue adds the reading of the accounts' usage, and of their budgets', to batch.
func (u *usages) queue(batch *pgx.Batch, accounts []string) {
	u.queueSpending(batch, spentByAccounts, accounts, func(s spentBy) {
		found := u.of(s.subject)
		found.AtOnce += s.atOnce
		found.Today += s.today
		found.SpentDay += s.day
		found.SpentMonth += s.month
		if s.budget != "" {
			u.budgets[budgetKey{s.subject, s.budget}] += s.ofBudget
		}
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

// firstID is one before those of what began since a time: they have the time of the machine that made them, which may be behind.
func firstID(since time.Time) string {
	if now := time.Now(); now.Before(since) {
		return store.FirstID(now.AddDate(0, -1, 0))
	}
	return store.FirstID(since.Add(-time.Hour))
}

// queueLimits adds the reading of what the accounts of requests with limits have used to batch; nil where no request
// has any. The accounts are locked by then.
func (s *Limiter) queueLimits(batch *pgx.Batch, accepts []*Acceptance) *usages {
	var accounts, filed, groupIDs []string
	for _, a := range accepts {
		if a.limited() {
			accounts, groupIDs = append(accounts, a.Record.AccountID), append(groupIDs, groupsOf(&a.Record)...)
			if a.Limits.ResultBytes > 0 {
				filed = append(filed, a.Record.AccountID)
			}
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	used := s.newUsages()
	used.queue(batch, accounts)
	if len(filed) > 0 {
		used.queueFiles(batch, filed)
	}
	used.queueQuestions(batch, accounts)
	used.queueGroups(batch, groupIDs)
	return used
}

// limited reports whether the request is from an account with limits of its runs, draws on a budget that has one, or may be paid by a group.
func (a *Acceptance) limited() bool {
	return runs.Usage{Limits: a.Limits}.Bounds() || a.Budget.Limit > 0 || choosesPayer(&a.Record)
}

// admit refuses a request that its account's limits have no room for, and counts it otherwise. Where somebody else may pay, its price is
// looked at with the hold.
func (u *usages) admit(a *Acceptance) {
	if u == nil || !a.limited() {
		return
	}
	used := u.of(a.Record.AccountID)
	used.Limits = a.Limits
	price := a.Record.Quote.Held()
	if choosesPayer(&a.Record) {
		price = 0
	}
	if a.Refused = used.Refusal(price, u.now); a.Refused == nil {
		a.Refused = u.draw(a)
	}
	a.Record.Warnings = nil
	if a.Refused != nil || a.Record.Status != runs.StatusQueued {
		return
	}
	used.Add(price)
	if !choosesPayer(&a.Record) { // else they come with the payer
		a.Record.Warnings = used.Warnings()
	}
	if budget := u.budgetUse(a); budget.Limit > 0 && budget.Near() {
		a.Record.Warnings = append(a.Record.Warnings, budget)
	}
}

// budgetKey names a budget among those of all accounts.
type budgetKey struct{ account, name string }

// draw takes what a run may cost from its budget, or says why there is no room. A run that awaits confirmation draws
// on it, too.
func (u *usages) draw(a *Acceptance) error {
	use, need := u.budgetUse(a), a.Record.Quote.Held()
	if use.Limit == 0 || need == 0 || use.Used+int64(need) <= use.Limit {
		u.budgets[budgetKey{a.Record.AccountID, a.Budget.Name}] += need
		return nil
	}
	return &runs.LimitError{LimitUse: use, Need: int64(need), Now: u.now}
}

// budgetUse is how much of a request's budget is used.
func (u *usages) budgetUse(a *Acceptance) runs.LimitUse {
	return runs.LimitUse{
		Kind: runs.LimitBudget, Limit: int64(a.Budget.Limit), Used: int64(u.budgets[budgetKey{a.Record.AccountID, a.Budget.Name}]),
		FreeAt: u.month.AddDate(0, 1, 0), Budget: a.Budget.Name,
	}
}

package runs

import (
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
)

// Budget is a pot of money that some runs of an account draw on, such as those of an API key. The account's own
// limits hold besides.
type Budget struct {
	Name  string          // the same for all runs that draw on it; empty: none
	Limit billing.NanoUSD // what they may cost in a calendar month (UTC); zero: no limit
}

// budgetKey names a budget among those of all accounts.
type budgetKey struct{ account, name string }

const budgetSQL = `
	SELECT account_id::text, budget, sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END)::bigint
	FROM runs WHERE account_id = ANY ($1::text[]::uuid[]) AND budget IS NOT NULL AND id >= $3 AND created_at >= $2
	GROUP BY account_id, budget`

// queueBudgets adds the reading of what is spent of the accounts' budgets to batch.
func (u *usages) queueBudgets(batch *pgx.Batch, accounts []string) {
	batch.Queue(budgetSQL, accounts, u.month, firstID(u.earliest())).Query(func(rows pgx.Rows) error {
		var key budgetKey
		var spent billing.NanoUSD
		_, err := pgx.ForEachRow(rows, []any{&key.account, &key.name, &spent}, func() error {
			u.budgets[key] = spent
			return nil
		})
		return err
	})
}

// draw takes what a run may cost from its budget, or says why there is no room. A run that awaits confirmation draws
// on it, too.
func (u *usages) draw(a *acceptance) error {
	key, need := budgetKey{a.record.AccountID, a.budget.Name}, a.record.Quote.High
	spent := u.budgets[key]
	if a.budget.Limit == 0 || need == 0 || spent+need <= a.budget.Limit {
		u.budgets[key] += need
		return nil
	}
	return &LimitError{
		LimitUse: LimitUse{Kind: LimitBudget, Limit: int64(a.budget.Limit), Used: int64(spent), FreeAt: u.month.AddDate(0, 1, 0)},
		Need:     int64(need), now: u.now,
	}
}

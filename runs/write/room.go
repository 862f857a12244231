package write

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
)

// questionsSQL is what questions to models have cost their askers, or may cost while they are answered, today, in the month, and by
// the budget that they draw on.
const questionsSQL = `
	SELECT account_id::text, coalesce(budget, ''),
		coalesce(sum(CASE WHEN ended_at IS NULL THEN held ELSE charged END) FILTER (WHERE created_at >= $2), 0)::bigint,
		sum(CASE WHEN ended_at IS NULL THEN held ELSE charged END)::bigint
	FROM agent_questions WHERE account_id = ANY ($1::uuid[]) AND held > 0 AND id >= $4 AND created_at >= $3
	GROUP BY 1, 2`

// queueQuestions adds to batch the reading of what questions have cost the accounts. It comes after all that is counted of runs.
func (u *usages) queueQuestions(batch *pgx.Batch, accounts []string) {
	batch.Queue(questionsSQL, accounts, u.day, u.month, firstID(u.month)).Query(func(rows pgx.Rows) error {
		var account, budget string
		var day, month billing.NanoUSD
		_, err := pgx.ForEachRow(rows, []any{&account, &budget, &day, &month}, func() error {
			found := u.of(account)
			found.SpentDay += day
			found.SpentMonth += month
			u.budgets[budgetKey{account, budget}] += month
			return nil
		})
		return err
	})
}

// Room is how much of most an account may still spend by its limits and by a budget. It is an error, a *runs.LimitError, where that is
// less than least. Until tx ends no run of the account is accepted.
func (s *Limiter) Room(ctx context.Context, tx pgx.Tx, accountID string, b runs.Budget, least, most billing.NanoUSD) (billing.NanoUSD, error) {
	if err := s.MayRun(ctx, accountID); err != nil {
		return 0, err
	}
	limits, err := s.LimitsOf(ctx, accountID)
	if err != nil {
		return 0, err
	}
	used := s.newUsages()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT runs_lock($1)`, accountID)
	used.queue(batch, []string{accountID})
	used.queueQuestions(batch, []string{accountID})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return 0, err
	}
	u := used.of(accountID)
	for _, use := range []runs.LimitUse{
		{Kind: runs.LimitDayCap, Limit: limits.DayCap, Used: int64(u.SpentDay), FreeAt: u.DayEnds},
		{Kind: runs.LimitMonthCap, Limit: limits.MonthCap, Used: int64(u.SpentMonth), FreeAt: u.MonthEnds},
		{Kind: runs.LimitBudget, Limit: int64(b.Limit), Used: int64(used.budgets[budgetKey{accountID, b.Name}]), FreeAt: u.MonthEnds},
	} {
		left := billing.NanoUSD(math.MaxInt64)
		if use.Limit > 0 {
			left = billing.NanoUSD(max(0, use.Limit-use.Used))
		}
		if left < least {
			return 0, &runs.LimitError{LimitUse: use, Need: int64(least), Now: used.now}
		}
		most = min(most, left)
	}
	return most, nil
}

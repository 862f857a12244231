package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// shareKey and shareBackKey are the idempotency keys of what an author gets of a run, and of taking that back.
func shareKey(runID string) string     { return kindShare + ":" + runID }
func shareBackKey(runID string) string { return kindShareBack + ":" + runID }

// share is what an author gets of a run of which so much was taken from the payer; of amount zero where that is nothing. An author who has
// no wallet gets none: it stays with the house. The transfer names no run, which is somebody else's.
func (b books) share(s Settlement, taken NanoUSD) transfer {
	amount := min(s.Share, taken)
	if amount <= 0 {
		return transfer{}
	}
	author, err := b.user(s.Author)
	if err != nil {
		return transfer{}
	}
	author.available += amount
	return transfer{
		key: shareKey(s.RunID), kind: kindShare, owner: s.Author, amount: amount, note: s.ShareNote,
		legs: []leg{{author.wallet, amount}, {systemTransit, -amount}},
	}
}

// openAuthorsDebt makes sure that who got a share of a run, if anybody did, can owe it.
func openAuthorsDebt(ctx context.Context, tx pgx.Tx, runID string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO ledger_accounts (owner, kind) SELECT owner, 'debt' FROM ledger_transfers WHERE key = $1
		ON CONFLICT (owner, kind) DO NOTHING`, shareKey(runID))
	if err != nil {
		return fmt.Errorf("open the debt of the author: %w", err)
	}
	return nil
}

// takeShareBack takes the share of a refunded run from its author, or from whom that one became part of. What was spent is owed, as after a
// dispute: nothing that costs runs until what comes in has paid it.
func (b books) takeShareBack(ctx context.Context, tx pgx.Tx, share transfer, runID string) error {
	author, err := b.user(share.owner)
	if err != nil {
		return err
	}
	back := transfer{
		key: shareBackKey(runID), kind: kindShareBack, owner: share.owner, amount: share.amount, note: share.note,
		legs: []leg{{author.debt, -share.amount}, {systemTransit, share.amount}},
	}
	if err := post(ctx, tx, []transfer{back}); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		SELECT CASE WHEN merged_root IS NULL THEN ledger_pay_debt(owner)::text ELSE ledger_merge_debt(owner, merged_root)::text END
		FROM ledger_accounts WHERE owner = $1 AND kind = 'wallet'`, share.owner)
	if err != nil {
		return fmt.Errorf("pay the debt of %s: %w", share.owner, err)
	}
	return nil
}

// Income is what an author got of the runs of one tool on one day, in UTC.
type Income struct {
	Day       time.Time
	AccountID string // whose transfers they are; of accounts that became one, the one that they came to
	Of        string // what the tool was called
	Runs      int    // that brought a share
	Earned    NanoUSD
	TakenBack NanoUSD // with refunds, on that day
}

// maxIncome bounds a list of incomes.
const maxIncome = 1000

// incomeSQL tells tools apart by the note of their shares, which is copied to what is taken back of them.
const incomeSQL = `
	SELECT date_trunc('day', created_at, 'UTC') AS day, owner::text, note, count(*) FILTER (WHERE kind = 'share')::int,
		coalesce(sum(amount) FILTER (WHERE kind = 'share'), 0)::bigint, coalesce(sum(amount) FILTER (WHERE kind = 'share_back'), 0)::bigint
	FROM ledger_transfers
	WHERE kind IN ('share', 'share_back') AND created_at >= $2 AND ($1::uuid IS NULL OR owner IN (SELECT ledger_group($1)))
	GROUP BY 1, 2, 3 ORDER BY 1 DESC, 5 DESC, 3, 2 LIMIT $3`

// Income lists what an author got since a time, or without an account all authors, by day and tool, the latest first, at most a thousand lines.
func (l *Ledger) Income(ctx context.Context, accountID string, since time.Time) ([]Income, error) {
	account, ok := uuidOrNull(accountID)
	if !ok {
		return nil, nil
	}
	rows, err := l.pool.Query(ctx, incomeSQL, account, since, maxIncome)
	if err != nil {
		return nil, fmt.Errorf("list shares: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Income])
	if err != nil {
		return nil, fmt.Errorf("list shares: %w", err)
	}
	return list, nil
}

package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Books are the totals of all accounts by kind. Every transfer sums to zero, so their sum is zero too.
type Books struct {
	Lines []BookLine
}

// BookLine is the total of all accounts of one kind: wallet and hold of users; credit, revenue, absorbed and
// transit of the house. Where credit came from stands as a negative amount.
type BookLine struct {
	Kind     string
	Accounts int64
	Total    NanoUSD
}

// Sum is what all accounts come to: zero, or somebody wrote past the ledger.
func (b Books) Sum() NanoUSD {
	var sum NanoUSD
	for _, line := range b.Lines {
		sum += line.Total
	}
	return sum
}

// Total gives the line of a kind, zero where there is none.
func (b Books) Total(kind string) NanoUSD {
	for _, line := range b.Lines {
		if line.Kind == kind {
			return line.Total
		}
	}
	return 0
}

const booksSQL = `
	SELECT kind, sum(accounts)::bigint AS accounts, sum(total)::bigint AS total FROM (
		SELECT kind, count(*) AS accounts, sum(balance) AS total FROM ledger_accounts GROUP BY kind
		UNION ALL SELECT a.kind, 0, sum(p.amount) FROM ledger_pending p JOIN ledger_accounts a ON a.id = p.account_id GROUP BY a.kind) parts
	GROUP BY kind ORDER BY array_position(ARRAY['wallet', 'hold', 'debt', 'revenue', 'absorbed', 'transit', 'credit', 'stars', 'stripe', 'discord', 'voucher'], kind)`

// Books adds up the balances of all accounts as they are kept, in one consistent view. Check is the one that
// recomputes them from the entries.
func (l *Ledger) Books(ctx context.Context) (Books, error) {
	var lines []BookLine
	err := pgx.BeginTxFunc(ctx, l.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// A second process for a hundred thousand accounts costs as much as the accounts do.
		if _, err := tx.Exec(ctx, `SELECT set_config('max_parallel_workers_per_gather', '0', true)`); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, booksSQL)
		var err error
		lines, err = pgx.CollectRows(rows, pgx.RowToStructByName[BookLine])
		return err
	})
	if err != nil {
		return Books{}, fmt.Errorf("add up the ledger: %w", err)
	}
	return Books{lines}, nil
}

// Transfer is one transfer of the whole house with its legs, which sum to zero.
type Transfer struct {
	ID        int64
	Time      time.Time
	Kind      string // grant, hold, capture, release, refund, merge_out, merge_in, takeback, gift_out, gift_in, share, share_back, ...
	AccountID string // the user it concerns
	RunID     string
	Amount    NanoUSD // what it is about, e.g. what is held or captured
	Note      string
	Legs      []Leg
}

// Leg is what a transfer did to one account.
type Leg struct {
	Account string // kind of the account, as in BookLine
	Amount  NanoUSD
}

// TransfersQuery chooses transfers; empty members choose all.
type TransfersQuery struct {
	AccountID string
	RunID     string
	Kind      string
	Before    int64 // only transfers with a smaller id, for paging
	Limit     int   // 1 to 200; 0 means 50
}

// transfersOfSQL are the newest transfers of an account or a run. A run's are found by their keys, which are indexed; its id is not.
const transfersOfSQL = `SELECT * FROM ledger_transfers
	WHERE ($1::uuid IS NULL OR owner = $1) AND ($3 = '' OR kind = $3) AND ($4::bigint = 0 OR id < $4)
		AND ($2::uuid IS NULL OR key IN ('hold:' || $2::uuid::text, 'settle:' || $2::uuid::text, 'share:' || $2::uuid::text, 'share_back:' || $2::uuid::text) OR (kind = 'refund' AND run_id = $2))
	ORDER BY id DESC LIMIT $5`

// transfersSQL are the newest transfers of the house: of each kind those that an index finds, and of these the newest.
const transfersSQL = `
	WITH RECURSIVE kinds (kind) AS ((SELECT min(kind) FROM ledger_transfers) UNION ALL SELECT (SELECT min(kind) FROM ledger_transfers WHERE kind > k.kind) FROM kinds k WHERE k.kind IS NOT NULL)
	SELECT t.* FROM kinds k, LATERAL (SELECT * FROM ledger_transfers WHERE kind = k.kind AND ($4::bigint = 0 OR id < $4) ORDER BY id DESC LIMIT $5) t
	WHERE $1::uuid IS NULL AND $2::uuid IS NULL AND ($3 = '' OR k.kind = $3) ORDER BY t.id DESC LIMIT $5`

// Transfers lists transfers of the whole house, newest first. What is no account's or run's id has none.
func (l *Ledger) Transfers(ctx context.Context, q TransfersQuery) ([]Transfer, error) {
	account, okAccount := uuidOrNull(q.AccountID)
	run, okRun := uuidOrNull(q.RunID)
	if !okAccount || !okRun {
		return nil, nil
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	which := transfersSQL
	if account != nil || run != nil {
		which = transfersOfSQL
	}
	rows, _ := l.pool.Query(ctx, `
		SELECT t.id, t.created_at, t.kind, t.owner::text, coalesce(t.run_id::text, ''), t.amount, t.note, legs.accounts, legs.amounts
		FROM (`+which+`) t
		CROSS JOIN LATERAL (
		    SELECT coalesce(array_agg(a.kind ORDER BY l.amount, a.id), '{}') AS accounts, coalesce(array_agg(l.amount ORDER BY l.amount, a.id), '{}') AS amounts
		    FROM unnest(t.accounts, t.amounts) AS l (account, amount) JOIN ledger_accounts a ON a.id = l.account) legs
		ORDER BY t.id DESC`, account, run, q.Kind, q.Before, min(q.Limit, maxEntries))
	transfers, err := pgx.CollectRows(rows, scanTransfer)
	return transfers, errs.Wrap(err, "list transfers")
}

func scanTransfer(row pgx.CollectableRow) (t Transfer, err error) {
	var accounts []string
	var amounts []NanoUSD
	err = row.Scan(&t.ID, &t.Time, &t.Kind, &t.AccountID, &t.RunID, &t.Amount, &t.Note, &accounts, &amounts)
	for i := range accounts {
		t.Legs = append(t.Legs, Leg{accounts[i], amounts[i]})
	}
	return t, err
}

// uuidOrNull is an id as a query's argument; false where it is none.
func uuidOrNull(id string) (*string, bool) {
	if id == "" {
		return nil, true
	}
	parsed, err := uuid.Parse(id)
	text := parsed.String()
	return &text, err == nil
}

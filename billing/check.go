package billing

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// CheckReport is what a recomputation of the whole ledger found. A problem is never mended by itself: it
// means that somebody wrote to the tables past the ledger.
type CheckReport struct {
	Accounts  int64 // recomputed
	Transfers int64
	OpenHolds int64   // not settled yet
	Held      NanoUSD // sum of the open holds
	Problems  []string
}

// OK reports whether the books balance.
func (r CheckReport) OK() bool { return len(r.Problems) == 0 }

// String is one line for a log.
func (r CheckReport) String() string {
	if r.OK() {
		return fmt.Sprintf("the ledger balances: %d accounts, %d transfers, %s held by %d runs", r.Accounts, r.Transfers, r.Held, r.OpenHolds)
	}
	return "the ledger does not balance: " + strings.Join(r.Problems, "; ")
}

// maxProblems bounds how many problems of one sort a report names.
const maxProblems = 20

// ledgerChecks find what must not be; each row of a result is one problem in words.
var ledgerChecks = [...]string{
	`SELECT format('account %s (%s of %s) has the balance %s, its entries sum to %s', a.id, a.kind, coalesce(a.owner::text, 'the house'), a.balance + coalesce(p.amount, 0), coalesce(e.amount, 0))
	 FROM ledger_accounts a
	 LEFT JOIN (SELECT account_id, sum(amount) AS amount FROM ledger_pending GROUP BY account_id) p ON p.account_id = a.id
	 LEFT JOIN (SELECT account_id, sum(amount) AS amount FROM ledger_entries GROUP BY account_id) e ON e.account_id = a.id
	 WHERE a.balance + coalesce(p.amount, 0) <> coalesce(e.amount, 0) LIMIT $1`,
	`SELECT format('the entries of transfer %s sum to %s', id, total)
	 FROM (SELECT id, (SELECT coalesce(sum(m), 0) FROM unnest(amounts) AS m) AS total FROM ledger_transfers) t WHERE total <> 0 LIMIT $1`,
	`SELECT format('transfer %s has an entry for the unknown account %s', e.transfer_id, e.account_id)
	 FROM ledger_entries e LEFT JOIN ledger_accounts a ON a.id = e.account_id WHERE a.id IS NULL OR e.amount IS NULL LIMIT $1`,
	`SELECT format('transfer %s of %s moves nothing', t.id, t.amount)
	 FROM ledger_transfers t WHERE t.amount <> 0 AND cardinality(t.accounts) = 0 LIMIT $1`,
	// What a transfer says is what its entries do: to the wallet, to the hold account, and to nobody else's.
	`SELECT format('transfer %s, a %s of %s, moves %s into the wallet and %s into the hold of %s, and %s elsewhere among users',
	               t.id, t.kind, t.amount, m.wallet, m.held, t.owner, m.others)
	 FROM ledger_transfers t CROSS JOIN LATERAL (
	     SELECT coalesce(sum(l.amount) FILTER (WHERE a.owner = t.owner AND a.kind = 'wallet'), 0) AS wallet,
	            coalesce(sum(l.amount) FILTER (WHERE a.owner = t.owner AND a.kind = 'hold'), 0) AS held,
	            coalesce(sum(abs(l.amount)) FILTER (WHERE a.owner <> t.owner), 0) AS others,
	            coalesce(sum(abs(l.amount)) FILTER (WHERE a.owner IS NULL), 0) AS house
	     FROM unnest(t.accounts, t.amounts) AS l (account, amount) JOIN ledger_accounts a ON a.id = l.account) m
	 WHERE m.others <> 0 OR NOT CASE t.kind
	     WHEN 'hold' THEN m.wallet = -t.amount AND m.held = t.amount AND m.house = 0
	     WHEN 'release' THEN m.wallet = t.amount AND m.held = -t.amount AND m.house = 0
	     WHEN 'merge_out' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'gift_out' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'takeback' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'debt_paid' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'return' THEN m.wallet BETWEEN -t.amount AND 0 AND m.held = 0
	     WHEN 'return_undone' THEN m.wallet BETWEEN 0 AND t.amount AND m.held = 0
	     WHEN 'dispute' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'share_back' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'debt_out' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'debt_in' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'capture' THEN m.wallet + m.held = -t.amount AND m.held <= 0 AND m.wallet >= 0
	     ELSE m.wallet = t.amount AND m.held = 0 END LIMIT $1`,
	`SELECT format('the wallet of %s, who was merged, holds %s', owner, balance) FROM ledger_accounts
	 WHERE merged_into IS NOT NULL AND kind = 'wallet' AND balance <> 0 LIMIT $1`,
	`SELECT format('%s is in transit between wallets', a.balance + coalesce(sum(p.amount), 0))
	 FROM ledger_accounts a LEFT JOIN ledger_pending p ON p.account_id = a.id
	 WHERE a.kind = 'transit' AND a.owner IS NULL GROUP BY a.id, a.balance HAVING a.balance + coalesce(sum(p.amount), 0) <> 0 LIMIT $1`,
	// What leaves a run for its author is what comes to that one, and what a refund takes back.
	`SELECT format('the %s of run %s moves %s for an author, whose transfer is of %s', c.kind, c.run_id, c.transit, coalesce(s.amount, 0))
	 FROM (SELECT kind, run_id, (SELECT coalesce(sum(abs(l.amount)), 0) FROM unnest(accounts, amounts) AS l (account, amount) WHERE l.account = 4) AS transit
	       FROM ledger_transfers WHERE kind IN ('capture', 'refund')) c
	 LEFT JOIN ledger_transfers s ON s.key = CASE c.kind WHEN 'capture' THEN 'share:' ELSE 'share_back:' END || c.run_id::text
	 WHERE c.transit <> coalesce(s.amount, 0) LIMIT $1`,
	`SELECT format('the hold of run %s is %s, its end gives up %s', h.run_id, h.amount, g.amount)
	 FROM ledger_transfers h JOIN ledger_transfers s ON s.key = 'settle:' || h.run_id::text
	 JOIN ledger_accounts a ON a.owner = h.owner AND a.kind = 'hold'
	 CROSS JOIN LATERAL (SELECT coalesce(-sum(l.amount), 0) AS amount FROM unnest(s.accounts, s.amounts) AS l (account, amount) WHERE l.account = a.id) g
	 WHERE h.kind = 'hold' AND g.amount <> h.amount LIMIT $1`,
	// Without a join: Postgres may take the open holds for one, as before its first statistics, and would read them anew for each account.
	`SELECT format('user %s holds %s, the open holds sum to %s', owner, sum(balance), sum(open))
	 FROM (SELECT owner, balance, 0 AS open FROM ledger_accounts WHERE kind = 'hold'
	       UNION ALL SELECT owner, 0, amount FROM ledger_transfers t
	       WHERE kind = 'hold' AND NOT EXISTS (SELECT FROM ledger_transfers s WHERE s.key = 'settle:' || t.run_id::text)) h
	 GROUP BY owner HAVING sum(balance) <> sum(open) LIMIT $1`,
}

// Check recomputes every balance from the entries, in one consistent view that holds up nobody. Its
// effort grows with the ledger: it is for a schedule, not for a request. An error means that the check
// itself could not run.
func (l *Ledger) Check(ctx context.Context) (CheckReport, error) {
	var report CheckReport
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, l.pool, options, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM ledger_accounts), (SELECT count(*) FROM ledger_transfers), count(*), coalesce(sum(amount), 0)::bigint
			FROM ledger_transfers t
			WHERE kind = 'hold' AND NOT EXISTS (SELECT FROM ledger_transfers s WHERE s.key = 'settle:' || t.run_id::text)`).
			Scan(&report.Accounts, &report.Transfers, &report.OpenHolds, &report.Held)
		if err != nil {
			return err
		}
		for _, check := range ledgerChecks {
			// Planned anew each time: a plan that was kept from when the books were thin is quadratic by now.
			rows, _ := tx.Query(ctx, check, pgx.QueryExecModeExec, maxProblems)
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			report.Problems = append(report.Problems, found...)
		}
		return nil
	})
	if err != nil {
		return CheckReport{}, fmt.Errorf("check the ledger: %w", err)
	}
	return report, nil
}

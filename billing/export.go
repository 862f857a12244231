package billing

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
)

// Export writes each transfer of an account's wallet, and of those that became part of it: what it was about and what it did to the wallet
// and to what is held, in dollars, and what shares in the runs of others brought by day and tool.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	err := to.CSV(ctx, tx, "shares.csv", `
		SELECT date_trunc('day', t.created_at, 'UTC')::date::text AS day, t.note AS of, count(*) FILTER (WHERE t.kind = 'share')::text AS runs,
			(coalesce(sum(t.amount) FILTER (WHERE t.kind = 'share'), 0) / 1e9)::text AS earned_usd, (coalesce(sum(t.amount) FILTER (WHERE t.kind = 'share_back'), 0) / 1e9)::text AS taken_back_usd
		FROM ledger_transfers t JOIN ledger_group($1) g ON t.owner = g WHERE t.kind IN ('share', 'share_back') GROUP BY 1, 2 ORDER BY 1, 2`, accountID)
	if err != nil {
		return err
	}
	return to.CSV(ctx, tx, "ledger.csv", `
		SELECT t.id::text AS transfer, t.created_at::text AS time, t.kind, (t.amount / 1e9)::text AS amount_usd,
			(coalesce(sum(e.amount) FILTER (WHERE a.kind = 'wallet'), 0) / 1e9)::text AS wallet_usd, (coalesce(sum(e.amount) FILTER (WHERE a.kind = 'hold'), 0) / 1e9)::text AS held_usd,
			coalesce(t.run_id::text, '') AS run, t.note
		FROM ledger_transfers t JOIN ledger_group($1) g ON t.owner = g
		CROSS JOIN LATERAL unnest(t.accounts, t.amounts) AS e (account_id, amount) JOIN ledger_accounts a ON a.id = e.account_id
		GROUP BY t.key ORDER BY t.id`, accountID)
}

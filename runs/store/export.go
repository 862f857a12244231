package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
)

// Export writes the runs of an account: their inputs, their results and what they cost. Those that their owner deleted are in the
// ledger alone.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "runs.json", `
		SELECT id, tool_id, tool_version, service, status, inputs, sources, outputs, error, quote, receipt, platform,
			(SELECT p.id FROM runs p WHERE p.id = r.parent AND p.account_id = r.account_id) AS parent, context, created_at, confirmed_at, started_at, ended_at,
			delivered_at, refunded_at, files_deleted_at
		FROM runs r WHERE account_id = $1 AND deleted_at IS NULL ORDER BY id`, accountID)
}

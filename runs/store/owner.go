package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Forgotten is what becomes of a run's row whose owner deletes it: when it ran and what it cost stays, for the books.
const Forgotten = `inputs = '{}', sources = '{}', outputs = NULL, target = NULL, context = NULL, preview = NULL, idempotency_key = NULL, deliverable = false,
	deleted_at = coalesce(deleted_at, now())`

// Forget deletes the inputs and results of the runs of an account; when they ran and what they
// cost stays. What was begun in the same moment is forgotten by Expire, once it is over.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `UPDATE runs SET deleted_at = now() WHERE account_id = $1 AND ended_at IS NULL`, accountID)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE runs SET `+Forgotten+` WHERE account_id = $1 AND ended_at IS NOT NULL`, accountID)
	}
	return errs.Wrap(err, "forget the runs of %s", accountID)
}

// Adopt gives the runs of an account to the one that it is merged into, those under way too: their holds are
// settled as they were made, see billing.Ledger.Merge. It may be repeated. Of two runs with one idempotency key the
// survivor's keeps it. The locks are in the order of all writers: runs before accounts.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`SELECT id FROM runs WHERE account_id = $1 ORDER BY id FOR UPDATE`, []any{from}},
		{LockAccounts, []any{[]string{from, into}}},
		{`UPDATE runs f SET idempotency_key = NULL FROM runs i WHERE f.account_id = $1 AND i.account_id = $2 AND i.idempotency_key = f.idempotency_key`, []any{from, into}},
		{`UPDATE runs SET account_id = $2 WHERE account_id = $1`, []any{from, into}},
	} {
		if _, err := tx.Exec(ctx, step.sql, step.args...); err != nil {
			return fmt.Errorf("give the runs of %s to %s: %w", from, into, err)
		}
	}
	return nil
}

// MoveChat gives the runs that were asked for in a chat to the id under which its platform goes on with it: their results go there, and they are
// known there as runs of the chat.
func MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	_, err := tx.Exec(ctx, `
		UPDATE runs SET target = jsonb_set(target::jsonb, '{chat,chat}', to_jsonb($3::text))::json
		WHERE platform = $1 AND target::text LIKE '%"' || $2 || '"%' AND target #>> '{chat,chat}' = $2`, platform, from, to)
	return errs.Wrap(err, "move the runs of the %s chat %s to %s", platform, from, to)
}

// MoveSession lets runs under way go on in a conversation that has got another name.
func MoveSession(ctx context.Context, tx pgx.Tx, from, to string) error {
	_, err := tx.Exec(ctx, `
		UPDATE runs SET context = jsonb_set(context::jsonb, '{sessionId}', to_jsonb($2::text))::json
		WHERE ended_at IS NULL AND context ->> 'sessionId' = $1`, from, to)
	return errs.Wrap(err, "move the runs of the conversation %s to %s", from, to)
}

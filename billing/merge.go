package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// ErrMergedElsewhere is returned by Merge where either wallet went to somebody else before.
var ErrMergedElsewhere = errors.New("the wallet was merged into another one")

// Welcome grants the sign-up credit, once for each account. Zero grants nothing.
func (l *Ledger) Welcome(ctx context.Context, tx pgx.Tx, accountID string, amount NanoUSD) error {
	const key, note = "signup:", "sign-up credit"
	if amount == 0 {
		return nil
	}
	var welcomed bool
	if amount > 0 && amount <= MaxAmount {
		err := tx.QueryRow(ctx, welcomeSQL, accountID, "grant:"+key+accountID, amount, note).Scan(&welcomed)
		if err != nil {
			return fmt.Errorf("welcome %s: %w", accountID, err)
		}
	}
	if welcomed {
		return nil
	}
	return l.Grant(ctx, tx, accountID, amount, key+accountID, note) // says what is in the way
}

// welcomeSQL is Grant in one statement, for a wallet that was not welcomed before: everybody who writes for the first time
// waits for it.
const welcomeSQL = `
	WITH wallet AS (
		UPDATE ledger_accounts SET balance = balance + $3 WHERE owner = $1 AND kind = 'wallet' AND merged_into IS NULL
			AND NOT EXISTS (SELECT FROM ledger_transfers WHERE key = $2)
		RETURNING id),
	posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, amount, note, accounts, amounts)
		SELECT $2, 'grant', $1, $3, $4, ARRAY[id, 1], ARRAY[$3, -$3::bigint] FROM wallet),
	gathered AS (
		INSERT INTO ledger_pending (account_id, amount) SELECT 1, -$3::bigint FROM wallet)
	SELECT EXISTS (SELECT FROM wallet)`

// Merge makes one wallet of two: all that from can spend moves to into. Holds stay where they are, and what
// they give back follows when their runs end, as does whatever else comes to from later: a refund, a grant
// that was on its way.
//
// A person gets one sign-up credit. Where both had one, what is unused of from's goes back to the house; runs
// are taken to be paid from the sign-up credit first. A repeat does nothing; wallets that are not there yet are
// made. The rules are in the migration 0060_ledger_merge.sql.
func (l *Ledger) Merge(ctx context.Context, tx pgx.Tx, from, into string) error {
	for _, owner := range []string{from, into} {
		if err := l.EnsureWallet(ctx, tx, owner); err != nil {
			return err
		}
	}
	return errs.Wrap(mergeWallets(ctx, tx, from, into), "merge the wallet of %s into that of %s", from, into)
}

func mergeWallets(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `SELECT id FROM ledger_accounts WHERE owner = ANY ($1::uuid[]) ORDER BY owner, id FOR UPDATE`, []string{from, into})
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		UPDATE ledger_accounts f SET merged_into = i.owner, merged_root = i.owner,
			credit_back = CASE WHEN f.merged_into IS NULL THEN ledger_welcomed(i.owner) ELSE f.credit_back END
		FROM ledger_accounts i
		WHERE f.owner = $1 AND i.owner = $2 AND i.kind = 'wallet' AND i.merged_into IS NULL AND (f.merged_into IS NULL OR f.merged_into = i.owner)`, from, into)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrMergedElsewhere
	}
	if err != nil {
		return err
	}
	if _, err = tx.Exec(ctx, `UPDATE ledger_accounts SET merged_root = $2 WHERE merged_root = $1`, from, into); err != nil {
		return err
	}
	if _, err = tx.Exec(ctx, `SELECT ledger_sweep($1)`, from); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `SELECT ledger_merge_debt($1, $2)`, from, into)
	return err
}

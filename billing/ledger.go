package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Errors of the ledger.
var (
	// ErrNoWallet is returned for a user whose wallet was never made (Ledger.EnsureWallet).
	ErrNoWallet = errors.New("the user has no wallet")
	// ErrKeyReused is returned by Grant for a key that stands for another grant.
	ErrKeyReused = errors.New("the idempotency key stands for another transfer")
	// ErrNothingCaptured is returned by Refund for a run that cost nothing.
	ErrNothingCaptured = errors.New("nothing was captured for the run")
)

// ErrInsufficient says that a wallet does not cover an amount. It is a value, found with errors.As.
type ErrInsufficient struct {
	Have, Need NanoUSD
}

// Error names both amounts.
func (e ErrInsufficient) Error() string {
	return fmt.Sprintf("not enough credit: this needs %s, there is %s", e.Need, e.Have)
}

// Ledger is the book of all money. Its tables and the functions that post to them are in the migration
// 0020_ledger.sql; what composes with other work takes that work's transaction.
//
// A hold moves money from a user's wallet to the same user's hold account; Capture takes the cost from
// there and gives the rest back, Release gives back all. Only one of the two ever happens to a hold.
// Every operation is idempotent by its key (of a hold or its end: the run's id), and a repeat does
// nothing. Money appears only through Grant and Refund.
type Ledger struct {
	pool *pgxpool.Pool
}

// NewLedger gives the ledger in pool's database.
func NewLedger(pool *pgxpool.Pool) *Ledger { return &Ledger{pool: pool} }

// EnsureWallet makes the user's wallet where there is none.
func (l *Ledger) EnsureWallet(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO ledger_accounts (owner, kind) VALUES ($1, 'wallet'), ($1, 'hold')
		ON CONFLICT (owner, kind) DO NOTHING`, accountID)
	if err != nil {
		return fmt.Errorf("make the wallet of %s: %w", accountID, err)
	}
	return nil
}

// Grant gives amount, which must be positive, to the user's wallet. The key is the caller's; a repeat
// with the same one grants nothing, and is ErrKeyReused when user or amount differ.
func (l *Ledger) Grant(ctx context.Context, tx pgx.Tx, accountID string, amount NanoUSD, key, note string) error {
	if amount <= 0 {
		return fmt.Errorf("grant to %s: the amount %s is not positive", accountID, amount)
	}
	if key == "" {
		return fmt.Errorf("grant to %s: the idempotency key is empty", accountID)
	}
	var first NanoUSD
	if err := tx.QueryRow(ctx, `SELECT ledger_grant($1, $2, $3, $4)`, accountID, amount, key, note).Scan(&first); err != nil {
		return fmt.Errorf("grant to %s: %w", accountID, ledgerError(err))
	}
	if first != amount {
		return fmt.Errorf("grant to %s: %w: %q", accountID, ErrKeyReused, key)
	}
	return nil
}

// Hold sets amount aside for the run, once. A wallet that does not cover it is ErrInsufficient, and
// nothing has changed then. A hold of zero is no hold.
func (l *Ledger) Hold(ctx context.Context, tx pgx.Tx, accountID, runID string, amount NanoUSD) error {
	if amount < 0 {
		return fmt.Errorf("hold for run %s: the amount %s is negative", runID, amount)
	}
	var have *NanoUSD
	if err := tx.QueryRow(ctx, `SELECT ledger_hold($1, $2, $3)`, accountID, runID, amount).Scan(&have); err != nil {
		return fmt.Errorf("hold for run %s: %w", runID, ledgerError(err))
	}
	if have != nil {
		return fmt.Errorf("hold for run %s: %w", runID, ErrInsufficient{Have: *have, Need: amount})
	}
	return nil
}

// Capture settles the run's hold: it takes amount, at most what is held, and releases the rest. What
// the run came to beyond the hold is booked as the operator's loss. A hold that is settled, or a run
// without one, stays as it is.
func (l *Ledger) Capture(ctx context.Context, tx pgx.Tx, runID string, amount NanoUSD) error {
	if amount < 0 {
		return fmt.Errorf("capture of run %s: the amount %s is negative", runID, amount)
	}
	if _, err := tx.Exec(ctx, `SELECT ledger_settle($1, $2, '')`, runID, amount); err != nil {
		return fmt.Errorf("capture of run %s: %w", runID, ledgerError(err))
	}
	return nil
}

// Release settles the run's hold by giving all of it back; reason is shown in the statement. A hold that
// is settled, or a run without one, stays as it is.
func (l *Ledger) Release(ctx context.Context, tx pgx.Tx, runID, reason string) error {
	if _, err := tx.Exec(ctx, `SELECT ledger_settle($1, 0, $2)`, runID, reason); err != nil {
		return fmt.Errorf("release of run %s: %w", runID, ledgerError(err))
	}
	return nil
}

// Refund gives back all that the run cost, once whatever the keys. ErrNothingCaptured: it cost nothing.
func (l *Ledger) Refund(ctx context.Context, tx pgx.Tx, runID, key, note string) error {
	var amount *NanoUSD
	if err := tx.QueryRow(ctx, `SELECT ledger_refund($1, $2, $3)`, runID, key, note).Scan(&amount); err != nil {
		return fmt.Errorf("refund of run %s: %w", runID, ledgerError(err))
	}
	if amount == nil {
		return fmt.Errorf("refund of run %s: %w", runID, ErrNothingCaptured)
	}
	return nil
}

// Balance of a wallet: what can be spent and what is held for running work.
type Balance struct {
	Available NanoUSD
	Held      NanoUSD
}

// Balance gives what the user can spend and what is held. A user without a wallet has nothing.
func (l *Ledger) Balance(ctx context.Context, accountID string) (Balance, error) {
	var b Balance
	err := l.pool.QueryRow(ctx, `
		SELECT coalesce(sum(balance) FILTER (WHERE kind = 'wallet'), 0)::bigint,
		       coalesce(sum(balance) FILTER (WHERE kind = 'hold'), 0)::bigint
		FROM ledger_accounts WHERE owner = $1`, accountID).Scan(&b.Available, &b.Held)
	if err != nil {
		return Balance{}, fmt.Errorf("balance of %s: %w", accountID, err)
	}
	return b, nil
}

// Entry is one line of a user's statement: a transfer and what it did to the user's money.
type Entry struct {
	ID        int64     `json:"id"`
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind"` // grant, hold, capture, release, refund
	RunID     string    `json:"runId,omitempty"`
	Available NanoUSD   `json:"availableNanoUsd"` // change of what can be spent
	Held      NanoUSD   `json:"heldNanoUsd"`      // change of what is held
	Note      string    `json:"note,omitempty"`
}

// maxEntries bounds one page of a statement.
const maxEntries = 200

// Entries gives the user's statement, newest first: at most limit entries (200 at most) with an ID below
// before; zero starts at the newest.
func (l *Ledger) Entries(ctx context.Context, accountID string, before int64, limit int) ([]Entry, error) {
	rows, err := l.pool.Query(ctx, `
		SELECT t.id, t.created_at AS time, t.kind, coalesce(t.run_id::text, '') AS run_id,
		       coalesce(sum(e.amount) FILTER (WHERE a.kind = 'wallet'), 0)::bigint AS available,
		       coalesce(sum(e.amount) FILTER (WHERE a.kind = 'hold'), 0)::bigint AS held, t.note
		FROM (SELECT id, created_at, kind, run_id, owner, note FROM ledger_transfers
		      WHERE owner = $1 AND ($2::bigint = 0 OR id < $2) ORDER BY id DESC LIMIT $3) t
		LEFT JOIN ledger_entries e ON e.transfer_id = t.id
		LEFT JOIN ledger_accounts a ON a.id = e.account_id AND a.owner = t.owner
		GROUP BY t.id, t.created_at, t.kind, t.run_id, t.note ORDER BY t.id DESC`,
		accountID, before, min(max(limit, 1), maxEntries))
	if err != nil {
		return nil, fmt.Errorf("statement of %s: %w", accountID, err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[Entry])
	if err != nil {
		return nil, fmt.Errorf("statement of %s: %w", accountID, err)
	}
	return entries, nil
}

// RollUp moves what has gathered for the system accounts into their balances. It may run at any time and
// on any number of machines.
func (l *Ledger) RollUp(ctx context.Context) error {
	_, err := l.pool.Exec(ctx, `
		WITH taken AS (DELETE FROM ledger_pending RETURNING account_id, amount),
		     sums AS (SELECT account_id, sum(amount)::bigint AS amount FROM taken GROUP BY account_id)
		UPDATE ledger_accounts a SET balance = a.balance + s.amount FROM sums s WHERE a.id = s.account_id`)
	if err != nil {
		return fmt.Errorf("roll up the ledger's system accounts: %w", err)
	}
	return nil
}

// ledgerError gives the database's refusals their names.
func ledgerError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "P0002" {
		return ErrNoWallet
	}
	return err
}

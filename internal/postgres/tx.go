package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// txAttempts is how often InTx tries a transaction that loses against others.
	txAttempts = 10
	// txPause is the mean pause before the second attempt; it doubles with each.
	txPause = 2 * time.Millisecond
	// txPauseMax bounds that.
	txPauseMax = 200 * time.Millisecond
)

// beginner is a pool or a transaction.
type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx calls f in a transaction, which it commits when f returns nil and rolls
// back otherwise. When Postgres ends the transaction to resolve a conflict
// with another one (serialization failure, deadlock), f is called again in a
// new one, up to 10 times; so f must have no effects besides those through tx.
// f's own error comes back as it is, findable with errors.Is and errors.As.
//
// Within another transaction, in the place of a pool, it is a part of that.
func InTx(ctx context.Context, pool beginner, f func(tx pgx.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := pgx.BeginFunc(ctx, pool, f)
		if !isConflict(err) {
			return err
		}
		if attempt == txAttempts {
			return fmt.Errorf("transaction lost against others %d times: %w", attempt, err)
		}
		if waitErr := backOff(ctx, attempt); waitErr != nil {
			return errors.Join(waitErr, err)
		}
	}
}

// isConflict reports whether Postgres ended the transaction for the sake of
// another one, so that trying again can help.
func isConflict(err error) bool {
	const serializationFailure, deadlockDetected = "40001", "40P01"
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (pgErr.Code == serializationFailure || pgErr.Code == deadlockDetected)
}

// backOff waits a random time, so that two who collided do not meet again.
func backOff(ctx context.Context, attempt int) error {
	mean := min(txPause<<(attempt-1), txPauseMax)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(rand.N(2 * mean)):
		return nil
	}
}

package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
)

// FlushWrites makes the changes in one transaction: at once where nothing is to be asked first, and else, or where
// the database finds that something should have been, with a close look.
func (s *Writer) FlushWrites(ctx context.Context, writes []*Write) error {
	c := sortWrites(writes)
	batch, err := s.unseen(ctx, &c)
	if err == nil && batch != nil {
		err = send(ctx, s.Config.Pool, batch)
	}
	if batch == nil && err == nil || isRefused(err) {
		err = s.onConnection(ctx, func(conn *pgx.Conn) error { return s.WriteTogether(ctx, conn, writes, true) })
	}
	if !isConflict(err) {
		return err
	}
	return postgres.InTx(ctx, s.Config.Pool, func(tx pgx.Tx) error { return s.WriteTogether(ctx, tx, writes, false) })
}

// isRefused reports whether the database itself ended a transaction: nothing of it is there.
func isRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused)
}

// isConflict reports whether Postgres ended a transaction for the sake of another.
func isConflict(err error) bool {
	const serializationFailure, deadlockDetected = "40001", "40P01"
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == serializationFailure || refused.Code == deadlockDetected)
}

// onConnection lets f make a transaction whose begin and end travel with its statements.
func (s *Writer) onConnection(ctx context.Context, f func(*pgx.Conn) error) error {
	return s.Config.Pool.AcquireFunc(ctx, func(pooled *pgxpool.Conn) error {
		conn := pooled.Conn()
		err := f(conn)
		if err == nil || conn.IsClosed() || conn.PgConn().TxStatus() == 'I' {
			return err
		}
		if _, undo := conn.Exec(ctx, `ROLLBACK`); undo != nil { // the pool closes the connection, which undoes it too
			return fmt.Errorf("%w (undo it: %v)", err, undo)
		}
		return err
	})
}

// unseen makes of changes that need nothing to be asked first a batch, which Postgres makes one transaction of; nil: they do. What
// it takes for granted it has the database insist on: that the runs are not over and still their account's, that
// no request repeats another, and all about the money, see billing.Ledger.PostUnseen. The money comes last, since
// who wants the same accounts waits from there to the end.
func (s *Writer) unseen(ctx context.Context, c *changes) (*pgx.Batch, error) {
	if s.Config.PerAccount > 0 || slices.ContainsFunc(c.accepts, (*Acceptance).limited) {
		return nil, nil
	}
	batch := &pgx.Batch{}
	batch.Queue(keyByKey)
	if err := s.queueEnds(batch, c.finishes); err != nil {
		return nil, err
	}
	s.queueAccepts(batch, c.accepts)
	if ok, err := s.Config.Ledger.PostUnseen(ctx, c.moves(nil), batch); err != nil || !ok {
		return nil, err
	}
	if err := s.failpoints(c); err != nil {
		return nil, err
	}
	return batch, nil
}

// WriteTogether makes the changes: runs' rows and money, in two round trips whatever their number (and
// one for each end of a run where accounts have limits). whole says that the transaction begins and ends here;
// otherwise on is a transaction. Locks are taken in one order, here and everywhere: rows of runs by id, then
// accounts by owner. So transactions wait for each other but never in a circle.
func (s *Writer) WriteTogether(ctx context.Context, on sender, writes []*Write, whole bool) error {
	c := sortWrites(writes)
	locks, rows := &pgx.Batch{}, &pgx.Batch{}
	if whole {
		locks.Queue(`BEGIN`)
	}
	c.queueLocks(locks)
	admission := s.queueAdmission(locks, &c)
	moves := c.moves(admission.used)
	if whole {
		locks.Queue(keyByKey) // not before: what an account has used is read by a plan that knows how much there is
	}
	moves.Lock(locks)
	if err := send(ctx, on, locks); err != nil {
		return err
	}
	c.finishes = slices.DeleteFunc(c.finishes, func(f *Finish) bool { return !f.Ended })
	admission.decide(s.Config.PerAccount, c.accepts)
	c.accepts = slices.DeleteFunc(c.accepts, func(a *Acceptance) bool { return a.Refused != nil })
	if err := c.post(moves, admission.used, rows); err != nil {
		return err
	}
	if err := s.queueRows(rows, &c); err != nil {
		return err
	}
	if err := s.promote(ctx, on, &rows, c.finishes); err != nil {
		return err
	}
	if err := s.failpoints(&c); err != nil {
		return err
	}
	if whole {
		rows.Queue(`COMMIT`).Exec(isCommitted)
	}
	if err := send(ctx, on, rows); err != nil {
		return err
	}
	s.limiter.foldUnsummed(admission.used)
	return nil
}

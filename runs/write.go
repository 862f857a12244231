package runs

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/internal/postgres"
)

// writer writes beginnings and ends of runs, together where they come together.
type writer struct {
	*env
	limiter *limiter
	writes  *group.Group[write]
	marks   *group.Group[string] // ids of runs that were delivered
}

func newWriter(e *env, l *limiter) *writer {
	s := &writer{env: e, limiter: l}
	s.writes = group.New(groupSize, s.flushWrites, writeLanes(runtime.GOMAXPROCS(0))...)
	s.writes.Place = s.placeOf
	s.marks = group.New(marksSize, s.flushMarks, group.Lane{Gather: gatherMarks})
	return s
}

// write is one change of a run on its way into the database: one of the members is set.
//
// Runs begin and end in lanes of their own, and what concerns one account in one transaction at a time: transactions that
// move the money of one account wait for each other until the first is on the disk.
type write struct {
	accept *acceptance
	finish *finish
}

// writeLanes gives pairs of lanes, for runs that begin and for runs that end: about as many transactions may be under way as there are
// processors, but at least two and at most four. Each pair has its own accounts.
func writeLanes(processors int) (lanes []group.Lane) {
	for range min(max(processors/2, 1), 2) {
		lanes = append(lanes, group.Lane{Regulars: true}, group.Lane{Gather: gatherEnds})
	}
	return lanes
}

// placeOf gives a write's lane and account.
func (s *writer) placeOf(w *write) (lane int, account string) {
	account = w.accountID()
	lane = spread(account, s.writes.Lanes()/2) * 2
	if w.finish != nil {
		lane++
	}
	return lane, account
}

// spread gives an id one of so many places, always the same.
func spread(id string, places int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(places))
}

func (w *write) accountID() string {
	if w.accept != nil {
		return w.accept.record.AccountID
	}
	return w.finish.record.AccountID
}

// flushWrites makes the changes in one transaction: at once where nothing is to be asked first, and else, or where
// the database finds that something should have been, with a close look.
func (s *writer) flushWrites(ctx context.Context, writes []*write) error {
	c := sortWrites(writes)
	batch, err := s.unseen(ctx, &c)
	if err == nil && batch != nil {
		err = send(ctx, s.config.Pool, batch)
	}
	if batch == nil && err == nil || isRefused(err) {
		err = s.onConnection(ctx, func(conn *pgx.Conn) error { return s.writeTogether(ctx, conn, writes, true) })
	}
	if !isConflict(err) {
		return err
	}
	return postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error { return s.writeTogether(ctx, tx, writes, false) })
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
func (s *writer) onConnection(ctx context.Context, f func(*pgx.Conn) error) error {
	return s.config.Pool.AcquireFunc(ctx, func(pooled *pgxpool.Conn) error {
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

// keyByKey makes one plan do for any number of changes, for the transaction: the statements below find each row by its
// key, and anything else that looks cheaper to the planner only is so while the tables are small. A plan for each set
// of changes would take longer than the changes themselves.
const keyByKey = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

// unseen makes of changes that need nothing to be asked first a batch, which Postgres makes one transaction of; nil: they do. What
// it takes for granted it has the database insist on: that the runs are not over and still their account's, that
// no request repeats another, and all about the money, see billing.Ledger.PostUnseen. The money comes last, since
// who wants the same accounts waits from there to the end.
func (s *writer) unseen(ctx context.Context, c *changes) (*pgx.Batch, error) {
	if s.config.PerAccount > 0 || slices.ContainsFunc(c.accepts, (*acceptance).limited) {
		return nil, nil
	}
	batch := &pgx.Batch{}
	batch.Queue(keyByKey)
	if err := s.queueEnds(batch, c.finishes); err != nil {
		return nil, err
	}
	s.queueAccepts(batch, c.accepts)
	if ok, err := s.config.Ledger.PostUnseen(ctx, c.moves(), batch); err != nil || !ok {
		return nil, err
	}
	if err := s.failpoints(c); err != nil {
		return nil, err
	}
	return batch, nil
}

// changes are writes by sort.
type changes struct {
	accepts  []*acceptance // those that are refused or repeated drop out on the way
	finishes []*finish     // those that are over drop out on the way
}

func sortWrites(writes []*write) (c changes) {
	for _, w := range writes {
		if w.accept != nil {
			w.accept.repeats, w.accept.beside, w.accept.refused, w.accept.record.waiting = "", nil, nil, false
			c.accepts = append(c.accepts, w.accept)
		} else {
			c.finishes = append(c.finishes, w.finish)
		}
	}
	// Rows of runs are locked in the order of their ids.
	slices.SortFunc(c.finishes, func(a, b *finish) int { return strings.Compare(a.record.ID, b.record.ID) })
	return c
}

// sender is a pool, a connection or a transaction of it.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// writeTogether makes the changes: runs' rows and money, in two round trips whatever their number (and
// one for each end of a run where accounts have limits). whole says that the transaction begins and ends here;
// otherwise on is a transaction. Locks are taken in one order, here and everywhere: rows of runs by id, then
// accounts by owner. So transactions wait for each other but never in a circle.
func (s *writer) writeTogether(ctx context.Context, on sender, writes []*write, whole bool) error {
	c := sortWrites(writes)
	moves := c.moves()
	locks, rows := &pgx.Batch{}, &pgx.Batch{}
	if whole {
		locks.Queue(`BEGIN`)
	}
	c.queueLocks(locks)
	admission := s.queueAdmission(locks, &c)
	moves.Lock(locks)
	if err := send(ctx, on, locks); err != nil {
		return err
	}
	c.finishes = slices.DeleteFunc(c.finishes, func(f *finish) bool { return !f.ended })
	admission.decide(s.config.PerAccount, c.accepts)
	c.accepts = slices.DeleteFunc(c.accepts, func(a *acceptance) bool { return a.refused != nil })
	if err := c.post(moves, rows); err != nil {
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
	return send(ctx, on, rows)
}

// isCommitted makes sure of the end of a transaction: Postgres answers the commit of a failed one with its undoing.
func isCommitted(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}

func send(ctx context.Context, on sender, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	if err := on.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write runs: %w", err)
	}
	return nil
}

// markSQL marks runs as delivered; see endSQL for how it finds them. One that moved in between was changed by its owner
// or an operator: it is looked for again.
const markSQL = `
	UPDATE runs r SET delivered_at = $2 FROM (SELECT unnest($1::text[]) AS id) d
		CROSS JOIN LATERAL (SELECT ctid AS place FROM runs WHERE id = d.id::uuid LIMIT 1) f
	WHERE r.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN r.ended_at IS NOT NULL AND r.delivered_at IS NULL END`

// flushMarks marks runs as delivered.
func (s *writer) flushMarks(ctx context.Context, runIDs []*string) error {
	ids := make([]string, len(runIDs))
	for i, id := range runIDs {
		ids[i] = *id
	}
	slices.Sort(ids) // rows of runs are locked in this order
	ids = slices.Compact(ids)
	var marked int64
	batch := &pgx.Batch{}
	batch.Queue(keyByKey)
	batch.Queue(markSQL, ids, s.now()).Exec(func(tag pgconn.CommandTag) error {
		marked = tag.RowsAffected()
		return nil
	})
	err := send(ctx, s.config.Pool, batch)
	if err == nil && marked < int64(len(ids)) {
		_, err = s.config.Pool.Exec(ctx, `
			UPDATE runs SET delivered_at = $2 WHERE id = ANY ($1::text[]::uuid[]) AND ended_at IS NOT NULL AND delivered_at IS NULL`, ids, s.now())
	}
	if err != nil {
		return fmt.Errorf("mark deliveries: %w", err)
	}
	return nil
}

// queueLocks locks the rows of runs that are there, and finds which are not over and whose they are by now.
func (c *changes) queueLocks(batch *pgx.Batch) {
	if len(c.finishes) == 0 {
		return
	}
	byID := make(map[string]*finish, len(c.finishes))
	ids := make([]string, 0, len(c.finishes))
	for _, f := range c.finishes {
		f.ended, f.deliver = false, false
		ids, byID[f.record.ID] = append(ids, f.record.ID), f
	}
	var id, account string
	var isOpen bool
	batch.Queue(`SELECT id::text, account_id::text, ended_at IS NULL FROM runs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`, ids).
		Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&id, &account, &isOpen}, func() error {
				if f := byID[id]; f != nil {
					f.record.AccountID, f.ended = account, isOpen
				}
				return nil
			})
			return err
		})
}

// moves is the money that the changes may move.
func (c *changes) moves() *billing.Moves {
	m := &billing.Moves{}
	for _, f := range c.finishes {
		if f.record.Quote.High > 0 || f.record.Receipt.FullCost() > 0 {
			m.Settlements = append(m.Settlements, billing.Settlement{
				AccountID: f.record.AccountID, RunID: f.record.ID, Cost: f.record.Receipt.FullCost(), Held: f.record.Quote.High, Note: f.reason,
			})
		}
	}
	for _, a := range c.accepts {
		if a.record.Status == StatusQueued {
			m.Holds = append(m.Holds, billing.HoldRequest{AccountID: a.record.AccountID, RunID: a.record.ID, Amount: a.record.Quote.High})
		}
	}
	return m
}

// post ends the holds of the runs that end and makes those of the runs that begin. Those that no wallet
// covers, and those that were repeated, are no longer among the changes then.
func (c *changes) post(moves *billing.Moves, batch *pgx.Batch) error {
	c.accepts = slices.DeleteFunc(c.accepts, func(a *acceptance) bool { return a.repeats != "" })
	now := c.moves()
	moves.Settlements, moves.Holds = now.Settlements, now.Holds
	refused, err := moves.Post(batch)
	if err != nil {
		return err
	}
	i := 0
	for _, a := range c.accepts {
		if a.record.Status == StatusQueued {
			a.refused = refused[i]
			i++
		}
	}
	c.accepts = slices.DeleteFunc(c.accepts, func(a *acceptance) bool { return a.refused != nil })
	return nil
}

// queueRows adds the writing of the runs' rows, one statement for each sort of change.
func (s *writer) queueRows(batch *pgx.Batch, c *changes) error {
	s.queueAccepts(batch, c.accepts)
	return s.queueEnds(batch, c.finishes)
}

func (s *writer) failpoints(c *changes) error {
	if len(c.accepts) > 0 {
		if err := s.failpoint("accept"); err != nil {
			return err
		}
	}
	if len(c.finishes) > 0 {
		return s.failpoint("finishing")
	}
	return nil
}

// Package write writes the beginnings and ends of runs into the database. Rows, holds and captures of all runs that begin or end at
// the same moment are one transaction, within the limits of their accounts.
package write

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
)

// Writer writes beginnings and ends of runs, together where they come together.
type Writer struct {
	*store.Env
	limiter *Limiter
	Writes  *group.Group[Write]
	marks   *group.Group[string] // ids of runs that were delivered
}

// NewWriter makes a Writer.
func NewWriter(e *store.Env, l *Limiter) *Writer {
	s := &Writer{Env: e, limiter: l}
	s.Writes = group.New(store.GroupSize, s.FlushWrites, WriteLanes(runtime.GOMAXPROCS(0))...)
	s.Writes.Place = s.PlaceOf
	s.marks = group.New(marksSize, s.flushMarks, group.Lane{Gather: gatherMarks})
	return s
}

// Write is one change of a run on its way into the database: one of the members is set.
//
// Runs begin and end in lanes of their own, and what concerns one account in one transaction at a time: transactions that
// move the money of one account wait for each other until the first is on the disk.
type Write struct {
	Accept *Acceptance
	Finish *Finish
}

// WriteLanes gives pairs of lanes, for runs that begin and for runs that end: about as many transactions may be under way as there are
// processors, but at least two and at most four. Each pair has its own accounts.
func WriteLanes(processors int) (lanes []group.Lane) {
	for range min(max(processors/2, 1), 2) {
		lanes = append(lanes, group.Lane{Regulars: true}, group.Lane{Gather: gatherEnds})
	}
	return lanes
}

// PlaceOf gives a write's lane and account.
func (s *Writer) PlaceOf(w *Write) (lane int, account string) {
	account = w.accountID()
	lane = store.Spread(account, s.Writes.Lanes()/2) * 2
	if w.Finish != nil {
		lane++
	}
	return lane, account
}

func (w *Write) accountID() string {
	if w.Accept != nil {
		return w.Accept.Record.AccountID
	}
	return w.Finish.Record.AccountID
}

// keyByKey makes one plan do for any number of changes, for the transaction: the statements below find each row by its
// key, and anything else that looks cheaper to the planner only is so while the tables are small. A plan for each set
// of changes would take longer than the changes themselves.
const keyByKey = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

// changes are writes by sort.
type changes struct {
	accepts  []*Acceptance // those that are refused or repeated drop out on the way
	finishes []*Finish     // those that are over drop out on the way
}

func sortWrites(writes []*Write) (c changes) {
	for _, w := range writes {
		if w.Accept != nil {
			w.Accept.Repeats, w.Accept.Beside, w.Accept.Refused, w.Accept.Record.Waiting = "", nil, nil, false
			c.accepts = append(c.accepts, w.Accept)
		} else {
			c.finishes = append(c.finishes, w.Finish)
		}
	}
	// Rows of runs are locked in the order of their ids.
	slices.SortFunc(c.finishes, func(a, b *Finish) int { return strings.Compare(a.Record.ID, b.Record.ID) })
	return c
}

// sender is a pool, a connection or a transaction of it.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
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
	return errs.Wrap(on.SendBatch(ctx, batch).Close(), "write runs")
}

// markSQL marks runs as delivered; see endSQL for how it finds them. One that moved in between was changed by its owner
// or an operator: it is looked for again. What is without a claim by then was not delivered at once, and leaves the index of those.
const markSQL = `
	UPDATE runs r SET delivered_at = $2, claimed_by = coalesce(r.claimed_by, $3) FROM (SELECT unnest($1::text[]) AS id) d
		CROSS JOIN LATERAL (SELECT ctid AS place FROM runs WHERE id = d.id::uuid LIMIT 1) f
	WHERE r.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN r.ended_at IS NOT NULL AND r.delivered_at IS NULL END`

// flushMarks marks runs as delivered.
func (s *Writer) flushMarks(ctx context.Context, runIDs []*string) error {
	ids := make([]string, len(runIDs))
	for i, id := range runIDs {
		ids[i] = *id
	}
	slices.Sort(ids) // rows of runs are locked in this order
	ids = slices.Compact(ids)
	var marked int64
	batch := &pgx.Batch{}
	batch.Queue(keyByKey)
	batch.Queue(markSQL, ids, s.Now(), s.Instance).Exec(func(tag pgconn.CommandTag) error {
		marked = tag.RowsAffected()
		return nil
	})
	err := send(ctx, s.Config.Pool, batch)
	if err == nil && marked < int64(len(ids)) {
		_, err = s.Config.Pool.Exec(ctx, `
			UPDATE runs SET delivered_at = $2, claimed_by = coalesce(claimed_by, $3) WHERE id = ANY ($1::text[]::uuid[]) AND ended_at IS NOT NULL AND delivered_at IS NULL`, ids, s.Now(), s.Instance)
	}
	return errs.Wrap(err, "mark deliveries")
}

// queueLocks locks the rows of runs that are there, and finds which are not over and whose they are by now.
func (c *changes) queueLocks(batch *pgx.Batch) {
	if len(c.finishes) == 0 {
		return
	}
	byID := make(map[string]*Finish, len(c.finishes))
	ids := make([]string, 0, len(c.finishes))
	for _, f := range c.finishes {
		f.Ended, f.Deliver = false, false
		ids, byID[f.Record.ID] = append(ids, f.Record.ID), f
	}
	var id, account string
	var isOpen bool
	batch.Queue(`SELECT id::text, account_id::text, ended_at IS NULL FROM runs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`, ids).
		Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&id, &account, &isOpen}, func() error {
				if f := byID[id]; f != nil {
					f.Record.AccountID, f.Ended = account, isOpen
				}
				return nil
			})
			return err
		})
}

// moves is the money that the changes may move; used says who pays in groups.
func (c *changes) moves(used *usages) *billing.Moves {
	m := &billing.Moves{}
	for _, f := range c.finishes {
		if f.Record.Quote.Held() > 0 || f.Record.Receipt.FullCost() > 0 {
			m.Settlements = append(m.Settlements, settlement(f))
		}
	}
	for _, a := range c.accepts {
		if a.Record.Status == runs.StatusQueued {
			m.Holds = append(m.Holds, used.holdFor(&a.Record, a.Party, a.Limits))
		}
	}
	return m
}

// settlement is the end of a run's hold.
func settlement(f *Finish) billing.Settlement {
	r := &f.Record
	s := billing.Settlement{AccountID: r.PaidFrom(), RunID: r.ID, Cost: r.Receipt.FullCost(), Held: r.Quote.Held(), Note: f.Reason}
	if r.Receipt.Share > 0 {
		s.Share, s.Author, s.ShareNote = r.Receipt.Share, r.Tool.CostingModel.Share.Author, r.Tool.DisplayName
	}
	return s
}

// post ends the holds of the runs that end and makes those of the runs that begin. Those that no wallet
// covers, and those that were repeated, are no longer among the changes then.
func (c *changes) post(moves *billing.Moves, used *usages, batch *pgx.Batch) error {
	c.accepts = slices.DeleteFunc(c.accepts, func(a *Acceptance) bool { return a.Repeats != "" })
	now := c.moves(used)
	moves.Settlements, moves.Holds = now.Settlements, now.Holds
	refused, err := moves.Post(batch)
	if err != nil {
		return err
	}
	i := 0
	for _, a := range c.accepts {
		if a.Record.Status == runs.StatusQueued {
			a.Refused = refused[i]
			i++
		}
	}
	c.accepts = slices.DeleteFunc(c.accepts, func(a *Acceptance) bool { return a.Refused != nil })
	return nil
}

// queueRows adds the writing of the runs' rows, one statement for each sort of change.
func (s *Writer) queueRows(batch *pgx.Batch, c *changes) error {
	s.queueAccepts(batch, c.accepts)
	return s.queueEnds(batch, c.finishes)
}

func (s *Writer) failpoints(c *changes) error {
	if len(c.accepts) > 0 {
		if err := s.Failpoint("accept"); err != nil {
			return err
		}
	}
	if len(c.finishes) > 0 {
		return s.Failpoint("finishing")
	}
	return nil
}

// column is one value of each row, as the arrays are that unnest takes: one statement writes many rows.
func column[R, T any](rows []R, value func(R) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// orNull is the text, or null where it is empty.
func orNull(text []byte) *string {
	if text == nil {
		return nil
	}
	s := string(text)
	return &s
}

// MarkDelivered takes note that a run's result reached its people; also for a platform that showed, at the
// next contact, what could not be delivered before.
func (s *Writer) MarkDelivered(ctx context.Context, runID string) error {
	return errs.Wrap(s.marks.Do(ctx, &runID), "mark run %s as delivered", runID)
}

// marksSize bounds the marks of deliveries in one statement: in each gatherMarks there must be room for all runs that end,
// since a run gives its slot back with the mark.
const marksSize = 1024

// gatherEnds gathers the ends of runs while others begin: their results come a moment later, and a transaction serves more of them.
const gatherEnds = time.Millisecond

// gatherMarks may be long, since nobody waits for the mark of a delivery.
const gatherMarks = 20 * time.Millisecond

// Acceptance is a run on its way into the database.
type Acceptance struct {
	Record store.Record
	Key    store.ToolKey
	Shape  int64
	Idem   string
	Kept   bool // there is a slot for it here: this process works on it at once
	Limits users.Limits
	Budget runs.Budget
	Party  string // the fund of the party in the run's group, which may pay
	Raw    struct{ Inputs, Sources, Quote, Context, Preview []byte }

	Repeats string      // the first run's id, when the request is a repeated one
	Beside  *Acceptance // the first request, when it came at the same moment
	Refused error       // why there is no run
}

// Finish is a run's end on its way into the database.
type Finish struct {
	Record    store.Record // with its final state
	NanoUnits int64
	Machine   string
	Reason    string // for the statement, when nothing is taken
	Stop      bool   // it may go on at its provider, which has to be told
	Brings    bool   // who ends the run delivers it too, and claims it for that

	Ended   bool // false: it was over before
	Deliver bool // the platform wants the result brought
}

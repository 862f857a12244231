package runs

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
)

// write is one change of a run on its way into the database: one of the members is set.
//
// All changes that move money go through one group with a single lane, accepts and finishes together:
// two transactions of one process would only wait for each other's locks on the same users' accounts.
type write struct {
	accept    *acceptance
	finish    *finish
	delivered string // run id
}

func (s *Service) flushWrites(ctx context.Context, writes []*write) error {
	return postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error { return s.writeTogether(ctx, tx, writes) })
}

// changes are writes by sort.
type changes struct {
	accepts   []*acceptance // those that are refused or repeated drop out on the way
	finishes  []*finish     // those that are over drop out on the way
	delivered []string
}

func sortWrites(writes []*write) (c changes) {
	for _, w := range writes {
		switch {
		case w.accept != nil:
			w.accept.repeats, w.accept.refused, w.accept.record.waiting = "", nil, false
			c.accepts = append(c.accepts, w.accept)
		case w.finish != nil:
			c.finishes = append(c.finishes, w.finish)
		default:
			c.delivered = append(c.delivered, w.delivered)
		}
	}
	return c
}

// writeTogether makes the changes within tx: runs' rows, money and jobs. Locks are taken in one order, here
// and everywhere: rows of runs by id, then accounts by owner. So transactions wait for each other but
// never in a circle.
func (s *Service) writeTogether(ctx context.Context, tx pgx.Tx, writes []*write) error {
	c := sortWrites(writes)
	if err := c.lockRuns(ctx, tx); err != nil {
		return err
	}
	c.finishes = slices.DeleteFunc(c.finishes, func(f *finish) bool { return !f.ended })
	if err := s.admit(ctx, tx, &c); err != nil {
		return err
	}
	if err := s.move(ctx, tx, &c); err != nil {
		return err
	}
	c.accepts = slices.DeleteFunc(c.accepts, func(a *acceptance) bool { return a.repeats != "" || a.refused != nil })
	if err := s.writeRows(ctx, tx, &c); err != nil {
		return err
	}
	if err := s.failpoints(&c); err != nil {
		return err
	}
	promoted, err := s.promote(ctx, tx, c.finishes)
	if err != nil {
		return err
	}
	return s.insertJobs(ctx, tx, append(promoted, s.jobsOf(&c)...))
}

// lockRuns locks the rows of runs that are there, and finds which are not over and where their results go
// by now.
func (c *changes) lockRuns(ctx context.Context, tx pgx.Tx) error {
	if len(c.finishes)+len(c.delivered) == 0 {
		return nil
	}
	byID := make(map[string]*finish, len(c.finishes))
	ids := slices.Clone(c.delivered)
	for _, f := range c.finishes {
		f.ended = false
		ids, byID[f.record.ID] = append(ids, f.record.ID), f
	}
	rows, err := tx.Query(ctx, `
		SELECT id::text, ended_at IS NULL, deliverable, target::text::bytea FROM runs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`, ids)
	if err != nil {
		return fmt.Errorf("lock runs: %w", err)
	}
	var id string
	var isOpen, deliverable bool
	var target []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &isOpen, &deliverable, &target}, func() error {
		if f := byID[id]; f != nil {
			f.ended, f.deliver, f.record.Origin.Target = isOpen, isOpen && deliverable, slices.Clone(target)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("lock runs: %w", err)
	}
	return nil
}

// move ends the holds of runs that end and makes those of runs that begin. A run that its wallet does not cover is
// refused.
func (s *Service) move(ctx context.Context, tx pgx.Tx, c *changes) error {
	var settlements []billing.Settlement
	for _, f := range c.finishes {
		if f.record.Quote.High > 0 {
			settlements = append(settlements, billing.Settlement{RunID: f.record.ID, Cost: f.record.Receipt.FullCost(), Note: f.reason})
		}
	}
	var holds []billing.HoldRequest
	var asking []*acceptance
	for _, a := range c.accepts {
		if a.repeats == "" && a.record.Status == StatusQueued {
			asking = append(asking, a)
			holds = append(holds, billing.HoldRequest{AccountID: a.record.AccountID, RunID: a.record.ID, Amount: a.record.Quote.High})
		}
	}
	refused, err := s.config.Ledger.Move(ctx, tx, settlements, holds)
	if err != nil {
		return err
	}
	for i, a := range asking {
		a.refused = refused[i]
	}
	return nil
}

// writeRows writes the runs' rows, one statement for each sort of change, all in one round trip.
func (s *Service) writeRows(ctx context.Context, tx pgx.Tx, c *changes) error {
	batch := &pgx.Batch{}
	queueAccepts(batch, c.accepts)
	if err := s.queueEnds(batch, c.finishes); err != nil {
		return err
	}
	if len(c.delivered) > 0 {
		batch.Queue(`UPDATE runs SET delivered_at = $2 WHERE id = ANY ($1::uuid[]) AND ended_at IS NOT NULL AND delivered_at IS NULL`, c.delivered, s.now())
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write runs: %w", err)
	}
	return nil
}

func (s *Service) jobsOf(c *changes) (jobs []river.InsertManyParams) {
	for _, a := range c.accepts {
		if a.record.Status == StatusQueued && !a.record.waiting {
			jobs = append(jobs, s.runJob(a.record.ID))
		}
	}
	for _, f := range c.finishes {
		if f.deliver && !f.brings {
			jobs = append(jobs, s.deliverJob(f.record.ID))
		}
	}
	return jobs
}

func (s *Service) failpoints(c *changes) error {
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

package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
)

// acceptance is a run on its way into the database.
type acceptance struct {
	record record
	key    toolKey
	shape  int64
	idem   string
	raw    struct{ inputs, sources, quote []byte }

	outcome string // accepted, repeated or insufficient
	id      string // of the first run, when repeated
	waits   bool
	have    *billing.NanoUSD
}

// Accept binds, quotes and takes on a run: in one transaction its row, the hold of the quoted high end and
// its queue job are written, or nothing is. It answers before the run starts.
//
// A tool with Confirmation set is taken on as awaiting_confirmation, without hold or job, see Confirm.
// A request whose IdempotencyKey was used before gives the first run, whatever else it says. Errors:
// *MissingInputError, those of Bind, and billing.ErrInsufficient, all found with errors.As or errors.Is.
func (s *Service) Accept(ctx context.Context, r Request) (Run, error) {
	b, err := s.Bind(ctx, r)
	if err != nil {
		return Run{}, err
	}
	return s.AcceptBound(ctx, b)
}

// AcceptBound is Accept for a request that Bind has bound, with the inputs as they were shown.
func (s *Service) AcceptBound(ctx context.Context, b Bound) (Run, error) {
	if len(b.Missing) > 0 {
		return Run{}, &MissingInputError{Fields: b.Missing}
	}
	quote, err := s.Quote(ctx, b)
	if err != nil {
		return Run{}, err
	}
	a, err := s.prepare(ctx, b, quote)
	if err != nil {
		return Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, err)
	}
	if err := s.accepts.do(ctx, a); err != nil {
		return Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, noWallet(err))
	}
	switch a.outcome {
	case "repeated":
		return s.Get(ctx, a.id)
	case "insufficient":
		return Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, billing.ErrInsufficient{Have: *a.have, Need: quote.High})
	}
	s.metrics.accepted.WithLabelValues(b.Tool.Service).Inc()
	return a.record.Run, nil
}

// prepare makes the record to be written.
func (s *Service) prepare(ctx context.Context, b Bound, quote billing.Quote) (*acceptance, error) {
	id, err := uuid.NewV7FromReader(s.config.Random)
	if err != nil {
		return nil, err
	}
	key, err := s.keepTool(ctx, b.Tool)
	if err != nil {
		return nil, err
	}
	b.Tool.Version = key.version
	a := &acceptance{key: key, shape: shapeOf(b), idem: b.Request.IdempotencyKey}
	_, deliverable := s.config.Deliverers[b.Request.Origin.Platform]
	a.record = record{
		Run: Run{
			ID: id.String(), AccountID: b.Request.AccountID, Tool: b.Tool, Status: StatusQueued,
			Inputs: b.Inputs, Sources: b.Sources, Quote: quote, Origin: b.Request.Origin, Parent: b.Request.Parent,
			CreatedAt: s.now(),
		},
		deliverable: deliverable, attempt: 1, timeout: s.timeoutOf(b.Tool),
	}
	if b.Tool.Confirmation != "" {
		a.record.Status = StatusAwaitingConfirmation
	}
	for _, part := range []struct {
		from any
		into *[]byte
	}{{b.Inputs, &a.raw.inputs}, {b.Sources, &a.raw.sources}, {quote, &a.raw.quote}} {
		if *part.into, err = json.Marshal(part.from); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// flushAccepts writes runs that were asked for at the same time. Their accounts are locked in order, as
// everywhere, so that flushes of several machines cannot lock each other out.
func (s *Service) flushAccepts(ctx context.Context, accepts []*acceptance) error {
	ordered := slices.SortedFunc(slices.Values(accepts), func(a, b *acceptance) int {
		return cmp.Or(strings.Compare(a.record.AccountID, b.record.AccountID), strings.Compare(a.record.ID, b.record.ID))
	})
	err := postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		if err := s.writeAccepts(ctx, tx, ordered); err != nil {
			return err
		}
		if err := s.failpoint("accept"); err != nil {
			return err
		}
		var jobs []river.InsertManyParams
		for _, a := range ordered {
			if a.outcome == "accepted" && a.record.Status == StatusQueued && !a.waits {
				jobs = append(jobs, s.runJob(a.record.ID))
			}
		}
		return s.insertJobs(ctx, tx, jobs)
	})
	return err
}

const acceptSQL = `SELECT outcome, id::text, waits, have FROM runs_accept($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, nullif($15, '')::uuid, nullif($16, ''), $17, $18, $19)`

func (s *Service) writeAccepts(ctx context.Context, tx pgx.Tx, accepts []*acceptance) error {
	batch := &pgx.Batch{}
	for _, a := range accepts {
		r := &a.record
		batch.Queue(acceptSQL, r.ID, r.AccountID, a.key.id, a.key.version, r.Tool.Service, r.Status,
			a.raw.inputs, a.raw.sources, a.shape, a.raw.quote, r.Quote.High, r.Origin.Platform, []byte(r.Origin.Target),
			r.deliverable, r.Parent, a.idem, r.timeout.Milliseconds(), r.CreatedAt, s.config.PerAccount).
			QueryRow(func(row pgx.Row) error { return row.Scan(&a.outcome, &a.id, &a.waits, &a.have) })
	}
	return tx.SendBatch(ctx, batch).Close()
}

// Confirm lets a run that awaits confirmation go ahead: its hold and job are written in one transaction. One that was
// confirmed before stays as it is. Only its owner may; "" is an operator. Errors: ErrNotFound,
// billing.ErrInsufficient (the run goes on waiting).
func (s *Service) Confirm(ctx context.Context, runID, accountID string) (Run, error) {
	var confirmed bool
	err := postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		r, err := s.lockRun(ctx, tx, runID, accountID)
		if err != nil || r.Status != StatusAwaitingConfirmation {
			return err
		}
		if err := s.config.Ledger.Hold(ctx, tx, r.AccountID, r.ID, r.Quote.High); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE runs SET status = 'queued' WHERE id = $1`, r.ID); err != nil {
			return err
		}
		confirmed = true
		return s.insertJobs(ctx, tx, []river.InsertManyParams{s.runJob(r.ID)})
	})
	if err != nil {
		return Run{}, fmt.Errorf("confirm run %s: %w", runID, err)
	}
	run, err := s.Get(ctx, runID)
	if err == nil && confirmed {
		s.hub.changed(run)
	}
	return run, err
}

// lockRun reads a run and locks its row. A run of somebody else is ErrNotFound, so that ids tell nothing.
func (s *Service) lockRun(ctx context.Context, tx pgx.Tx, runID, accountID string) (record, error) {
	if _, err := uuid.Parse(runID); err != nil {
		return record{}, ErrNotFound
	}
	found, err := s.queryOn(ctx, tx, `WHERE r.id = $1 FOR UPDATE`, runID)
	if err != nil {
		return record{}, err
	}
	if len(found) == 0 || (accountID != "" && found[0].AccountID != accountID) {
		return record{}, ErrNotFound
	}
	return found[0], nil
}

// noWallet gives the database's word for a user without a wallet its name.
func noWallet(err error) error {
	if err != nil && strings.Contains(err.Error(), "has no wallet") {
		return errors.Join(billing.ErrNoWallet, err)
	}
	return err
}

// now is the time as Postgres keeps it, so that what was written equals what is read.
func (s *Service) now() time.Time { return s.config.Now().Round(time.Microsecond) }

package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// ErrNotFailed is returned by Retry for a run that is not over, or succeeded.
var ErrNotFailed = errors.New("only a run that failed, timed out or was canceled can be tried again")

// Retry accepts a run that came to nothing once more: for the same account, with the same inputs as far as the tool of
// today has them, to the same place, in the same session and trace. A repeat gives the same new run, whose Parent is the old one. Errors: ErrNotFound,
// ErrNotFailed, those of Accept.
func (s *acceptor) Retry(ctx context.Context, runID string) (Run, error) {
	old, err := s.store.Get(ctx, runID)
	if err != nil {
		return Run{}, err
	}
	if !old.Status.Final() || old.Status == StatusSucceeded {
		return Run{}, fmt.Errorf("retry of run %s: %w", runID, ErrNotFailed)
	}
	where := old.Context
	where.PlannerProvider = "" // who tries it again is a person
	return s.Accept(ctx, Request{
		AccountID: old.AccountID, Context: where, ToolID: old.Tool.ToolID, Origin: old.Origin, Parent: old.ID, Audience: registry.Insiders,
		Values: s.stillThere(old), IdempotencyKey: "retry:" + old.ID,
	})
}

// stillThere are the inputs of a run that its tool still has, as a request takes them. What is the tool's default
// today need not be what the run had, so it counts as given; preferences set since do not count.
func (s *acceptor) stillThere(old Run) map[Source]map[string]any {
	values := map[Source]map[string]any{FromPreference: {}}
	t, ok := s.config.Registry.Snapshot().Resolve(old.Tool.ToolID)
	if !ok {
		return values // Accept says so
	}
	for name, value := range old.Inputs {
		source := old.Sources[name]
		if source == FromDefault || source == FromRandom {
			source = FromArgument
		}
		if values[source] == nil {
			values[source] = make(map[string]any)
		}
		if _, ok := t.InputSchema.Get(name); ok {
			values[source][name] = value
		}
	}
	return values
}

// Refund gives back what a run cost, once; a repeat changes nothing. The note is shown in the statement and on the
// receipt. Errors: ErrNotFound, billing.ErrNothingCaptured where it cost nothing.
func (s *closer) Refund(ctx context.Context, runID, note string) (Run, error) {
	var run Run
	err := postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		r, err := s.store.lockRun(ctx, tx, runID, "")
		if run = r.Run; err != nil || run.RefundedAt != nil {
			return err
		}
		return s.refund(ctx, tx, &run, cleanText(note))
	})
	if err != nil {
		return Run{}, fmt.Errorf("refund run %s: %w", runID, err)
	}
	s.hub.changed(&run)
	return run, nil
}

// refund moves the money and notes it in the locked run.
func (s *closer) refund(ctx context.Context, tx pgx.Tx, run *Run, note string) error {
	if err := s.config.Ledger.Refund(ctx, tx, run.ID, run.ID, note); err != nil {
		return err
	}
	now, receipt := s.now(), *run.Receipt
	receipt.Refunded, receipt.RefundNote = run.Cost, note
	run.RefundedAt, run.Receipt = &now, &receipt
	_, err := tx.Exec(ctx, `UPDATE runs SET refunded_at = $2, receipt = $3 WHERE id = $1`, run.ID, now, receipt)
	return err
}

package work

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/runs"
)

// Refund gives back what a run cost, once; a repeat changes nothing. The note is shown in the statement and on the
// receipt. Errors: ErrNotFound, billing.ErrNothingCaptured where it cost nothing.
func (s *Closer) Refund(ctx context.Context, runID, note string) (runs.Run, error) {
	var run runs.Run
	err := postgres.InTx(ctx, s.Config.Pool, func(tx pgx.Tx) (err error) {
		run, err = s.RefundIn(ctx, tx, runID, note)
		return err
	})
	if err != nil {
		return runs.Run{}, err
	}
	s.hub.Changed(&run)
	return run, nil
}

// RefundIn is Refund within a transaction, for those who note with it why.
func (s *Closer) RefundIn(ctx context.Context, tx pgx.Tx, runID, note string) (runs.Run, error) {
	r, err := s.store.LockRun(ctx, tx, runID, "")
	run := r.Run
	if err == nil && run.RefundedAt == nil {
		err = s.refund(ctx, tx, &run, cleanText(note))
	}
	if err != nil {
		return runs.Run{}, fmt.Errorf("refund run %s: %w", runID, err)
	}
	return run, nil
}

// refund moves the money and notes it in the locked run.
func (s *Closer) refund(ctx context.Context, tx pgx.Tx, run *runs.Run, note string) error {
	if err := s.Config.Ledger.Refund(ctx, tx, run.ID, run.ID, note); err != nil {
		return err
	}
	now, receipt := s.Now(), *run.Receipt
	receipt.Refunded, receipt.RefundNote = run.Cost, note
	run.RefundedAt, run.Receipt = &now, &receipt
	_, err := tx.Exec(ctx, `UPDATE runs SET refunded_at = $2, receipt = $3 WHERE id = $1`, run.ID, now, receipt)
	return err
}

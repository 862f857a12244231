package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

// ErrNotFailed is returned by Retry for a run that is not over, or succeeded.
var ErrNotFailed = errors.New("only a run that failed, timed out or was canceled can be tried again")

// Retry accepts a run that came to nothing once more: for the same account, with the same inputs as far as the tool of
// today has them, to the same place. A repeat gives the same new run, whose Parent is the old one. Errors: ErrNotFound,
// ErrNotFailed, those of Accept.
func (s *Service) Retry(ctx context.Context, runID string) (Run, error) {
	old, err := s.Get(ctx, runID)
	if err != nil {
		return Run{}, err
	}
	if !old.Status.Final() || old.Status == StatusSucceeded {
		return Run{}, fmt.Errorf("retry of run %s: %w", runID, ErrNotFailed)
	}
	return s.Accept(ctx, Request{
		AccountID: old.AccountID, ToolID: old.Tool.ToolID, Origin: old.Origin, Parent: old.ID, Audience: registry.Insiders,
		Values: map[Source]map[string]any{FromArgument: s.stillThere(old)}, IdempotencyKey: "retry:" + old.ID,
	})
}

// stillThere are the inputs of a run that its tool still has.
func (s *Service) stillThere(old Run) map[string]any {
	values := map[string]any{}
	t, ok := s.config.Registry.Snapshot().Resolve(old.Tool.ToolID)
	if !ok {
		return values // Accept says so
	}
	for name, value := range old.Inputs {
		if _, ok := t.InputSchema.Get(name); ok {
			values[name] = value
		}
	}
	return values
}

// Refund gives back what a run cost, once; a repeat changes nothing. The note is shown in the statement and on the
// receipt. Errors: ErrNotFound, billing.ErrNothingCaptured where it cost nothing.
func (s *Service) Refund(ctx context.Context, runID, note string) (Run, error) {
	id, err := uuid.Parse(runID)
	if err != nil {
		return Run{}, fmt.Errorf("run %q: %w", runID, ErrNotFound)
	}
	var run Run
	err = pgx.BeginFunc(ctx, s.config.Pool, func(tx pgx.Tx) (err error) {
		run, err = s.refund(ctx, tx, id.String(), note)
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("refund run %s: %w", runID, err)
	}
	return run, nil
}

func (s *Service) refund(ctx context.Context, tx pgx.Tx, runID, note string) (Run, error) {
	found, err := s.queryOn(ctx, tx, `WHERE r.id = $1 FOR UPDATE`, runID)
	if err != nil {
		return Run{}, err
	}
	if len(found) == 0 {
		return Run{}, ErrNotFound
	}
	run := found[0].Run
	if run.RefundedAt != nil {
		return run, nil
	}
	if err := s.config.Ledger.Refund(ctx, tx, run.ID, run.ID, note); err != nil {
		return Run{}, err
	}
	now := s.config.Now().UTC()
	receipt := *run.Receipt
	receipt.Refunded, receipt.RefundNote = run.Cost, note
	run.RefundedAt, run.Receipt = &now, &receipt
	_, err = tx.Exec(ctx, `UPDATE runs SET refunded_at = $2, receipt = $3 WHERE id = $1`, run.ID, now, receipt)
	return run, err
}

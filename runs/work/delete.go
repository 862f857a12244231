package work

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// Delete deletes a run for its owner: its inputs, its results, and where they were shown. One that is under way is
// canceled first. Its row stays for the books; for its owner there is no such run any more. ErrNotFound: there is none, or it is not theirs.
func (s *Closer) Delete(ctx context.Context, runID, accountID string) error {
	run, err := s.Cancel(ctx, runID, accountID)
	if err == nil {
		err = s.remove(ctx, run, runs.AllOutputs)
	}
	if err == nil {
		_, err = s.Config.Pool.Exec(ctx, `UPDATE runs SET `+store.Forgotten+` WHERE id = $1 AND ended_at IS NOT NULL`, run.ID)
	}
	if err == nil {
		err = s.releaseFiles(ctx, run, []any{run.Inputs, run.Outputs})
	}
	return errs.Wrap(err, "delete run %s", runID)
}

// DeleteOutput deletes one result of a run that is over, for its owner. A repeat changes nothing.
func (s *Closer) DeleteOutput(ctx context.Context, runID, accountID string, output int) (runs.Run, error) {
	var run runs.Run
	var gone runs.Output
	err := postgres.InTx(ctx, s.Config.Pool, func(tx pgx.Tx) error {
		r, err := s.store.LockRun(ctx, tx, runID, accountID)
		if err != nil {
			return err
		}
		if run = r.Run; output < 0 || output >= len(run.Outputs) {
			return runs.ErrNotFound
		}
		gone = run.Outputs[output]
		run.Outputs[output] = gone.Without()
		outputs, err := json.Marshal(run.Outputs)
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE runs SET outputs = $2 WHERE id = $1`, run.ID, outputs)
		}
		return err
	})
	if err == nil {
		err = s.remove(ctx, run, output)
	}
	if err == nil {
		err = s.releaseFiles(ctx, run, gone)
	}
	if err != nil {
		return runs.Run{}, fmt.Errorf("delete output %d of run %s: %w", output, runID, err)
	}
	return run, nil
}

// remove takes back what was shown. What a platform keeps all the same is no reason to keep the rest.
func (s *Closer) remove(ctx context.Context, run runs.Run, output int) error {
	remover, ok := s.Config.Deliverers[run.Origin.Platform].(runs.Remover)
	if !ok {
		return nil
	}
	if err := remover.Remove(ctx, run, output); err != nil {
		s.Log.WarnContext(ctx, "messages with a deleted result stay", "run", run.ID, "error", err)
	}
	return ctx.Err()
}

// releaseFiles frees the files that a value names, where nothing else needs them.
func (s *Closer) releaseFiles(ctx context.Context, run runs.Run, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	err = postgres.InTx(ctx, s.Config.Pool, func(tx pgx.Tx) error {
		return assets.Release(ctx, tx, run.AccountID, runs.Hashes.FindAllString(string(text), -1), *run.EndedAt)
	})
	if err != nil {
		return err
	}
	return s.Config.Assets.Collect(ctx)
}

// CancelAll ends all that is under way for an account.
func (s *Closer) CancelAll(ctx context.Context, accountID string) error {
	rows, _ := s.Config.Pool.Query(ctx, `SELECT id::text FROM runs WHERE account_id = $1 AND ended_at IS NULL`, accountID)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, id := range ids {
		if err == nil {
			_, err = s.Cancel(ctx, id, accountID)
		}
	}
	return errs.Wrap(err, "cancel the runs of %s", accountID)
}

// Expire lets go of the files of runs that ended so long ago; 0: for ever. Their rows stay and tell so. It also forgets
// what Forget could not.
func (s *Closer) Expire(ctx context.Context, keep time.Duration) error {
	_, err := s.Config.Pool.Exec(ctx, `UPDATE runs SET `+store.Forgotten+` WHERE deleted_at IS NOT NULL AND ended_at IS NOT NULL
		AND (outputs IS NOT NULL OR inputs::text <> '{}')`)
	if err == nil && keep > 0 {
		_, err = s.Config.Pool.Exec(ctx, `UPDATE runs SET files_deleted_at = now() WHERE ended_at < $1 AND files_deleted_at IS NULL`, s.Now().Add(-keep))
	}
	return errs.Wrap(err, "let go of the files of old runs")
}

package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// Remover is a Deliverer that can take back what it showed of a run: one of its outputs, or everything (AllOutputs).
type Remover interface {
	Remove(ctx context.Context, run Run, output int) error
}

// AllOutputs is everything that was shown of a run.
const AllOutputs = -1

// forgotten is what becomes of a run's row whose owner deletes it: when it ran and what it cost stays, for the books.
const forgotten = `inputs = '{}', sources = '{}', outputs = NULL, target = NULL, context = NULL, preview = NULL, idempotency_key = NULL, deliverable = false,
	deleted_at = coalesce(deleted_at, now())`

// Delete deletes a run for its owner: what it was made from, what came of it, and where that was shown. One that is under way is
// canceled first. Its row stays for the books; for its owner there is no such run any more. ErrNotFound: there is none, or it is not theirs.
func (s *closer) Delete(ctx context.Context, runID, accountID string) error {
	run, err := s.Cancel(ctx, runID, accountID)
	if err == nil {
		err = s.remove(ctx, run, AllOutputs)
	}
	if err == nil {
		_, err = s.config.Pool.Exec(ctx, `UPDATE runs SET `+forgotten+` WHERE id = $1 AND ended_at IS NOT NULL`, run.ID)
	}
	if err == nil {
		err = s.releaseFiles(ctx, run, []any{run.Inputs, run.Outputs})
	}
	if err != nil {
		return fmt.Errorf("delete run %s: %w", runID, err)
	}
	return nil
}

// DeleteOutput deletes one result of a run that is over, for its owner. A repeat changes nothing.
func (s *closer) DeleteOutput(ctx context.Context, runID, accountID string, output int) (Run, error) {
	var run Run
	var gone Output
	err := postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		r, err := s.store.lockRun(ctx, tx, runID, accountID)
		if err != nil {
			return err
		}
		if run = r.Run; output < 0 || output >= len(run.Outputs) {
			return ErrNotFound
		}
		gone = run.Outputs[output]
		run.Outputs[output] = gone.without()
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
		return Run{}, fmt.Errorf("delete output %d of run %s: %w", output, runID, err)
	}
	return run, nil
}

// without is an output whose content was deleted.
func (o Output) without() Output {
	return Output{Name: o.Name, Type: o.Type, MIMEType: o.MIMEType, Deleted: true}
}

// remove takes back what was shown. What a platform keeps all the same is no reason to keep the rest.
func (s *closer) remove(ctx context.Context, run Run, output int) error {
	remover, ok := s.config.Deliverers[run.Origin.Platform].(Remover)
	if !ok {
		return nil
	}
	if err := remover.Remove(ctx, run, output); err != nil {
		s.log.WarnContext(ctx, "messages with a deleted result stay", "run", run.ID, "error", err)
	}
	return ctx.Err()
}

var hashes = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// releaseFiles frees the files that a value names, where nothing else needs them.
func (s *closer) releaseFiles(ctx context.Context, run Run, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	err = postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		return assets.Release(ctx, tx, run.AccountID, hashes.FindAllString(string(text), -1), *run.EndedAt)
	})
	if err != nil {
		return err
	}
	return s.config.Assets.Collect(ctx)
}

// lentSQL makes files that runs take their accounts', too, and keeps them for now: a sweep may be under way.
const lentSQL = `
	INSERT INTO asset_owners (account_id, hash, kind, size)
	SELECT l.account::uuid, a.hash, 'lent', a.size FROM unnest($1::text[], $2::text[]) AS l (account, hash) JOIN assets a ON a.hash = l.hash FOR KEY SHARE OF a
	ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now()`

// queueLent adds to batch that the accounts of new runs have the files which these take.
func queueLent(batch *pgx.Batch, accepts []*acceptance) {
	var taken [][2]string
	for _, a := range accepts {
		if !bytes.Contains(a.raw.inputs, []byte(`"asset:`)) {
			continue
		}
		for _, hash := range hashes.FindAll(a.raw.inputs, -1) {
			taken = append(taken, [2]string{a.record.AccountID, string(hash)})
		}
	}
	if len(taken) == 0 {
		return
	}
	slices.SortFunc(taken, func(a, b [2]string) int { return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1])) })
	taken = slices.Compact(taken)
	batch.Queue(lentSQL, column(taken, func(t [2]string) string { return t[0] }), column(taken, func(t [2]string) string { return t[1] }))
}

// CancelAll ends all that is under way for an account.
func (s *closer) CancelAll(ctx context.Context, accountID string) error {
	rows, err := s.config.Pool.Query(ctx, `SELECT id::text FROM runs WHERE account_id = $1 AND ended_at IS NULL`, accountID)
	if err != nil {
		return fmt.Errorf("cancel the runs of %s: %w", accountID, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, id := range ids {
		if err == nil {
			_, err = s.Cancel(ctx, id, accountID)
		}
	}
	if err != nil {
		return fmt.Errorf("cancel the runs of %s: %w", accountID, err)
	}
	return nil
}

// Forget deletes what the runs of an account were made from and what came of them; when they ran and what they
// cost stays. What was begun in the same moment is forgotten by Expire, once it is over.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `UPDATE runs SET deleted_at = now() WHERE account_id = $1 AND ended_at IS NULL`, accountID)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE runs SET `+forgotten+` WHERE account_id = $1 AND ended_at IS NOT NULL`, accountID)
	}
	if err != nil {
		return fmt.Errorf("forget the runs of %s: %w", accountID, err)
	}
	return nil
}

// Expire lets go of the files of runs that ended so long ago; 0: for ever. Their rows stay and tell so. It also forgets
// what Forget could not.
func (s *closer) Expire(ctx context.Context, keep time.Duration) error {
	_, err := s.config.Pool.Exec(ctx, `UPDATE runs SET `+forgotten+` WHERE deleted_at IS NOT NULL AND ended_at IS NOT NULL
		AND (outputs IS NOT NULL OR inputs::text <> '{}')`)
	if err == nil && keep > 0 {
		_, err = s.config.Pool.Exec(ctx, `UPDATE runs SET files_deleted_at = now() WHERE ended_at < $1 AND files_deleted_at IS NULL`, s.now().Add(-keep))
	}
	if err != nil {
		return fmt.Errorf("let go of the files of old runs: %w", err)
	}
	return nil
}

// withoutFiles is how a run is told whose files were let go of: results are marked, inputs that were files are gone.
func (r *Run) withoutFiles() {
	for i, o := range r.Outputs {
		if o.Media != "" {
			r.Outputs[i] = o.without()
		}
	}
	for name, value := range r.Inputs {
		if holdsFile(value) {
			delete(r.Inputs, name)
		}
	}
}

func holdsFile(value any) bool {
	switch v := value.(type) {
	case string:
		return registry.IsMediaRef(v) && hashes.MatchString(v)
	case []any:
		for _, item := range v {
			if holdsFile(item) {
				return true
			}
		}
	}
	return false
}

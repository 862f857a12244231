package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

const (
	claimEvery  = 500 * time.Millisecond // a look at the queue, should no news of it come
	claimPause  = 2 * time.Millisecond   // gathers news and free places
	claimAtOnce = 128
)

// claimSQL takes runs from the queue: a run's row is its job, and claimed_by says who works on it.
const claimSQL = `
	WITH free AS MATERIALIZED (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by IS NULL AND NOT waiting AND status <> 'awaiting_confirmation'
		ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
	UPDATE runs r SET claimed_by = $1, claims = r.claims + 1 FROM free WHERE r.id = free.id RETURNING r.id::text, r.claims = 1`

// offerSQL tells every process that there are runs in the queue, once the transaction is committed.
const offerSQL = `SELECT pg_notify('` + channel + `', ':')`

// claimFree works on runs from the queue until the service stops.
func (s *Service) claimFree() {
	poll := time.NewTicker(claimEvery)
	defer poll.Stop()
	for {
		if err := s.claim(s.base); err != nil && s.base.Err() == nil {
			s.log.WarnContext(s.base, "taking runs from the queue failed", "error", err)
		}
		select {
		case <-s.stopping:
			return
		case <-poll.C:
		case <-s.desk.wake:
			if s.sleep(s.base, claimPause) != nil {
				return
			}
		}
	}
}

// claimed is a run taken from the queue.
type claimed struct {
	ID    string
	First bool // nobody has worked on it before
}

// claim takes as many runs from the queue as there are places, oldest first.
func (s *Service) claim(ctx context.Context) error {
	places := s.desk.reserve(claimAtOnce)
	if places == 0 {
		return nil
	}
	var found []claimed
	rows, err := s.config.Pool.Query(ctx, claimSQL, s.instance, places)
	if err == nil {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[claimed])
	}
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ID
	}
	s.desk.occupy(places, ids)
	for _, c := range found {
		go s.tend(c.ID, c.First, nil)
	}
	return err
}

// tend works on a run that has a place until it is over or the service stops. Troubles of our own, such as a
// database that is away, are waited out. known is the run as it was accepted just now, if it was.
func (s *Service) tend(runID string, first bool, known *record) {
	defer s.desk.leave(runID)
	runtime.Gosched() // whoever waits for an answer, or is about to ask for the next run, goes before the work
	for try := 1; !s.isStopping(); try++ {
		err := s.advanceGuarded(s.working, runID, first, known)
		if err == nil || errors.Is(err, errStopping) || s.working.Err() != nil {
			return
		}
		s.log.WarnContext(s.working, "the work on a run was interrupted, another try follows", "run", runID, "try", try, "error", err)
		first, known = false, nil
		if s.sleep(s.working, backoff(s.config.RetryBase, try, time.Minute)) != nil {
			return
		}
	}
}

// advanceGuarded is advance, with a panic as an error.
func (s *Service) advanceGuarded(ctx context.Context, runID string, first bool, known *record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the work on the run panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return s.advance(ctx, runID, first, known)
}

// endWork ends the work on runs: what waits for a provider ends at once, steps get the time of Config.SoftStop.
func (s *Service) endWork(ctx context.Context) error {
	s.desk.close()
	soft := time.NewTimer(s.config.SoftStop)
	defer soft.Stop()
	select {
	case <-s.desk.idle:
		return nil
	case <-soft.C:
	case <-ctx.Done():
	}
	s.hurry(errStopping)
	hard := time.NewTimer(time.Second)
	defer hard.Stop()
	select {
	case <-s.desk.idle:
		return nil
	case <-hard.C:
		return errors.New("the work on some runs did not end in time")
	}
}

// longestLife is more than any run takes from its acceptance to its delivery.
const longestLife = SummaryLife + startWithin + maxTimeout + deliverWithin

// release gives up all that a process had claimed: open runs go back to the queue, and results that it may
// not have brought get a job. since is when the process began. Unless it is certain that nothing of it comes after this,
// another look must follow.
func (s *Service) release(ctx context.Context, tx pgx.Tx, worker string, since time.Time, certain bool) (freed int64, err error) {
	open, err := tx.Exec(ctx, `UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by = $1 ORDER BY id FOR UPDATE)`, worker)
	if err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, `UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE id >= $2 AND claimed_by = $1 AND deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL ORDER BY id FOR UPDATE)
		RETURNING id::text`, worker, firstID(since.Add(-longestLife)))
	if err != nil {
		return 0, err
	}
	unsure, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	if err := s.insertDeliveries(ctx, tx, unsure); err != nil {
		return 0, err
	}
	over := `UPDATE run_workers SET gone_at = now() WHERE id = $1`
	if certain {
		over = `DELETE FROM run_workers WHERE id = $1`
	}
	_, err = tx.Exec(ctx, over, worker)
	if freed = open.RowsAffected(); err == nil && freed > 0 {
		_, err = tx.Exec(ctx, offerSQL)
	}
	return freed + int64(len(unsure)), err
}

// insertDeliveries queues deliveries.
func (s *Service) insertDeliveries(ctx context.Context, tx pgx.Tx, runIDs []string) error {
	jobs := make([]river.InsertManyParams, len(runIDs))
	for i, id := range runIDs {
		jobs[i] = deliverJob(id)
	}
	if len(jobs) == 0 {
		return nil
	}
	if _, err := s.river.InsertManyTx(ctx, tx, jobs); err != nil {
		return fmt.Errorf("queue deliveries: %w", err)
	}
	return nil
}

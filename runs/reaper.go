package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	rollUpEvery = time.Minute
	overdue     = 2 * time.Minute // beyond its timeout before the reaper ends a run that nobody ends
	startWithin = 72 * time.Hour  // before a run that never got to its start is given up, and its hold released

	// secondLook is when what a process had claimed that is gone is looked for once more: the database notices the end of each of
	// its connections by itself, so that one may have claimed or ended runs after the first look, which asks for the sign of life.
	secondLook = 15 * time.Second
)

// housekeeping does now and then what keeps the house in order, until the service ends. Every process
// does it; each task is safe beside itself.
func (s *Service) housekeeping() {
	tasks := []struct {
		name  string
		every time.Duration
		next  time.Time
		do    func(context.Context) error
	}{
		{"reap", s.config.ReapEvery, time.Time{}, s.reap},
		{"roll up", rollUpEvery, time.Time{}, s.config.Ledger.RollUp},
		{"check the ledger", s.config.CheckEvery, time.Time{}, s.checkLedger},
	}
	tick := time.NewTicker(min(s.config.ReapEvery, rollUpEvery, s.config.CheckEvery))
	defer tick.Stop()
	for {
		for i := range tasks {
			t := &tasks[i]
			if now := time.Now(); !now.Before(t.next) {
				t.next = now.Add(t.every)
				if err := t.do(s.base); err != nil && s.base.Err() == nil {
					s.log.ErrorContext(s.base, "housekeeping failed", "task", t.name, "error", err)
				}
			}
		}
		select {
		case <-s.stopping:
			return
		case <-tick.C:
		}
	}
}

// reap brings back what was left behind: claims of dead processes and of nobody here, runs that nobody ends,
// confirmations that never came.
func (s *Service) reap(ctx context.Context) error {
	for _, task := range []func(context.Context) error{s.freeOrphans, s.freeStrays, s.endOverdue, s.promoteWaiting, s.adoptStrays, s.stopDue, s.stopCopies, s.dropQuestions, s.countOpen} {
		if err := task(ctx); err != nil {
			return err
		}
	}
	return nil
}

// worker is a process that works on runs.
type worker struct {
	ID       string
	Since    time.Time
	WasFound bool // gone, and freed for the first time
}

// freeOrphans takes over what processes that are gone had claimed. That a process is gone is seen by its lock
// being free. At our start that is enough; later it has to be free twice, since a process whose connection broke
// takes it again in a moment.
func (s *Service) freeOrphans(ctx context.Context) error {
	rows, err := s.config.Pool.Query(ctx, `SELECT id, started_at, gone_at IS NOT NULL FROM run_workers
		WHERE id <> $1 AND (gone_at IS NULL OR gone_at < now() - $2::interval)`, s.instance, secondLook)
	if err != nil {
		return err
	}
	workers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[worker])
	if err != nil {
		return err
	}
	missed := make(map[string]bool)
	for _, w := range workers {
		if s.missed != nil && !s.missed[w.ID] && !w.WasFound {
			if missed[w.ID], err = s.isGone(ctx, s.config.Pool, w.ID); err != nil {
				return err
			}
			continue
		}
		if err := s.takeOver(ctx, w); err != nil {
			return err
		}
	}
	s.missed = missed
	return nil
}

// isGone reports whether the lock of a process is free. It is held until the transaction ends.
func (s *Service) isGone(ctx context.Context, q querier, worker string) (bool, error) {
	rows, err := q.Query(ctx, `SELECT pg_try_advisory_xact_lock(`+lifeLock+`)`, worker)
	if err != nil {
		return false, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
}

// takeOver frees what a process had claimed, and the jobs that it had fetched: River by itself would wait for longer
// than the longest job.
func (s *Service) takeOver(ctx context.Context, w worker) error {
	return postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		if gone, err := s.isGone(ctx, tx, w.ID); err != nil || !gone {
			return err
		}
		jobs, err := tx.Exec(ctx, `
			UPDATE river_job SET state = 'available', scheduled_at = now(), max_attempts = greatest(max_attempts, attempt + 1)
			WHERE state = 'running' AND queue = $1 AND attempted_by[array_upper(attempted_by, 1)] = $2`, queueDeliver, w.ID)
		if err != nil {
			return err
		}
		freed, err := s.release(ctx, tx, w.ID, w.Since, w.WasFound)
		if err != nil {
			return err
		}
		s.metrics.rescued.Add(float64(freed + jobs.RowsAffected()))
		if w.WasFound && freed == 0 {
			return nil
		}
		s.log.InfoContext(ctx, "took over from a process that is gone", "process", w.ID, "runs", freed, "deliveries", jobs.RowsAffected())
		return nil
	})
}

// freeStrays frees runs that are claimed here and that nobody works on, as when the answer to their
// acceptance was lost with a connection. Seen once may be a claim under way; seen twice is not.
func (s *Service) freeStrays(ctx context.Context) error {
	rows, err := s.config.Pool.Query(ctx, `SELECT id::text FROM runs WHERE ended_at IS NULL AND claimed_by = $1`, s.instance)
	if err != nil {
		return err
	}
	mine, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	strays := make(map[string]bool)
	for _, id := range mine {
		if s.desk.has(id) {
			continue
		}
		if !s.strays[id] {
			strays[id] = true
			continue
		}
		if _, err := s.config.Pool.Exec(ctx, `UPDATE runs SET claimed_by = NULL WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL`, id, s.instance); err != nil {
			return err
		}
		s.metrics.rescued.Inc()
		s.log.WarnContext(ctx, "a run had nobody to work on it", "run", id)
		s.desk.look()
	}
	s.strays = strays
	return nil
}

// endOverdue ends runs that should have ended long ago, and cancels what nobody confirmed.
func (s *Service) endOverdue(ctx context.Context) error {
	late, err := s.query(ctx, `WHERE r.ended_at IS NULL AND (r.started_at + (r.timeout_ms * interval '1 millisecond') < $1
		OR r.started_at IS NULL AND r.status <> 'awaiting_confirmation' AND r.created_at < $2) LIMIT 100`,
		s.now().Add(-overdue), s.now().Add(-startWithin))
	if err != nil {
		return err
	}
	for _, r := range late {
		why := registry.Say(registry.CodeTimeout, said.TookLonger, "time", r.timeout)
		if r.StartedAt == nil {
			why = registry.Say(registry.CodeTimeout, said.NotStarted, "time", startWithin)
		}
		if _, err := s.endFromOutside(ctx, r.ID, "", StatusTimedOut, why); err != nil {
			return fmt.Errorf("end run %s: %w", r.ID, err)
		}
	}
	forgotten, err := s.query(ctx, `WHERE r.ended_at IS NULL AND r.status = 'awaiting_confirmation' AND r.created_at < $1 LIMIT 100`,
		s.now().Add(-SummaryLife))
	if err != nil {
		return err
	}
	for _, r := range forgotten {
		why := registry.Say(registry.CodeCanceled, said.NobodyConfirmed, "time", SummaryLife)
		if _, err := s.endFromOutside(ctx, r.ID, "", StatusCanceled, why); err != nil {
			return fmt.Errorf("end run %s: %w", r.ID, err)
		}
	}
	return nil
}

// promoteWaiting lets waiting runs go ahead whose account has room, should the end of another run have missed
// them, as after a change of the limit.
func (s *Service) promoteWaiting(ctx context.Context) error {
	rows, err := s.config.Pool.Query(ctx, `SELECT DISTINCT account_id::text FROM runs WHERE ended_at IS NULL AND waiting LIMIT 100`)
	if err != nil {
		return err
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if _, err := s.config.Pool.Exec(ctx, `SELECT runs_promote($1, $2)`, account, s.config.PerAccount); err != nil {
			return err
		}
		s.desk.look()
	}
	return nil
}

// countOpen measures the queue.
func (s *Service) countOpen(ctx context.Context) error {
	counts, err := s.CountByState(ctx)
	if err != nil {
		return err
	}
	s.metrics.open.Reset()
	for status, count := range counts {
		s.metrics.open.WithLabelValues(string(status)).Set(float64(count))
	}
	var oldest float64
	err = s.config.Pool.QueryRow(ctx, `SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8
		FROM runs WHERE ended_at IS NULL AND status = $1`, StatusQueued).Scan(&oldest)
	if err != nil {
		return fmt.Errorf("age of the queue: %w", err)
	}
	s.metrics.oldest.Set(oldest)
	return nil
}

// compareBooks finds where runs and ledger disagree; each row is one problem in words. One statement, so that
// both are seen at the same moment.
const compareBooks = `
	(SELECT format('run %s is %s, its hold is %s', r.id, r.status, CASE WHEN s.id IS NULL THEN 'open' ELSE 'settled' END)
	 FROM runs r JOIN ledger_transfers h ON h.key = 'hold:' || r.id::text LEFT JOIN ledger_transfers s ON s.key = 'settle:' || r.id::text
	 WHERE (r.ended_at IS NULL) <> (s.id IS NULL) LIMIT 20)
	UNION ALL
	(SELECT format('run %s is %s and promised for %s, and nothing is held for it', r.id, r.status, r.promised)
	 FROM runs r LEFT JOIN ledger_transfers h ON h.key = 'hold:' || r.id::text
	 WHERE r.ended_at IS NULL AND r.promised > 0 AND r.status <> 'awaiting_confirmation' AND h.id IS NULL LIMIT 20)
	UNION ALL
	(SELECT format('run %s cost %s, the ledger took %s for it', r.id, r.cost, coalesce(s.amount, 0))
	 FROM runs r LEFT JOIN ledger_transfers s ON s.key = 'settle:' || r.id::text AND s.kind = 'capture'
	 WHERE r.ended_at IS NOT NULL AND r.cost <> coalesce(s.amount, 0) LIMIT 20)
	UNION ALL
	(SELECT format('%s are held for run %s, which is not there', h.amount, h.run_id)
	 FROM ledger_transfers h LEFT JOIN runs r ON r.id = h.run_id
	 WHERE h.kind = 'hold' AND r.id IS NULL AND NOT EXISTS (SELECT FROM ledger_transfers s WHERE s.key = 'settle:' || h.run_id::text) LIMIT 20)`

// compare holds the books against the runs. The tables are read whole, side by side: after a burst of runs Postgres
// knows too little about them to see that looking up each row by itself takes minutes.
func (s *Service) compare(ctx context.Context) (found []string, err error) {
	err = pgx.BeginTxFunc(ctx, s.config.Pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL enable_nestloop = off`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, compareBooks, pgx.QueryExecModeExec) // planned anew, see Ledger.Check
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return found, err
}

// checkLedger recomputes the books and compares them with the runs.
func (s *Service) checkLedger(ctx context.Context) error {
	report, err := s.config.Ledger.Check(ctx)
	if err != nil {
		return err
	}
	strays, err := s.compare(ctx)
	if err != nil {
		return err
	}
	report.Problems = append(report.Problems, strays...)
	s.metrics.problems.Set(float64(len(report.Problems)))
	s.metrics.checked.Set(float64(s.config.Now().Unix()))
	if !report.OK() {
		s.log.ErrorContext(ctx, "the ledger does not balance", "problems", report.Problems)
	}
	return nil
}

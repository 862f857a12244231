package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

const (
	rollUpEvery = time.Minute
	overdue     = 2 * time.Minute // beyond its timeout before the reaper ends a run that nobody ends
	startWithin = 72 * time.Hour  // before a run that never got to its start is given up, and its hold released
)

// housekeeping does now and then what keeps the house in order, until the service ends. Every process
// does it; each task is safe beside itself.
func (s *Worker) housekeeping() {
	tasks := []struct {
		name  string
		every time.Duration
		next  time.Time
		do    func(context.Context) error
	}{
		{"reap", s.Config.ReapEvery, time.Time{}, s.reap},
		{"roll up", rollUpEvery, time.Time{}, s.Config.Ledger.RollUp},
		{"count figures", countFiguresEvery, time.Time{}, s.countFigures},
	}
	tick := time.NewTicker(min(s.Config.ReapEvery, rollUpEvery))
	defer tick.Stop()
	for {
		for i := range tasks {
			t := &tasks[i]
			if now := time.Now(); !now.Before(t.next) {
				t.next = now.Add(t.every)
				if err := t.do(s.Base); err != nil && s.Base.Err() == nil {
					s.Log.ErrorContext(s.Base, "housekeeping failed", "task", t.name, "error", err)
				}
			}
		}
		select {
		case <-s.Stopping:
			return
		case <-tick.C:
		}
	}
}

const (
	countFiguresEvery = 20 * time.Second // what is not counted is read from the runs
	countFiguresFor   = time.Second      // the other tasks wait meanwhile
)

func (s *Worker) countFigures(ctx context.Context) error {
	_, err := s.Store.CountFigures(ctx, countFiguresFor)
	return err
}

// checkShare bounds how much of the time the books are checked: one part in so many.
const checkShare = 20

// checkBooks checks the ledger now and then, until the service ends. It does so beside the other housekeeping, and the more seldom the
// longer it takes: it reads the whole history.
func (s *Worker) checkBooks() {
	for {
		began := time.Now()
		if err := s.CheckLedger(s.Base); err != nil && s.Base.Err() == nil {
			s.Log.ErrorContext(s.Base, "housekeeping failed", "task", "check the ledger", "error", err)
		}
		select {
		case <-s.Stopping:
			return
		case <-time.After(max(s.Config.CheckEvery, checkShare*time.Since(began))):
		}
	}
}

// reap brings back what was left behind: claims of dead processes and of nobody here, runs that nobody ends,
// confirmations that never came.
func (s *Worker) reap(ctx context.Context) error {
	for _, task := range []func(context.Context) error{s.freeOrphans, s.freeStrays, s.endOverdue, s.promoteWaiting, s.AdoptStrays, s.dropQuestions, s.countOpen} {
		if err := task(ctx); err != nil {
			return err
		}
	}
	return nil
}

// freeOrphans takes over what processes that are gone had claimed.
func (s *Worker) freeOrphans(ctx context.Context) error {
	died, err := s.process.TakeOver(ctx)
	for _, d := range died {
		s.Metrics.Rescued.Add(float64(d.Freed))
		s.Log.InfoContext(ctx, "took over from a process that is gone", "process", d.ID, "claims", d.Freed)
	}
	return err
}

// freeStrays frees runs that are claimed here and that nobody works on, as when the answer to their
// acceptance was lost with a connection. Seen once may be a claim under way; seen twice is not.
func (s *Worker) freeStrays(ctx context.Context) error {
	rows, _ := s.Config.Pool.Query(ctx, `SELECT id::text FROM runs WHERE ended_at IS NULL AND claimed_by = $1`, s.Instance)
	mine, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	strays := make(map[string]bool)
	for _, id := range mine {
		if s.Slots.has(id) {
			continue
		}
		if !s.strays[id] {
			strays[id] = true
			continue
		}
		if _, err := s.Config.Pool.Exec(ctx, `UPDATE runs SET claimed_by = NULL WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL`, id, s.Instance); err != nil {
			return err
		}
		s.Metrics.Rescued.Inc()
		s.Log.WarnContext(ctx, "a run had nobody to work on it", "run", id)
		s.Slots.Look()
	}
	s.strays = strays
	return nil
}

// endOverdue ends runs that should have ended long ago, and cancels what nobody confirmed.
func (s *Worker) endOverdue(ctx context.Context) error {
	late, err := s.Store.Query(ctx, `WHERE r.ended_at IS NULL AND (r.started_at + (r.timeout_ms * interval '1 millisecond') < $1
		OR r.started_at IS NULL AND r.status <> 'awaiting_confirmation' AND r.created_at < $2) LIMIT 100`,
		s.Now().Add(-overdue), s.Now().Add(-startWithin))
	if err != nil {
		return err
	}
	for _, r := range late {
		why := registry.Say(registry.CodeTimeout, said.TookLonger, "time", r.Timeout)
		if r.StartedAt == nil {
			why = registry.Say(registry.CodeTimeout, said.NotStarted, "time", startWithin)
		}
		if _, err := s.closer.EndFromOutside(ctx, r.ID, "", runs.StatusTimedOut, why); err != nil {
			return fmt.Errorf("end run %s: %w", r.ID, err)
		}
	}
	forgotten, err := s.Store.Query(ctx, `WHERE r.ended_at IS NULL AND r.status = 'awaiting_confirmation' AND r.created_at < $1 LIMIT 100`,
		s.Now().Add(-runs.SummaryLife))
	if err != nil {
		return err
	}
	for _, r := range forgotten {
		why := registry.Say(registry.CodeCanceled, said.NobodyConfirmed, "time", runs.SummaryLife)
		if _, err := s.closer.EndFromOutside(ctx, r.ID, "", runs.StatusCanceled, why); err != nil {
			return fmt.Errorf("end run %s: %w", r.ID, err)
		}
	}
	return nil
}

// promoteWaiting lets waiting runs go ahead whose account has room, should the end of another run have missed
// them, as after a change of the limit.
func (s *Worker) promoteWaiting(ctx context.Context) error {
	rows, _ := s.Config.Pool.Query(ctx, `SELECT DISTINCT account_id::text FROM runs WHERE ended_at IS NULL AND waiting LIMIT 100`)
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if _, err := s.Config.Pool.Exec(ctx, `SELECT runs_promote($1, $2)`, account, s.Config.PerAccount); err != nil {
			return err
		}
		s.Slots.Look()
	}
	return nil
}

// countOpen measures the queue.
func (s *Worker) countOpen(ctx context.Context) error {
	counts, err := s.Store.CountByState(ctx)
	if err != nil {
		return err
	}
	s.Metrics.Open.Reset()
	for status, count := range counts {
		s.Metrics.Open.WithLabelValues(string(status)).Set(float64(count))
	}
	var oldest float64
	err = s.Config.Pool.QueryRow(ctx, `SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8
		FROM runs WHERE ended_at IS NULL AND status = $1`, runs.StatusQueued).Scan(&oldest)
	if err != nil {
		return fmt.Errorf("age of the queue: %w", err)
	}
	s.Metrics.Oldest.Set(oldest)
	return nil
}

// compareBooks finds where runs, or questions to models, and ledger disagree; each row is one problem in words. One statement, so that
// both are seen at the same moment.
const compareBooks = `
	(SELECT format('%s %s is %s, its hold is %s', r.kind, r.id, r.status, CASE WHEN s.id IS NULL THEN 'open' ELSE 'settled' END)
	 FROM ledger_subjects r JOIN ledger_transfers h ON h.key = 'hold:' || r.id::text LEFT JOIN ledger_transfers s ON s.key = 'settle:' || r.id::text
	 WHERE (r.ended_at IS NULL) <> (s.id IS NULL) LIMIT 20)
	UNION ALL
	(SELECT format('%s %s is %s and promised for %s, and nothing is held for it', r.kind, r.id, r.status, r.promised)
	 FROM ledger_subjects r LEFT JOIN ledger_transfers h ON h.key = 'hold:' || r.id::text
	 WHERE r.ended_at IS NULL AND r.promised > 0 AND r.status <> 'awaiting_confirmation' AND h.id IS NULL LIMIT 20)
	UNION ALL
	(SELECT format('%s %s cost %s, the ledger took %s for it', r.kind, r.id, r.cost, coalesce(s.amount, 0))
	 FROM ledger_subjects r LEFT JOIN ledger_transfers s ON s.key = 'settle:' || r.id::text AND s.kind = 'capture'
	 WHERE r.ended_at IS NOT NULL AND r.cost <> coalesce(s.amount, 0) LIMIT 20)
	UNION ALL
	(SELECT format('%s are held for run %s, which is not there', h.amount, h.run_id)
	 FROM ledger_transfers h LEFT JOIN ledger_subjects r ON r.id = h.run_id
	 WHERE h.kind = 'hold' AND r.id IS NULL AND NOT EXISTS (SELECT FROM ledger_transfers s WHERE s.key = 'settle:' || h.run_id::text) LIMIT 20)`

// compare holds the books against the runs. The tables are read whole, side by side: after a burst of runs Postgres
// knows too little about them to see that looking up each row by itself takes minutes.
func (s *Worker) compare(ctx context.Context) (found []string, err error) {
	err = pgx.BeginTxFunc(ctx, s.Config.Pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL enable_nestloop = off`); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, compareBooks, pgx.QueryExecModeExec)
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return found, err
}

// CheckLedger recomputes the books and compares them with the runs.
func (s *Worker) CheckLedger(ctx context.Context) error {
	report, err := s.Config.Ledger.Check(ctx)
	if err != nil {
		return err
	}
	strays, err := s.compare(ctx)
	if err != nil {
		return err
	}
	report.Problems = append(report.Problems, strays...)
	s.Metrics.Problems.Set(float64(len(report.Problems)))
	s.Metrics.Checked.Set(float64(s.Config.Now().Unix()))
	if !report.OK() {
		s.Log.ErrorContext(ctx, "the ledger does not balance", "problems", report.Problems)
	}
	return nil
}

// strayFor is how long after its acceptance a run is looked for under the id of an account that was merged in the
// meantime.
const strayFor = time.Minute

// AdoptStrays finds runs that were accepted, without a hold, in the moment of a merge.
func (s *Worker) AdoptStrays(ctx context.Context) error {
	_, err := s.Config.Pool.Exec(ctx, `
		UPDATE runs r SET account_id = u.merged_into, idempotency_key = NULL FROM users u
		WHERE r.id >= $1 AND u.id = r.account_id AND u.merged_into IS NOT NULL`, store.FirstID(time.Now().Add(-strayFor)))
	return errs.Wrap(err, "adopt stray runs")
}

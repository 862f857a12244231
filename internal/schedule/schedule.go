// Package schedule runs recurring jobs at the times of cron expressions. The next time of each job is
// kept in Postgres, so that no run is lost while the program is down and none happens twice on several
// machines.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
)

// Job recurs. Do runs on one machine, Follow on all; either may be nil.
type Job struct {
	// Name identifies the job in the database, for all machines and versions.
	Name string
	// Spec is a cron expression of five fields, @hourly and such, or @every and a duration. Times are
	// UTC; CRON_TZ=Europe/Prague before the expression makes them local there.
	Spec string
	// Do does the work that must happen once. Its writes through tx are committed together with the
	// next time, or not at all; effects besides those may happen again after a crash or a conflict. due
	// is the time the run was planned for: runs missed while no machine was up are made up for by one.
	// An error or a panic undoes the writes, and the job is tried again after RetryAfter, or at its
	// next time if that is sooner.
	Do func(ctx context.Context, tx pgx.Tx, due time.Time) error
	// Follow is called on each machine within Config.Poll after a run succeeded on any of them, once
	// for several runs in close succession. It is for what each machine must do for itself, such as
	// reloading.
	Follow func(ctx context.Context)
	// Timeout bounds Do; zero means five minutes.
	Timeout time.Duration
}

// Config has usable zero values.
type Config struct {
	Now        func() time.Time // nil: time.Now
	Poll       time.Duration    // how often the database is asked at least; zero means 15 s
	RetryAfter time.Duration    // pause after a failed run; zero means a minute
	Logger     *slog.Logger     // nil: nothing is logged
}

const (
	defaultTimeout    = 5 * time.Minute
	defaultPoll       = 15 * time.Second
	defaultRetryAfter = time.Minute
)

// Runner runs jobs. Several, on one machine or many, share the work.
type Runner struct {
	pool   *pgxpool.Pool
	config Config
	jobs   []*job
}

type job struct {
	Job
	times Times
	seen  atomic.Int64 // runs that Follow has heard of
}

// New makes a Runner. It refuses jobs without a name, two of one name and expressions it can't read.
func New(pool *pgxpool.Pool, c Config, jobs ...Job) (*Runner, error) {
	r := &Runner{pool: pool, config: withDefaults(c)}
	names := make(map[string]bool)
	for _, j := range jobs {
		if j.Name == "" || names[j.Name] {
			return nil, fmt.Errorf("schedule: the job's name %q is empty or taken", j.Name)
		}
		names[j.Name] = true
		times, err := Parse(j.Spec)
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", j.Name, err)
		}
		if j.Timeout <= 0 {
			j.Timeout = defaultTimeout
		}
		r.jobs = append(r.jobs, &job{Job: j, times: times})
	}
	return r, nil
}

func withDefaults(c Config) Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Poll <= 0 {
		c.Poll = defaultPoll
	}
	if c.RetryAfter <= 0 {
		c.RetryAfter = defaultRetryAfter
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Start registers the jobs in the database; runs from before it are not followed. Run calls it. A new
// job is first due at its next time; one whose expression changed is planned anew.
func (r *Runner) Start(ctx context.Context) error {
	for _, j := range r.jobs {
		var runs int64
		err := r.pool.QueryRow(ctx, `
			INSERT INTO schedules AS s (name, spec, next_run_at) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET spec = excluded.spec,
				next_run_at = CASE WHEN s.spec = excluded.spec THEN s.next_run_at ELSE excluded.next_run_at END
			RETURNING runs`, j.Name, j.Spec, j.next(r.config.Now())).Scan(&runs)
		if err != nil {
			return fmt.Errorf("schedule %s: register: %w", j.Name, err)
		}
		j.seen.Store(runs)
	}
	return nil
}

func (j *job) next(after time.Time) time.Time { return j.times.Next(after) }

// Run runs the jobs at their times until ctx ends, then waits for those that are running and returns
// nil. It returns an error only when the jobs cannot be registered; later trouble with the database is
// logged and tried again.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.Start(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, j := range r.jobs {
		all.Go(func() { r.loop(ctx, j) })
	}
	all.Wait()
	return nil
}

func (r *Runner) loop(ctx context.Context, j *job) {
	for ctx.Err() == nil {
		wait := r.config.Poll
		if next, err := r.pass(ctx, j); err != nil && ctx.Err() == nil {
			r.config.Logger.Error("schedule", "job", j.Name, "error", err)
		} else if err == nil {
			wait = max(0, min(wait, next.Sub(r.config.Now())))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// pass runs the job if it is due and nobody else is at it, tells Follow of runs, and gives the time
// of the next run.
func (r *Runner) pass(ctx context.Context, j *job) (time.Time, error) {
	if err := r.runIfDue(ctx, j); err != nil {
		return time.Time{}, err
	}
	var runs int64
	var next time.Time
	err := r.pool.QueryRow(ctx, `SELECT runs, next_run_at FROM schedules WHERE name = $1`, j.Name).Scan(&runs, &next)
	if err != nil {
		return time.Time{}, fmt.Errorf("schedule %s: read: %w", j.Name, err)
	}
	if seen := j.seen.Load(); runs > seen && j.seen.CompareAndSwap(seen, runs) && j.Follow != nil {
		r.follow(ctx, j)
	}
	if !next.After(r.config.Now()) { // another machine is at it
		next = r.config.Now().Add(time.Second)
	}
	return next, nil
}

func (r *Runner) runIfDue(ctx context.Context, j *job) error {
	var due time.Time // zero: not
	err := postgres.InTx(ctx, r.pool, func(tx pgx.Tx) error {
		due = time.Time{}
		now := r.config.Now()
		err := tx.QueryRow(ctx, `
			SELECT next_run_at FROM schedules WHERE name = $1 AND next_run_at <= $2
			FOR UPDATE SKIP LOCKED`, j.Name, now).Scan(&due)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := j.do(ctx, tx, due.UTC()); err != nil {
			return err
		}
		return r.succeeded(ctx, tx, j, now)
	})
	if err == nil {
		return nil
	}
	if due.IsZero() || ctx.Err() != nil { // not begun, or stopped with the program: still due
		return fmt.Errorf("schedule %s: %w", j.Name, err)
	}
	return r.failed(ctx, j, due, err)
}

func (j *job) do(ctx context.Context, tx pgx.Tx, due time.Time) error {
	if j.Do == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.Timeout, fmt.Errorf("the job took longer than %s", j.Timeout))
	defer cancel()
	err := safely(func() error { return j.Do(ctx, tx, due) })
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

func (r *Runner) succeeded(ctx context.Context, tx pgx.Tx, j *job, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE schedules SET next_run_at = $2, runs = runs + 1, last_run_at = $3, failures = 0
		WHERE name = $1`, j.Name, j.next(now), now)
	return err
}

// failed plans another try. Another machine may have been quicker; then its word counts.
func (r *Runner) failed(ctx context.Context, j *job, due time.Time, failure error) error {
	now := r.config.Now()
	next := j.next(now)
	if retry := now.Add(r.config.RetryAfter); retry.Before(next) {
		next = retry
	}
	r.config.Logger.Error("scheduled job failed", "job", j.Name, "next", next, "error", failure)
	_, err := r.pool.Exec(ctx, `
		UPDATE schedules SET next_run_at = $3, failures = failures + 1, last_error = $4, last_error_at = $5
		WHERE name = $1 AND next_run_at = $2`, j.Name, due, next, failure.Error(), now)
	return errs.Wrap(err, "schedule %s: record failure", j.Name)
}

func (r *Runner) follow(ctx context.Context, j *job) {
	err := safely(func() error { j.Follow(ctx); return nil })
	if err != nil {
		r.config.Logger.Error("following a scheduled job", "job", j.Name, "error", err)
	}
}

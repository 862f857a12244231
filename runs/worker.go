package runs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/signalbox/signalbox/registry"
)

// The queues of River that runs use.
const (
	queueRuns    = "runs"
	queueDeliver = "deliver"
)

const (
	fetchCooldown  = 5 * time.Millisecond // River's default of 100 ms makes an idle queue a second late
	fetchPoll      = 500 * time.Millisecond
	keepJobs       = time.Hour // a run's history is in our own table
	runJobMargin   = 10 * time.Minute
	deliverTimeout = 5 * time.Minute // of one delivery; videos take their time
	deliverTries   = 14
	deliverWithin  = 48 * time.Hour
	runJobTries    = 25 // of the job, for troubles of our own; the provider's attempts are counted apart
)

// errStopping is why work is given back while the service stops.
var errStopping = errors.New("the service is stopping")

// runArgs is the job that takes a run from the queue to its end.
type runArgs struct {
	RunID string `json:"run_id" river:"unique"`
	// Lost says that this job replaces one that is lost: nobody knows how far that came.
	Lost bool `json:"lost,omitempty"`
}

// Kind names the job in River's table.
func (runArgs) Kind() string { return "run" }

// deliverArgs is the job that brings a run's result.
type deliverArgs struct {
	RunID string `json:"run_id" river:"unique"`
}

// Kind names the job in River's table.
func (deliverArgs) Kind() string { return "deliver" }

// unfinished are the states in which a second job of the same run is refused.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

func (s *Service) runJob(runID string) river.InsertManyParams {
	return river.InsertManyParams{Args: runArgs{RunID: runID}, InsertOpts: &river.InsertOpts{
		Queue: queueRuns, MaxAttempts: runJobTries, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished},
	}}
}

func (s *Service) deliverJob(runID string) river.InsertManyParams {
	return river.InsertManyParams{Args: deliverArgs{RunID: runID}, InsertOpts: &river.InsertOpts{
		Queue: queueDeliver, MaxAttempts: deliverTries, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished},
	}}
}

// insertJobs adds jobs in a transaction that makes sure of their being the only ones.
func (s *Service) insertJobs(ctx context.Context, tx pgx.Tx, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	if _, err := s.river.InsertManyFastTx(ctx, tx, jobs); err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	return nil
}

func (s *Service) riverConfig() *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, &runWorker{service: s})
	river.AddWorker(workers, &deliverWorker{service: s})
	return &river.Config{
		ID:                          s.instance,
		Logger:                      s.log,
		Workers:                     workers,
		Queues:                      map[string]river.QueueConfig{queueRuns: {MaxWorkers: s.config.Workers}, queueDeliver: {MaxWorkers: s.config.Deliveries}},
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           fetchPoll,
		SoftStopTimeout:             s.config.SoftStop,
		RescueStuckJobsAfter:        maxTimeout + time.Hour, // above every Timeout below; a dead process' jobs are freed by the reaper at once
		CompletedJobRetentionPeriod: keepJobs,
		CancelledJobRetentionPeriod: keepJobs,
	}
}

// runWorker works a run's job.
type runWorker struct {
	river.WorkerDefaults[runArgs]
	service *Service
}

// Timeout is that of the longest run; the run's own timeout is kept by its step.
func (w *runWorker) Timeout(*river.Job[runArgs]) time.Duration { return maxTimeout + runJobMargin }

// NextRetry spaces the tries after troubles of our own, such as a database that is away.
func (w *runWorker) NextRetry(job *river.Job[runArgs]) time.Time {
	return w.service.config.Now().Add(backoff(w.service.config.RetryBase, job.Attempt, time.Minute))
}

// Work takes the run as far as it goes: submit, watch, finish.
func (w *runWorker) Work(ctx context.Context, job *river.Job[runArgs]) error {
	// River notes everyone who took the job: the first one knows that nobody has submitted anything.
	return giveBack(ctx, w.service.advance(ctx, job.Args.RunID, len(job.AttemptedBy) <= 1 && !job.Args.Lost))
}

// deliverWorker works a delivery's job.
type deliverWorker struct {
	river.WorkerDefaults[deliverArgs]
	service *Service
}

// Timeout bounds one delivery.
func (w *deliverWorker) Timeout(*river.Job[deliverArgs]) time.Duration {
	return deliverTimeout + time.Minute
}

// NextRetry spaces the tries of a delivery: from the retry base up to ten minutes.
func (w *deliverWorker) NextRetry(job *river.Job[deliverArgs]) time.Time {
	return w.service.config.Now().Add(backoff(w.service.config.RetryBase, job.Attempt, 10*time.Minute))
}

// Work delivers the run's result. Where the platform asks for time, the job waits for it without using up a
// try, for two days at most.
func (w *deliverWorker) Work(ctx context.Context, job *river.Job[deliverArgs]) error {
	err := w.service.deliver(ctx, job.Args.RunID)
	var asked *registry.Error
	if errors.As(err, &asked) && asked.RetryAfter > 0 && w.service.config.Now().Sub(job.CreatedAt) < deliverWithin {
		return river.JobSnooze(asked.RetryAfter)
	}
	return giveBack(ctx, err)
}

// giveBack turns the end of work because of stopping into River's word for it: the job is available again at
// once and no try is used up.
func giveBack(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errStopping):
		return river.JobSnooze(0)
	case err != nil && ctx.Err() != nil:
		return ctx.Err() // River sees from the cause why
	}
	return err
}

// backoff doubles from base with each attempt, up to limit, and spreads by a quarter to either side.
func backoff(base time.Duration, attempt int, limit time.Duration) time.Duration {
	d := min(base<<min(max(attempt-1, 0), 20), limit)
	if d <= 0 {
		d = limit
	}
	return d*3/4 + rand.N(d/2+1)
}

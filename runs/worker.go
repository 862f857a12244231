package runs

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/signalbox/signalbox/registry"
)

// queueDeliver is the queue of River that runs use, for deliveries that did not work at once.
const queueDeliver = "deliver"

const (
	fetchCooldown  = 5 * time.Millisecond // River's default of 100 ms makes an idle queue a second late
	fetchPoll      = 500 * time.Millisecond
	keepJobs       = time.Hour       // a run's history is in our own table
	deliverTimeout = 5 * time.Minute // of one delivery; videos take their time
	deliverTries   = 14
	deliverWithin  = 48 * time.Hour
)

// errStopping is why work is given back while the service stops.
var errStopping = errors.New("the service is stopping")

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

func deliverJob(runID string) river.InsertManyParams {
	return river.InsertManyParams{Args: deliverArgs{RunID: runID}, InsertOpts: &river.InsertOpts{
		Queue: queueDeliver, MaxAttempts: deliverTries, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished},
	}}
}

func (s *Service) riverConfig() *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, &deliverWorker{service: s})
	return &river.Config{
		ID:                          s.instance,
		Logger:                      s.log,
		Workers:                     workers,
		Queues:                      map[string]river.QueueConfig{queueDeliver: {MaxWorkers: s.config.Deliveries}},
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           fetchPoll,
		SoftStopTimeout:             s.config.SoftStop,
		RescueStuckJobsAfter:        time.Hour, // above the Timeout below; a dead process' jobs are freed by the reaper at once
		CompletedJobRetentionPeriod: keepJobs,
		ReindexerIndexNames:         slices.DeleteFunc(river.ReindexerIndexNamesDefault(), droppedIndex),
		CancelledJobRetentionPeriod: keepJobs,
	}
}

// droppedIndex reports whether one of River's indexes was dropped by migrations of ours, since nobody asks what it
// answers.
func droppedIndex(name string) bool {
	return name == "river_job_args_index" || name == "river_job_metadata_index" || name == "river_job_kind"
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

package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/registry"
)

// Service is the life of runs in one process. Any number of processes may share one database: each accepts,
// and those that were started work.
type Service struct {
	config     Config
	log        *slog.Logger
	events     *slog.Logger    // of executions, see Config.Events
	instance   string          // names this process among those that share the database
	process    *claims.Process // the sign of life behind what is claimed here
	deliveries *claims.Queue   // results that could not be brought at once
	delivering chan struct{}   // closed when no delivery of the queue is under way any more
	hub        *hub
	tools      toolCache
	learned    lessons
	quotes     seal.Sealer
	desk       *desk
	thumbnails *assets.Thumbnails
	strays     map[string]bool // runs claimed here that the last round of the reaper saw nobody work on
	metrics    metrics

	// Of whose turn it is, see claim.
	round int
	turns map[string]string                   // the account that was served last, by service; guarded by mu
	full  map[string]map[string]registry.Tool // tools for which there was no place, by service and id; guarded by mu

	places places

	writes *group.Group[write]
	marks  *group.Group[string] // ids of runs that were delivered
	loads  *group.Group[load]

	// stopping is closed when Stop begins: steps that only wait for a provider give their run back.
	stopping chan struct{}
	base     context.Context // of background work, which outlives any call; ended by Stop
	end      context.CancelFunc
	working  context.Context // of the work on runs, which Stop ends before the rest
	hurry    context.CancelCauseFunc
	work     sync.WaitGroup
	mu       sync.Mutex // guards the two below, turns, full, and adding to work against Stop
	started  bool
	stopped  bool

	// fail makes a named step fail, in tests that crash there.
	fail func(step string) error
}

// groupSize bounds how much is read or written together.
const groupSize = 128

// marksSize bounds the marks of deliveries in one statement: in each gatherMarks there must be room for all runs that end,
// since a run gives its place back with the mark.
const marksSize = 1024

// gatherEnds gathers the ends of runs while others begin: their results come a moment later, and a transaction serves more of them.
const gatherEnds = time.Millisecond

// gatherMarks may be long, since nobody waits for the mark of a delivery.
const gatherMarks = 20 * time.Millisecond

// stopTimeout bounds each of the last things that Stop does, when its own time is over or nearly so.
const stopTimeout = time.Second

// New makes a Service. It can accept, read and cancel runs; Start lets it work on them.
func New(config Config) (*Service, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewRandomFromReader(config.Random)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s := &Service{
		config: config, log: config.Logger.With("component", "runs"), events: config.Events.With("component", "runs"), instance: id.String(),
		hub: newHub(), desk: newDesk(config.Workers), thumbnails: assets.NewThumbnails(config.Pool), stopping: make(chan struct{}), fail: func(string) error { return nil },
		turns: make(map[string]string), full: make(map[string]map[string]registry.Tool),
	}
	if s.quotes, err = seal.New(config.Quotes); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s.base, s.end = context.WithCancel(context.Background())
	s.working, s.hurry = context.WithCancelCause(s.base)
	s.writes = group.New(groupSize, s.flushWrites, writeLanes(runtime.GOMAXPROCS(0))...)
	s.writes.Place = s.placeOf
	s.marks = group.New(marksSize, s.flushMarks, group.Lane{Gather: gatherMarks})
	s.loads = group.New(groupSize, s.flushLoads, group.Lane{}, group.Lane{})
	s.loads.Place = func(l *load) (lane int, id string) { return spread(l.id, s.loads.Lanes()), l.id }
	if s.metrics, err = newMetrics(config.Metrics); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	if err := config.Metrics.Register(deskCollector{s.desk}); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s.process = claims.NewProcess(claims.ProcessConfig{
		Pool: config.Pool, Log: s.log, ID: s.instance, Table: "run_workers", Lock: locks.Worker,
		Channel: channel, Heard: s.hear, Again: func() { s.refresh(s.hub.watchedElsewhere()) }, Release: s.release,
	})
	s.deliveries = claims.NewQueue(claims.QueueConfig{
		Pool: config.Pool, Log: s.log, Now: s.now, Table: "run_deliveries", Key: "run_id", Process: s.instance, Places: config.Deliveries, Work: s.deliverAgain,
	})
	s.delivering = make(chan struct{})
	return s, nil
}

// Start begins to work on runs, ours and those that a process which is gone left behind. ctx is for
// starting only.
func (s *Service) Start(ctx context.Context) error {
	s.mu.Lock()
	if s.started || s.stopped {
		s.mu.Unlock()
		return errors.New("runs: the service was started before")
	}
	s.started = true
	s.mu.Unlock()
	// The sign of life comes first: without it others would take what is claimed here for orphans.
	if err := s.process.Begin(ctx); err != nil {
		return fmt.Errorf("start the runs' workers: %w", err)
	}
	s.spawn(func() { s.process.Keep(s.base) })
	s.spawn(s.tellOthers)
	s.spawn(func() {
		defer close(s.delivering)
		s.deliveries.Run(s.working, s.stopping)
	})
	s.desk.start()
	s.spawn(s.claimFree)
	s.spawn(s.housekeeping)
	return nil
}

// Stop ends the work in two steps: no run is taken any more, those that wait for a provider are let go,
// those in the middle of a step end it; what has not ended after the time of Config.SoftStop, or when ctx ends, is
// cancelled. All that is not over goes back to the queue and resumes elsewhere, or here at the next start.
func (s *Service) Stop(ctx context.Context) error {
	s.mu.Lock()
	started, again := s.started, s.stopped
	if !again {
		close(s.stopping)
	}
	s.stopped = true
	s.mu.Unlock()
	if again {
		return nil
	}
	var err error
	if started {
		err = s.stopWorkers(ctx)
	}
	s.end()
	s.work.Wait()
	if err != nil {
		return fmt.Errorf("stop the runs' workers: %w", err)
	}
	return nil
}

// stopWorkers ends the work on runs and deliveries and gives up what was claimed.
func (s *Service) stopWorkers(ctx context.Context) error {
	err := s.endWork(ctx)
	inOrder := err == nil // nobody is left here who could write
	// Half of the time that is left; the rest is for what stops after the runs.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(stopTimeout, timeLeft(ctx)/2))
	defer cancel()
	return errors.Join(err, s.process.End(last, inOrder))
}

// timeLeft is how long ctx still has, if that is limited.
func timeLeft(ctx context.Context) time.Duration {
	deadline, limited := ctx.Deadline()
	if !limited || ctx.Err() != nil {
		return 0
	}
	return time.Until(deadline)
}

// spawn runs f in the background, where Stop waits for it; after Stop it does nothing.
func (s *Service) spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.work.Go(f)
}

// errStopping is why work is given back while the service stops.
var errStopping = errors.New("the service is stopping")

// backoff doubles from base with each attempt, up to limit, and spreads by a quarter to either side.
func backoff(base time.Duration, attempt int, limit time.Duration) time.Duration {
	d := min(base<<min(max(attempt-1, 0), 20), limit)
	if d <= 0 {
		d = limit
	}
	return d*3/4 + rand.N(d/2+1)
}

// failpoint is where tests let the process die.
func (s *Service) failpoint(step string) error { return s.fail(step) }

// sleep waits for d, or ends early with the cause when ctx does or the service stops.
func (s *Service) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.stopping:
		return errStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Service is the life of runs in one process. Any number of processes may share one database: each accepts,
// and those that were started work.
//
// It consists of parts, each with what it needs of those above it: the store reads runs, the hub tells of their changes, the limiter
// counts what accounts use, the pricer quotes, the writer writes beginnings and ends together, the stopper stops runs at their
// providers, the closer ends and delivers them, the worker claims and advances them, and the acceptor takes them on.
type Service struct {
	*env
	*store
	*hub
	*limiter
	*pricer
	*writer
	*stopper
	*closer
	*worker
	*acceptor
}

// env is what all parts share: how they are configured, the time, and the background work of this process.
type env struct {
	config   Config
	log      *slog.Logger
	events   *slog.Logger // of executions, see Config.Events
	instance string       // names this process among those that share the database
	metrics  metrics

	// stopping is closed when Stop begins: steps that only wait for a provider give their run back.
	stopping chan struct{}
	base     context.Context // of background work, which outlives any call; ended by Stop
	end      context.CancelFunc
	working  context.Context // of the work on runs, which Stop ends before the rest
	hurry    context.CancelCauseFunc
	work     sync.WaitGroup
	mu       sync.Mutex // guards the two below, and adding to work against Stop
	started  bool
	stopped  bool

	// fail makes a named step fail, in tests that crash there.
	fail func(step string) error
}

// newEnv makes what the parts share.
func newEnv(config Config) (*env, error) {
	id, err := uuid.NewRandomFromReader(config.Random)
	if err != nil {
		return nil, err
	}
	e := &env{
		config: config, log: config.Logger.With("component", "runs"), events: config.Events.With("component", "runs"), instance: id.String(),
		stopping: make(chan struct{}), fail: func(string) error { return nil },
	}
	e.base, e.end = context.WithCancel(context.Background())
	e.working, e.hurry = context.WithCancelCause(e.base)
	e.metrics, err = newMetrics(config.Metrics)
	return e, err
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
	e, err := newEnv(config)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	p, err := newPricer(e)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s := &Service{env: e, store: newStore(e), limiter: &limiter{env: e}, pricer: p}
	s.hub = newHub(e, s.store)
	s.store.ahead = s.hub.submitted
	s.writer = newWriter(e, s.limiter)
	s.stopper = &stopper{env: e, store: s.store}
	s.closer = newCloser(e, s.store, s.hub, s.pricer, s.writer, s.stopper)
	s.worker = newWorker(e, s.closer)
	s.acceptor = &acceptor{env: e, store: s.store, hub: s.hub, limiter: s.limiter, pricer: s.pricer, writer: s.writer, worker: s.worker}
	if err := config.Metrics.Register(deskCollector{s.desk}); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return s, nil
}

// Start begins to work on runs, ours and those that a process which is gone left behind. ctx is for
// starting only.
func (s *worker) Start(ctx context.Context) error {
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
	s.spawn(s.hub.tellOthers)
	s.spawn(func() {
		defer close(s.delivering)
		s.closer.deliveries.Run(s.working, s.stopping)
	})
	s.desk.start()
	s.spawn(s.claimFree)
	s.spawn(s.housekeeping)
	return nil
}

// Stop ends the work in two steps: no run is taken any more, those that wait for a provider are let go,
// those in the middle of a step end it; what has not ended after the time of Config.SoftStop, or when ctx ends, is
// cancelled. All that is not over goes back to the queue and resumes elsewhere, or here at the next start.
func (s *worker) Stop(ctx context.Context) error {
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
func (s *worker) stopWorkers(ctx context.Context) error {
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
func (s *env) spawn(f func()) {
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
func (s *env) failpoint(step string) error { return s.fail(step) }

// sleep waits for d, or ends early with the cause when ctx does or the service stops.
func (s *env) sleep(ctx context.Context, d time.Duration) error {
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

package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// Service is the life of runs in one process. Any number of processes may share one database: each accepts,
// and those that were started work.
type Service struct {
	config   Config
	log      *slog.Logger
	instance string // names this process among those that share the database
	river    *river.Client[pgx.Tx]
	hub      *hub
	tools    toolCache
	learned  lessons
	recent   recent
	missed   map[string]bool // processes whose sign of life the last round of the reaper missed; nil before the first
	metrics  metrics

	writes *group[write]
	loads  *group[load]

	// stopping is closed when Stop begins: steps that only wait for a provider give their run back.
	stopping chan struct{}
	base     context.Context //nolint:containedctx // of background work, which outlives any call; ended by Stop
	end      context.CancelFunc
	work     sync.WaitGroup
	mu       sync.Mutex // guards the two below, and adding to work against Stop
	started  bool
	stopped  bool

	// fail makes a named step fail, in tests that crash there.
	fail func(step string) error
}

// groupSize bounds how much is read or written together.
const groupSize = 128

// gatherWrites is below the time of a transaction.
const gatherWrites = time.Millisecond

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
		config: config, log: config.Logger.With("component", "runs"), instance: id.String(),
		hub: newHub(), stopping: make(chan struct{}), fail: func(string) error { return nil },
	}
	s.base, s.end = context.WithCancel(context.Background())
	s.writes = newGroup(groupSize, 1, s.flushWrites)
	s.writes.gather = gatherWrites
	s.loads = newGroup(groupSize, 2, s.flushLoads)
	if s.metrics, err = newMetrics(config.Metrics); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	if s.river, err = river.NewClient(riverpgxv5.New(config.Pool), s.riverConfig()); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
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
	// The sign of life comes first: without it others would take the jobs fetched here for orphans.
	signal := newSignal(s)
	if err := signal.connect(ctx); err != nil {
		return fmt.Errorf("start the runs' workers: %w", err)
	}
	s.spawn(signal.listen)
	s.spawn(s.tellOthers)
	if err := s.river.Start(s.base); err != nil {
		s.end()
		return fmt.Errorf("start the runs' workers: %w", err)
	}
	s.spawn(s.housekeeping)
	return nil
}

// Stop ends the work in two steps: no job is taken any more, those that wait for a provider give their run
// back, those in the middle of a step end it; what has not ended after the time of
// Config.SoftStop, or when ctx ends, is cancelled and goes back to the queue. Every run resumes at the next
// start, here or elsewhere.
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
		if err = s.river.Stop(ctx); err != nil {
			cancelled, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			err = errors.Join(err, s.river.StopAndCancel(cancelled))
		}
	}
	s.end()
	s.work.Wait()
	if err != nil {
		return fmt.Errorf("stop the runs' workers: %w", err)
	}
	return nil
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

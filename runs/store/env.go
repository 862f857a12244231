package store

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Env is what all parts share: how they are configured, the time, and the background work of this process.
type Env struct {
	Config   runs.Config
	Log      *slog.Logger
	Instance string // names this process among those that share the database
	Metrics  metrics
	Base     context.Context         // of background work, which outlives any call; ended by Close
	Working  context.Context         // of the work on runs, which ends before the rest
	Hurry    context.CancelCauseFunc // ends Working
	Stopping chan struct{}           // closed when the stop begins: steps that only wait for a provider give their run back
	Fail     func(step string) error // makes a named step fail, in tests that crash there

	events  *slog.Logger // of executions, see Config.Events
	end     context.CancelFunc
	work    sync.WaitGroup
	mu      sync.Mutex // guards the two below, and adding to work against BeginStop
	started bool
	stopped bool
}

// NewEnv makes what the parts share.
func NewEnv(config runs.Config) (*Env, error) {
	id, err := uuid.NewRandomFromReader(config.Random)
	if err != nil {
		return nil, err
	}
	e := &Env{
		Config: config, Log: config.Logger.With("component", "runs"), events: config.Events.With("component", "runs"), Instance: id.String(),
		Stopping: make(chan struct{}), Fail: func(string) error { return nil },
	}
	e.Base, e.end = context.WithCancel(context.Background())
	e.Working, e.Hurry = context.WithCancelCause(e.Base)
	e.Metrics, err = newMetrics(config.Metrics)
	return e, err
}

// BeginStart notes that the work begins, which it does once.
func (s *Env) BeginStart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.stopped {
		return errors.New("runs: the service was started before")
	}
	s.started = true
	return nil
}

// BeginStop closes Stopping, once, and tells whether this is the first stop, and of something that was started.
func (s *Env) BeginStop() (first, started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = !s.stopped; first {
		close(s.Stopping)
	}
	s.stopped = true
	return first, s.started
}

// Close ends the background work, and waits for it.
func (s *Env) Close() {
	s.end()
	s.work.Wait()
}

// Spawn runs f in the background, where Close waits for it; once the stop has begun it does nothing.
func (s *Env) Spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.work.Go(f)
}

// Failpoint is where tests let the process die.
func (s *Env) Failpoint(step string) error { return s.Fail(step) }

// Sleep waits for d, or ends early with the cause when ctx does or the service stops.
func (s *Env) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.Stopping:
		return ErrStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// IsStopping reports whether the stop has begun.
func (s *Env) IsStopping() bool {
	select {
	case <-s.Stopping:
		return true
	default:
		return false
	}
}

// MaxTimeout bounds a run, whatever its tool says.
const MaxTimeout = 24 * time.Hour

// contextOf is a run's context as providers get it.
func (s *Env) contextOf(r *runs.Run) registry.CallContext {
	c := r.Context
	c.SiteID = cmp.Or(c.SiteID, s.Config.SiteID)
	return c
}

// LogOf gives the log of the work on a run.
func (s *Env) LogOf(r *runs.Run) Logger {
	log := s.Log.With("run", r.ID, "tool", r.Tool.ToolID)
	if r.Context.TraceID != "" {
		log = log.With("traceId", r.Context.TraceID)
	}
	return log
}

// Tell records an execution: one event for each. Those of runs that were planned or are traced go to Config.Events.
func (s *Env) Tell(ctx context.Context, message string, r *runs.Run, ok bool, code string, deferred bool) {
	log := s.Log
	if r.Context.TraceID != "" || r.Context.PlannerProvider != "" {
		log = s.events
	}
	if log.Enabled(ctx, slog.LevelInfo) {
		s.event(ctx, log, message, r, ok, code, deferred)
	}
}

// event is apart from Tell so that the many runs that nobody wants told need no stack for it.
func (s *Env) event(ctx context.Context, log *slog.Logger, message string, r *runs.Run, ok bool, code string, deferred bool) {
	where := s.contextOf(r)
	log.LogAttrs(ctx, slog.LevelInfo, message,
		slog.String("run", r.ID), slog.String("tool", r.Tool.ToolID), slog.String("status", string(r.Status)), slog.Bool("ok", ok),
		slog.Int64("latencyMs", r.Latency().Milliseconds()), slog.Int("attempts", r.Executions()), slog.String("errorCode", code),
		slog.String("traceId", r.Trace()), slog.String("sessionId", cmp.Or(where.SessionID, r.ID)), slog.String("siteId", where.SiteID),
		slog.String("plannerProvider", where.PlannerProvider), slog.Bool("deferred", deferred), slog.String("cost", r.Cost.String()))
}

// Dollars is an amount for metrics.
func Dollars(n billing.NanoUSD) float64 { return float64(n) / float64(billing.Dollar) }

// TimeoutOf is how long a run of the tool may take, from its start.
func (s *Env) TimeoutOf(tool registry.Tool) time.Duration {
	timeout := tool.Timeout()
	if timeout <= 0 {
		timeout = s.Config.DefaultTimeout
	}
	return min(timeout, MaxTimeout)
}

// GroupSize bounds how much is read or written together.
const GroupSize = 128

// ErrStopping is why work is given back while the service stops.
var ErrStopping = errors.New("the service is stopping")

// Backoff doubles from base with each attempt, up to limit, and spreads by a quarter to either side.
func Backoff(base time.Duration, attempt int, limit time.Duration) time.Duration {
	d := min(base<<min(max(attempt-1, 0), 20), limit)
	if d <= 0 {
		d = limit
	}
	return d*3/4 + rand.N(d/2+1)
}

// Logger is what a step logs to.
type Logger = *slog.Logger

// Storable takes out of a text what Postgres can't look into: NUL, also within JSON, and bytes that are no characters.
func Storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}

// Spread gives an id one of so many places, always the same.
func Spread(id string, places int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(places))
}

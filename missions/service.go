package missions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// Runs is what missions need of runner.Service.
type Runs interface {
	Bind(ctx context.Context, r runs.Request) (runs.Bound, error)
	BindAs(ctx context.Context, tool registry.Tool, r runs.Request) (runs.Bound, error)
	Quote(ctx context.Context, b runs.Bound) (billing.Quote, error)
	AcceptBound(ctx context.Context, b runs.Bound) (runs.Run, error)
	ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error)
	First(ctx context.Context, accountID, key string) (runs.Run, error)
	Get(ctx context.Context, runID string) (runs.Run, error)
	Begun(ctx context.Context, runID string) (bool, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Subscribe(runID string) (states <-chan runs.Run, cancel func())
	RefundIn(ctx context.Context, tx pgx.Tx, runID, note string) (runs.Run, error)
	KeepTool(ctx context.Context, tool registry.Tool) (store.ToolKey, error)
	ToolAt(ctx context.Context, key store.ToolKey) (registry.Tool, error)
}

// Config is what a Service works with. Pool, Registry, Runs, Ledger, Providers and May are needed.
type Config struct {
	Pool     *pgxpool.Pool
	Registry *catalog.Registry
	Runs     Runs
	Ledger   *billing.Ledger
	// Providers are who runs the tools, by service: what takes a leg back is asked of them directly, with neither price nor retries.
	Providers map[string]runs.Provider
	Media     registry.MediaOpener // for providers; nil: none
	// May says as what an account may use a tool now, or why not. A call that draws on a budget, such as that of a limited or an agent's key,
	// has nothing of an operator.
	May func(ctx context.Context, accountID, toolID, budget string) (registry.Audience, error)
	// Tell lets the owner know of a mission that is over or, with a leg, of that leg which waits for a word of its own. After an error
	// it is called again, and after a crash it may be. nil: the mission itself says so, and the log.
	Tell func(ctx context.Context, m Mission, waits *Leg) error
	// MaxBatch is how many independent legs a mission may have at the moment; nil: 100.
	MaxBatch func() int
	// Shares says how much owners of chains may ask of those who run them at the moment; nil: nothing.
	Shares func() billing.ShareBounds

	Logger  *slog.Logger          // nil: nothing is logged
	Metrics prometheus.Registerer // nil: not exported
	Now     func() time.Time      // nil: time.Now

	Places      int           // missions under way at a time in this process; 0: 256
	Poll        time.Duration // how often the queue is looked at; 0: 2 s
	LookEvery   time.Duration // how often processes that are gone, and what nobody confirmed, are looked for; 0: 3 s
	UndoTimeout time.Duration // of one attempt to take a leg back; 0: 1 minute, or less where its tool says so
}

func (c Config) withDefaults() (Config, error) {
	if c.Pool == nil || c.Registry == nil || c.Runs == nil || c.Ledger == nil || c.Providers == nil || c.May == nil {
		return c, errors.New("missions: Config needs Pool, Registry, Runs, Ledger, Providers and May")
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxBatch == nil {
		c.MaxBatch = func() int { return 100 }
	}
	if c.Shares == nil {
		c.Shares = func() billing.ShareBounds { return billing.ShareBounds{} }
	}
	if c.Places <= 0 {
		c.Places = 256
	}
	if c.LookEvery <= 0 {
		c.LookEvery = 3 * time.Second
	}
	if c.UndoTimeout <= 0 {
		c.UndoTimeout = time.Minute
	}
	return c, nil
}

// channel is where processes tell each other by NOTIFY that there is a mission to be worked on, by its id. It is a hint only.
const channel = "signalbox_missions"

// Service carries missions out. Any number of processes may share one database: each plans and confirms, and those that were started
// work.
type Service struct {
	cfg    Config
	log    *slog.Logger
	worker *claims.Worker
	over   *prometheus.CounterVec
	fail   func(step string) error // makes a named step fail, in tests that crash there

	mu   sync.Mutex
	news map[string]chan struct{} // of missions under work here: somebody wants something of them
}

// New makes a Service. It can plan, confirm, cancel and read missions; Start lets it work on them.
func New(config Config) (*Service, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{
		cfg: config, log: config.Logger.With("component", "missions"), fail: func(string) error { return nil }, news: make(map[string]chan struct{}),
		over: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "signalbox", Name: "missions_total", Help: "Missions that are over, by status; rollback_incomplete needs a person."}, []string{"status"}),
	}
	s.worker = claims.NewWorker(claims.WorkerConfig{
		Queue:     claims.QueueConfig{Pool: config.Pool, Log: s.log, Now: config.Now, Table: "mission_work", Key: "mission_id", Places: config.Places, Poll: config.Poll, Work: s.advance},
		Processes: "mission_workers", Lock: locks.Mission, Channel: channel, Heard: s.hear, LookEvery: config.LookEvery, Tidy: s.expire,
	})
	if err := config.Metrics.Register(s.over); err != nil {
		return nil, fmt.Errorf("missions: %w", err)
	}
	return s, nil
}

// Start begins to work on missions, ours and those that a process which is gone left behind. ctx is for starting only.
func (s *Service) Start(ctx context.Context) error { return s.worker.Start(ctx) }

// Stop lets each mission end the step that it is at, gives them back and waits. When ctx ends, what is under way is cut off; it is
// resumed elsewhere, or here at the next start.
func (s *Service) Stop(ctx context.Context) error { return s.worker.Stop(ctx) }

// hear takes in a notification: there is something to do, or somebody wants something of a mission that is under work here.
func (s *Service) hear(missionID string) {
	if missionID == chainsChanged {
		s.worker.Go(s.reloadChains)
		return
	}
	s.mu.Lock()
	news := s.news[missionID]
	s.mu.Unlock()
	if news == nil {
		s.worker.Look()
		return
	}
	select {
	case news <- struct{}{}:
	default:
	}
}

// reloadChains offers the chains as they are now.
func (s *Service) reloadChains() {
	ctx, cancel := context.WithTimeout(context.Background(), reloadWithin)
	defer cancel()
	if _, err := s.cfg.Registry.Reload(ctx, ChainService); err != nil {
		s.log.WarnContext(ctx, "the chains could not be read again", "error", err)
	}
}

const reloadWithin = 10 * time.Second

// enter registers a mission that is worked on here; the returned function ends that.
func (s *Service) enter(missionID string) (news <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news[missionID] = c
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.news, missionID)
	}
}

// MaxBatch is how many independent legs a mission may have.
func (s *Service) MaxBatch() int { return s.cfg.MaxBatch() }

// ShareBounds are the largest shares that owners of chains may ask for.
func (s *Service) ShareBounds() billing.ShareBounds { return s.cfg.Shares() }

// now is the time as Postgres keeps it, so that what was written equals what is read.
func (s *Service) now() time.Time { return s.cfg.Now().Round(time.Microsecond) }

package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/registry"
)

// Source is a service that reports on runs.
type Source struct {
	// Verifier checks the service's signatures; nil: it has none, and the token in the address is what counts.
	Verifier registry.CallbackVerifier
	// Check is asked about a callback whose address had the right token, of a service of which some runs' callbacks are signed as
	// well; nil: none are. An error means: not authentic.
	Check   func(ctx context.Context, runID string, r registry.CallbackRequest) error
	MaxBody int64      // bytes; 0: 1 MiB
	Rate    rate.Limit // callbacks a second; 0: 50
	Burst   int        // at once; 0: 200
}

// InboxConfig is what an Inbox works with. Pool, Addresses and Callback are needed.
type InboxConfig struct {
	Pool      *pgxpool.Pool
	Addresses *Addresses
	Sources   map[string]Source // by service
	// Callback makes a run ask its provider, by our id or the provider's, of which one may be empty. known tells whether
	// there is such a run. It is repeated after an error, and may be repeated at any time.
	Callback func(ctx context.Context, service, runID, providerID string) (known bool, err error)
	// Strategy tells how to read the callbacks of a service without a Verifier; nil: not at all, and callbacks count as
	// the same when they are to the byte.
	Strategy func(service string) (registry.WebhookConfig, bool)

	Logger  *slog.Logger          // nil: nothing is logged
	Metrics prometheus.Registerer // nil: not exported
	Now     func() time.Time      // nil: time.Now
	Poll    time.Duration         // how often it is looked for events that other machines stored; 0: 1 s
}

const (
	maxBody      = 1 << 20
	defaultRate  = 50
	defaultBurst = 200
	keepEvents   = 8 * 24 * time.Hour  // longer than any sender repeats
	keepLeft     = 30 * 24 * time.Hour // what could not be worked on
	pruneEvery   = time.Hour
)

// Inbox takes the callbacks of services. It is an http.Handler for everything under Root. Any number of processes may
// share one database.
type Inbox struct {
	cfg     InboxConfig
	sources map[string]*source
	metrics inboxMetrics
	strange *once
	writes  *group.Group[arrival]
	wake    chan struct{} // handed is no longer empty

	mu      sync.Mutex
	stopped bool    // with the adding to posting
	handed  []Event // stored here, claimed, and not worked on yet
	room    int     // in handed
	posting sync.WaitGroup
	end     context.CancelFunc
	work    sync.WaitGroup
}

// source is a Source with its limits at work.
type source struct {
	Source
	genuine, forged *rate.Limiter // counted apart, so that nobody can use up the service's own share
}

// NewInbox makes an Inbox. Start lets it store and work.
func NewInbox(cfg InboxConfig) (*Inbox, error) {
	if cfg.Pool == nil || cfg.Addresses == nil || cfg.Callback == nil {
		return nil, errors.New("webhooks: InboxConfig needs Pool, Addresses and Callback")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Poll <= 0 {
		cfg.Poll = time.Second
	}
	b := &Inbox{cfg: cfg, sources: map[string]*source{}, strange: newOnce(), wake: make(chan struct{}, 1), room: maxHanded}
	b.writes = group.New(groupSize, b.write, group.Lane{Regulars: true}) // a service with much to say goes on when it was answered
	for service, s := range cfg.Sources {
		b.sources[service] = newSource(s)
	}
	var err error
	if b.metrics, err = newInboxMetrics(cfg.Metrics); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return b, nil
}

func newSource(s Source) *source {
	if s.MaxBody <= 0 {
		s.MaxBody = maxBody
	}
	if s.Rate <= 0 {
		s.Rate = defaultRate
	}
	if s.Burst <= 0 {
		s.Burst = defaultBurst
	}
	return &source{Source: s, genuine: rate.NewLimiter(s.Rate, s.Burst), forged: rate.NewLimiter(s.Rate, s.Burst)}
}

// Start begins to store what comes in and to work on what is stored, also what was left from before.
func (b *Inbox) Start(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil || b.stopped {
		return errors.New("webhooks: the inbox was started before")
	}
	ctx, end := context.WithCancel(context.Background())
	b.end = end
	b.work.Go(func() { b.processAll(ctx) })
	return nil
}

// Stop answers those that are being stored, and ends the work; the rest is worked on at the next start, or elsewhere.
func (b *Inbox) Stop(context.Context) error {
	b.mu.Lock()
	again := b.stopped || b.end == nil
	b.stopped = true
	b.mu.Unlock()
	if again {
		return nil
	}
	b.posting.Wait() // bounded by answerWithin
	b.end()
	b.work.Wait()
	return nil
}

// open lets an arrival in, unless the inbox is not running.
func (b *Inbox) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped || b.end == nil {
		return false
	}
	b.posting.Add(1)
	return true
}

// once tells of each thing the first time only.
type once struct {
	mu   sync.Mutex
	seen map[string]bool
}

// maxOnce bounds what is remembered; beyond it nothing is new any more.
const maxOnce = 1000

func newOnce() *once { return &once{seen: map[string]bool{}} }

func (o *once) first(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen[key] || len(o.seen) >= maxOnce {
		return false
	}
	o.seen[key] = true
	return true
}

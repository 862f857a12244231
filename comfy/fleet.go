package comfy

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/registry"
)

const (
	healthInterval = 10 * time.Second
	infoInterval   = 5 * time.Minute // object_info changes when somebody installs a node or a model
	probeTimeout   = 5 * time.Second
	infoTimeout    = time.Minute
)

// FleetConfig configures a Fleet. The zero value works.
type FleetConfig struct {
	HTTPClient *http.Client
	Logger     *slog.Logger
	Now        func() time.Time
	// OnChange is called after an engine came, went, or changed what it has.
	OnChange func()
}

// Fleet is the set of ComfyUI servers that runs are placed on. It knows which are up, what nodes and
// models they have, and which model each used last. It is safe for concurrent use.
type Fleet struct {
	cfg     FleetConfig
	engines []*Engine
}

// Engine is one server of a fleet.
type Engine struct {
	Name   string // host:port and path
	Client *Client

	mu      sync.Mutex
	known   knowledge
	warm    string // key of the models used by the last prompt placed here
	pending int    // submissions under way, not yet in the server's own count
}

type knowledge struct {
	info     *workflow.ObjectInfo
	infoHash string
	infoAt   time.Time
	stats    SystemStats
	err      error // of the last probe; nil: up
	checked  time.Time
}

// EngineStatus is what is known of one engine.
type EngineStatus struct {
	Name      string    `json:"name"`
	Up        bool      `json:"up"`
	Error     string    `json:"error,omitempty"`
	Version   string    `json:"version,omitempty"`
	GPUs      []string  `json:"gpus,omitempty"`
	Classes   int       `json:"classes"`
	CheckedAt time.Time `json:"checkedAt"`
}

// NewFleet makes a fleet of the servers at urls. Nothing is asked before Refresh or Run.
func NewFleet(urls []*url.URL, cfg FleetConfig) *Fleet {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: newTransport()}
	}
	f := &Fleet{cfg: cfg}
	for _, u := range urls {
		f.engines = append(f.engines, &Engine{Name: u.Host + u.Path, Client: NewClient(u, cfg.HTTPClient)})
	}
	return f
}

// Run keeps the fleet's knowledge fresh until ctx ends.
func (f *Fleet) Run(ctx context.Context) {
	ticker := time.NewTicker(healthInterval)
	defer ticker.Stop()
	defer f.cfg.HTTPClient.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.Refresh(ctx)
		}
	}
}

// Refresh probes all engines at once and calls OnChange when anything changed that matters to tools.
func (f *Fleet) Refresh(ctx context.Context) {
	var wg sync.WaitGroup
	changed := make([]bool, len(f.engines))
	for i, e := range f.engines {
		wg.Go(func() { changed[i] = f.probe(ctx, e) })
	}
	wg.Wait()
	if slices.Contains(changed, true) && f.cfg.OnChange != nil && ctx.Err() == nil {
		f.cfg.OnChange()
	}
}

// probe asks one engine how it is and, when it is time, what it has.
func (f *Fleet) probe(ctx context.Context, e *Engine) (changed bool) {
	before := e.knowledge()
	next := before
	next.checked = f.cfg.Now()
	next.stats, next.err = probeStats(ctx, e.Client)
	if ctx.Err() != nil {
		return false
	}
	wasDown := before.err != nil || before.info == nil
	restarted := next.stats.Version != before.stats.Version
	if next.err == nil && (wasDown || restarted || next.checked.Sub(before.infoAt) >= infoInterval) {
		infoCtx, cancel := context.WithTimeout(ctx, infoTimeout)
		info, hash, err := e.Client.ObjectInfo(infoCtx)
		cancel()
		if err != nil {
			next.err = err
		} else {
			next.info, next.infoHash, next.infoAt = info, hash, next.checked
		}
	}
	e.mu.Lock()
	e.known = next
	e.mu.Unlock()
	f.logTransition(e, before, next)
	return (before.err == nil) != (next.err == nil) || before.infoHash != next.infoHash
}

func probeStats(ctx context.Context, c *Client) (SystemStats, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return c.SystemStats(ctx)
}

func (f *Fleet) logTransition(e *Engine, before, next knowledge) {
	switch {
	case next.err != nil && (before.err == nil || before.checked.IsZero()):
		f.cfg.Logger.Warn("engine is down", "engine", e.Name, "error", next.err)
	case next.err == nil && (before.err != nil || before.checked.IsZero()):
		f.cfg.Logger.Info("engine is up", "engine", e.Name, "version", next.stats.Version, "classes", next.info.Len())
	}
}

func (e *Engine) knowledge() knowledge {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known
}

// Status lists the engines in the order of the configuration.
func (f *Fleet) Status() []EngineStatus {
	var out []EngineStatus
	for _, e := range f.engines {
		k := e.knowledge()
		s := EngineStatus{Name: e.Name, Up: k.err == nil && k.info != nil, Version: k.stats.Version, GPUs: k.stats.GPUs, CheckedAt: k.checked}
		if k.err != nil {
			s.Error = k.err.Error()
		}
		if k.info != nil {
			s.Classes = k.info.Len()
		}
		out = append(out, s)
	}
	return out
}

// Declarations returns the node declarations of the engine that comes nearest to having what need asks
// for, with what it lacks. Engines that are down count with what they had: a short outage must not
// change a tool's inputs.
func (f *Fleet) Declarations(need workflow.Requirements) Declarations {
	var best Declarations
	found := false
	for _, e := range f.engines {
		k := e.knowledge()
		if k.info == nil {
			continue
		}
		lacks := missing(k.info, need)
		if !found || len(lacks) < len(best.Missing) {
			best, found = Declarations{Info: k.info, Hash: k.infoHash, Missing: lacks}, true
		}
	}
	return best
}

// Declarations are what one engine has.
type Declarations struct {
	Info    *workflow.ObjectInfo // nil while no engine has ever answered
	Hash    string               // of the content
	Missing []string             // what was asked for and is not there
}

// place picks the engine for a prompt: one that is up and has everything, rather one that used these
// models last, rather one with a short queue.
func (f *Fleet) place(ctx context.Context, need workflow.Requirements) (*Engine, error) {
	var able []*Engine
	var down []string
	for _, e := range f.engines {
		k := e.knowledge()
		switch {
		case k.info == nil || k.err != nil:
			down = append(down, e.Name)
		case len(missing(k.info, need)) == 0:
			able = append(able, e)
		}
	}
	if len(able) == 0 {
		return nil, f.nobody(need, down)
	}
	if len(able) == 1 {
		return able[0], nil
	}
	return shortest(ctx, warmest(able, modelKey(need))), nil
}

// nobody explains why no engine can take a prompt.
func (f *Fleet) nobody(need workflow.Requirements, down []string) error {
	if len(down) > 0 {
		e := registry.Errorf(registry.CodeUnavailable, "no engine is up that could run this; try again in a minute")
		e.Retryable, e.RetryAfter = true, healthInterval
		e.Cause = fmt.Errorf("engines down: %s", strings.Join(down, ", "))
		return e
	}
	return registry.Errorf(registry.CodeUnavailable, "no engine has %s", enumerate(f.Declarations(need).Missing, 6))
}

func warmest(engines []*Engine, key string) []*Engine {
	if key == "" {
		return engines
	}
	var warm []*Engine
	for _, e := range engines {
		e.mu.Lock()
		if e.warm == key {
			warm = append(warm, e)
		}
		e.mu.Unlock()
	}
	if len(warm) > 0 {
		return warm
	}
	return engines
}

// shortest asks the engines for their queues; one that does not answer in time counts as full.
func shortest(ctx context.Context, engines []*Engine) *Engine {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	lengths := make([]int, len(engines))
	var wg sync.WaitGroup
	for i, e := range engines {
		wg.Go(func() {
			n, err := e.Client.QueueLength(ctx)
			if err != nil {
				n = 1 << 20
			}
			e.mu.Lock()
			lengths[i] = n + e.pending
			e.mu.Unlock()
		})
	}
	wg.Wait()
	best := 0
	for i := range engines {
		if cmp.Less(lengths[i], lengths[best]) {
			best = i
		}
	}
	return engines[best]
}

// reserve counts a submission that is on its way, so that a burst spreads over the fleet. The returned
// function ends it and notes which models the engine has now.
func (e *Engine) reserve(need workflow.Requirements) (done func(accepted bool)) {
	e.mu.Lock()
	e.pending++
	e.mu.Unlock()
	return func(accepted bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.pending--
		if accepted {
			e.warm = modelKey(need)
		}
	}
}

func modelKey(need workflow.Requirements) string {
	var names []string
	for _, m := range need.Models {
		names = append(names, m.Folder+"/"+m.Name)
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

func (f *Fleet) engine(name string) (*Engine, bool) {
	for _, e := range f.engines {
		if e.Name == name {
			return e, true
		}
	}
	return nil, false
}

// Health is nil when at least one engine is up.
func (f *Fleet) Health(context.Context) error {
	for _, e := range f.engines {
		if k := e.knowledge(); k.err == nil && k.info != nil {
			return nil
		}
	}
	return registry.Errorf(registry.CodeUnavailable, "none of %d engines is up", len(f.engines))
}

package comfy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/loras"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/placement"
	"github.com/signalbox/signalbox/comfy/scaling"
	"github.com/signalbox/signalbox/comfy/tag"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	healthInterval = 10 * time.Second
	infoInterval   = 5 * time.Minute  // object_info changes when somebody installs a node or a model
	probeTimeout   = 20 * time.Second // a busy Python server answers late and is up nevertheless
	queueTimeout   = 5 * time.Second  // of asking for the length of a queue, only to choose
	goneAfter      = 30 * time.Second
	countInterval  = time.Second     // of counting what waits, while something does
	waitPause      = 2 * time.Second // before another look for an engine
	infoTimeout    = time.Minute
	askAgainAfter  = 5 * time.Second // what an engine has is not asked again for a run that lacks something before
)

// FleetConfig configures a Fleet. The zero value works.
type FleetConfig struct {
	HTTPClient *http.Client
	// Headers go along with each request to an engine, by its name: keys to doors in front of engines.
	Headers map[string]http.Header
	Logger  *slog.Logger
	Now     func() time.Time
	// OnChange is called after an engine came, went, or changed what it has.
	OnChange func()
	// Orders are what operators want of engines; the zero value: nothing.
	Orders Orders
	// GoneAfter is how long an engine may be down before its runs go to others; zero means 30 s.
	GoneAfter time.Duration
	// Ahead is how many prompts an engine has at a time, the one that runs included; zero means 2. The rest waits in our own queue.
	Ahead int
	// Endpoints get runs for which no server has a place.
	Endpoints []*Endpoint
	// Waker wakes servers that sleep and have an address for that; nil: nobody does.
	Waker *scaling.Waker
	// Waiting counts the runs that wait in the house's queue, by tool; nil: nobody knows. It says whether loading models elsewhere is worth it.
	Waiting func(ctx context.Context) (map[string]int, error)
	// Rate is what a second costs on a machine; nil: all the same. Of engines that would be done at about the same time the cheapest gets a run.
	Rate func(machine string) float64
	// UsualRate is what a second costs, in US dollars, on engines without a rate of their own; empty: what their kind of GPU costs.
	UsualRate string
}

// ahead keeps an engine busy while the next prompt comes, and lets the next one begin within two runs.
const ahead = 2

// Fleet is the set of ComfyUI servers that runs are placed on. It knows which are up, what nodes and
// models they have, and which model each used last. It is safe for concurrent use.
type Fleet struct {
	cfg       FleetConfig
	engines   []*Engine
	groups    []string   // that have engines of their own
	refreshes sync.Mutex // one at a time, so that each change is told once
	placing   sync.Mutex // picking and reserving is one step
	paces     placement.Paces
	waits     placement.Waits
	triggers  loras.Triggers
	wanted    wanted
}

// Engine is one server of a fleet.
type Engine struct {
	Name     string      // host:port and path
	Client   *api.Client // nil: a serverless endpoint
	probes   *api.Client // asks how it is
	endpoint *Endpoint
	tags     tag.Set
	rate     string // US dollars a second; empty: by its kind of GPU

	mu    sync.Mutex
	known knowledge
	order Order

	wanted     time.Time // when a run asked for it last while it slept
	tiredUntil time.Time // until then it is not woken any more

	missing  needs.Remembered
	withheld map[string]time.Time // when it last did not hand out a result, by tool

	ours     map[string]*held    // prompts of this process that the engine has, or is about to get, by their ids
	turned   time.Time           // when one of them ended
	loaded   []string            // sets of models in its memory as far as is known, the one used last first
	pace     float64             // how long runs take here, against what they take on the average; zero: not known
	inQueue  int                 // prompts running and pending there, everybody's, as it said last; only known while runs are watched
	clientID string              // that prompts are sent with now
	watchers map[string]*watcher // by client id
	asked    bool                // for the queue, and no answer yet
	next     *question           // for the queue, to be asked after that
}

type knowledge struct {
	info     *objectinfo.Info
	infoHash string
	infoAt   time.Time               // zero: to be asked again
	arrived  map[workflow.Model]bool // files for which it was asked again since they had come
	stats    api.SystemStats
	err      error // of the last probe; nil: up
	checked  time.Time

	downSince time.Time // while err is set
}

func (k knowledge) up() bool { return k.err == nil && k.info != nil }

// EngineStatus is what is known of one engine.
type EngineStatus struct {
	Name      string    `json:"name"`
	Up        bool      `json:"up"`
	Error     string    `json:"error,omitempty"`
	Version   string    `json:"version,omitempty"`
	GPUs      []string  `json:"gpus,omitempty"`
	Classes   int       `json:"classes"`
	CheckedAt time.Time `json:"checkedAt"`
	Order     Order     `json:"order,omitempty"`
	DownSince time.Time `json:"downSince,omitzero"`
	Tags      []string  `json:"tags,omitempty"`
	Memory    int64     `json:"memory,omitempty"` // bytes of the first GPU
	Free      int64     `json:"free,omitempty"`   // of them
	// Serverless says that it is an endpoint whose machines start when there is work.
	Serverless bool `json:"serverless,omitempty"`
	// Wakes says that a run which waits for it wakes it, Waking that this is under way.
	Wakes  bool `json:"wakes,omitempty"`
	Waking bool `json:"waking,omitempty"`
}

// NewFleet makes a fleet of the servers at urls, whose fragments are tags: see tag.Read. Nothing is asked before Refresh or Run.
func NewFleet(urls []*url.URL, cfg FleetConfig) *Fleet {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.GoneAfter = cmp.Or(cfg.GoneAfter, goneAfter)
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: api.NewTransport()}
	}
	if cfg.Ahead <= 0 {
		cfg.Ahead = ahead
	}
	f := &Fleet{cfg: cfg}
	probes := probeClient(cfg.HTTPClient)
	for _, u := range urls {
		name, bare := EngineName(u), *u
		bare.Fragment = ""
		tags, _ := tag.Read(u) // the configuration has seen them
		e := &Engine{
			Name: name, tags: tags, rate: cmp.Or(tags.Rate, cfg.UsualRate), Client: api.New(&bare, withHeaders(cfg.HTTPClient, u, cfg.Headers[name])), probes: api.New(&bare, withHeaders(probes, u, cfg.Headers[name])), watchers: make(map[string]*watcher), ours: make(map[string]*held), withheld: make(map[string]time.Time),
		}
		f.groups = append(f.groups, tags.Groups...)
		f.engines = append(f.engines, e)
	}
	slices.Sort(f.groups)
	f.groups = slices.Compact(f.groups)
	for _, end := range cfg.Endpoints {
		f.engines = append(f.engines, &Engine{Name: end.Name, endpoint: end, rate: cfg.UsualRate, watchers: make(map[string]*watcher), ours: make(map[string]*held)})
	}
	return f
}

// EngineName is the name of the engine at an address: host:port and path.
func EngineName(u *url.URL) string { return u.Host + u.Path }

// probeClient is one with connections of its own: a new one tells that the server was restarted only if no other request has made it.
func probeClient(c *http.Client) *http.Client {
	transport, ok := c.Transport.(*http.Transport)
	if !ok {
		return c
	}
	own := *c
	own.Transport = transport.Clone()
	return &own
}

// withHeaders is a client that sends the headers of one engine.
func withHeaders(c *http.Client, u *url.URL, headers http.Header) *http.Client {
	if len(headers) == 0 {
		return c
	}
	own := *c
	next := own.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	own.Transport = api.WithHeaders(u, headers, next)
	return &own
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
		s := EngineStatus{Name: e.Name, Up: k.up(), Version: k.stats.Version, GPUs: k.stats.GPUs, CheckedAt: k.checked, Order: e.ordered(), DownSince: k.downSince,
			Tags: e.tags.Tags, Memory: k.stats.Memory.Total, Free: k.stats.Memory.Free, Serverless: e.endpoint != nil}
		s.Wakes, s.Waking = e.asleep(f.cfg.Now())
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

// Declarations implements loader.Engines. Engines that are down count with what they had: a short outage must not change a tool's inputs.
func (f *Fleet) Declarations(tool string, need workflow.Requirements) loader.Declarations {
	var best loader.Declarations
	found := false
	for _, e := range f.engines {
		k := e.knowledge()
		if k.info == nil {
			continue
		}
		lacks := append(e.lacks(k.info, tool, need), e.tags.LacksTool(tool)...)
		if !found || len(lacks) < len(best.Missing) {
			best, found = loader.Declarations{Info: k.info, Hash: k.infoHash, Missing: lacks}, true
		}
	}
	f.wanted.note(tool, need, best.Missing)
	return best
}

// EngineLacks is what one engine lacks of what a tool takes.
type EngineLacks struct {
	Engine string
	Lacks  []string // "the model x.safetensors", "the node KSampler" and the like; none: it can run it
}

// Lacks tells for each engine that has ever answered what it lacks to run a tool.
func (f *Fleet) Lacks(tool string, need workflow.Requirements) (all []EngineLacks) {
	for _, e := range f.engines {
		if k := e.knowledge(); k.info != nil {
			all = append(all, EngineLacks{Engine: e.Name, Lacks: append(e.lacks(k.info, tool, need), e.tags.LacksTool(tool)...)})
		}
	}
	return all
}

// LoraWords implements loader.Engines.
func (f *Fleet) LoraWords(file string) string { return f.triggers.Of(file) }

// places tells how many more prompts an engine gets now. What others have sent there counts as well, but who has nothing there may
// always send one: who waited for the others to end would never have a turn.
func (f *Fleet) places(e *Engine) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.endpoint != nil {
		return max(0, e.endpoint.AtOnce-len(e.ours))
	}
	if len(e.ours) == 0 {
		return f.cfg.Ahead
	}
	return max(0, f.cfg.Ahead-max(len(e.ours), e.inQueue))
}

func (f *Fleet) hasPlace(e *Engine) bool { return f.places(e) > 0 }

// Places tells how many more prompts the engines get now. While none is up it is as if all stood idle: submitting tells what is wrong.
func (f *Fleet) Places() int {
	places, up := 0, false
	for _, e := range f.engines {
		if e.knowledge().up() && e.ordered() == OrderNone {
			places, up = places+f.places(e), true
		}
	}
	if !up {
		return len(f.engines) * f.cfg.Ahead
	}
	return places
}

// errKept is in the chain of an error for a job whose engines are there for others.
var errKept = errors.New("every engine that could run it is kept for others")

// errLacking is in the chain of an error for a job that no engine has everything for.
var errLacking = errors.New("no engine has everything that it takes")

// able lists the engines that are up, have everything and take the run, but for those that refused, and those that withhold results where others do not. Where those are all, the first refusal
// is the error.
func (f *Fleet) able(j placement.Job, refused map[*Engine]error) ([]*Engine, error) {
	var able, withholding []*Engine
	var down []string // that may have everything
	var refusal error
	kept := false // one that could is there for others
	for _, e := range f.engines {
		k := e.knowledge()
		switch {
		case k.info != nil && len(e.lacks(k.info, j.Tool, j.Need)) > 0:
		case refused[e] != nil:
			refusal = cmp.Or(refusal, refused[e])
		case !e.tags.Serves(j.Tool, j.Group):
			kept = true
		case e.ordered() != OrderNone:
			down = append(down, e.Name+" ("+string(e.ordered())+")")
		case k.up() && f.withholds(e, j.Tool):
			withholding = append(withholding, e)
		case k.up():
			able = append(able, e)
		default:
			down = append(down, e.Name)
		}
	}
	switch {
	case len(able) > 0:
		return able, nil
	case len(withholding) > 0:
		return withholding, nil
	case refusal != nil:
		return nil, refusal
	case len(down) > 0:
		e := registry.Say(registry.CodeUnavailable, said.EngineNone)
		e.Retryable, e.RetryAfter, e.Wait = true, waitPause, true
		e.Cause = fmt.Errorf("engines down: %s", strings.Join(down, ", "))
		return nil, e
	case kept:
		return nil, registry.Say(registry.CodeUnavailable, said.EngineKept).Because(errKept)
	}
	return nil, registry.SayText(registry.CodeUnavailable, needs.Lacking(f.Declarations("", j.Need).Missing)).Because(errLacking)
}

// servers are the engines that can be asked for what they have and do.
func (f *Fleet) servers() []*Engine {
	return slices.DeleteFunc(slices.Clone(f.engines), func(e *Engine) bool { return e.endpoint != nil })
}

func (f *Fleet) engine(name string) (*Engine, bool) {
	for _, e := range f.engines {
		if e.Name == name {
			return e, true
		}
	}
	return nil, false
}

// machine is the engine's first GPU, by the name that rates go by.
func (e *Engine) machine() (name string) {
	if gpus := e.knowledge().stats.GPUs; len(gpus) > 0 {
		name = gpus[0]
	}
	if e.rate != "" {
		name = registry.MachineAt(name, e.rate)
	}
	return name
}

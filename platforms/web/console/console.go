// Package console is the operator's console: what runs, what fails, what it earns, who uses it, and the
// few things that an operator does about it.
//
// Its pages are drawn on the server and work without a script; scripts keep them fresh and draw the plots
// from the tables that stand beside them. Whatever changes something is asked before, is a POST, and is
// kept in the audit log with who did it, to what and why.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/billing"
	store "github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Root is the path that the console is mounted at.
const Root = "/operator/"

// Registry is what the console needs of registry.Registry.
type Registry interface {
	Snapshot() *catalog.Snapshot
	Status() []catalog.LoaderStatus
	Reload(ctx context.Context, names ...string) (catalog.Diff, error)
}

// Catalogue is what the console needs of history.Store.
type Catalogue interface {
	Changes(ctx context.Context, q history.ChangesQuery) ([]history.Change, error)
	Versions(ctx context.Context, toolID string) ([]history.Version, error)
	Tool(ctx context.Context, toolID, version string) (registry.Tool, error)
}

// Runs is what the console needs of runner.Service.
type Runs interface {
	Look(ctx context.Context, runID string) (runs.Run, error)
	Space(ctx context.Context) (store.Space, error)
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Retry(ctx context.Context, runID string) (runs.Run, error)
	Refund(ctx context.Context, runID, note string) (runs.Run, error)
	Stats(ctx context.Context, from, to time.Time, step time.Duration) (runs.Stats, error)
	CountByState(ctx context.Context) (map[runs.Status]int64, error)
	Usage(ctx context.Context, accountID string) (runs.Usage, error)
	Unstopped(ctx context.Context) ([]runs.Unstopped, error)
}

// People is what the console needs of users.Store.
type People interface {
	ByID(ctx context.Context, accountID string) (users.Account, error)
	People(ctx context.Context, q users.PeopleQuery) ([]users.Person, error)
	PersonByID(ctx context.Context, accountID string) (users.Person, error)
	Block(ctx context.Context, accountID, by, note string) error
	Unblock(ctx context.Context, accountID, by, note string) error
	ByIdentity(ctx context.Context, platform, externalID string) (users.Account, error)
	Rules(ctx context.Context, where users.Place) ([]users.Rule, error)
	SetRule(ctx context.Context, r users.Rule) error
	DeleteRule(ctx context.Context, id int64, by string) error
	SetLimits(ctx context.Context, accountID string, l users.Limits, by, note string) error
	ChangeOperator(ctx context.Context, accountID string, operator bool, by, note string) error
	Record(ctx context.Context, e users.AuditEntry) error
	Audit(ctx context.Context, q users.AuditQuery) ([]users.AuditEntry, error)
}

// Ledger is what the console needs of billing.Ledger.
type Ledger interface {
	Books(ctx context.Context) (billing.Books, error)
	Check(ctx context.Context) (billing.CheckReport, error)
	Transfers(ctx context.Context, q billing.TransfersQuery) ([]billing.Transfer, error)
	Income(ctx context.Context, accountID string, since time.Time) ([]billing.Income, error)
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
}

// Finding is something that could be better in a tool's definition.
type Finding struct {
	Severity string // error, warning, info
	Message  string
	Advice   string
	Node     string
}

// Lack is why an engine can't run a tool.
type Lack struct {
	Engine, ToolID string
	What           string // that it has not: "the model flux1-dev.safetensors"
}

// Engine is a machine that works on runs, as its provider knows it.
type Engine struct {
	Name      string
	Up        bool
	Error     string
	Version   string
	GPUs      []string
	Classes   int      // kinds of nodes it has
	Running   []string // ids of the runs it works on
	Waiting   []string // ids of those in its queue, next first
	CheckedAt time.Time
	Order     string // cordoned, draining or released; empty: it takes runs
	Tags      []string
	Memory    int64 // bytes of the first GPU; zero: it does not tell
	Free      int64 // of them
}

// Gigabytes says how much of the memory is free.
func (e Engine) Gigabytes() string {
	return fmt.Sprintf("%.1f of %.1f GB free", float64(e.Free)/1e9, float64(e.Memory)/1e9)
}

// Idle reports whether nothing is left on the engine.
func (e Engine) Idle() bool { return len(e.Running)+len(e.Waiting) == 0 }

// Config wires a Console. All members up to CSRF are required.
type Config struct {
	Registry  Registry
	Catalogue Catalogue
	Runs      Runs
	People    People
	Ledger    Ledger
	// Grant gives credit; a repeat with the same key gives none.
	Grant func(ctx context.Context, accountID string, amount billing.NanoUSD, key, note string) error
	// Caller tells who is asking, CSRF gives the form field that every POST carries. Who may come is decided where
	// the console is mounted.
	Caller func(ctx context.Context) (users.Account, bool)
	CSRF   func(ctx context.Context) template.HTML

	Invitations Invitations // nil: they are not made here
	// Address is the whole address of a path, for links that are sent to people; required with Invitations.
	Address  func(path string) string
	Settings Settings // nil: nothing is set here

	Engines func(ctx context.Context) []Engine
	// OrderEngine sets an engine's Order; nil: that can't be done.
	OrderEngine func(ctx context.Context, name, order string) error
	Findings    func() map[string][]Finding // by tool id
	Lacks       func() []Lack               // why engines can't run tools, sorted by tool; nil: that is not known
	Room        func() (int64, error)       // bytes that can still be written for files and database; nil: that is not known
	Sections    []Section                   // pages that other rooms add
	Logger      *slog.Logger
	Now         func() time.Time
}

// Console serves the operator's pages. Make it with New.
type Console struct {
	cfg    Config
	pages  func() (*template.Template, error)
	bundle bundle.Bundle
	books  checked
	saving sync.Mutex // see perform
}

// New checks the configuration.
func New(cfg Config) (*Console, error) {
	if cfg.Registry == nil || cfg.Catalogue == nil || cfg.Runs == nil || cfg.People == nil || cfg.Ledger == nil || cfg.Grant == nil || cfg.Caller == nil || cfg.CSRF == nil {
		return nil, errors.New("console: a required member of the configuration is missing")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &Console{cfg: cfg, books: checked{sums: cache.Latest[billing.Books]{Life: sumsFor}}}
	var err error
	if c.bundle, err = bundle.New(staticFiles, "static", Root+"static/"); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.pages = sync.OnceValues(c.parsePages) // they take memory once an operator comes
	return c, nil
}

// Handler returns the console under Root: it is the table of its contents.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /operator/{$}", c.page(c.overview))
	mux.HandleFunc("GET /operator/runs", c.page(c.runList))
	mux.HandleFunc("GET /operator/runs/{id}", c.page(c.run))
	mux.HandleFunc("GET /operator/errors", c.page(c.errors))
	mux.HandleFunc("GET /operator/plots", c.page(c.plots))
	mux.HandleFunc("GET /operator/tools", c.page(c.tools))
	mux.HandleFunc("GET /operator/tools/{id}", c.page(c.tool))
	mux.HandleFunc("GET /operator/tools/{id}/versions/{version}", c.page(c.version))
	mux.HandleFunc("GET /operator/changes", c.page(c.changes))
	mux.HandleFunc("GET /operator/engines", c.page(c.engines))
	mux.HandleFunc("GET /operator/ledger", c.page(c.ledger))
	mux.HandleFunc("GET /operator/people", c.page(c.people))
	mux.HandleFunc("GET /operator/people/{id}", c.page(c.person))
	mux.HandleFunc("GET /operator/access", c.page(c.access))
	mux.HandleFunc("GET /operator/audit", c.page(c.audit))
	mux.HandleFunc("GET /operator/export/{table}", c.page(c.export))
	if c.cfg.Invitations != nil {
		mux.HandleFunc("GET /operator/invitations", c.page(c.invitations))
	}
	if c.cfg.Settings != nil {
		mux.HandleFunc("GET /operator/settings", c.page(c.settings))
	}
	for _, s := range c.cfg.Sections {
		mux.HandleFunc("GET "+Root+s.Path, c.page(c.section(s)))
	}
	for _, d := range c.deeds() {
		mux.HandleFunc("GET "+Root+d.path, c.page(c.ask(d)))
		mux.HandleFunc("POST "+Root+d.path, c.page(c.act(d)))
	}
	mux.HandleFunc("GET /operator/static/{hash}/{file}", c.static)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { c.page(nowhere)(w, r) })
	return mux
}

func nowhere(http.ResponseWriter, *http.Request, users.Account) error { return errNoPage }

var errNoPage = errors.New("there is no such page in the console")

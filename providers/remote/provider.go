package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/registry"
)

// LoaderName is the name under which the registry knows the loader.
const LoaderName = "remote tools"

// The sources of tools, as their metadata names them.
const (
	fromFile = "file"
	fromAPI  = "api"
)

const (
	specKey  = "spec" // metadata that names by content how a tool is called
	maxFile  = 4 << 20
	lifetime = 24 * time.Hour
)

// Config wires a Provider. Store and Guard are required.
type Config struct {
	File  string             // the operator's tools (ORCHESTRATOR_TOOL_MANIFEST_PATH); empty: none
	Pool  *pgxpool.Pool      // where registrations and results are kept; nil: nowhere
	Seal  seal.Sealer        // encrypts the headers there; required with Pool
	Store registry.SpecStore // how tools are called
	Guard *http.Client       // of internal/outbound: what was registered at run time, and what answers name, is reached through it
	// SiteID tells endpoints whose call it is, such as the host of PUBLIC_URL.
	SiteID   string
	Lifetime time.Duration // how long results of idempotent tools are remembered; zero: a day
	Logger   *slog.Logger
	Now      func() time.Time
}

// Provider loads remote tools and calls them. It is safe for concurrent use.
type Provider struct {
	cfg Config
	db  store

	mu    sync.Mutex
	file  map[string]Entry         // the last good entries of the file, by key
	lines map[registry.Media]*line // by how a tool is called
}

var (
	_ registry.Loader = (*Provider)(nil)
	_ registry.Caller = (*Provider)(nil)
)

// New makes a Provider; it reads nothing yet.
func New(cfg Config) *Provider {
	cfg.Lifetime = cmp.Or(cfg.Lifetime, lifetime)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Provider{cfg: cfg, db: store{cfg.Pool, cfg.Seal}, file: map[string]Entry{}, lines: map[registry.Media]*line{}}
}

// Name identifies the loader.
func (p *Provider) Name() string { return LoaderName }

// Load reads the file and the registrations. An entry of the file that is broken keeps what it was when it
// was last good, and the problem is reported beside the others' tools as a *registry.PartialError, as is a
// missing file.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	problems := p.readFile()
	registered, err := p.db.all(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	entries := make(map[string]sourced, len(p.file)+len(registered))
	for key, e := range p.file {
		entries[key] = sourced{e, fromFile}
	}
	p.mu.Unlock()
	for _, k := range registered {
		if k.unreadable != nil && k.enabled() {
			problems = append(problems, registry.Problem{ToolID: k.Manifest.Name, Source: fromAPI, Message: k.unreadable.Error()})
			k.Enabled = new(bool) // the file's of this name does not take its place
		}
		entries[k.key] = sourced{k.Entry, fromAPI}
	}
	tools := make([]registry.Tool, 0, len(entries))
	var specs [][]byte
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		e := entries[key]
		if !e.enabled() {
			continue
		}
		tool, raw, err := e.define()
		if err != nil {
			problems = append(problems, registry.Problem{ToolID: e.Manifest.Name, Source: e.source, Message: err.Error()})
			continue
		}
		tools, specs = append(tools, tool), append(specs, raw)
	}
	if len(specs) > 0 {
		if _, err := p.cfg.Store.PutSpecs(ctx, specs); err != nil {
			return nil, err
		}
	}
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

// sourced is an entry with where it comes from.
type sourced struct {
	Entry
	source string
}

// spec is how a tool is called, without the secrets.
type spec struct {
	Manifest Manifest `json:"manifest"`
	Endpoint string   `json:"endpoint"`
	Source   string   `json:"source"`
}

func (e sourced) spec() spec { return spec{e.Manifest, e.Endpoint, e.source} }

// define makes the tool, and what is kept of how it is called.
func (e sourced) define() (registry.Tool, []byte, error) {
	raw, err := json.Marshal(e.spec())
	if err != nil {
		return registry.Tool{}, nil, err
	}
	tool, err := e.tool(registry.SpecRef(raw), e.source)
	return tool, raw, err
}

// readFile takes over what is good in the file.
func (p *Provider) readFile() registry.Problems {
	if p.cfg.File == "" {
		return nil
	}
	raw, err := readBounded(p.cfg.File)
	var file struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such file, so its tools are missing; make it, or unset ORCHESTRATOR_TOOL_MANIFEST_PATH")
	} else if err == nil && file.Tools == nil {
		err = errors.New(`it has no list "tools"`)
	}
	if err != nil {
		return registry.Problems{{Source: p.cfg.File, Message: err.Error()}}
	}
	return p.takeEntries(file.Tools)
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return raw, err
}

func (p *Provider) takeEntries(list []json.RawMessage) (problems registry.Problems) {
	p.mu.Lock()
	defer p.mu.Unlock()
	good := make(map[string]Entry, len(list))
	for i, raw := range list {
		e, err := decodeEntry(raw)
		name := cmp.Or(e.Manifest.Name, fmt.Sprintf("entry %d", i+1))
		key := keyOf(name)
		if _, twice := good[key]; err == nil && twice {
			problems = append(problems, registry.Problem{ToolID: name, Source: p.cfg.File, Message: "the name is there twice; the first entry counts"})
			continue
		}
		if err != nil {
			problems = append(problems, registry.Problem{ToolID: name, Source: p.cfg.File, Message: err.Error()})
			last, known := p.file[key]
			if _, taken := good[key]; !known || taken {
				continue
			}
			e = last
		}
		good[key] = e
	}
	p.file = good
	return problems
}

// Registration is what Register did.
type Registration struct {
	Name     string
	Enabled  bool
	Replaced bool
	// Undo puts back what was there before, for when the tool can't be served after all.
	Undo func(ctx context.Context) error
}

// Register checks and keeps an entry, in place of one of the same name. The registry shows it after its next
// Reload of LoaderName. by is who asks, for the record. What is wrong with an entry is a *registry.Error with
// CodeInvalidInput.
func (p *Provider) Register(ctx context.Context, raw []byte, by string) (Registration, error) {
	e, err := decodeEntry(raw)
	if err != nil {
		return Registration{}, &registry.Error{Code: registry.CodeInvalidInput, Message: err.Error()}
	}
	if err := p.reachable(ctx, e); err != nil {
		return Registration{}, err
	}
	if _, _, err := (sourced{e, fromAPI}).define(); err != nil {
		return Registration{}, &registry.Error{Code: registry.CodeInvalidInput, Message: err.Error()}
	}
	before, err := p.db.put(ctx, e, by)
	if err != nil {
		return Registration{}, err
	}
	undo := func(ctx context.Context) error {
		if before == nil {
			_, err := p.db.remove(ctx, keyOf(e.Manifest.Name))
			return err
		}
		_, err := p.db.put(ctx, *before, by)
		return err
	}
	return Registration{Name: e.Manifest.Name, Enabled: e.enabled(), Replaced: before != nil, Undo: undo}, nil
}

// Remove forgets a registration. Calls under way end as they would have. A name that was not registered at
// run time is a *registry.Error with CodeLost, one of the file's with CodeInvalidInput.
func (p *Provider) Remove(ctx context.Context, name string) error {
	removed, err := p.db.remove(ctx, keyOf(name))
	if err != nil || removed {
		return err
	}
	p.mu.Lock()
	_, inFile := p.file[keyOf(name)]
	p.mu.Unlock()
	if inFile {
		return registry.Errorf(registry.CodeInvalidInput, "%s comes from the operator's file; remove it there, or register it with enabled false", name)
	}
	return registry.Errorf(registry.CodeLost, "no tool %s was registered", name)
}

package httptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/folder"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// specKey is the member of a tool's metadata that names its spec by content: a run accepted with one is
// called by that one, whatever becomes of the file.
const specKey = "spec"

// Config wires Tools. Dir, Store and Guard are required.
type Config struct {
	Dir   string
	Store registry.SpecStore // how tools are called
	Guard *http.Client       // of internal/outbound: what files and answers name is reached through it
	// MediaURL gives an address from which a service can fetch a stored file; nil where there is none.
	MediaURL func(ctx context.Context, ref registry.Media) (string, error)
	// Reports gives what the service of a run has called back about it, by authentic callbacks, oldest first; nil where
	// nobody can call back.
	Reports func(ctx context.Context, runID string) ([]Report, error)
	Now     func() time.Time
}

// Report is the body of an authentic callback.
type Report struct {
	Body []byte
	At   time.Time
}

// Tools is the loader of a folder's files, and runs what they describe. It is safe for concurrent use.
type Tools struct {
	cfg Config

	mu      sync.Mutex
	good    map[string]registry.Tool    // the last good tool by file
	specs   map[registry.Media]spec     // by reference
	clients map[string]*upstream.Client // by what tells accounts apart

	refused upstream.Refused
}

var _ registry.Loader = (*Tools)(nil)

// New makes the loader; it reads nothing yet.
func New(cfg Config) *Tools {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Tools{cfg: cfg, good: map[string]registry.Tool{}, specs: map[registry.Media]spec{}, clients: map[string]*upstream.Client{}}
}

// Name identifies the loader.
func (t *Tools) Name() string { return "http tools" }

// Load reads all files. One that is broken keeps the tool it had when it was last good, and the problem is
// reported beside the others' tools as a *registry.PartialError.
func (t *Tools) Load(ctx context.Context) ([]registry.Tool, error) {
	files, err := t.files(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the folder of tools: %w", err)
	}
	var problems registry.Problems
	owner := map[string]string{}
	good := map[string]registry.Tool{}
	fresh := map[registry.Media]spec{}
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tool, err := t.load(file, fresh)
		if err == nil && owner[tool.ToolID] != "" {
			err = fmt.Errorf("toolId %s is already that of %s", tool.ToolID, owner[tool.ToolID])
		}
		if err != nil {
			problems = append(problems, problemsOf(file, err)...)
			t.mu.Lock()
			last, known := t.good[file]
			t.mu.Unlock()
			if !known || owner[last.ToolID] != "" {
				continue
			}
			tool = last
		}
		owner[tool.ToolID], good[file] = file, tool
	}
	if err := t.keep(ctx, fresh); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.good = good
	t.mu.Unlock()
	tools := make([]registry.Tool, 0, len(good))
	for _, file := range slices.Sorted(maps.Keys(good)) {
		tools = append(tools, good[file].Clone())
	}
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

func problemsOf(file string, err error) registry.Problems {
	var problems registry.Problems
	if !errors.As(err, &problems) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			problems = append(problems, registry.Problem{Message: line})
		}
	}
	for i := range problems {
		problems[i].Source = file
	}
	return problems
}

// files lists the folder's files and those of its subfolders, in alphabetical order.
func (t *Tools) files(ctx context.Context) ([]string, error) {
	var files []string
	err := folder.Walk(ctx, t.cfg.Dir, func(relative string, entry fs.DirEntry) error {
		if !entry.IsDir() && IsFile(entry.Name()) {
			files = append(files, relative)
		}
		return nil
	})
	return files, err
}

// load reads one file, and puts how its tool is called into fresh if that is not kept yet.
func (t *Tools) load(file string, fresh map[registry.Media]spec) (registry.Tool, error) {
	f, err := os.Open(filepath.Join(t.cfg.Dir, file))
	if err != nil {
		return registry.Tool{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return registry.Tool{}, err
	}
	if len(data) > maxFile {
		return registry.Tool{}, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	tool, d, err := parse(file, data)
	if err != nil {
		return registry.Tool{}, err
	}
	s := *d.HTTP
	raw, err := json.Marshal(s)
	if err != nil {
		return registry.Tool{}, err
	}
	ref := registry.SpecRef(raw)
	if tool.Metadata == nil {
		tool.Metadata = map[string]any{}
	}
	tool.Metadata[specKey] = ref
	if err := t.hears(tool.Service, s); err != nil && tool.State() != registry.StateUnavailable {
		tool.Status = registry.SayStatus(registry.StateUnavailable, err.Said)
		tool.Status.Checked = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.specs[ref]; !known {
		fresh[ref] = s
	}
	return tool, nil
}

// keep stores how tools are called, all at once.
func (t *Tools) keep(ctx context.Context, fresh map[registry.Media]spec) error {
	if len(fresh) == 0 {
		return nil
	}
	contents := make([][]byte, 0, len(fresh))
	for _, s := range fresh {
		raw, err := json.Marshal(s)
		if err != nil {
			return err
		}
		contents = append(contents, raw)
	}
	if _, err := t.cfg.Store.PutSpecs(ctx, contents); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.specs, fresh)
	return nil
}

// specOf finds how a tool is called, as it was when the tool was accepted.
func (t *Tools) specOf(ctx context.Context, ref registry.Media) (spec, error) {
	t.mu.Lock()
	s, known := t.specs[ref]
	t.mu.Unlock()
	if known {
		return s, nil
	}
	body, _, err := t.cfg.Store.OpenMedia(ctx, ref)
	if err != nil {
		return spec{}, registry.Say(registry.CodeUnavailable, said.NoWay).Because(err)
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, maxFile)).Decode(&s); err != nil {
		return spec{}, registry.Say(registry.CodeInternal, said.NoWayRead).Because(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.specs[ref] = s
	return s, nil
}

// client gives the client of a spec's service and account. Tools of one account share it, so that they share
// its breaker and its rate.
func (t *Tools) client(s spec) (*upstream.Client, error) {
	account, err := json.Marshal([]any{s.BaseURL, s.Headers, s.Query, s.PerSecond})
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, known := t.clients[string(account)]; known {
		return c, nil
	}
	c, err := upstream.New(upstream.Config{
		Name: hostOf(s.BaseURL), BaseURL: s.BaseURL, Secrets: s.secrets(), HTTP: t.cfg.Guard, Timeout: callTimeout, Limit: answerLimit,
		PerSecond: s.PerSecond, Burst: int(s.PerSecond) + 1, Authorize: s.authorize, Now: t.cfg.Now,
	})
	if err != nil {
		return nil, err
	}
	t.clients[string(account)] = c
	return c, nil
}

// authorize sets a spec's headers and query. Its secrets were there when the file was read; one that has
// gone since leaves an empty value, which the service refuses.
func (s spec) authorize(r *http.Request) {
	for name, value := range s.Headers {
		filled, _ := fill(value, os.LookupEnv)
		r.Header.Set(name, filled)
	}
	query := r.URL.Query()
	for name, value := range s.Query {
		filled, _ := fill(value, os.LookupEnv)
		query.Set(name, filled)
	}
	if len(s.Query) > 0 {
		r.URL.RawQuery = query.Encode()
	}
}

// Ready says that nothing is known of how a tool is called.
func (j Jobs) Ready(ctx context.Context, tool registry.Tool) error { return j.tools.ready(ctx, tool) }

// Ready says that nothing is known of how a tool is called.
func (c Calls) Ready(ctx context.Context, tool registry.Tool) error { return c.tools.ready(ctx, tool) }

func (t *Tools) ready(ctx context.Context, tool registry.Tool) error {
	ref, _ := tool.Metadata[specKey].(string)
	if ref == "" {
		return registry.Say(registry.CodeUnavailable, said.CallUndescribed, "tool", tool.DisplayName)
	}
	s, err := t.specOf(ctx, ref)
	if err != nil {
		return err
	}
	if deaf := t.hears(tool.Service, s); deaf != nil {
		return deaf
	}
	return nil
}

// hears says why a tool that only calls back can't be heard.
func (t *Tools) hears(service string, s spec) *registry.Error {
	if service != Service || s.Poll != nil || t.cfg.Reports != nil {
		return nil
	}
	return registry.Say(registry.CodeUnavailable, said.CallbackNeedsURL)
}

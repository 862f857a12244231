package httptools

import (
	"cmp"
	"context"
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

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/folder"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// specKey is the member of a tool's metadata that names its spec by content: a run accepted with one is
// called by that one, whatever becomes of the file.
const specKey = "spec"

// How long, and of how many runs, it is remembered when their services may be asked again.
const (
	pacedFor = 10 * time.Minute
	maxPaced = 10_000
)

// Config wires Tools. Store and Guard are required, and Dir or Bundled.
type Config struct {
	Dir string
	// Bundled are files that come with the program. Where a secret of theirs is not set, their tools are unavailable and only
	// operators see them.
	Bundled fs.FS
	// Words are what people read of bundled files in other languages than English: by the text that stands in the file, by base
	// language. A text that is not in it is read as it stands.
	Words map[string]map[string]string
	// Lookup finds the secrets of files by their names; nil: in the environment.
	Lookup func(name string) (string, bool)
	Store  registry.SpecStore // how tools are called
	Guard  *http.Client       // of internal/outbound: what files and answers name is reached through it
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
	cfg   Config
	specs *upstream.Specs[spec]

	mu       sync.Mutex
	good     map[string][]registry.Tool // the last good tools by file
	accounts map[string]account         // by what tells them apart

	refused upstream.Refused
	paced   cache.Cache[string, paced]
}

var _ registry.Loader = (*Tools)(nil)

// New makes the loader; it reads nothing yet.
func New(cfg Config) *Tools {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Lookup == nil {
		cfg.Lookup = os.LookupEnv
	}
	return &Tools{
		cfg: cfg, good: map[string][]registry.Tool{}, specs: upstream.NewSpecs[spec](cfg.Store, maxFile), accounts: map[string]account{},
		paced: cache.Cache[string, paced]{Life: pacedFor, Most: maxPaced},
	}
}

// Name identifies the loader.
func (t *Tools) Name() string { return "http tools" }

// Load reads all files. One that is broken keeps the tools it had when it was last good, and the problem is
// reported beside the others' tools as a *registry.PartialError.
func (t *Tools) Load(ctx context.Context) ([]registry.Tool, error) {
	sources, err := t.sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the folder of tools: %w", err)
	}
	l := loading{tools: t, owner: map[string]string{}, good: map[string][]registry.Tool{}}
	for _, from := range sources {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l.file(from)
	}
	if err := t.specs.Keep(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.good = l.good
	t.mu.Unlock()
	var tools []registry.Tool
	for _, file := range slices.Sorted(maps.Keys(l.good)) {
		for _, tool := range l.good[file] {
			tools = append(tools, tool.Clone())
		}
	}
	if len(l.problems) > 0 {
		return tools, &registry.PartialError{Problems: l.problems}
	}
	return tools, nil
}

// source is a file of tools.
type source struct {
	name    string
	files   fs.FS
	bundled bool
}

// key tells a bundled file from one of the folder with its name.
func (s source) key() string {
	if s.bundled {
		return "bundled " + s.name
	}
	return s.name
}

// loading is one pass over all files.
type loading struct {
	tools    *Tools
	owner    map[string]string // of an id, the file
	good     map[string][]registry.Tool
	problems registry.Problems
}

// file takes the tools of a file, or those that it had. An operator's own tool takes the place of a bundled one.
func (l *loading) file(from source) {
	tools, err := l.tools.load(from)
	if from.bundled {
		tools = slices.DeleteFunc(tools, func(t registry.Tool) bool { return l.owner[t.ToolID] != "" })
	}
	if err == nil {
		err = l.taken(tools)
	}
	if err != nil {
		l.problems = append(l.problems, problemsOf(from.name, err)...)
		l.tools.mu.Lock()
		tools = l.tools.good[from.key()]
		l.tools.mu.Unlock()
		if l.taken(tools) != nil {
			return
		}
	}
	for _, tool := range tools {
		l.owner[tool.ToolID] = from.name
	}
	if len(tools) > 0 {
		l.good[from.key()] = tools
	}
}

// taken says which of the tools has an id that is another's already.
func (l *loading) taken(tools []registry.Tool) error {
	here := map[string]bool{}
	for _, tool := range tools {
		if owner := l.owner[tool.ToolID]; owner != "" || here[tool.ToolID] {
			return fmt.Errorf("toolId %s is already that of %s", tool.ToolID, cmp.Or(owner, "another in the file"))
		}
		here[tool.ToolID] = true
	}
	return nil
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

// sources lists the folder's files and those of its subfolders in alphabetical order, and then the files that come with the program.
func (t *Tools) sources(ctx context.Context) ([]source, error) {
	var list []source
	if t.cfg.Dir != "" {
		files := os.DirFS(t.cfg.Dir)
		err := folder.Walk(ctx, t.cfg.Dir, func(relative string, entry fs.DirEntry) error {
			if !entry.IsDir() && IsFile(entry.Name()) {
				list = append(list, source{filepath.ToSlash(relative), files, false})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if t.cfg.Bundled == nil {
		return list, nil
	}
	names, err := fs.Glob(t.cfg.Bundled, "*.tool.*")
	for _, name := range names {
		list = append(list, source{name, t.cfg.Bundled, true})
	}
	return list, err
}

// load reads one file, and notes how its tools are called.
func (t *Tools) load(from source) ([]registry.Tool, error) {
	f, err := from.files.Open(from.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	list, err := parse(from.name, data)
	if err != nil {
		return nil, err
	}
	tools := make([]registry.Tool, 0, len(list))
	for _, d := range list {
		missing := d.spec.unset(t.cfg.Lookup)
		if missing != nil && !from.bundled {
			return nil, missing
		}
		tool, err := t.tell(d, missing)
		if err != nil {
			return nil, err
		}
		if from.bundled {
			tool.Localized = translated(tool, t.cfg.Words)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// translated are the texts of a tool in the languages that its description has been put into.
func translated(t registry.Tool, words map[string]map[string]string) map[string]registry.Words {
	localized := map[string]registry.Words{}
	for language, about := range words[t.Description] {
		inputs := map[string]registry.InputWords{}
		for _, f := range t.InputSchema {
			inputs[f.Name] = registry.InputWords{
				DisplayName: words[f.DisplayName][language], Description: words[f.Description][language], Choices: labels(f.Choices, words, language),
			}
		}
		localized[language] = registry.Words{DisplayName: words[t.DisplayName][language], Description: about, Inputs: inputs}
	}
	return localized
}

// labels are those of choices that have words in a language, by value.
func labels(choices []registry.Choice, words map[string]map[string]string, language string) map[string]string {
	var said map[string]string
	for _, c := range choices {
		if label := words[c.Label][language]; label != "" {
			if said == nil {
				said = map[string]string{}
			}
			said[fmt.Sprint(c.Value)] = label
		}
	}
	return said
}

// tell gives the tool of a description, with its state.
func (t *Tools) tell(d described, missing error) (registry.Tool, error) {
	tool := d.tool
	if lacks := new(unsetError); errors.As(missing, lacks) {
		tool.Visibility = registry.VisibilityInternal
		tool.Status = registry.SayStatus(registry.StateUnavailable, said.OperatorMust.With("name", lacks.name))
		return tool, nil
	}
	ref, err := t.specs.Note(d.spec)
	if err != nil {
		return tool, err
	}
	if tool.Metadata == nil {
		tool.Metadata = map[string]any{}
	}
	tool.Metadata[specKey] = ref
	if err := t.hears(tool.Service, d.spec); err != nil && tool.State() != registry.StateUnavailable {
		tool.Status = registry.SayStatus(registry.StateUnavailable, err.Said)
		tool.Status.Checked = true
	}
	return tool, nil
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
	s, err := t.specs.Of(ctx, ref)
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

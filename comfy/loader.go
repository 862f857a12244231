package comfy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/registry"
)

// templateKey is the member of a tool's metadata that names its template by content.
const templateKey = "template"

// maxWorkflowFile bounds one file; the largest seen in the wild has 2 MB.
const maxWorkflowFile = 16 << 20

// Store keeps templates by their content, so that a run accepted with one finds it again after its file
// has changed or gone, also on another machine.
type Store interface {
	Put(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error)
	registry.MediaOpener
}

// WorkflowsConfig configures a Workflows loader. Fleet, Store and at least one of the sources are required.
type WorkflowsConfig struct {
	// Sources are read in order; a file of a later one replaces one of the same name in an earlier one.
	// A source whose root does not exist is empty.
	Sources []fs.FS
	Fleet   *Fleet
	Store   Store
	Rate    json.Number // US dollars for a second of engine time
	// ByMachine bills at the rate of the GPU that ran, and takes Rate only for one that has none. Without
	// it Rate is what a second costs.
	ByMachine bool
	Logger    *slog.Logger
}

// Workflows is the Loader that makes tools of workflow files, and the keeper of the templates by which a
// Provider runs them.
type Workflows struct {
	cfg WorkflowsConfig

	mu        sync.Mutex
	defined   map[string]definition // by content of file and declarations
	templates map[string]*template  // by hash
}

type definition struct {
	tool     registry.Tool
	findings []workflow.Finding
	template *template
}

// template is what a tool needs to run. It is kept as JSON.
type template struct {
	Binding *workflow.Binding     `json:"binding"`
	Need    workflow.Requirements `json:"need"`
}

// NewWorkflows makes the loader.
func NewWorkflows(cfg WorkflowsConfig) *Workflows {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Workflows{cfg: cfg, defined: map[string]definition{}, templates: map[string]*template{}}
}

// Name is "workflows".
func (w *Workflows) Name() string { return "workflows" }

// Load defines a tool for each file. Files that can't be read are reported in a *registry.PartialError
// beside the tools of the others. A tool that no engine can run is unavailable, with what is missing.
func (w *Workflows) Load(ctx context.Context) ([]registry.Tool, error) {
	files, err := w.files()
	if err != nil {
		return nil, err
	}
	var tools []registry.Tool
	var problems registry.Problems
	keep := map[string]definition{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key, d, err := w.define(f)
		if err != nil {
			problems = append(problems, registry.Problem{Source: f.name, Message: err.Error()})
			continue
		}
		keep[key] = d
		tool := d.tool.Clone()
		if err := w.keep(ctx, &tool, d.template); err != nil {
			return nil, err
		}
		w.markMissing(&tool, d.template.Need)
		tools = append(tools, tool)
	}
	w.mu.Lock()
	w.defined = keep
	w.mu.Unlock()
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

type workflowFile struct {
	name string
	data []byte
}

// files lists the workflow files of all sources by name.
func (w *Workflows) files() ([]workflowFile, error) {
	byName := map[string]workflowFile{}
	for _, source := range w.cfg.Sources {
		err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
			if name == "." && errors.Is(err, fs.ErrNotExist) {
				return fs.SkipAll
			}
			if err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), ".") || path.Ext(name) != ".json" {
				return err
			}
			data, err := readFile(source, name)
			if err != nil {
				return err
			}
			byName[name] = workflowFile{name: name, data: data}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading the workflows: %w", err)
		}
	}
	files := make([]workflowFile, 0, len(byName))
	for _, f := range byName {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b workflowFile) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

func readFile(source fs.FS, name string) ([]byte, error) {
	f, err := source.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readBounded(f, maxWorkflowFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// define makes a tool of a file, or takes it from the last Load when neither the file nor the
// declarations it was read with have changed.
func (w *Workflows) define(f workflowFile) (key string, d definition, err error) {
	parsed, err := workflow.Parse(f.data)
	if err != nil {
		return "", d, err
	}
	have := w.cfg.Fleet.Declarations(workflow.Requirements{Classes: parsed.Facts().ClassTypesAll})
	sum := sha256.Sum256(f.data)
	key = f.name + "\x00" + hex.EncodeToString(sum[:]) + "\x00" + have.Hash
	w.mu.Lock()
	d, known := w.defined[key]
	w.mu.Unlock()
	if known {
		return key, d, nil
	}
	def, err := workflow.Define(parsed, workflow.Options{FileName: path.Base(f.name), ObjectInfo: have.Info, Rate: w.cfg.Rate, Service: Service})
	if err != nil {
		return "", d, err
	}
	if m := def.Tool.CostingModel; m != nil && m.RateSource == registry.RateMachine && !w.cfg.ByMachine {
		m.RateSource = registry.RateStatic
	}
	return key, definition{tool: def.Tool, findings: def.Findings, template: &template{Binding: def.Binding, Need: def.Needs}}, nil
}

// keep stores the template and names it in the tool.
func (w *Workflows) keep(ctx context.Context, tool *registry.Tool, tpl *template) error {
	data, err := json.Marshal(tpl)
	if err != nil {
		return fmt.Errorf("template of %s: %w", tool.ToolID, err)
	}
	sum := sha256.Sum256(data)
	ref := "asset:" + hex.EncodeToString(sum[:])
	w.mu.Lock()
	_, kept := w.templates[ref]
	w.mu.Unlock()
	if !kept {
		stored, _, err := w.cfg.Store.Put(ctx, bytes.NewReader(data), tool.ToolID+".template.json")
		if err != nil {
			return fmt.Errorf("keeping the template of %s: %w", tool.ToolID, err)
		}
		ref = stored
		w.mu.Lock()
		w.templates[ref] = tpl
		w.mu.Unlock()
	}
	if tool.Metadata == nil {
		tool.Metadata = map[string]any{}
	}
	tool.Metadata[templateKey] = ref
	return nil
}

// markMissing makes a tool unavailable that no engine could run, before anybody pays for a failure.
func (w *Workflows) markMissing(tool *registry.Tool, need workflow.Requirements) {
	if tool.State() == registry.StateUnavailable {
		return
	}
	have := w.cfg.Fleet.Declarations(need)
	switch {
	case have.Info == nil:
		tool.Status = &registry.Status{State: registry.StateUnavailable, Reason: "no engine has answered yet"}
	case len(have.Missing) > 0:
		tool.Status = &registry.Status{State: registry.StateUnavailable, Reason: "no engine has " + enumerate(have.Missing, 6)}
	}
}

// enumerate joins names, the first few of them.
func enumerate(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// Findings are the lint findings of the last Load, by tool id.
func (w *Workflows) Findings() map[string][]workflow.Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string][]workflow.Finding{}
	for _, d := range w.defined {
		if len(d.findings) > 0 {
			out[d.tool.ToolID] = d.findings
		}
	}
	return out
}

// forTool finds the template that a tool was accepted with.
func (w *Workflows) forTool(ctx context.Context, tool registry.Tool) (*template, error) {
	ref, _ := tool.Metadata[templateKey].(string)
	if ref == "" {
		return nil, registry.Errorf(registry.CodeUnavailable, "%s has no workflow behind it", tool.DisplayName)
	}
	w.mu.Lock()
	tpl := w.templates[ref]
	w.mu.Unlock()
	if tpl != nil {
		return tpl, nil
	}
	content, _, err := w.cfg.Store.OpenMedia(ctx, ref)
	if err != nil {
		e := registry.Errorf(registry.CodeUnavailable, "the workflow of %s is gone", tool.DisplayName)
		e.Cause = err
		return nil, e
	}
	defer content.Close()
	tpl = &template{}
	if err := decodeJSON(content, maxJSON, tpl); err != nil {
		return nil, fmt.Errorf("template of %s: %w", tool.ToolID, err)
	}
	w.mu.Lock()
	w.templates[ref] = tpl
	w.mu.Unlock()
	return tpl, nil
}

// outputs are the plan's outputs.
func (t *template) outputs() []planOutput {
	var out []planOutput
	for _, o := range t.Binding.Outputs {
		out = append(out, planOutput{Name: o.Name, Node: o.Node, Type: o.Type})
	}
	return out
}

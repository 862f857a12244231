package loader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/learned"
	"github.com/signalbox/signalbox/comfy/loras"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// TemplateKey is the member of a tool's metadata that names its template by content.
const TemplateKey = "template"

// Service is the service name of all tools made from ComfyUI workflows.
const Service = "comfyui"

// maxWorkflowFile bounds one file; the largest seen in the wild has 2 MB.
const maxWorkflowFile = 16 << 20

// Config configures Workflows. Engines, Store and at least one of the sources are required.
type Config struct {
	// Sources are read in order; a file of a later one replaces one of the same name in an earlier one.
	// A source whose root does not exist is empty.
	Sources []fs.FS
	Engines Engines
	Store   registry.SpecStore // of the templates
	Rate    json.Number        // US dollars for a second of engine time
	// ByMachine bills at the rate of the GPU that ran, and takes Rate only for one that has none. Without
	// it Rate is what a second costs.
	ByMachine bool
	// Loras are what is known of LoRAs, by file name.
	Loras map[string]loras.Lora
	// Learned keeps what runs have shown of the workflows; nil: until the process ends.
	Learned *learned.Store
	Logger  *slog.Logger
}

// Engines say what the servers have that run the tools.
type Engines interface {
	// Declarations gives the node declarations of the engine that comes nearest to having what need asks for, with what it lacks. An
	// engine that is kept for others than the tool lacks something; "" is a tool that none is kept from.
	Declarations(tool string, need workflow.Requirements) Declarations
	// LoraWords are those by which a LoRA is triggered, as its file says; "" where that is not known.
	LoraWords(file string) string
}

// Declarations are what one engine has.
type Declarations struct {
	Info    *objectinfo.Info // nil while no engine has ever answered
	Hash    string           // of the content
	Missing []string         // what was asked for and is not there
}

// Workflows is the registry.Loader that makes tools of workflow files, and the keeper of the templates by which a
// provider runs them. It is safe for concurrent use.
type Workflows struct {
	cfg Config

	mu      sync.Mutex
	defined map[string]definition // by file, as last good
	recent  map[string]*Template  // some of those that runs have needed, by reference
}

// recentTemplates bounds the templates kept in memory once read: a thousand tools rest while a few are run. All are in
// the Store.
const recentTemplates = 64

// definition is what a file became, and what it was made of.
type definition struct {
	file, info string                // hashes of the file and of the declarations it was read with
	classes    workflow.Requirements // what it was read with: the declarations of these
	need       workflow.Requirements // what it takes to run
	toolID     string
	tool       string // as JSON, whose memory the registry's tool shares: a tenth of what another tool would take
	findings   []graph.Finding
	ref        string // of the template in the Store
}

// Template is what a tool needs to run. It is kept as JSON.
type Template struct {
	Binding *binding.Binding      `json:"binding"`
	Need    workflow.Requirements `json:"need"`
}

// TakesURL tells whether an input wants the address of a file instead of an upload.
func (t *Template) TakesURL(input string) bool {
	return slices.ContainsFunc(t.Binding.Inputs, func(in binding.Input) bool {
		return in.Field.Name == input && len(in.Targets) > 0 && in.Targets[0].Mode == binding.ModeURL
	})
}

var _ registry.Readier = (*Workflows)(nil)

// New makes the loader.
func New(cfg Config) *Workflows {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Learned == nil {
		cfg.Learned = learned.New(nil, cfg.Logger, nil)
	}
	return &Workflows{cfg: cfg, defined: map[string]definition{}, recent: map[string]*Template{}}
}

// Learned is what runs have shown of the workflows.
func (w *Workflows) Learned() *learned.Store { return w.cfg.Learned }

// Name is "workflows".
func (w *Workflows) Name() string { return "workflows" }

// Load defines a tool for each file. A file that can't be read keeps the tool it had when it was last good, and is
// reported in a *registry.PartialError beside the tools of the others. A tool that no engine can run is unavailable,
// with what is missing.
func (w *Workflows) Load(ctx context.Context) ([]registry.Tool, error) {
	files, problems, err := w.files(ctx)
	if err != nil {
		return nil, err
	}
	returned := w.cfg.Learned.Returned(ctx)
	defined := map[string]definition{}
	var fresh templates
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, good, err := w.define(f, &fresh, returned)
		if err != nil {
			problems = append(problems, registry.Problem{Source: f.name, Message: err.Error()})
		}
		if good {
			defined[f.name] = d
		}
		if fresh.bytes > maxUnkept {
			if err := w.keep(ctx, &fresh); err != nil {
				return nil, err
			}
		}
	}
	if err := w.keep(ctx, &fresh); err != nil {
		return nil, err
	}
	tools := make([]registry.Tool, 0, len(defined))
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		tool, err := w.toolOf(defined[name])
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	w.mu.Lock()
	w.defined = defined
	w.mu.Unlock()
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

// toolOf is the definition's tool as the engines are now.
func (w *Workflows) toolOf(d definition) (registry.Tool, error) {
	tool, err := registry.DecodeToolText(d.tool)
	if err != nil {
		return tool, err
	}
	if tool.Metadata == nil {
		tool.Metadata = map[string]any{}
	}
	tool.Metadata[TemplateKey] = d.ref
	loras.Describe(&tool, w.cfg.Loras, w.cfg.Engines.LoraWords)
	w.markMissing(&tool, d.need)
	return tool, nil
}

type workflowFile struct {
	name   string
	source fs.FS
}

// files lists the workflow files of all sources by name. What is not a folder or file that can be listed is a problem.
func (w *Workflows) files(ctx context.Context) ([]workflowFile, registry.Problems, error) {
	byName := map[string]workflowFile{}
	var problems registry.Problems
	for _, source := range w.cfg.Sources {
		err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case name == "." && errors.Is(err, fs.ErrNotExist):
				return fs.SkipAll
			case name == "." && err != nil:
				return err
			case err != nil:
				problems = append(problems, registry.Problem{Source: name, Message: err.Error()})
				return nil
			case name != "." && strings.HasPrefix(path.Base(name), "."):
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			case !entry.IsDir() && path.Ext(name) == ".json":
				byName[name] = workflowFile{name: name, source: source}
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("reading the workflows: %w", err)
		}
	}
	files := slices.SortedFunc(maps.Values(byName), func(a, b workflowFile) int { return strings.Compare(a.name, b.name) })
	return files, problems, nil
}

func readFile(source fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(source, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxWorkflowFile {
		return nil, fmt.Errorf("more than %d bytes", maxWorkflowFile)
	}
	return fs.ReadFile(source, name)
}

// define makes a tool of a file, or takes it from the last Load when neither the file nor the declarations it was read
// with have changed. A file that is broken now gives what it was when it was last good, and the error.
func (w *Workflows) define(f workflowFile, fresh *templates, returned map[string]string) (d definition, good bool, err error) {
	w.mu.Lock()
	last, known := w.defined[f.name]
	w.mu.Unlock()
	data, err := readFile(f.source, f.name)
	if err != nil {
		return last, known, err
	}
	hash := hashOf(data)
	if known && last.file == hash && last.info == readWith(w.cfg.Engines.Declarations("", last.classes), last.need, returned) {
		return last, true, nil
	}
	parsed, err := graph.Parse(data)
	if err != nil {
		return last, known, err
	}
	d = definition{file: hash, classes: workflow.Requirements{Classes: parsed.Facts().ClassTypesAll}}
	have := w.cfg.Engines.Declarations("", d.classes)
	def, err := workflow.Define(parsed, workflow.Options{
		FileName: path.Base(f.name), ObjectInfo: have.Info, Rate: w.cfg.Rate, ByMachine: w.cfg.ByMachine, Service: Service, Returns: returned,
	})
	if err != nil {
		return last, known, err
	}
	encoded, err := registry.Encode(def.Tool)
	if err != nil {
		return last, known, err
	}
	d.tool = string(encoded)
	d.toolID = strings.Clone(def.Tool.ToolID)
	if d.ref, err = fresh.add(&Template{Binding: def.Binding, Need: def.Needs}); err != nil {
		return last, known, fmt.Errorf("template of %s: %w", d.toolID, err)
	}
	d.info, d.findings, d.classes, d.need = readWith(have, def.Needs, returned), detachedFindings(def.Findings), detachedNeed(d.classes), detachedNeed(def.Needs)
	return d, true, nil
}

// readWith tells apart what definitions are made with, beside their files: the declarations, and what nodes gave that nobody knows.
func readWith(have Declarations, need workflow.Requirements, returned map[string]string) string {
	key := have.Hash
	for _, class := range need.Classes {
		if kind := returned[class]; kind != "" {
			key += " " + class + "=" + kind
		}
	}
	return key
}

// detachedNeed copies what shares its strings with the text of a whole file, so that the text can go. Classes and
// models recur in many files: all share one copy of a name.
func detachedNeed(n workflow.Requirements) workflow.Requirements {
	own := func(s string) string { return unique.Make(s).Value() }
	out := workflow.Requirements{PicturesOnly: n.PicturesOnly}
	for _, tag := range n.Tags {
		out.Tags = append(out.Tags, own(strings.Clone(tag)))
	}
	for _, c := range n.Classes {
		out.Classes = append(out.Classes, own(c))
	}
	for _, m := range n.Models {
		out.Models = append(out.Models, workflow.Model{Folder: own(m.Folder), Name: own(m.Name), URL: strings.Clone(m.URL)})
	}
	return out
}

// detachedFindings is detachedNeed for findings.
func detachedFindings(list []graph.Finding) []graph.Finding {
	out := slices.Clone(list)
	for i, f := range out {
		out[i].Message, out[i].Node = strings.Clone(f.Message), strings.Clone(f.Node)
	}
	return out
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// templates are those that a Load has made and not kept yet.
type templates struct {
	contents [][]byte
	bytes    int
}

// maxUnkept bounds them: templates are kept many at once, but not all in memory.
const maxUnkept = 4 << 20

func (t *templates) add(tpl *Template) (registry.Media, error) {
	data, err := json.Marshal(tpl)
	if err != nil {
		return "", err
	}
	t.contents, t.bytes = append(t.contents, data), t.bytes+len(data)
	return registry.SpecRef(data), nil
}

// keep stores templates under their references.
func (w *Workflows) keep(ctx context.Context, t *templates) error {
	if len(t.contents) == 0 {
		return nil
	}
	_, err := w.cfg.Store.PutSpecs(ctx, t.contents)
	*t = templates{}
	return err
}

// markMissing makes a tool unavailable that no engine could run, before anybody pays for a failure.
func (w *Workflows) markMissing(tool *registry.Tool, need workflow.Requirements) {
	if tool.State() == registry.StateUnavailable {
		return
	}
	have := w.cfg.Engines.Declarations(tool.ToolID, need)
	switch {
	case have.Info == nil:
		tool.Status = registry.SayStatus(registry.StateUnavailable, said.EngineUnknown.With())
	case len(have.Missing) > 0:
		tool.Status = registry.SayStatus(registry.StateUnavailable, needs.Lacking(have.Missing))
	default:
		return
	}
	tool.Status.Checked = true
}

// Ready says why a tool that another loader brings can't be run: there is no workflow behind it, or no engine has what
// it takes. Until an engine has answered, which is when the workflows here are read with what engines know, what was
// found before holds.
func (w *Workflows) Ready(ctx context.Context, tool registry.Tool) error {
	ref, _ := tool.Metadata[TemplateKey].(string)
	if ref == "" || w.cfg.Engines.Declarations("", workflow.Requirements{}).Info != nil {
		tpl, err := w.ForTool(ctx, tool)
		if err != nil {
			return err
		}
		tool.Status = nil
		w.markMissing(&tool, tpl.Need)
	}
	if tool.State() == registry.StateUnavailable {
		return registry.SayText(registry.CodeUnavailable, tool.Status.Text())
	}
	return nil
}

// Findings are the lint findings of the last Load, by tool id.
func (w *Workflows) Findings() map[string][]graph.Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string][]graph.Finding{}
	for _, d := range w.defined {
		if len(d.findings) > 0 {
			out[d.toolID] = d.findings
		}
	}
	return out
}

// Needs are what the workflows of the last Load take of an engine, by tool id.
func (w *Workflows) Needs() map[string]workflow.Requirements {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]workflow.Requirements, len(w.defined))
	for _, d := range w.defined {
		out[d.toolID] = d.need
	}
	return out
}

// ForTool finds the template that a tool was accepted with.
func (w *Workflows) ForTool(ctx context.Context, tool registry.Tool) (*Template, error) {
	ref, _ := tool.Metadata[TemplateKey].(string)
	if ref == "" {
		return nil, registry.Say(registry.CodeUnavailable, said.WorkflowNone, "tool", tool.DisplayName)
	}
	return w.byRef(ctx, ref, tool.DisplayName)
}

// NeedOf tells what the run of a ticket needs of an engine; nothing where that is not known any more.
func (w *Workflows) NeedOf(ctx context.Context, t registry.Ticket) workflow.Requirements {
	if ref := t.Extra[TemplateKey]; ref != "" {
		if tpl, err := w.byRef(ctx, ref, "this run"); err == nil {
			return tpl.Need
		}
	}
	return workflow.Requirements{}
}

func (w *Workflows) byRef(ctx context.Context, ref, name string) (*Template, error) {
	if tpl := w.remembered(ref); tpl != nil {
		return tpl, nil
	}
	content, _, err := w.cfg.Store.OpenMedia(ctx, ref)
	if err != nil {
		e := registry.Say(registry.CodeUnavailable, said.WorkflowGone, "tool", name)
		e.Cause = err
		return nil, e
	}
	defer content.Close()
	tpl := &Template{}
	if err := api.DecodeJSON(content, api.MaxJSON, tpl); err != nil {
		return nil, fmt.Errorf("template %s of %s: %w", ref, name, err)
	}
	if tpl.Binding == nil {
		return nil, fmt.Errorf("template %s of %s: no binding in it", ref, name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.recent) >= recentTemplates {
		clear(w.recent)
	}
	w.recent[ref] = tpl
	return tpl, nil
}

func (w *Workflows) remembered(ref string) *Template {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.recent[ref]
}

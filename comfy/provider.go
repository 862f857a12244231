package comfy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools made from ComfyUI workflows.
const Service = "comfyui"

// Provider runs the tools of a Loader on the engines of a Fleet.
type Provider struct {
	cfg     ProviderConfig
	seconds *prometheus.HistogramVec
}

// ProviderConfig wires a Provider. Fleet and Workflows are required.
type ProviderConfig struct {
	Fleet     *Fleet
	Workflows *Workflows
	Logger    *slog.Logger
	Metrics   prometheus.Registerer
	Now       func() time.Time
}

var (
	_ registry.Submitter  = (*Provider)(nil)
	_ registry.Canceler   = (*Provider)(nil)
	_ registry.Pricer     = (*Provider)(nil)
	_ registry.Progresser = (*Provider)(nil)
	_ registry.Healther   = (*Provider)(nil)
)

// NewProvider makes a Provider.
func NewProvider(cfg ProviderConfig) *Provider {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Provider{cfg: cfg, seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_comfy_node_seconds", Help: "Time of work of single nodes, by class.",
		Buckets: prometheus.ExponentialBuckets(0.01, 4, 9),
	}, []string{"class"})}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(p.seconds)
	}
	return p
}

// Submit places the prompt on an engine under the call's handle. A call that may have been submitted
// before is looked for on every engine first.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	tpl, err := p.cfg.Workflows.forTool(ctx, c.Tool)
	if err != nil {
		return registry.Ticket{}, err
	}
	if c.Repeated {
		if t, found, err := p.find(ctx, c, tpl); found || err != nil {
			return t, err
		}
	}
	e, err := p.cfg.Fleet.place(ctx, tpl.Need)
	if err != nil {
		return registry.Ticket{}, err
	}
	done := e.reserve(tpl.Need)
	t, err := p.submitTo(ctx, e, c, tpl)
	done(err == nil)
	return t, err
}

func (p *Provider) submitTo(ctx context.Context, e *Engine, c registry.Call, tpl *template) (registry.Ticket, error) {
	media, err := uploadMedia(ctx, e.Client, c)
	if err != nil {
		return registry.Ticket{}, err
	}
	applied, err := tpl.Binding.Apply(c.Inputs, media, nil)
	if err != nil {
		return registry.Ticket{}, err
	}
	ticket, err := p.ticket(c, e, tpl, applied.Prompt)
	if err != nil {
		return registry.Ticket{}, err
	}
	answer, err := e.Client.Submit(ctx, applied.Prompt, SubmitOptions{PromptID: c.Handle, ClientID: c.Handle})
	if err != nil {
		return registry.Ticket{}, submitError(e, err)
	}
	if len(answer.NodeErrors) > 0 {
		// The engine took only those outputs that passed. Half a result is none.
		p.dropPartial(ctx, e, c.Handle)
		return registry.Ticket{}, submitError(e, &PromptError{Status: http.StatusOK, NodeErrors: answer.NodeErrors,
			Detail: ErrorDetail{Type: "prompt_outputs_failed_validation", Message: "only part of the outputs would run"}})
	}
	return ticket, nil
}

func (p *Provider) ticket(c registry.Call, e *Engine, tpl *template, prompt workflow.Prompt) (registry.Ticket, error) {
	pl := plan{Nodes: len(prompt), Titles: map[string]string{}, Classes: map[string]string{}, Outputs: tpl.outputs()}
	for _, n := range prompt {
		pl.Classes[n.ID] = n.Class
		pl.Titles[n.ID] = cleanTitle(n.Title, n.Class)
	}
	extra, err := pl.encode()
	return registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: c.Handle, Endpoint: e.Name, Extra: extra}, err
}

// cleanTitle is what people see of a running node: its title, one short line.
func cleanTitle(title, class string) string {
	if title == "" {
		title = class
	}
	title = strings.Join(strings.Fields(title), " ")
	if r := []rune(title); len(r) > 40 {
		title = string(r[:39]) + "…"
	}
	return title
}

func (p *Provider) dropPartial(ctx context.Context, e *Engine, promptID string) {
	if err := stop(ctx, e.Client, promptID); err != nil {
		p.cfg.Logger.Warn("partial prompt could not be stopped", "engine", e.Name, "prompt", promptID, "error", err)
	}
}

// find looks for a prompt on all engines. An engine that does not answer may have it, so the call has to
// come again later: sending the prompt once more could run and cost it twice.
func (p *Provider) find(ctx context.Context, c registry.Call, tpl *template) (registry.Ticket, bool, error) {
	var silent error
	for _, e := range p.cfg.Fleet.engines {
		state, err := lookup(ctx, e.Client, c.Handle)
		if err != nil {
			silent = errors.Join(silent, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		if state != lookupUnknown {
			var pristine workflow.Prompt
			if err := json.Unmarshal(tpl.Binding.Prompt, &pristine); err != nil {
				return registry.Ticket{}, false, fmt.Errorf("template of %s: %w", c.Tool.ToolID, err)
			}
			t, err := p.ticket(c, e, tpl, pristine)
			return t, err == nil, err
		}
	}
	if silent != nil {
		e := registry.Errorf(registry.CodeUnavailable, "an engine does not answer; waiting for it")
		e.Retryable, e.RetryAfter, e.Cause = true, healthInterval, silent
		return registry.Ticket{}, false, e
	}
	return registry.Ticket{}, false, nil
}

type lookupState int

const (
	lookupUnknown lookupState = iota
	lookupQueued
	lookupOver
)

// lookup asks the queue before the history: a prompt moves from the one to the other, so asking in the
// other order could miss it in both.
func lookup(ctx context.Context, c *Client, promptID string) (lookupState, error) {
	q, err := c.Queue(ctx)
	if err != nil {
		return lookupUnknown, err
	}
	if q.Position(promptID) >= 0 {
		return lookupQueued, nil
	}
	_, over, err := c.History(ctx, promptID)
	if over {
		return lookupOver, err
	}
	return lookupUnknown, err
}

// uploadMedia brings the call's files to the engine and gives the names to use, by input.
func uploadMedia(ctx context.Context, client *Client, c registry.Call) (map[string][]string, error) {
	names := map[string][]string{}
	for _, f := range c.Tool.InputSchema {
		if !f.Type.IsMedia() {
			continue
		}
		for _, ref := range mediaRefs(c.Inputs[f.Name]) {
			name, err := uploadOne(ctx, client, c, f.Name, ref)
			if err != nil {
				return nil, err
			}
			names[f.Name] = append(names[f.Name], name)
		}
	}
	return names, nil
}

func mediaRefs(v any) []registry.Media {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []registry.Media{v}
		}
	case []any:
		var refs []registry.Media
		for _, item := range v {
			refs = append(refs, mediaRefs(item)...)
		}
		return refs
	}
	return nil
}

func uploadOne(ctx context.Context, client *Client, c registry.Call, field string, ref registry.Media) (string, error) {
	content, info, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		e := registry.Errorf(registry.CodeInvalidInput, "the file can't be read any more; send it again")
		e.Field, e.Cause = field, err
		return "", e
	}
	defer content.Close()
	f, err := client.Upload(ctx, uploadName(ref, info), content)
	if err != nil {
		e := registry.Errorf(registry.CodeUnavailable, "the engine did not take the file")
		e.Field, e.Cause, e.Retryable = field, err, true
		return "", e
	}
	return f.InputName(), nil
}

// uploadName never holds text from people: the content's hash and an extension that fits its type.
func uploadName(ref registry.Media, info registry.MediaInfo) string {
	base := strings.TrimPrefix(ref, "asset:")
	if len(base) > 32 {
		base = base[:32]
	}
	base = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(base))
	return "signalbox_" + base + extension(info)
}

var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif", "image/bmp": ".bmp", "image/tiff": ".tiff",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov", "audio/mpeg": ".mp3", "audio/flac": ".flac", "audio/wav": ".wav",
	"audio/ogg": ".ogg", "audio/mp4": ".m4a", "model/gltf-binary": ".glb",
}

func extension(info registry.MediaInfo) string {
	kind, _, _ := strings.Cut(info.MIMEType, ";")
	if ext, ok := extensions[kind]; ok {
		return ext
	}
	ext := strings.ToLower(path.Ext(info.Name))
	if len(ext) > 1 && len(ext) <= 6 && !strings.ContainsFunc(ext[1:], func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return ext
	}
	return ".bin"
}

// submitError turns an engine's refusal into words for people. What the engine says can hold paths and
// the prompt, so it stays in the cause, for the log.
func submitError(e *Engine, err error) error {
	var refused *PromptError
	if !errors.As(err, &refused) {
		out := registry.Errorf(registry.CodeUnavailable, "the engine does not answer; try again in a minute")
		out.Retryable, out.Cause = true, fmt.Errorf("%s: %w", e.Name, err)
		return out
	}
	out := registry.Errorf(registry.CodeProvider, "the engine refused the workflow: %s", refusalWords(refused))
	out.Cause = fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// refusalWords names nodes and inputs, which come from the workflow's author, and no values.
func refusalWords(e *PromptError) string {
	var parts []string
	for _, n := range e.NodeErrors {
		for _, d := range n.Errors {
			input, _ := d.ExtraInfo["input_name"].(string)
			switch d.Type {
			case "value_not_in_list":
				parts = append(parts, fmt.Sprintf("%s.%s is not available on the engine", n.ClassType, input))
			case "required_input_missing":
				parts = append(parts, fmt.Sprintf("%s.%s is missing", n.ClassType, input))
			case "value_smaller_than_min":
				parts = append(parts, fmt.Sprintf("%s.%s is too small", n.ClassType, input))
			case "value_bigger_than_max":
				parts = append(parts, fmt.Sprintf("%s.%s is too large", n.ClassType, input))
			default:
				parts = append(parts, fmt.Sprintf("%s: %s", n.ClassType, strings.ReplaceAll(d.Type, "_", " ")))
			}
		}
	}
	if len(parts) == 0 {
		return strings.ReplaceAll(e.Detail.Type, "_", " ")
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "; ")
}

func (p *Provider) engineOf(t registry.Ticket) (*Engine, error) {
	e, ok := p.cfg.Fleet.engine(t.Endpoint)
	if !ok {
		return nil, registry.Errorf(registry.CodeLost, "engine %s is not configured any more", t.Endpoint)
	}
	return e, nil
}

// Poll asks the engine for the prompt's state. The history is asked again after the queue, because a
// prompt can move from the one to the other between two questions.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	e, err := p.engineOf(t)
	if err != nil {
		return registry.Progress{}, err
	}
	pl, err := planOf(t)
	if err != nil {
		return registry.Progress{}, err
	}
	q, err := e.Client.Queue(ctx)
	if err != nil {
		return registry.Progress{}, silence(e, err)
	}
	switch n := q.Position(t.ProviderID); {
	case n == 0:
		return registry.Progress{State: registry.RunRunning}, nil
	case n > 0:
		return registry.Progress{State: registry.RunQueued, QueuePosition: n}, nil
	}
	entry, over, err := e.Client.History(ctx, t.ProviderID)
	if err != nil {
		return registry.Progress{}, silence(e, err)
	}
	if !over {
		return registry.Progress{}, registry.Errorf(registry.CodeLost, "the engine does not know the run any more; it was restarted, or its queue was cleared")
	}
	return p.finish(e, entry, pl), nil
}

func silence(e *Engine, err error) error {
	out := registry.Errorf(registry.CodeUnavailable, "the engine does not answer")
	out.Retryable, out.Cause = true, fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// finish reads a history entry.
func (p *Provider) finish(e *Engine, entry HistoryEntry, pl plan) registry.Progress {
	o := entry.Outcome()
	usage := registry.Usage{RunTime: o.RunTime, Machine: e.machine()}
	switch {
	case o.Interrupted:
		return registry.Progress{State: registry.RunCanceled}
	case !o.Success:
		err := registry.Errorf(registry.CodeProvider, "the workflow failed at %s", failedNode(o, pl))
		err.Cause = fmt.Errorf("%s: node %s: %s", e.Name, o.NodeID, o.Exception)
		return registry.Progress{State: registry.RunFailed, Err: err}
	}
	result := &registry.Result{Usage: usage}
	for _, out := range pl.Outputs {
		for _, r := range entry.Results(out.Node) {
			result.Outputs = append(result.Outputs, e.output(out, r))
		}
	}
	return registry.Progress{State: registry.RunSucceeded, Fraction: 1, HasFraction: true, Result: result}
}

func failedNode(o Outcome, pl plan) string {
	if title := pl.Titles[o.NodeID]; title != "" {
		return fmt.Sprintf("%q", title)
	}
	if o.NodeType != "" {
		return o.NodeType
	}
	return "an unknown node"
}

func (e *Engine) output(out planOutput, r NodeOutput) registry.Output {
	if r.Kind == "text" {
		return registry.Output{Name: out.Name, Type: "text", Text: r.Text}
	}
	return registry.Output{
		Name: out.Name, Type: r.Kind, Info: registry.MediaInfo{Name: r.File.Filename},
		Open: func(ctx context.Context) (io.ReadCloser, error) { return e.Client.View(ctx, r.File) },
	}
}

// machine is the engine's first GPU, by the name that rates go by.
func (e *Engine) machine() string {
	if gpus := e.knowledge().stats.GPUs; len(gpus) > 0 {
		return gpus[0]
	}
	return ""
}

// Price tells the GPU that the call would run on.
func (p *Provider) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	tpl, err := p.cfg.Workflows.forTool(ctx, c.Tool)
	if err != nil {
		return registry.Price{}, err
	}
	for _, e := range p.cfg.Fleet.engines {
		if k := e.knowledge(); k.info != nil && k.err == nil && len(missing(k.info, tpl.Need)) == 0 {
			return registry.Price{Machine: e.machine()}, nil
		}
	}
	return registry.Price{}, nil
}

// Cancel takes the prompt out of the queue, or interrupts it when it is the one that runs.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	e, err := p.engineOf(t)
	if err != nil {
		return nil // an engine that is gone runs nothing of ours
	}
	if err := stop(ctx, e.Client, t.ProviderID); err != nil {
		return silence(e, err)
	}
	return nil
}

// stop deletes first and interrupts second: a prompt that starts in between is caught by the latter.
// Servers that do not know the prompt_id of an interrupt would stop somebody else's run, so it is sent
// only while the prompt is the running one.
func stop(ctx context.Context, c *Client, promptID string) error {
	if err := c.Delete(ctx, promptID); err != nil {
		return err
	}
	q, err := c.Queue(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(q.Running, promptID) {
		return c.Interrupt(ctx, promptID)
	}
	return nil
}

// Health is nil while at least one engine is up.
func (p *Provider) Health(ctx context.Context) error { return p.cfg.Fleet.Health(ctx) }

func (p *Provider) observeTimings(pl plan, timings map[string]time.Duration) {
	for id, d := range timings {
		if class := pl.Classes[id]; class != "" {
			p.seconds.WithLabelValues(class).Observe(d.Seconds())
		}
	}
}

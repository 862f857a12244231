package comfy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/fees"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/comfy/placement"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Provider runs the tools of a Loader on the engines of a Fleet.
type Provider struct {
	cfg     ProviderConfig
	seconds *prometheus.HistogramVec
	badges  fees.Badges
}

// ProviderConfig wires a Provider. Fleet and Workflows are required.
type ProviderConfig struct {
	Fleet     *Fleet
	Workflows *loader.Workflows
	Logger    *slog.Logger
	Metrics   prometheus.Registerer
	Now       func() time.Time
	// PartnerKey pays for nodes that call partners' services (api_node): a key of Comfy's platform, which goes along with
	// prompts that have such nodes and with no other. Empty: those nodes need a key of the server's own.
	PartnerKey string
	// MediaURL gives an address from which engines can fetch a stored file, for the few nodes that take no upload.
	// Without it tools refuse files for such nodes.
	MediaURL func(ctx context.Context, ref registry.Media) (string, error)
	// ReconcileEvery is how often an engine is asked beside its socket; zero means 5 s.
	ReconcileEvery time.Duration
}

var (
	_ registry.Submitter  = (*Provider)(nil)
	_ registry.Canceler   = (*Provider)(nil)
	_ registry.Finder     = (*Provider)(nil)
	_ registry.Pricer     = (*Provider)(nil)
	_ registry.Progresser = (*Provider)(nil)
	_ registry.Forgetter  = (*Provider)(nil)
	_ registry.Placer     = (*Provider)(nil)
)

// NewProvider makes a Provider.
func NewProvider(cfg ProviderConfig) *Provider {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.ReconcileEvery = cmp.Or(cfg.ReconcileEvery, reconcileEvery)
	p := &Provider{cfg: cfg, seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_comfy_node_seconds", Help: "Time of work of single nodes, by class.",
		Buckets: prometheus.ExponentialBuckets(0.01, 4, 9),
	}, []string{"class"})}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(p.seconds)
	}
	return p
}

// Submit places the prompt on an engine under the call's handle, and notes which before it sends. A call that may have been
// submitted before is looked for there first; only where nobody kept the note, on every engine. An engine that can't be reached, or
// that refuses the prompt, since it has changed, is passed over for another.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	tpl, err := p.cfg.Workflows.ForTool(ctx, c.Tool)
	if err != nil {
		return registry.Ticket{}, err
	}
	if t, found, err := p.find(ctx, c, tpl); found || err != nil {
		return t, err
	}
	refused := make(map[*Engine]error)
	for {
		at, err := p.cfg.Fleet.reserve(ctx, jobOf(c, tpl), handleOf(c), refused)
		if err != nil {
			return registry.Ticket{}, err
		}
		e, send := at.engine, p.submitTo
		if e.endpoint != nil {
			send = p.submitJob
		}
		readAt := e.knowledge().infoAt
		t, err := send(ctx, at, c, tpl)
		at.end(err == nil)
		switch {
		case err == nil || ctx.Err() != nil:
			return t, err
		case errors.Is(err, api.ErrUnreached):
			p.cfg.Fleet.lose(e, err)
		case isRefusal(err):
			p.cfg.Fleet.lookAgain(ctx, e, readAt)
			refused[e] = err
		case errors.Is(err, errUnfit):
			refused[e] = err
		case isTurnedAway(err):
			p.cfg.Logger.WarnContext(ctx, "engine does not take a run; another one is looked for", "engine", e.Name, "prompt", handleOf(c), "error", err, "cause", registry.AsError(err).Cause)
			refused[e] = err
		default:
			return t, err
		}
	}
}

// isRefusal tells whether an engine has looked at the prompt and does not run it.
func isRefusal(err error) bool {
	var refused *api.PromptError
	return errors.As(err, &refused)
}

// isTurnedAway tells whether an engine, or a door in front of it, answered that something sent there was not taken, whatever it was.
func isTurnedAway(err error) bool {
	var status *api.StatusError
	return errors.As(err, &status) && status.Method == http.MethodPost
}

func (p *Provider) submitTo(ctx context.Context, at place, c registry.Call, tpl *loader.Template) (registry.Ticket, error) {
	e := at.engine
	media, err := p.uploadMedia(ctx, e, c, tpl)
	if err != nil {
		return registry.Ticket{}, err
	}
	applied, err := tpl.Binding.Apply(c.Inputs, media, nil)
	if err != nil {
		return registry.Ticket{}, err
	}
	needs.Spell(e.knowledge().info, applied.Prompt)
	keepResults(applied.Prompt)
	id, client := handleOf(c), e.client()
	pl := newPlan(tpl, applied.Prompt)
	pl.Fees = p.fees(ctx, e, c, tpl)
	pl.Loads = at.loads
	ticket, err := pl.ticket(c, e, client)
	if err != nil {
		return registry.Ticket{}, err
	}
	if err := note(ctx, c, ticket); err != nil {
		return registry.Ticket{}, err
	}
	if ctx.Err() != nil {
		return registry.Ticket{}, ctx.Err()
	}
	ctx, done := registry.Beginning(ctx)
	defer done()
	answer, err := e.Client.Submit(ctx, applied.Prompt, api.SubmitOptions{PromptID: id, ClientID: client, ExtraData: p.extraData(e, applied.Prompt)})
	if errors.Is(err, api.ErrUnreached) {
		if err := note(ctx, c, registry.Ticket{}); err != nil {
			return registry.Ticket{}, err
		}
		return registry.Ticket{}, submitError(e, err)
	}
	if err != nil {
		p.logRefusal(ctx, e, c, err)
		if !api.MayHaveTaken(err) {
			return registry.Ticket{}, submitError(e, err)
		}
		known, lost := p.arrived(ctx, e, id)
		switch {
		case known:
			return ticket, nil
		case lost != nil:
			return registry.Ticket{}, silence(e, lost)
		}
		return registry.Ticket{}, submitError(e, err)
	}
	if len(answer.NodeErrors) > 0 {
		// The engine took only those outputs that passed. Half a result is none.
		p.dropPartial(ctx, e, id)
		partial := &api.PromptError{Status: http.StatusOK, NodeErrors: answer.NodeErrors,
			Detail: api.ErrorDetail{Type: "prompt_outputs_failed_validation", Message: "only part of the outputs would run"}}
		p.logRefusal(ctx, e, c, partial)
		return registry.Ticket{}, submitError(e, partial)
	}
	return ticket, nil
}

// note has the caller keep where the prompt goes.
func note(ctx context.Context, c registry.Call, t registry.Ticket) error {
	if c.Sending == nil {
		return nil
	}
	return c.Sending(ctx, t)
}

// logRefusal tells which nodes an engine refused and why; what the engine says of their values, which are people's, at the level
// for debugging only.
func (p *Provider) logRefusal(ctx context.Context, e *Engine, c registry.Call, err error) {
	var refused *api.PromptError
	if !errors.As(err, &refused) {
		return
	}
	p.cfg.Logger.WarnContext(ctx, "engine refused a prompt", "engine", e.Name, "prompt", handleOf(c), "tool", c.Tool.ToolID, "status", refused.Status,
		"type", refused.Detail.Type, "node_errors", refused.Problems())
	p.cfg.Logger.DebugContext(ctx, "what the engine says of a refused prompt", "prompt", handleOf(c), "details", refused.Detail.Details, "node_errors", refused.NodeErrors)
}

// keepResults has pictures that would only be sent over a socket, to anyone who listens at the moment, kept on the engine as
// temporary files, so that they can be fetched whatever happens to the socket.
func keepResults(prompt graph.Prompt) {
	for i := range prompt {
		switch n := &prompt[i]; n.Class {
		case "SaveImageWebsocket", "ETN_SendImageWebSocket", "ComfyDeployWebscoketImageOutput":
			if images, ok := n.Inputs.Get("images"); ok {
				n.Class, n.Inputs = "PreviewImage", graph.Inputs{{Name: "images", Value: images}}
			}
		}
	}
}

// arrived asks whether a prompt is on the engine in spite of a lost answer. When that can't be told either, the caller
// comes again with a call that is marked as repeated.
func (p *Provider) arrived(ctx context.Context, e *Engine, promptID string) (known bool, err error) {
	_, known, err = lookup(ctx, e, promptID)
	if err != nil {
		p.cfg.Logger.Warn("engine broke off after a prompt was sent", "engine", e.Name, "prompt", promptID, "error", err)
	}
	return known, err
}

func (p *Provider) dropPartial(ctx context.Context, e *Engine, promptID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	defer cancel()
	err := stop(ctx, e, promptID)
	if err == nil {
		err = e.Client.DeleteHistory(ctx, promptID)
	}
	if err != nil {
		p.cfg.Logger.Warn("partial prompt could not be stopped", "engine", e.Name, "prompt", promptID, "error", err)
	}
}

// mayHave lists the engines that a call may have been sent to. Without a handle nobody keeps count of the attempts, so that any
// may be a repetition.
func (p *Provider) mayHave(c registry.Call) []*Engine {
	switch {
	case c.Sent != nil:
		if e, ok := p.cfg.Fleet.engine(c.Sent.Endpoint); ok {
			return []*Engine{e}
		}
	case c.Sending == nil && (c.Repeated || c.Handle == ""):
		return p.cfg.Fleet.servers()
	}
	return nil
}

// find looks for a prompt where it may be, at once. An engine that does not answer may have it, so the call has to
// come again later: sending the prompt once more could run and cost it twice.
func (p *Provider) find(ctx context.Context, c registry.Call, tpl *loader.Template) (registry.Ticket, bool, error) {
	if c.Sent != nil {
		if e, ok := p.cfg.Fleet.engine(c.Sent.Endpoint); ok && e.endpoint != nil {
			t, err := sentJob(*c.Sent)
			return t, err == nil, err
		}
	}
	engines := p.mayHave(c)
	if c.Sent != nil && len(engines) > 0 && p.cfg.Fleet.mustLeave(engines[0], jobOf(c, tpl)) {
		return registry.Ticket{}, false, gone(engines[0])
	}
	clients, known, errs := make([]string, len(engines)), make([]bool, len(engines)), make([]error, len(engines))
	var all sync.WaitGroup
	for i, e := range engines {
		all.Go(func() { clients[i], known[i], errs[i] = lookup(ctx, e, handleOf(c)) })
	}
	all.Wait()
	if i := slices.Index(known, true); i >= 0 {
		var pristine graph.Prompt
		if err := json.Unmarshal(tpl.Binding.Prompt, &pristine); err != nil {
			return registry.Ticket{}, false, fmt.Errorf("template of %s: %w", c.Tool.ToolID, err)
		}
		pl := newPlan(tpl, pristine)
		pl.Fees = p.fees(ctx, engines[i], c, tpl)
		t, err := pl.ticket(c, engines[i], clients[i])
		return t, err == nil, err
	}
	if silent := errors.Join(errs...); silent != nil {
		e := registry.Say(registry.CodeUnavailable, said.EngineWait)
		e.Retryable, e.RetryAfter, e.Wait, e.Cause = true, waitPause, c.Sent != nil, silent
		return registry.Ticket{}, false, e
	}
	if c.Sent != nil {
		return registry.Ticket{}, false, note(ctx, c, registry.Ticket{})
	}
	return registry.Ticket{}, false, nil
}

// lookupTimeout bounds the questions about one prompt.
const lookupTimeout = 40 * time.Second

// lookup tells whether an engine knows a prompt, and to which client it sends the events. The queue is asked before the history:
// a prompt moves from the one to the other, so asking in the other order could miss it in both.
func lookup(ctx context.Context, e *Engine, promptID string) (client string, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	q, err := e.queue(ctx)
	if err != nil {
		return "", false, err
	}
	if q.Position(promptID) >= 0 {
		return q.Client(promptID), true, nil
	}
	_, known, err = e.Client.History(ctx, promptID)
	return "", known, err
}

func (p *Provider) engineOf(t registry.Ticket) (*Engine, error) {
	e, ok := p.cfg.Fleet.engine(t.Endpoint)
	if !ok {
		return nil, registry.Say(registry.CodeLost, said.EngineGone, "name", t.Endpoint)
	}
	return e, nil
}

// Poll asks the engine for the prompt's state. The history is asked after the queue, because a prompt moves from the
// one to the other.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	e, err := p.engineOf(t)
	if err != nil {
		return registry.Progress{}, err
	}
	if e.endpoint != nil {
		return p.pollJob(ctx, e, t)
	}
	pl, err := planOf(t)
	if err != nil {
		return registry.Progress{}, err
	}
	if p.cfg.Fleet.isReleased(e) {
		e.free(t.ProviderID)
		return registry.Progress{}, gone(e)
	}
	q, err := e.queue(ctx)
	if err != nil {
		return registry.Progress{}, p.silent(ctx, e, t, err)
	}
	switch n := q.Position(t.ProviderID); {
	case n == 0:
		e.hold(t.ProviderID)
		return registry.Progress{State: registry.RunRunning}, nil
	case n > 0:
		e.hold(t.ProviderID)
		return registry.Progress{State: registry.RunQueued, QueuePosition: n}, nil
	}
	entry, over, err := e.Client.History(ctx, t.ProviderID)
	if err != nil {
		return registry.Progress{}, p.silent(ctx, e, t, err)
	}
	if !over {
		e.free(t.ProviderID)
		return registry.Progress{}, registry.Say(registry.CodeLost, said.EngineForgot)
	}
	return p.finish(ctx, e, t, entry, pl), nil
}

// silent is for an engine that does not answer for a run: one that is gone for too long while another could do the work has lost it.
func (p *Provider) silent(ctx context.Context, e *Engine, t registry.Ticket, err error) error {
	if errors.Is(err, api.ErrUnreached) {
		p.cfg.Fleet.lose(e, err)
	}
	pl, _ := planOf(t) // without one it is anybody's run of any tool
	if p.cfg.Fleet.mustLeave(e, placement.JobOf(pl.Tool, pl.Group, p.cfg.Workflows.NeedOf(ctx, t))) {
		e.free(t.ProviderID)
		return gone(e)
	}
	return silence(e, err)
}

// finish reads the history entry of a prompt, whose place is free.
func (p *Provider) finish(ctx context.Context, e *Engine, t registry.Ticket, entry api.HistoryEntry, pl plan) registry.Progress {
	p.cfg.Fleet.ended(e, t.ProviderID)
	o := entry.Outcome()
	switch {
	case o.Interrupted:
		return registry.Progress{State: registry.RunCanceled}
	case !o.Success:
		err := runError(e, o, pl)
		err.Retryable = api.OutOfMemory(o.Exception) && !api.TooLarge(o.Exception) && p.freed(ctx, e) || api.DiskFull(o.Exception) && p.withhold(ctx, e, t, "its disk is full")
		return registry.Progress{State: registry.RunFailed, Err: err}
	}
	if taken := entry.Executed(); taken != nil {
		for _, out := range pl.Outputs {
			if !slices.Contains(taken, out.Node) {
				return registry.Progress{State: registry.RunFailed, Err: registry.Say(registry.CodeBadOutput, said.EnginePart)}
			}
		}
	}
	result := &registry.Result{Usage: e.usage(o, pl)}
	if !slices.ContainsFunc(pl.Outputs, func(out planOutput) bool { return slices.Contains(o.Cached, out.Node) }) { // else it was less work than usual
		p.cfg.Fleet.took(e, pl.Tool, o.RunTime, pl.Loads)
	}
	for _, out := range pl.Outputs {
		results := entry.Results(out.Node)
		p.cfg.Workflows.Learned().Gave(ctx, pl.Classes[out.Node], results)
		for _, r := range results {
			result.Outputs = append(result.Outputs, p.output(e, t, out, r))
		}
	}
	return registry.Progress{State: registry.RunSucceeded, Fraction: 1, HasFraction: true, Result: result}
}

// freed has an engine that ran out of memory let go of the models of other runs, after which the same run may fit.
func (p *Provider) freed(ctx context.Context, e *Engine) bool {
	err := e.Client.Free(ctx)
	if err != nil {
		p.cfg.Logger.WarnContext(ctx, "engine does not free its memory", "engine", e.Name, "error", err)
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loaded = nil
	return true
}

func (p *Provider) output(e *Engine, t registry.Ticket, out planOutput, r api.NodeOutput) registry.Output {
	if r.Kind == "text" {
		return registry.Output{Name: out.Name, Type: "text", Text: r.Text}
	}
	var before fetches
	o := registry.Output{Name: out.Name, Type: r.Kind, Open: func(ctx context.Context) (io.ReadCloser, error) { return p.open(ctx, e, t, r.File, &before) }}
	if api.PlainName(r.File.Filename) {
		o.Info.Name = r.File.Filename
	}
	return o
}

// fetches is what became of a result so far.
type fetches struct {
	failed  int  // while the engine was up: it is not asked for what was had
	wasAway bool // once
}

// fetchTries is how often a result is fetched before another engine makes it anew.
const fetchTries = 4

// open fetches a result. One on an engine that is down is waited for, or given up as a run is that is still there; an engine that has come back
// without it has lost it, as one has that never hands it out whole, where another can make it.
func (p *Provider) open(ctx context.Context, e *Engine, t registry.Ticket, f api.File, before *fetches) (io.ReadCloser, error) {
	if before.failed >= fetchTries && p.withhold(ctx, e, t, "a result does not come whole: look at what stands in front of it") {
		return nil, registry.Say(registry.CodeLost, said.EngineKeeps)
	}
	before.failed++
	content, err := e.Client.View(ctx, f)
	if err == nil {
		return content, nil
	}
	var status *api.StatusError
	var transport *url.Error
	passes := errors.As(err, &transport) || errors.Is(err, api.ErrPage) || errors.As(err, &status) && status.Status >= http.StatusInternalServerError
	if passes && registry.AsError(p.silent(ctx, e, t, err)).Code == registry.CodeGone {
		return nil, gone(e)
	}
	out := registry.Say(registry.CodeBadOutput, said.EngineKeeps)
	if before.wasAway && !passes {
		out = registry.Say(registry.CodeLost, said.EngineForgot)
	}
	out.Retryable, out.Wait, out.RetryAfter = passes, passes && e.knowledge().err != nil, waitPause
	if out.Wait {
		before.failed, before.wasAway = 0, true
	}
	out.Cause = fmt.Errorf("%s: %w", e.Name, err)
	return nil, out
}

// withhold notes that an engine does not hand out a result, and tells whether another one could make it.
func (p *Provider) withhold(ctx context.Context, e *Engine, t registry.Ticket, why string) bool {
	pl, _ := planOf(t)
	elsewhere := p.cfg.Fleet.withhold(e, placement.JobOf(pl.Tool, pl.Group, p.cfg.Workflows.NeedOf(ctx, t)))
	if elsewhere {
		p.cfg.Logger.WarnContext(ctx, "engine hands out no result: for ten minutes others are preferred", "engine", e.Name, "why", why, "prompt", t.ProviderID, "tool", pl.Tool)
	}
	return elsewhere
}

// Price tells the GPU that the call would run on, the dearest of those that might take it, for what it costs there is what must be promised; and
// what partners' services would take for it.
func (p *Provider) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	tpl, err := p.cfg.Workflows.ForTool(ctx, c.Tool)
	if err != nil {
		return registry.Price{}, err
	}
	var dearest *Engine
	for _, e := range p.cfg.Fleet.engines {
		if k := e.knowledge(); !k.up() || !e.tags.Serves(c.Tool.ToolID, c.Group) || len(e.lacks(k.info, c.Tool.ToolID, tpl.Need)) > 0 {
			continue
		}
		if rate := p.cfg.Fleet.cfg.Rate; dearest == nil || rate != nil && rate(e.machine()) > rate(dearest.machine()) {
			dearest = e
		}
	}
	if dearest == nil {
		return registry.Price{}, nil
	}
	return registry.Price{Machine: dearest.machine(), FeesUSD: sumOf(p.fees(ctx, dearest, c, tpl), nil)}, nil
}

// Find gives the ticket that was noted before the prompt was sent.
func (p *Provider) Find(_ context.Context, c registry.Call) (registry.Ticket, error) {
	if c.Sent == nil {
		return registry.Ticket{}, registry.Say(registry.CodeLost, said.EngineUnsent)
	}
	if e, ok := p.cfg.Fleet.engine(c.Sent.Endpoint); ok && e.endpoint != nil {
		return sentJob(*c.Sent)
	}
	return *c.Sent, nil
}

// Cancel takes the prompt out of the queue, or interrupts it when it is the one that runs. A ticket that names no engine,
// because a crash hid where the prompt went, concerns them all.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	var errs []error
	for _, e := range p.cfg.Fleet.engines {
		if t.Endpoint != "" && t.Endpoint != e.Name {
			continue
		}
		if e.endpoint != nil {
			if t.Endpoint == e.Name {
				errs = append(errs, e.cancelJob(ctx, t))
			}
			continue
		}
		err := stop(ctx, e, t.ProviderID)
		switch {
		case errors.Is(err, errAtWork):
			errs = append(errs, atWork(e, err))
		case err != nil:
			errs = append(errs, silence(e, err))
		}
	}
	return errors.Join(errs...)
}

// stopLook is the pause between two looks at whether an interrupted prompt has left the queue: nodes stop when they come to it.
const stopLook = 200 * time.Millisecond

// errAtWork is for a prompt that was interrupted and has not ended yet.
var errAtWork = errors.New("it was interrupted and is still at work")

// stop deletes first and interrupts second: a prompt that starts in between is caught by the latter.
// Old servers pass over the prompt_id of an interrupt and stop whatever runs, so it is sent only while
// the prompt is the running one. It waits until that has ended, for only then it stands in the history, from which it has to go.
func stop(ctx context.Context, e *Engine, promptID string) error {
	if err := e.Client.Delete(ctx, promptID); err != nil {
		return err
	}
	for told := false; ; told = true {
		q, err := e.queue(ctx)
		if told && ctx.Err() != nil {
			return errAtWork
		}
		if err != nil {
			return err
		}
		e.free(promptID)
		if !slices.Contains(q.Running, promptID) {
			return nil
		}
		if !told {
			if err := e.Client.Interrupt(ctx, promptID); err != nil {
				return err
			}
		}
		if clock.Sleep(ctx, stopLook) != nil {
			return errAtWork
		}
	}
}

// Places tells how many more runs the engines get now.
func (p *Provider) Places() int { return p.cfg.Fleet.Places() }

// HasPlace tells whether an engine that can run the tool gets another run now; where groups alone have such engines, one of theirs. Of a tool that
// can't be run Submit says why.
func (p *Provider) HasPlace(t registry.Tool) bool {
	tpl, err := p.cfg.Workflows.ForTool(context.Background(), t)
	if err != nil {
		return true
	}
	f := p.cfg.Fleet
	if job := placement.JobOf(t.ToolID, "", tpl.Need); !f.isKept(job) {
		return f.hasPlaceFor(job)
	}
	somebodys := false
	for _, group := range f.groups {
		if job := placement.JobOf(t.ToolID, group, tpl.Need); !f.isKept(job) {
			if somebodys = true; f.hasPlaceFor(job) {
				return true
			}
		}
	}
	return !somebodys
}

// PlacesKept lists the groups with engines of their own that can run the tool and get another run now.
func (p *Provider) PlacesKept(t registry.Tool) (groups []string) {
	tpl, err := p.cfg.Workflows.ForTool(context.Background(), t)
	if err != nil {
		return nil
	}
	for _, group := range p.cfg.Fleet.groups {
		if p.cfg.Fleet.hasPlaceFor(placement.JobOf(t.ToolID, group, tpl.Need)) {
			groups = append(groups, group)
		}
	}
	return groups
}

// jobOf is what placement knows of a call.
func jobOf(c registry.Call, tpl *loader.Template) placement.Job {
	return placement.JobOf(c.Tool.ToolID, c.Group, tpl.Need)
}

func (p *Provider) observeTimings(pl plan, timings map[string]time.Duration) {
	for id, d := range timings {
		if class := pl.Classes[id]; class != "" {
			p.seconds.WithLabelValues(class).Observe(d.Seconds())
		}
	}
}

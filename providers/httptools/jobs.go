package httptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

// Jobs runs those tools that work for a while.
type Jobs struct{ tools *Tools }

var (
	_ registry.Submitter = Jobs{}
	_ registry.Canceler  = Jobs{}
	_ registry.Pricer    = Jobs{}
)

// Jobs gives the provider of Service.
func (t *Tools) Jobs() Jobs { return Jobs{t} }

// Submit begins a run. Where the service can't tell a repeated request, one that may have arrived is lost
// rather than made twice.
func (j Jobs) Submit(ctx context.Context, call registry.Call) (registry.Ticket, error) {
	t := j.tools
	s, err := t.specs.Of(ctx, refOf(call))
	if err != nil {
		return registry.Ticket{}, err
	}
	reports := s.Poll == nil
	if deaf := t.hears(Service, s); deaf != nil || reports && call.CallbackURL == "" {
		return registry.Ticket{}, cmp.Or(deaf, registry.Say(registry.CodeUnavailable, said.CallbackNowhere))
	}
	o := order{spec: s, strategy: strategy.Reader{WebhookConfig: *call.Tool.WebhookStrategy}, name: call.Tool.DisplayName}
	var began time.Time
	lost := registry.Say(registry.CodeLost, said.LostRun, "service", upstream.Named(hostOf(s.BaseURL)))
	once := call
	once.Repeated = call.Repeated && !s.Repeatable
	id, err := t.refused.Start(once, lost, func() (string, error) {
		answer, at, err := t.submit(ctx, &o, call, true)
		if err != nil {
			return "", err
		}
		began = at
		return o.accepted(answer, reports, call.Handle)
	})
	switch {
	case reports && errors.Is(err, lost): // if it took the run, it will call
		o.scope = scope{values: t.values(ctx, call), tables: s.Tables}
		return o.ticket(call, call.Handle, t.cfg.Now())
	case err != nil:
		return registry.Ticket{}, err
	}
	return o.ticket(call, id, began)
}

// accepted reads the answer to a submission: the service's id of the run, or the refusal that it is after all.
func (o *order) accepted(res upstream.Response, reports bool, handle string) (string, error) {
	a, err := readAnswer(res)
	if err != nil {
		return "", err
	}
	if bad, yes := o.strategy.Failed(a.doc); yes {
		return "", failed(o.name, bad)
	}
	o.scope = o.scope.with("submitted", a.doc)
	found, _ := strategy.Lookup(a.doc, o.strategy.IDPath)
	switch id := plain(found); {
	case len(o.strategy.IDPath) > 0 && id != "":
		return id, nil
	case len(o.strategy.IDPath) == 0 && reports:
		return handle, nil
	}
	return "", registry.Say(registry.CodeProvider, said.AnswerPath, "path", strings.Join(o.strategy.IDPath, "."))
}

// order is all that it takes to read what is told of a run.
type order struct {
	spec     spec
	strategy strategy.Reader
	outputs  registry.OutputSchema
	began    time.Time
	scope    scope
	name     string
}

// The members of a ticket's Extra.
const (
	extraStrategy = "strategy"
	extraOutputs  = "outputs"
	extraBegan    = "began"
	extraHandle   = "handle"
	extraName     = "name"
	extraValues   = "values"
)

// ticket notes the order.
func (o *order) ticket(call registry.Call, id string, began time.Time) (registry.Ticket, error) {
	extra := map[string]string{
		specKey: refOf(call), extraBegan: began.UTC().Format(time.RFC3339Nano), extraHandle: call.Handle, extraName: call.Tool.DisplayName,
	}
	for name, value := range map[string]any{extraStrategy: call.Tool.WebhookStrategy, extraOutputs: call.Tool.OutputSchema, extraValues: o.later()} {
		raw, err := json.Marshal(value)
		if err != nil {
			return registry.Ticket{}, err
		}
		extra[name] = string(raw)
	}
	return registry.Ticket{RunID: call.RunID, Service: Service, ProviderID: id, Extra: extra}, nil
}

// later are the values that requests after submit and the price ask for.
func (o *order) later() map[string]any {
	var names []string
	for _, r := range []*request{o.spec.Poll, o.spec.Result, o.spec.Cancel} {
		if r != nil {
			names = append(names, r.names()...)
		}
	}
	for _, use := range o.spec.Price.uses() {
		if use.IsTable {
			names = append(names, use.Args...)
			continue
		}
		names = append(names, use.String())
	}
	if o.spec.Price != nil {
		names = append(names, o.spec.Price.Results)
	}
	values := map[string]any{}
	for _, name := range names {
		value, there := o.scope.lookup(name)
		if _, isFile := value.(*file); there && !isFile {
			values[name] = value
		}
	}
	return values
}

func (t *Tools) order(ctx context.Context, ticket registry.Ticket) (o order, err error) {
	if o.spec, err = t.specs.Of(ctx, ticket.Extra[specKey]); err != nil {
		return o, err
	}
	o.began, err = time.Parse(time.RFC3339Nano, ticket.Extra[extraBegan])
	var tool registry.Tool
	if err == nil {
		tool, err = registry.DecodeStoredTool(fmt.Appendf(nil, `{"toolId":"x","service":"x","displayName":"x","inputSchema":{},"webhookStrategy":%s,"outputSchema":%s}`, ticket.Extra[extraStrategy], ticket.Extra[extraOutputs]))
	}
	values := map[string]any{}
	if text := ticket.Extra[extraValues]; err == nil && text != "" {
		var read any
		read, err = decode([]byte(text))
		values, _ = read.(map[string]any)
	}
	if err != nil || tool.WebhookStrategy == nil || values == nil {
		return o, registry.Say(registry.CodeInternal, said.NoteUnread).Because(err)
	}
	o.strategy, o.outputs, o.name = strategy.Reader{WebhookConfig: *tool.WebhookStrategy}, tool.OutputSchema, ticket.Extra[extraName]
	values["task.id"], values["run.id"], values["run.handle"] = ticket.ProviderID, ticket.RunID, ticket.Extra[extraHandle]
	o.scope = scope{values: values, tables: o.spec.Tables, media: o.spec.Media, secret: t.secretOf}
	return o, nil
}

// Poll asks after a run, or gives what was said last where the service wants to be asked later.
func (j Jobs) Poll(ctx context.Context, ticket registry.Ticket) (registry.Progress, error) {
	t := j.tools
	o, err := t.order(ctx, ticket)
	if err != nil {
		return registry.Progress{}, err
	}
	if o.spec.Poll == nil {
		return j.reported(ctx, ticket, o)
	}
	now, key := t.cfg.Now(), ticket.RunID+" "+ticket.ProviderID
	if last, known := t.paced.Get(key, now); known && now.Before(last.until) {
		return last.progress, nil
	}
	res, err := t.send(ctx, o.spec, *o.spec.Poll, upstream.Request{Method: http.MethodGet, Repeatable: true, Words: o.strategy.Words}, o.scope)
	if err != nil {
		return registry.Progress{}, err
	}
	a, err := readAnswer(res)
	if err != nil {
		return registry.Progress{}, err
	}
	progress, err := j.progress(ctx, o, a, t.cfg.Now())
	pause := max(time.Duration(o.spec.Poll.EverySeconds*float64(time.Second)), retryAfter(res.Header))
	if err == nil && !progress.State.Terminal() && pause > 0 {
		t.paced.Put(key, paced{progress, now.Add(pause)}, now)
	}
	return progress, err
}

// paced is what a service said of a run, and when it may be asked again.
type paced struct {
	progress registry.Progress
	until    time.Time
}

// reported is what a service has called back that can't be asked. The first word of the end counts; callbacks that can't
// be read say nothing.
func (j Jobs) reported(ctx context.Context, ticket registry.Ticket, o order) (registry.Progress, error) {
	if deaf := j.tools.hears(Service, o.spec); deaf != nil {
		return registry.Progress{}, deaf
	}
	reports, err := j.tools.cfg.Reports(ctx, ticket.RunID)
	if err != nil {
		return registry.Progress{}, err
	}
	last := registry.Progress{State: registry.RunQueued}
	for _, report := range reports {
		doc, err := decode(report.Body)
		if err != nil {
			continue
		}
		progress, err := j.progress(ctx, o, answer{doc: doc}, report.At)
		if err != nil {
			continue
		}
		if last = progress; last.State.Terminal() {
			break
		}
	}
	return last, nil
}

// progress reads what a service says of a run.
func (j Jobs) progress(ctx context.Context, o order, a answer, at time.Time) (registry.Progress, error) {
	reading, err := o.strategy.ReadValue(a.doc, o.began, at)
	elsewhere := reading.State == registry.RunSucceeded && (a.file != nil || o.spec.Result != nil)
	if failure := registry.AsError(err); failure != nil && !elsewhere {
		if failure.Code == registry.CodeBadOutput { // it is over, and there is nothing
			return registry.Progress{State: registry.RunFailed, Err: failure}, nil
		}
		return registry.Progress{}, err
	}
	progress := registry.Progress{State: reading.State, Unknown: reading.Unknown}
	if reading.Fraction != nil {
		progress.Fraction, progress.HasFraction = *reading.Fraction, true
	}
	switch reading.State {
	case registry.RunFailed:
		progress.Err = failed(o.name, reading)
	case registry.RunSucceeded:
		progress.Result, err = j.tools.finished(ctx, o, a, reading)
		if ends := []registry.Code{registry.CodeBadOutput, registry.CodeRefused, registry.CodeProvider}; err != nil {
			failure := registry.AsError(err)
			if failure == nil || failure.Retryable || !slices.Contains(ends, failure.Code) {
				return registry.Progress{}, err
			}
			progress = registry.Progress{State: registry.RunFailed, Err: failure}
		}
	}
	return progress, nil
}

// Find begins a run again where the service takes a repeated request for the first, which gives its id, and the run can be
// stopped by that.
func (j Jobs) Find(ctx context.Context, call registry.Call) (registry.Ticket, error) {
	s, err := j.tools.specs.Of(ctx, refOf(call))
	if err != nil {
		return registry.Ticket{}, err
	}
	if !s.Repeatable || s.Cancel == nil {
		return registry.Ticket{}, fmt.Errorf("%s can't be asked for a run without its id: %w", upstream.Named(hostOf(s.BaseURL)), registry.ErrCantCancel)
	}
	return j.Submit(ctx, call)
}

// Cancel stops a run where the file says how. One that is over or unknown is left.
func (j Jobs) Cancel(ctx context.Context, ticket registry.Ticket) error {
	o, err := j.tools.order(ctx, ticket)
	if err != nil {
		return err
	}
	if o.spec.Cancel == nil {
		return fmt.Errorf("the file says no way to cancel at %s: %w", upstream.Named(hostOf(o.spec.BaseURL)), registry.ErrCantCancel)
	}
	_, err = j.tools.send(ctx, o.spec, *o.spec.Cancel, upstream.Request{Method: http.MethodPost, Repeatable: true}, o.scope)
	return upstream.Stopped(ctx, err, j, ticket)
}

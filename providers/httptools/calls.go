package httptools

import (
	"context"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

const (
	callTimeout = 3 * time.Minute
	answerLimit = 64 << 20
)

// Calls runs those tools that answer at once.
type Calls struct{ tools *Tools }

var (
	_ registry.Caller = Calls{}
	_ registry.Pricer = Calls{}
)

// Calls gives the provider of ServiceNow.
func (t *Tools) Calls() Calls { return Calls{t} }

// Call makes one request; its answer is the result, or says how to ask for it.
func (c Calls) Call(ctx context.Context, call registry.Call) (registry.Result, error) {
	t := c.tools
	s, err := t.specs.Of(ctx, refOf(call))
	if err != nil {
		return registry.Result{}, err
	}
	o := order{spec: s, outputs: call.Tool.OutputSchema, name: call.Tool.DisplayName}
	res, began, err := t.submit(ctx, &o, call, false)
	if err != nil {
		return registry.Result{}, err
	}
	a, err := readAnswer(res)
	if err != nil {
		if call.Tool.WebhookStrategy != nil {
			return registry.Result{}, err
		}
		a.doc = string(res.Body)
	}
	if a.file != nil && o.outputs[0].Type == "text" {
		a.doc, a.file = string(a.file), nil
	}
	reading, err := o.atOnce(call, a, began, t.cfg.Now())
	if err != nil {
		return registry.Result{}, err
	}
	o.scope = o.scope.with("submitted", a.doc)
	reading.Duration = t.cfg.Now().Sub(began)
	result, err := t.finished(ctx, o, a, reading)
	if err != nil {
		return registry.Result{}, err
	}
	return *result, nil
}

// atOnce reads the answer to a call. A file is the result itself, unless something beside it tells a failure.
func (o *order) atOnce(call registry.Call, a answer, began, now time.Time) (strategy.Reading, error) {
	reading := strategy.Reading{State: registry.RunSucceeded, Result: a.doc}
	if call.Tool.WebhookStrategy == nil {
		return reading, nil
	}
	o.strategy = strategy.Reader{WebhookConfig: *call.Tool.WebhookStrategy}
	if bad, yes := o.strategy.Failed(a.doc); yes {
		return reading, failed(o.name, bad)
	}
	if a.file != nil {
		return reading, nil
	}
	reading, err := o.strategy.ReadValue(a.doc, began, now)
	if reading.State == registry.RunSucceeded && o.spec.Result != nil {
		return reading, nil
	}
	if err == nil && reading.State != registry.RunSucceeded {
		return reading, failed(o.name, reading)
	}
	return reading, err
}

// submit sends the request that begins a run, and puts what placeholders stand for into o; begins says that the service works
// on by itself then.
func (t *Tools) submit(ctx context.Context, o *order, call registry.Call, begins bool) (upstream.Response, time.Time, error) {
	began := t.cfg.Now()
	o.scope = scope{values: t.values(ctx, call), tables: o.spec.Tables, media: o.spec.Media, secret: t.secretOf}
	if err := o.spec.within(o.scope); err != nil {
		return upstream.Response{}, began, err
	}
	if err := o.spec.measured(o.scope.values); err != nil {
		return upstream.Response{}, began, err
	}
	sc, err := t.uploaded(ctx, o.spec, o.scope)
	if err != nil {
		return upstream.Response{}, began, err
	}
	answer, err := t.send(ctx, o.spec, o.spec.Submit, upstream.Request{Method: http.MethodPost, Repeatable: o.spec.Repeatable, Begins: begins, Words: wordsOf(call.Tool.WebhookStrategy)}, sc)
	return answer, began, err
}

// wordsOf reads a service's own words for a refusal as the file says.
func wordsOf(w *registry.WebhookConfig) func([]byte) string {
	if w == nil {
		return nil
	}
	return strategy.Reader{WebhookConfig: *w}.Words
}

// refOf is the reference of the spec with which a call was accepted.
func refOf(call registry.Call) registry.Media {
	ref, _ := call.Tool.Metadata[specKey].(string)
	return ref
}

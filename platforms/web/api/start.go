package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Starts takes on runs by inputs: runner.Service.
type Starts interface {
	Bind(ctx context.Context, r runs.Request) (runs.Bound, error)
	BindAs(ctx context.Context, tool registry.Tool, r runs.Request) (runs.Bound, error)
	Quote(ctx context.Context, b runs.Bound) (billing.Quote, error)
	Offer(ctx context.Context, b runs.Bound) (runs.Offer, error)
	First(ctx context.Context, accountID, key string) (runs.Run, error)
}

// starting is the part of the API that starts runs and tells their price.
type starting struct {
	registry *catalog.Registry
	runs     Starts
	callers  request.Callers
	reader   request.Reader
	tell     teller
	now      func() time.Time
	notFound http.HandlerFunc
}

// start runs the tool whose apiPath was asked for. It takes the same way as a chat command, or, where a model asks, as one that
// its owner may have to approve.
func (a *starting) start(w http.ResponseWriter, r *http.Request, who users.Account) error {
	t, ok := a.registry.Snapshot().ByAPIPath(r.URL.EscapedPath())
	if !ok || t.Refusal(request.Audience(who)) != nil {
		if run, err := a.startedBefore(r, who); err == nil {
			t, ok = &run.Tool, true // as it was then
		}
	}
	if ok && !request.Knows(who, t) || !ok && strings.HasPrefix(r.URL.Path, registry.RunPrefix) {
		return a.refuseCall(w, r, runs.Run{}, runs.UnknownTool(a.registry, request.Audience(who), strings.TrimPrefix(r.URL.Path, registry.RunPrefix)))
	}
	if !ok {
		a.notFound(w, r)
		return nil
	}
	began := a.now()
	run, err := a.startCall(w, r, who, *t)
	if err != nil {
		return a.refuseCall(w, r, run, err)
	}
	status := http.StatusAccepted
	if run.Status.Final() {
		status = http.StatusOK
	}
	if repeatable := r.Header.Get("Idempotency-Key") != "" || run.Context.TraceID != ""; repeatable && run.CreatedAt.Before(began) {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.Header().Set("Location", a.tell.site.Absolute(r, "/api/runs/"+run.ID))
	door.WriteJSON(w, status, a.tell.run(r, run))
	return nil
}

// startedBefore gives the run that a repeated request began before its tool went away: its client must not take it for lost.
func (a *starting) startedBefore(r *http.Request, who users.Account) (runs.Run, error) {
	run, err := a.runs.First(r.Context(), who.ID, apiKey(who, r.Header.Get("Idempotency-Key")))
	if path, _ := url.PathUnescape(run.Tool.RunPath()); err == nil && path != r.URL.Path {
		err = runs.ErrNotFound
	}
	return run, err
}

// apiKey is the key of a run that a request with an Idempotency-Key began; "" for none. Those who see their own runs alone have keys of their own, so
// that none of them is given another's run.
func apiKey(who users.Account, header string) string {
	switch {
	case header == "":
		return ""
	case who.Runs != "":
		return "api:" + who.Runs + ":" + header
	}
	return "api:" + header
}

// startCall takes on the run that a request asks for. One that waits for approval comes with the error.
func (a *starting) startCall(w http.ResponseWriter, r *http.Request, who users.Account, t registry.Tool) (runs.Run, error) {
	if refusal := t.Refusal(request.Audience(who)); refusal != nil {
		return runs.Run{}, refusal
	}
	v, err := a.reader.Inputs(w, r, who, t)
	if err == nil {
		err = a.reader.Settle(r, who, t, v)
	}
	if err != nil {
		return runs.Run{}, err
	}
	asked := requestOf(r, who, t, v)
	asked.Origin, asked.Quote = runs.Origin{Platform: "api"}, r.Header.Get(request.QuoteHeader)
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		if err := checkIdempotencyKey(key); err != nil {
			return runs.Run{}, err
		}
		asked.IdempotencyKey = apiKey(who, key)
	}
	run, err := a.callers.Accept(r.Context(), who, asked)
	if run.ID != "" && asked.IdempotencyKey != "" {
		if other := a.checkRepeat(r.Context(), asked, run); other != nil {
			return runs.Run{}, other
		}
	}
	return run, err
}

// requestOf is what a request asks of a tool.
func requestOf(r *http.Request, who users.Account, t registry.Tool, v request.Values) runs.Request {
	asked := runs.Request{AccountID: who.ID, ToolID: t.ToolID, Values: v, Audience: request.Audience(who), Budget: door.Budget(r.Context()), Context: request.Context(r)}
	if request.ByModel(r) {
		asked.Approval = runs.ApproveWrites
	}
	return asked
}

// checkRepeat refuses a key that was used for another request: answering with the run of that one would
// be a lie.
func (a *starting) checkRepeat(ctx context.Context, asked runs.Request, run runs.Run) error {
	if run.Tool.ToolID != asked.ToolID {
		return errKeyReused
	}
	bound, err := a.runs.BindAs(ctx, run.Tool, asked)
	if err != nil {
		return err
	}
	given := func(from runs.Source) bool { return from == runs.FromArgument || from == runs.FromAttachment }
	for name, value := range bound.Inputs {
		if given(bound.Sources[name]) != given(run.Sources[name]) || given(bound.Sources[name]) && !request.SameValue(value, run.Inputs[name]) {
			return errKeyReused
		}
	}
	return nil
}

// quote tells the price of a run without starting it.
func (a *starting) quote(w http.ResponseWriter, r *http.Request, who users.Account) error {
	t, ok := a.registry.Snapshot().Resolve(r.PathValue("id"))
	if !ok || !request.Knows(who, t) {
		return runs.UnknownTool(a.registry, request.Audience(who), r.PathValue("id"))
	}
	v, err := a.reader.Inputs(w, r, who, *t)
	if err != nil {
		return err
	}
	bound, err := a.runs.Bind(r.Context(), requestOf(r, who, *t, v))
	if err != nil {
		return err
	}
	if _, err := a.runs.Quote(r.Context(), bound); err != nil { // what would be refused has no price, such as a chain with a step that the key may not use
		return err
	}
	offer, err := a.runs.Offer(r.Context(), bound)
	if err != nil {
		return err
	}
	q := offer.Quote
	door.WriteJSON(w, http.StatusOK, map[string]any{
		"quote": offer.Sealed, "expiresAt": offer.Until,
		"quoteNanoUsd": quoteBody{q.Low, q.High}, "rate": q.Rate, "unit": q.Unit, "source": q.Source, "basis": q.Basis, "feesNanoUsd": q.Fees, "feesUnknown": q.FeesUnknown, "shareNanoUsd": q.Share, "text": priceText(q), "billCanceled": q.BillCanceled,
	})
	return nil
}

// refuseCall answers a call that did not become a run, or that waits for an approval, with the problem and the envelope.
func (a *starting) refuseCall(w http.ResponseWriter, r *http.Request, run runs.Run, err error) error {
	p := problem.Explain(err)
	if p.Ours() {
		return err
	}
	trace := request.Context(r).TraceID
	if run.Status == runs.StatusAwaitingConfirmation {
		w.Header().Set("Location", a.tell.site.Absolute(r, "/api/runs/"+run.ID))
		p.Run, trace = a.tell.run(r, run), run.Trace()
	}
	envelope := runs.Refused(err, trace)
	p.Envelope = &envelope
	problem.Write(w, p)
	return nil
}

// priceText says what one run will cost.
func priceText(q billing.Quote) string {
	switch {
	case q.High == 0:
		return "free"
	case q.Low == q.High:
		return q.High.String()
	}
	return fmt.Sprintf("%s to %s", q.Low, q.High)
}

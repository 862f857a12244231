package web

import (
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// The headers by which a request says for whom it is made. All are optional.
const (
	siteHeader    = "X-Site-Id"
	sessionHeader = "X-Session-Id"
	traceHeader   = "X-Trace-Id" // goes before traceparent
	plannerHeader = "X-Planner-Provider"
	quoteHeader   = "X-Quote"
)

// contextOf reads the context of a call from its headers; the trace, too, of a W3C traceparent.
func contextOf(r *http.Request) registry.CallContext {
	said := func(name string) string { return strings.TrimSpace(r.Header.Get(name)) }
	c := registry.CallContext{SiteID: said(siteHeader), SessionID: said(sessionHeader), TraceID: said(traceHeader), PlannerProvider: said(plannerHeader)}
	if c.TraceID == "" {
		c.TraceID, _ = registry.TraceOf(r.Header.Get("Traceparent"))
	}
	return c
}

// toolCodes are the codes of an envelope's error.
var toolCodes = [...]runs.ToolCode{
	runs.ToolNotFound, runs.ToolRequiresApproval, runs.ToolAutoRunDisabled, runs.InvalidToolInput, runs.InvalidToolOutput, runs.ToolExecutionFailed,
}

// byModel reports whether a model asks, not a person or a program of theirs: what changes something waits for its owner's approval.
func byModel(r runs.Request) bool {
	return r.Context.PlannerProvider != "" || r.Approval != runs.ApproveNothing
}

// errAgentsKey refuses to take a model's word for its owner's.
var errAgentsKey = registry.Errorf(registry.CodeUnauthorized, "an agent's key approves nothing: its owner does, on the run's page or with another key")

// mayApprove refuses confirmations and answers that name a model as who asks; those by an agent's key don't get here.
func (s *Server) mayApprove(r *http.Request) error {
	if contextOf(r).PlannerProvider != "" {
		return errAgentsKey
	}
	return nil
}

// refuseCall answers a call that did not become a run, or that waits for an approval, with the problem and the envelope.
func (s *Server) refuseCall(w http.ResponseWriter, r *http.Request, run runs.Run, err error) error {
	p := explain(err)
	if p.ours() {
		return err
	}
	trace := contextOf(r).TraceID
	if run.Status == runs.StatusAwaitingConfirmation {
		w.Header().Set("Location", s.absolute(r, "/api/runs/"+run.ID))
		body := s.runBody(r, run)
		p.Run, trace = &body, run.Trace()
	}
	envelope := runs.Refused(err, trace)
	p.Envelope = &envelope
	s.writeProblem(w, r, p)
	return nil
}

// apiEnvelope tells a run as a planner's program wants it: {ok, data | error, latencyMs, attempts, traceId}. While the run is under way
// it answers 202 with the run.
func (s *Server) apiEnvelope(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.ownRun(r, a)
	if err != nil {
		return err
	}
	envelope, over := run.Envelope(run.DataOf(func(o runs.Output) any { return s.outputBody(r, run.AccountID, o) }))
	if !over {
		writeJSON(w, http.StatusAccepted, s.runBody(r, run))
		return nil
	}
	writeJSON(w, http.StatusOK, envelope)
	return nil
}

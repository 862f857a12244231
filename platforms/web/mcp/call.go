package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// handler runs one tool.
func (s *Server) handler(toolID string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c, known := callerOf(req)
		if !known {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the request came without a key"}
		}
		result, err := s.call(ctx, c, toolID, req)
		if err != nil {
			return s.explain(ctx, toolID, contextOf(req).TraceID, err)
		}
		return result, nil
	}
}

// explain puts a failure into words for the model, so that it can do better; only what is our own fault is an error of
// the protocol.
func (s *Server) explain(ctx context.Context, toolID, trace string, err error) (*sdk.CallToolResult, error) {
	told := func(text string) (*sdk.CallToolResult, error) { return refusal(text, runs.Refused(err, trace)), nil }
	var unknown *runs.UnknownToolError
	var unasked *unaskedError
	var missing *runs.MissingInputError
	var poor billing.ErrInsufficient
	var typed *registry.Error
	switch {
	case errors.Is(err, errDeclined):
		return told(errDeclined.Message)
	case errors.As(err, &unasked):
		return told(string(registry.CodeUnauthorized) + ": " + unasked.Error())
	case errors.As(err, &missing), errors.As(err, &poor):
		return told(err.Error())
	case errors.As(err, &typed):
		text := string(typed.Code) + ": " + typed.Message
		if typed.Field != "" {
			text = string(typed.Code) + ": " + typed.Field + ": " + strings.TrimPrefix(typed.Message, typed.Field+": ")
		}
		if typed.Retryable {
			text += " (it may work later)"
		}
		return told(text)
	case errors.As(err, &unknown) && unknown.Instead != "":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + toolID + ": use " + unknown.Instead}
	case errors.As(err, &unknown) && unknown.Near != "":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + toolID + "; did you mean " + unknown.Near + "?"}
	case errors.Is(err, runs.ErrUnknownTool):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + toolID}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	s.cfg.Logger.ErrorContext(ctx, "call failed", "tool", toolID, "error", err)
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong on our side; nothing was charged"}
}

// call takes a tool from its arguments to its result.
func (s *Server) call(ctx context.Context, c caller, toolID string, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	decision, err := s.cfg.Users.CheckAccount(ctx, c.account, Platform, toolID)
	if err == nil {
		err = decision.Err()
	}
	if err != nil {
		return nil, err
	}
	run, ask, err := s.take(ctx, c, toolID, req)
	if err != nil || ask != nil {
		return ask, err
	}
	tell := reporter{session: req.Session, token: req.Params.GetProgressToken(), page: c.base + "/run/" + run.ID}
	// A client that gives up cancels the run.
	if run, err = runs.Await(ctx, s.cfg.Runs, run, func(now runs.Run) { tell.progress(ctx, now) }); err != nil {
		if errors.Is(err, runs.ErrNotCanceled) {
			s.cfg.Logger.WarnContext(ctx, "a client gave up", "run", run.ID, "error", err)
		}
		return nil, err
	}
	return s.result(c, run), nil
}

// take gives the run of a call, or the question that comes before it.
func (s *Server) take(ctx context.Context, c caller, toolID string, req *sdk.CallToolRequest) (runs.Run, *sdk.CallToolResult, error) {
	if req.Params.RequestState != "" {
		run, err := s.answered(ctx, c, toolID, req)
		return run, nil, err
	}
	bound, quote, err := s.bind(ctx, c, toolID, req)
	if err != nil {
		return runs.Run{}, nil, err
	}
	if bound.Asks(quote) {
		if client := req.ClientCapabilities(); client != nil && client.Elicitation != nil && !c.agent {
			question, err := s.ask(ctx, c, bound, quote, req)
			return runs.Run{}, question, err
		}
		switch refused := unasked(c, bound, quote); {
		case refused != nil && c.agent:
			run, err := s.wait(ctx, c, bound, refused)
			return run, nil, err
		case refused != nil:
			return runs.Run{}, nil, refused
		}
	}
	bound.Request.Approval = runs.ApproveNothing // nobody has to be asked, or the key's limit is the answer
	run, err := s.cfg.Runs.AcceptBound(ctx, bound)
	return run, nil, err
}

func (s *Server) bind(ctx context.Context, c caller, toolID string, req *sdk.CallToolRequest) (runs.Bound, billing.Quote, error) {
	arguments, values := req.Params.Arguments, map[string]any{}
	if len(arguments) > 0 && string(arguments) != "null" {
		if err := decimal.Unmarshal(arguments, &values); err != nil {
			return runs.Bound{}, billing.Quote{}, registry.Errorf(registry.CodeInvalidInput, "the arguments are no JSON object")
		}
	}
	bound, err := s.cfg.Runs.Bind(ctx, runs.Request{
		AccountID: c.account.ID, ToolID: toolID, Values: map[runs.Source]map[string]any{runs.FromArgument: values}, Origin: runs.Origin{Platform: Platform},
		Audience: c.audience(), Budget: c.budget, Approval: runs.ApproveWrites, Context: contextOf(req),
	})
	if err == nil && len(bound.Missing) > 0 {
		err = &runs.MissingInputError{Fields: bound.Missing}
	}
	if err != nil {
		return bound, billing.Quote{}, err
	}
	quote, err := s.cfg.Runs.Quote(ctx, bound)
	return bound, quote, err
}

// contextOf is what a request says of where it is made: in the protocol's session, and in the trace that the client is in.
func contextOf(req *sdk.CallToolRequest) registry.CallContext {
	var c registry.CallContext
	if req.Session != nil {
		c.SessionID = req.Session.ID()
	}
	if parent, ok := req.Params.Meta["traceparent"].(string); ok {
		c.TraceID, _ = request.TraceOf(parent)
	}
	if c.TraceID == "" && req.Extra != nil {
		c.TraceID, _ = request.TraceOf(req.Extra.Header.Get("Traceparent"))
	}
	return c
}

// reporter sends a run's progress, which must increase.
type reporter struct {
	session *sdk.ServerSession
	token   any
	page    string // of the run
	last    float64
	said    string
}

// step is by how much progress increases where only the words for it change.
const step = 1e-6

func (r *reporter) progress(ctx context.Context, run runs.Run) {
	if r.token == nil {
		return
	}
	text := string(run.Status)
	switch {
	case run.Question != nil: // no client answers for the owner
		text = "the service asks the owner of the key something: it waits for the answer at " + r.page
	case run.QueuePosition > 0:
		text = fmt.Sprintf("%s, place %d", text, run.QueuePosition)
	case run.Stage != "":
		text = run.Stage
	}
	at := r.last
	if run.Fraction != nil {
		at = *run.Fraction
	}
	if at <= r.last {
		if text == r.said {
			return
		}
		at = r.last + step
	}
	r.last, r.said = at, text
	// A client that does not listen misses it; the result comes all the same.
	_ = r.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.token, Progress: at, Total: 1, Message: text})
}

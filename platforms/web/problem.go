package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// problemBody is an RFC 9457 problem with our error code.
type problemBody struct {
	Type      string   `json:"type"`
	Title     string   `json:"title"`
	Status    int      `json:"status"`
	Detail    string   `json:"detail"`
	Code      string   `json:"code"`
	Field     string   `json:"field,omitempty"`
	Missing   []string `json:"missing,omitempty"`
	Retryable bool     `json:"retryable"`
	// RetryAfter is in whole seconds, as the header Retry-After.
	RetryAfter int `json:"retryAfter,omitempty"`
	// Envelope is what a planner's program is told of a call that was refused, Run the run that waits for an approval.
	Envelope *runs.Envelope `json:"envelope,omitempty"`
	Run      *runBody       `json:"run,omitempty"`
}

func (s *Server) problem(w http.ResponseWriter, r *http.Request, status int, code, detail string) {
	s.writeProblem(w, r, problemBody{Status: status, Code: code, Detail: detail})
}

func (s *Server) writeProblem(w http.ResponseWriter, _ *http.Request, p problemBody) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	p.setRetryAfter(w.Header())
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="Signalbox"`)
	}
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p)
}

func (p problemBody) setRetryAfter(h http.Header) {
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
}

// fail answers any error: the typed ones say what to do, all others are logged and kept to ourselves.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := explain(err)
	if p.ours() {
		s.cfg.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	s.writeProblem(w, r, p)
}

// explain is the one place where errors become words and statuses for people and programs.
func explain(err error) problemBody {
	var unknown *runs.UnknownToolError
	var missing *runs.MissingInputError
	var poor billing.ErrInsufficient
	var typed *registry.Error
	var gate *runs.GateError
	var approval *runs.ApprovalError
	var quote *runs.QuoteError
	switch {
	case errors.Is(err, errSignedOut):
		return problemBody{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "Sign in, or send an API key as Authorization: Bearer KEY."}
	case errors.Is(err, errForged):
		return problemBody{Status: http.StatusForbidden, Code: "csrf", Detail: "This page is too old, or the request was not sent from it. Reload it and try again."}
	case errors.Is(err, errNothingThere), errors.Is(err, users.ErrNotFound), errors.Is(err, users.ErrNoPreset):
		return problemBody{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such thing, or it is not yours."}
	case errors.Is(err, runs.ErrNotFound):
		return problemBody{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such run, or it is not yours."}
	case errors.As(err, &unknown) && unknown.Instead != "":
		return problemBody{Status: http.StatusNotFound, Code: "unknown_tool", Detail: "There is no tool " + unknown.ToolID + ". Use " + unknown.Instead + "."}
	case errors.Is(err, runs.ErrUnknownTool):
		return problemBody{Status: http.StatusNotFound, Code: "unknown_tool", Detail: "There is no such tool. GET /api/tools lists them."}
	case errors.Is(err, errKeyReused):
		return problemBody{Status: http.StatusUnprocessableEntity, Code: "idempotency_key_reused", Detail: errKeyReused.Message}
	case errors.Is(err, errInFlight):
		return problemBody{Status: http.StatusConflict, Code: "idempotency_key_in_use", Detail: errInFlight.Message, Retryable: true, RetryAfter: 1}
	case errors.As(err, &missing):
		p := problemBody{Status: http.StatusUnprocessableEntity, Code: string(registry.CodeInvalidInput), Detail: missing.Error()}
		for _, f := range missing.Fields {
			p.Missing = append(p.Missing, f.Name)
		}
		return p
	case errors.As(err, &poor):
		return problemBody{Status: http.StatusPaymentRequired, Code: "insufficient_balance", Detail: poor.Error()}
	case errors.Is(err, runs.ErrNoQuestion):
		return problemBody{Status: http.StatusConflict, Code: "question-over", Detail: runs.ErrNoQuestion.Error()}
	case errors.As(err, &gate):
		return problemBody{Status: http.StatusConflict, Code: string(gate.Reason), Detail: gate.Error()}
	case errors.As(err, &quote):
		return problemBody{Status: http.StatusConflict, Code: string(quote.Reason), Detail: quote.Error()}
	case errors.As(err, &approval):
		return problemBody{Status: http.StatusForbidden, Code: string(runs.Refused(approval, "").Error.Code), Detail: registry.AsError(approval).Message}
	case errors.As(err, &typed):
		return problemBody{
			Status: statusOf(typed.Code), Code: string(typed.Code), Detail: typed.Message, Field: typed.Field, Retryable: typed.Retryable,
			RetryAfter: int((typed.RetryAfter + time.Second - 1) / time.Second),
		}
	case postgres.NoText(err):
		return problemBody{Status: http.StatusUnprocessableEntity, Code: string(registry.CodeInvalidInput), Detail: "The request holds bytes that are no characters. Nothing was done."}
	case postgres.Away(err), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return problemBody{Status: http.StatusServiceUnavailable, Code: codeStorage, Detail: "The database or the disk takes nothing at the moment. Nothing was charged. Try again in a few seconds.",
			Retryable: true, RetryAfter: 5}
	}
	return problemBody{Status: http.StatusInternalServerError, Code: string(registry.CodeInternal), Detail: "Something went wrong on our side. Nothing was charged.", Retryable: true}
}

// codeStorage is the code of answers while the database is away or the disk is full.
const codeStorage = "storage"

// ours reports whether the trouble is on our side: it belongs into the log, and no form can mend it.
func (p problemBody) ours() bool {
	return p.Status == http.StatusInternalServerError || p.Code == codeStorage
}

// errNothingThere is for keys, sessions and invitations that do not exist, or belong to somebody else.
var errNothingThere = errors.New("there is no such thing")

func statusOf(c registry.Code) int {
	switch c {
	case registry.CodeInvalidInput, registry.CodeRefused:
		return http.StatusUnprocessableEntity
	case registry.CodeUnavailable:
		return http.StatusServiceUnavailable
	case registry.CodeRateLimited:
		return http.StatusTooManyRequests
	case registry.CodeUnauthorized:
		return http.StatusForbidden
	case registry.CodeTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		v := s.voice(r, users.Account{})
		s.render(w, r, http.StatusNotFound, "problem", view{Title: v.Line("web.problem.title.missing"), Problem: v.Line("web.problem.nothing")})
		return
	}
	s.problem(w, r, http.StatusNotFound, "not_found", "There is nothing at this address. GET /openapi.json describes the API.")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

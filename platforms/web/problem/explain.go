package problem

import (
	"errors"
	"log/slog"
	"net/http"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Explain gives the problem that an error is. What it does not know is trouble on our side.
func Explain(err error) Problem {
	var own *Problem
	var typed *registry.Error
	switch {
	case errors.As(err, &own):
		return *own
	case errors.Is(err, users.ErrNotFound), errors.Is(err, users.ErrNoPreset):
		return *ErrNothingThere
	}
	if p, known := ofRuns(err); known {
		return p
	}
	switch {
	case errors.As(err, &typed) && typed.Code == registry.CodeLost:
		return Problem{Status: http.StatusNotFound, Code: ErrNothingThere.Code, Detail: typed.Message, Field: typed.Field}
	case errors.As(err, &typed):
		return Problem{
			Status: statusOf(typed.Code), Code: string(typed.Code), Detail: typed.Message, Field: typed.Field, Retryable: typed.Retryable,
			RetryAfter: int((typed.RetryAfter + time.Second - 1) / time.Second),
		}
	case postgres.NoText(err):
		return Problem{Status: http.StatusUnprocessableEntity, Code: string(registry.CodeInvalidInput), Detail: "The request holds bytes that are no characters. Nothing was done."}
	case postgres.Away(err), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Problem{Status: http.StatusServiceUnavailable, Code: codeStorage, Detail: "The database or the disk takes nothing at the moment. Nothing was charged. Try again in a few seconds.",
			Retryable: true, RetryAfter: 5}
	}
	return Problem{Status: http.StatusInternalServerError, Code: string(registry.CodeInternal), Detail: "Something went wrong on our side. Nothing was charged.", Retryable: true}
}

// ofRuns explains the errors of runs and of the ledger.
func ofRuns(err error) (p Problem, known bool) {
	var unknown *runs.UnknownToolError
	var missing *runs.MissingInputError
	var poor billing.ErrInsufficient
	var gate *runs.GateError
	var approval *runs.ApprovalError
	var quote *runs.QuoteError
	switch {
	case errors.Is(err, runs.ErrNotFound):
		p = Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such run, or it is not yours."}
	case errors.As(err, &unknown) && unknown.Instead != "":
		p = Problem{Status: http.StatusNotFound, Code: "unknown_tool", Detail: "There is no tool " + unknown.ToolID + ". Use " + unknown.Instead + "."}
	case errors.As(err, &unknown) && unknown.Near != "":
		p = Problem{Status: http.StatusNotFound, Code: "unknown_tool", Detail: "There is no such tool; did you mean " + unknown.Near + "? GET /api/tools lists them."}
	case errors.Is(err, runs.ErrUnknownTool):
		p = Problem{Status: http.StatusNotFound, Code: "unknown_tool", Detail: "There is no such tool. GET /api/tools lists them."}
	case errors.As(err, &missing):
		p = Problem{Status: http.StatusUnprocessableEntity, Code: string(registry.CodeInvalidInput), Detail: missing.Error()}
		for _, f := range missing.Fields {
			p.Missing = append(p.Missing, f.Name)
		}
	case errors.As(err, &poor):
		p = Problem{Status: http.StatusPaymentRequired, Code: "insufficient_balance", Detail: poor.Error()}
	case errors.Is(err, runs.ErrNoQuestion):
		p = Problem{Status: http.StatusConflict, Code: "question-over", Detail: runs.ErrNoQuestion.Error()}
	case errors.As(err, &gate):
		p = Problem{Status: http.StatusConflict, Code: string(gate.Reason), Detail: gate.Error()}
	case errors.As(err, &quote):
		p = Problem{Status: http.StatusConflict, Code: string(quote.Reason), Detail: quote.Error()}
	case errors.As(err, &approval):
		p = Problem{Status: http.StatusForbidden, Code: string(runs.Refused(approval, "").Error.Code), Detail: registry.AsError(approval).Message}
	default:
		return Problem{}, false
	}
	return p, true
}

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

// Fail answers any error: the typed ones say what to do, all others are logged and not told.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	p := Explain(err)
	if p.Ours() {
		log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	Write(w, p)
}

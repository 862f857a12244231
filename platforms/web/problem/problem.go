// Package problem tells errors to programs: it is the one place where an error becomes a status, a code and a text.
package problem

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Problem is an RFC 9457 problem with our error code. It is an error as well, which Explain tells as it stands.
type Problem struct {
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
	// Envelope is what a planner's program is told of a call that was refused, Run the run that waits for an approval, as the
	// API tells runs.
	Envelope *runs.Envelope `json:"envelope,omitempty"`
	Run      any            `json:"run,omitempty"`

	Cause *registry.Error `json:"-"` // the same error as runs tells it; nil: there is none
}

// Error gives the detail.
func (p *Problem) Error() string { return p.Detail }

// Unwrap gives the cause.
func (p *Problem) Unwrap() error {
	if p.Cause == nil {
		return nil
	}
	return p.Cause
}

// ErrNothingThere is for keys, sessions and invitations that do not exist, or belong to somebody else.
var ErrNothingThere = &Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such thing, or it is not yours."}

// codeStorage is the code of answers while the database is away or the disk is full.
const codeStorage = "storage"

// Ours reports whether the trouble is on our side: it belongs in the log, and no change to a form helps.
func (p *Problem) Ours() bool {
	return p.Status == http.StatusInternalServerError || p.Code == codeStorage
}

// SetRetryAfter adds the header Retry-After where the problem says when to try again.
func (p *Problem) SetRetryAfter(h http.Header) {
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
}

// Write answers with a problem.
func Write(w http.ResponseWriter, p Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	p.SetRetryAfter(w.Header())
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="Signalbox"`)
	}
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p)
}

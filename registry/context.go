package registry

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CallContext says for whom and in which conversation a call is made, for providers that hand calls on. Members
// that nobody named are empty, never made up.
type CallContext struct {
	SiteID          string `json:"siteId,omitempty"`
	SessionID       string `json:"sessionId,omitempty"`
	TraceID         string `json:"traceId,omitempty"`
	PlannerProvider string `json:"plannerProvider,omitempty"` // the model in use: anthropic, openai, gemini, demo
}

// maxContext bounds each member of a CallContext, in bytes.
const maxContext = 200

// Check refuses members that can't be kept or logged: too long ones, and those with characters that don't print. The
// error is an *Error with CodeInvalidInput and the member's name.
func (c CallContext) Check() error {
	for _, m := range [...]struct{ name, value string }{
		{"siteId", c.SiteID}, {"sessionId", c.SessionID}, {"traceId", c.TraceID}, {"plannerProvider", c.PlannerProvider},
	} {
		unprintable := strings.ContainsFunc(m.value, func(r rune) bool { return !unicode.IsPrint(r) })
		if len(m.value) > maxContext || unprintable || !utf8.ValidString(m.value) {
			e := Errorf(CodeInvalidInput, "expected at most %d printable characters", maxContext)
			e.Field = m.name
			return e
		}
	}
	return nil
}

// TraceOf gives the trace id of a W3C traceparent header: 32 hex digits. ok is false where the header is none, and
// then a new trace begins, as the standard demands (https://www.w3.org/TR/trace-context/).
func TraceOf(traceparent string) (id string, ok bool) {
	parts := strings.Split(strings.TrimSpace(traceparent), "-")
	if len(parts) < 4 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return "", false
	}
	for i, digits := range [...]int{2, 32, 16, 2} {
		raw, err := hex.DecodeString(parts[i])
		if err != nil || len(parts[i]) != digits || strings.ToLower(parts[i]) != parts[i] {
			return "", false
		}
		if (i == 1 || i == 2) && strings.Trim(string(raw), "\x00") == "" {
			return "", false
		}
	}
	return parts[1], true
}

package registry

import (
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

	Region     string `json:"region,omitempty"`     // where the person is at home: ISO 3166-1 in two capitals, see RegionOf
	DeviceKind string `json:"deviceKind,omitempty"` // what the person asks with, see the Device constants

	Shared bool `json:"shared,omitempty"` // others read what comes of it along with the person, as in a group
}

// What a person asks with. DeviceUnknown is a device of no kind we know; where no device is known at all, the kind
// is empty.
const (
	DeviceMobile  = "mobile"
	DeviceDesktop = "desktop"
	DeviceUnknown = "unknown"
)

// maxContext bounds each member of a CallContext, in bytes.
const maxContext = 200

// Check refuses members that can't be kept or logged: too long ones, and those with characters that don't print. The
// error is an *Error with CodeInvalidInput and the member's name.
func (c CallContext) Check() error {
	for _, m := range [...]struct{ name, value string }{
		{"siteId", c.SiteID}, {"sessionId", c.SessionID}, {"traceId", c.TraceID}, {"plannerProvider", c.PlannerProvider},
		{"region", c.Region}, {"deviceKind", c.DeviceKind},
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

// RegionOf gives the country that a language tag names (BCP 47), in two capitals: "BR" of "pt-BR" and of
// "pt-Latn-br". It is empty where the tag names none: a language alone does not tell where somebody is.
func RegionOf(languageTag string) string {
	parts := strings.FieldsFunc(languageTag, func(r rune) bool { return r == '-' || r == '_' })
	for _, part := range parts[min(1, len(parts)):] {
		letters := strings.Trim(strings.ToUpper(part), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
		switch {
		case len(part) == 1:
			return "" // extensions follow
		case len(part) == 2 && letters:
			return strings.ToUpper(part)
		}
	}
	return ""
}

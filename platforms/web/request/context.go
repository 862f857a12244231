package request

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// The headers by which a request says for whom it is made. All are optional.
const (
	siteHeader    = "X-Site-Id"
	sessionHeader = "X-Session-Id"
	traceHeader   = "X-Trace-Id" // goes before traceparent
	plannerHeader = "X-Planner-Provider"

	// QuoteHeader carries a sealed price: the run is started at it.
	QuoteHeader = "X-Quote"
)

// Context reads the context of a call from its headers; the trace, too, of a W3C traceparent.
func Context(r *http.Request) registry.CallContext {
	said := func(name string) string { return strings.TrimSpace(r.Header.Get(name)) }
	c := registry.CallContext{SiteID: said(siteHeader), SessionID: said(sessionHeader), TraceID: said(traceHeader), PlannerProvider: said(plannerHeader)}
	if c.TraceID == "" {
		c.TraceID, _ = TraceOf(r.Header.Get("Traceparent"))
	}
	return c
}

// PersonContext is what a person's browser tells of where and with what they ask. It is for pages: what a program sends
// says nothing of the person behind it.
func PersonContext(r *http.Request) registry.CallContext {
	language, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ",")
	language, _, _ = strings.Cut(language, ";")
	c := registry.CallContext{Region: registry.RegionOf(strings.TrimSpace(language)), DeviceKind: deviceOf(r.UserAgent())}
	switch r.Header.Get("Sec-CH-UA-Mobile") { // a browser's own word, where it has one
	case "?1":
		c.DeviceKind = registry.DeviceMobile
	case "?0":
		c.DeviceKind = registry.DeviceDesktop
	}
	return c
}

// deviceOf tells the kind of a device by what its program calls itself (User-Agent).
func deviceOf(userAgent string) string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(userAgent, word) })
	}
	switch {
	case userAgent == "":
		return ""
	case has("Mobi", "Android", "iPhone", "iPad"):
		return registry.DeviceMobile
	case has("Windows NT", "Macintosh", "X11", "CrOS"):
		return registry.DeviceDesktop
	}
	return registry.DeviceUnknown
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

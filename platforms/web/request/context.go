package request

import (
	"net/http"
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
		c.TraceID, _ = registry.TraceOf(r.Header.Get("Traceparent"))
	}
	return c
}

// PersonContext is what a person's browser tells of where and with what they ask. It is for pages: what a program sends
// says nothing of the person behind it.
func PersonContext(r *http.Request) registry.CallContext {
	language, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ",")
	language, _, _ = strings.Cut(language, ";")
	c := registry.CallContext{Region: registry.RegionOf(strings.TrimSpace(language)), DeviceKind: registry.DeviceOf(r.UserAgent())}
	switch r.Header.Get("Sec-CH-UA-Mobile") { // a browser's own word, where it has one
	case "?1":
		c.DeviceKind = registry.DeviceMobile
	case "?0":
		c.DeviceKind = registry.DeviceDesktop
	}
	return c
}

package web

import (
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

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

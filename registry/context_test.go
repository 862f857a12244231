package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestTraceOf(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	t.Run("B17 the trace id of a traceparent is taken as it is", func(t *testing.T) {
		t.Parallel()
		for _, header := range []string{"00-" + trace + "-00f067aa0ba902b7-01", " 00-" + trace + "-00f067aa0ba902b7-00 ", "cc-" + trace + "-00f067aa0ba902b7-01-more"} {
			if id, ok := registry.TraceOf(header); !ok || id != trace {
				t.Errorf("%q: %q, %v", header, id, ok)
			}
		}
	})
	t.Run("B17 what is no traceparent begins a new trace", func(t *testing.T) {
		t.Parallel()
		for _, header := range []string{
			"", "x", "00-" + trace, "ff-" + trace + "-00f067aa0ba902b7-01", "00-" + trace + "-00f067aa0ba902b7-01-more", "00-" + strings.ToUpper(trace) + "-00f067aa0ba902b7-01",
			"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "00-" + trace + "-" + strings.Repeat("0", 16) + "-01", "00-" + trace[1:] + "-00f067aa0ba902b7-01", "00-" + trace + "-zzf067aa0ba902b7-01",
		} {
			if id, ok := registry.TraceOf(header); ok || id != "" {
				t.Errorf("%q: %q, %v", header, id, ok)
			}
		}
	})
}

func TestCallContextCheck(t *testing.T) {
	t.Parallel()
	if err := (registry.CallContext{SiteID: "shop.example", SessionID: "Gespräch 7", TraceID: "t-1", PlannerProvider: "anthropic"}).Check(); err != nil {
		t.Error(err)
	}
	for field, c := range map[string]registry.CallContext{
		"siteId": {SiteID: "a\x00"}, "sessionId": {SessionID: strings.Repeat("x", 201)}, "traceId": {TraceID: "a\nb"}, "plannerProvider": {PlannerProvider: "\xff"},
	} {
		var bad *registry.Error
		if err := c.Check(); !errors.As(err, &bad) || bad.Code != registry.CodeInvalidInput || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

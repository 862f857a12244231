package request

import (
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
			if id, ok := TraceOf(header); !ok || id != trace {
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
			if id, ok := TraceOf(header); ok || id != "" {
				t.Errorf("%q: %q, %v", header, id, ok)
			}
		}
	})
}

func TestWithWhatSomebodyAsks(t *testing.T) {
	t.Parallel()
	t.Run("C54 the device is told by its program's own word, or not at all", func(t *testing.T) {
		t.Parallel()
		for agent, want := range map[string]string{
			"": "", "curl/8.5.0": registry.DeviceUnknown,
			"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148":      registry.DeviceMobile,
			"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36":  registry.DeviceMobile,
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0":               registry.DeviceDesktop,
			"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1": registry.DeviceDesktop,
		} {
			if got := deviceOf(agent); got != want {
				t.Errorf("%q: %q, want %q", agent, got, want)
			}
		}
	})
}

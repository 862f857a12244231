package runs_test

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

func TestPreflight(t *testing.T) {
	t.Parallel()
	tool := func(id, service string, status *registry.Status) registry.Tool {
		return registry.Tool{ToolID: id, Service: service, DisplayName: id, InputSchema: registry.InputSchema{}, Status: status}
	}
	loader := registrytest.NewLoader("file", tool("good", "choir", nil), tool("gone", "choir", &registry.Status{State: registry.StateDeprecated, Reason: "old"}),
		tool("far", "far", nil), tool("waits", "far", &registry.Status{State: registry.StateUnavailable, Reason: "no engine"}))
	tools, err := runs.Preflight{Loader: loader, Services: []string{"band", "choir"}}.Load(t.Context())
	if err != nil || len(tools) != 4 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	want := map[string]string{"good": "active", "gone": "deprecated: old", "far": "unavailable: far is not connected", "waits": "unavailable: no engine"}
	for _, tool := range tools {
		got := string(tool.State())
		if tool.Status != nil {
			got += ": " + tool.Status.Reason
		}
		if got != want[tool.ToolID] {
			t.Errorf("%s is %q, want %q", tool.ToolID, got, want[tool.ToolID])
		}
	}
}

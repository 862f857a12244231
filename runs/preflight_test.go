package runs_test

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// choir has nothing to sing for some tools.
type choir map[string]string

func (c choir) Ready(_ context.Context, t registry.Tool) error {
	if reason := c[t.ToolID]; reason != "" {
		return registry.Errorf(registry.CodeUnavailable, "%s", reason)
	}
	return nil
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	tool := func(id, service string, status *registry.Status) registry.Tool {
		return registry.Tool{ToolID: id, Service: service, DisplayName: id, InputSchema: registry.InputSchema{}, Status: status}
	}
	found := func(reason string) *registry.Status {
		return &registry.Status{State: registry.StateUnavailable, Reason: reason, Checked: true}
	}
	loader := registrytest.NewLoader("file",
		tool("good", "choir", nil), tool("gone", "choir", &registry.Status{State: registry.StateDeprecated, Reason: "old"}),
		tool("empty", "choir", nil), tool("old-and-empty", "choir", &registry.Status{State: registry.StateDeprecated, Reason: "old"}),
		tool("far", "far", nil), tool("waits", "far", &registry.Status{State: registry.StateUnavailable, Reason: "no engine"}),
		tool("back", "choir", found("choir is not connected")), tool("still", "far", found("it was hoarse")), tool("silent", "band", nil))
	tools, err := runs.Preflight{Loader: loader, Connected: map[string]registry.Readier{"band": nil, "choir": choir{"empty": "no notes", "old-and-empty": "no notes"}}}.Load(t.Context())
	if err != nil || len(tools) != 9 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	want := map[string]string{
		"good": "active", "gone": "deprecated: old", "empty": "unavailable: no notes", "old-and-empty": "unavailable: no notes", "far": "unavailable: far is not connected",
		"waits": "unavailable: no engine", "back": "active", "still": "unavailable: far is not connected", "silent": "active",
	}
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

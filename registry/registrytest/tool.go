package registrytest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// Tool gives a small valid tool of service "fake": id, the command of that id where it can be one, a
// required text input "prompt" and an image output "image". Options change it.
func Tool(id string, options ...func(*registry.Tool)) registry.Tool {
	t := registry.Tool{
		ToolID:      id,
		Service:     "fake",
		DisplayName: "Tool " + id,
		Description: "Does what " + id + " does.",
		CommandName: "/" + id,
		InputSchema: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Description: "What to do"},
		},
		OutputSchema: registry.OutputSchema{{Name: "image", Type: "image"}},
		Execution:    registry.Execution{DeliveryMode: registry.DeliveryAsync},
	}
	for _, change := range options {
		change(&t)
	}
	return t
}

// Snapshot builds a catalogue of tools after checking that each is valid.
func Snapshot(t testing.TB, tools ...registry.Tool) *registry.Snapshot {
	t.Helper()
	for _, tool := range tools {
		if err := registry.Validate(tool); err != nil {
			t.Fatalf("registrytest: %v", err)
		}
	}
	s := registry.NewSnapshot(tools, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err := s.Problems().Err(); err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	return s
}

// Registry runs loaders once and gives the Registry; what they got wrong fails the test.
func Registry(t testing.TB, loaders ...registry.Loader) *registry.Registry {
	t.Helper()
	r, err := registry.New(registry.Config{Loaders: loaders})
	if err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	if _, err := r.Reload(context.Background()); err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	return r
}

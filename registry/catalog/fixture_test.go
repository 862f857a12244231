package catalog_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

func mustDecode(t testing.TB, text string) registry.Tool {
	t.Helper()
	tool, err := registry.DecodeTool([]byte(text))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return tool
}

func mustEncode(t testing.TB, tool registry.Tool) string {
	t.Helper()
	data, err := registry.Encode(tool)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(data)
}

// simple is a small valid tool with the command of its id.
func simple(id string) registry.Tool {
	return registry.Tool{
		ToolID: id, Service: "test", DisplayName: "Tool " + id, Description: "Does " + id + ".",
		CommandName: "/" + id, InputSchema: registry.InputSchema{},
	}
}

func wantContains(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q:\n%v", part, err)
		}
	}
}

// loaderFunc is a Loader of a function.
type loaderFunc struct {
	name string
	load func(context.Context) ([]registry.Tool, error)
}

func (l loaderFunc) Name() string { return l.name }

func (l loaderFunc) Load(ctx context.Context) ([]registry.Tool, error) { return l.load(ctx) }

func fixed(name string, tools ...registry.Tool) registry.Loader {
	return loaderFunc{name, func(context.Context) ([]registry.Tool, error) { return tools, nil }}
}

func newRegistry(t testing.TB, c catalog.Config) *catalog.Registry {
	t.Helper()
	r, err := catalog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustReload(t testing.TB, r *catalog.Registry) catalog.Diff {
	t.Helper()
	diff, err := r.Reload(context.Background())
	if err != nil {
		t.Fatalf("reload: %v", err)
	}
	return diff
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// clones gives private copies of all tools.
func clones(s *catalog.Snapshot) (all []registry.Tool) {
	for tool := range s.Each() {
		all = append(all, tool.Clone())
	}
	return all
}

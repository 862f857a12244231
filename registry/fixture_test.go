package registry_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
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

package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/examples/exampletest"
	"github.com/signalbox/signalbox/registry"
)

func TestSearchAssets(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler("dam-demo"))
	t.Cleanup(server.Close)
	raw, err := os.ReadFile(filepath.Join("..", "tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	tools := exampletest.Load(t, strings.ReplaceAll(string(raw), "http://127.0.0.1:9102", server.URL))
	t.Run("B77 the limit is a whole number", func(t *testing.T) {
		t.Parallel()
		schema := tools.Tool(t, "dam.searchAssets").InputSchema
		query, _ := schema.Get("query")
		limit, _ := schema.Get("limit")
		if !query.Required || limit.Required || limit.Type != registry.TypeNumber || !limit.Integer {
			t.Errorf("got %+v and %+v", query, limit)
		}
		if _, err := registry.CheckValue(limit, json.Number("1.5")); err == nil {
			t.Error("1.5 is taken")
		}
	})
	t.Run("B78 the answer conforms", func(t *testing.T) {
		t.Parallel()
		for query, want := range map[string]int{"oak": 2, "oak chair": 1, "glass": 0} {
			if got := found(t, tools, map[string]any{"query": query}); got != want {
				t.Errorf("%s: %d found, expected %d", query, got, want)
			}
		}
		if got := found(t, tools, map[string]any{"query": "oak", "limit": json.Number("1")}); got != 1 {
			t.Errorf("with a limit of 1: %d found", got)
		}
	})
	t.Run("B79 it reads, has 5000 ms, two attempts, and is idempotent", func(t *testing.T) {
		t.Parallel()
		m := tools.Manifest(t, "dam.searchAssets")
		if m.Capability != registry.CapabilityRead || m.TimeoutMs != 5000 || m.RetryPolicy.MaxAttempts != 2 || !m.Idempotent {
			t.Errorf("got %+v", m)
		}
	})
}

func found(t *testing.T, tools *exampletest.Tools, inputs map[string]any) int {
	t.Helper()
	text, err := tools.Call(t, "dam.searchAssets", inputs)
	var data struct{ Items []Asset }
	if err == nil {
		err = json.Unmarshal([]byte(text), &data)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, item := range data.Items {
		if item.ID == "" || item.URL == "" {
			t.Errorf("an item is %+v", item)
		}
	}
	return len(data.Items)
}

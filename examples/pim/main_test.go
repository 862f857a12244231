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

func TestGetProduct(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler("pim-demo"))
	t.Cleanup(server.Close)
	raw, err := os.ReadFile(filepath.Join("..", "tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	tools := exampletest.Load(t, strings.ReplaceAll(string(raw), "http://127.0.0.1:9101", server.URL))
	t.Run("B73 the SKU is required text", func(t *testing.T) {
		t.Parallel()
		if f, ok := tools.Tool(t, "pim.getProduct").InputSchema.Get("sku"); !ok || f.Type != registry.TypeString || !f.Required {
			t.Errorf("got %+v", f)
		}
		if _, err := tools.Call(t, "pim.getProduct", map[string]any{}); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("without a SKU: %v", err)
		}
	})
	t.Run("B74 the answer conforms, and the price is text", func(t *testing.T) {
		t.Parallel()
		for _, sku := range []string{"CH-100", "TB-200"} {
			text, err := tools.Call(t, "pim.getProduct", map[string]any{"sku": sku})
			var product map[string]string
			if err != nil || json.Unmarshal([]byte(text), &product) != nil || product["sku"] != sku || !strings.HasSuffix(product["price"], "EUR") {
				t.Errorf("%s: %s, %v", sku, text, err)
			}
		}
	})
	t.Run("B71 an unknown SKU is an error that says so", func(t *testing.T) {
		t.Parallel()
		_, err := tools.Call(t, "pim.getProduct", map[string]any{"sku": "XX"})
		if e := registry.AsError(err); e == nil || e.Retryable || !strings.Contains(e.Message, `404: no product has the SKU "XX"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("B75 B76 it reads, has 3000 ms, two attempts, and is idempotent", func(t *testing.T) {
		t.Parallel()
		m := tools.Manifest(t, "pim.getProduct")
		if m.Capability != registry.CapabilityRead || m.TimeoutMs != 3000 || m.RetryPolicy.MaxAttempts != 2 || !m.Idempotent {
			t.Errorf("got %+v", m)
		}
	})
}

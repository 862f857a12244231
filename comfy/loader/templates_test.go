package loader

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestTemplatesInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	store := &registrytest.Specs{}
	w := New(Config{Store: store})
	for i := range 10 * recentTemplates {
		tool := toolWithTemplate(store.AddFile("", "", fmt.Appendf(nil, `{"binding": {"prompt": {}}, "need": {"classes": ["C%d"]}}`, i)))
		if _, err := w.ForTool(t.Context(), tool); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.recent); n > recentTemplates {
		t.Errorf("%d templates are kept", n)
	}
	if _, err := w.ForTool(t.Context(), toolWithTemplate(store.AddFile("", "", []byte(`{}`)))); err == nil || errors.Unwrap(err) != nil && strings.Contains(err.Error(), "%!") {
		t.Error(err)
	}
}

func toolWithTemplate(ref string) registry.Tool {
	return registry.Tool{ToolID: "t", Metadata: map[string]any{TemplateKey: ref}}
}

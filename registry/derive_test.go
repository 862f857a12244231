package registry_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestDerived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs registry.InputSchema
		want   registry.PlatformHints
	}{
		"A15 text first":              {registry.InputSchema{{Name: "a", Type: "image"}, {Name: "b", Type: "string", Required: true}}, registry.PlatformHints{PrimaryInput: "text"}},
		"A15 file first":              {registry.InputSchema{{Name: "b", Type: "video", Required: true}, {Name: "a", Type: "string", Required: true}}, registry.PlatformHints{PrimaryInput: "video", SupportsFileCaption: true, SupportsReplyWithCommand: true}},
		"A15 first by order":          {registry.InputSchema{{Name: "a", Type: "string", Required: true}, {Name: "b", Type: "image", Required: true, Order: 1}}, registry.PlatformHints{PrimaryInput: "image", SupportsFileCaption: true, SupportsReplyWithCommand: true}},
		"A15 nothing required at all": {registry.InputSchema{}, registry.PlatformHints{PrimaryInput: "text"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := registry.Tool{InputSchema: c.inputs}
			if got := tool.Hints(); got != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("A36 hints of its own come first", func(t *testing.T) {
		t.Parallel()
		tool := mustDecode(t, registrytest.Complete)
		if got := tool.Hints(); got != *tool.PlatformHints {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("A14 A87 delivery mode is derived", func(t *testing.T) {
		t.Parallel()
		none, hook, said := registry.Tool{}, registry.Tool{WebhookStrategy: &registry.WebhookConfig{}}, registry.Tool{Execution: registry.Execution{DeliveryMode: registry.DeliveryAsync}}
		if none.Delivers() != registry.DeliveryImmediate || hook.Delivers() != registry.DeliveryWebhook || said.Delivers() != registry.DeliveryAsync {
			t.Error("wrong")
		}
	})
	t.Run("A9 path of the API", func(t *testing.T) {
		t.Parallel()
		plain, odd, own := registry.Tool{ToolID: "flux"}, registry.Tool{ToolID: "a/b?c"}, registry.Tool{APIPath: "/x"}
		if plain.RunPath() != "/api/run/flux" || odd.RunPath() != "/api/run/a%2Fb%3Fc" || own.RunPath() != "/x" {
			t.Error(plain.RunPath(), odd.RunPath(), own.RunPath())
		}
	})
	t.Run("A90 ids are stable and differ by service and key", func(t *testing.T) {
		t.Parallel()
		id := registry.StableID("comfydeploy", "dep_1")
		if id != registry.StableID("comfydeploy", "dep_1") || id == registry.StableID("vidu", "dep_1") || id == registry.StableID("comfydeploy", "dep_2") || !strings.HasPrefix(id, "comfydeploy-") {
			t.Error(id)
		}
	})
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	tool := registry.Tool{Migrations: []registry.Rename{{From: "text", To: "prompt"}, {From: "strength", To: "denoise", When: map[string]any{"mode": "img2img"}}}}
	t.Run("A88 a stored preference moves to the new name", func(t *testing.T) {
		t.Parallel()
		prefs := map[string]any{"text": "cat", "width": n("5")}
		got, moved := tool.Migrate(prefs)
		if !moved || got["prompt"] != "cat" || len(got) != 2 || prefs["text"] != "cat" {
			t.Errorf("got %v, %v; given %v", got, moved, prefs)
		}
	})
	t.Run("A88 a rename may depend on another field", func(t *testing.T) {
		t.Parallel()
		if got, moved := tool.Migrate(map[string]any{"strength": n("1"), "mode": "other"}); moved {
			t.Errorf("got %v", got)
		}
		if got, moved := tool.Migrate(map[string]any{"strength": n("1"), "mode": "img2img"}); !moved || got["denoise"] != n("1") {
			t.Errorf("got %v", got)
		}
	})
	t.Run("A88 a value under the new name wins", func(t *testing.T) {
		t.Parallel()
		if got, _ := tool.Migrate(map[string]any{"text": "old", "prompt": "new"}); got["prompt"] != "new" || len(got) != 1 {
			t.Errorf("got %v", got)
		}
	})
}

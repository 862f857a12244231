package runner

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// TestNewTool defines a tool while the program runs.
func TestNewTool(t *testing.T) {
	t.Parallel()
	loader := registrytest.NewLoader("choir", perSecond())
	tools, err := catalog.New(catalog.Config{Loaders: []registry.Loader{loader}})
	if err == nil {
		_, err = tools.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, func(c *runs.Config) { c.Registry = tools })
	h.start(t)
	hum := perSecond()
	hum.ToolID, hum.DisplayName, hum.CommandName = "hum", "Hum", "/hum"
	request := sing(h.user(t, billing.Dollar))
	request.ToolID = "hum"
	t.Run("E7 a tool becomes callable by its definition alone", func(t *testing.T) {
		if _, err := h.Accept(t.Context(), request); !errors.Is(err, runs.ErrUnknownTool) {
			t.Fatalf("before it is defined: %v", err)
		}
		loader.Set(perSecond(), hum)
		if _, err := tools.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if run := h.ends(t, h.accept(t, request).ID); run.Status != runs.StatusSucceeded || run.Tool.ToolID != "hum" {
			t.Errorf("%s of %s: %+v", run.Status, run.Tool.ToolID, run.Error)
		}
	})
}

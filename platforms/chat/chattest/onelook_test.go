package chattest

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// A message is handled with the tools that there were when its handling began, and its price is asked for once.
func TestAMessageLooksAtTheToolsAndThePriceOnce(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.anna.Language = "de"
	painter := PainterTool()
	painter.CostingModel = &registry.CostingModel{Rate: "0.01", Unit: registry.UnitRequest, RateSource: registry.RateAPI}
	painter.Localized = map[string]registry.Words{"de": {DisplayName: "Maler"}}
	s.Provider.SetPrice(registry.Price{CostUSD: "0.01"})
	s.set(painter)
	gone := make(chan error, 4)
	s.Meanwhile = func() {
		s.Loader.Set()
		_, err := s.Registry.Reload(t.Context())
		gone <- err
	}
	s.say("/painter a red bicycle")
	check(t, <-gone)
	c := s.Call(0)
	s.AwaitText(s.room, "Maler")
	if _, there := s.Registry.Snapshot().ByID("painter"); there {
		t.Fatal("the tool did not go away meanwhile")
	}
	s.input(c, "prompt", "a red bicycle")
	if name := s.LastRun().Tool.DisplayName; name != "Painter" {
		t.Errorf("the run keeps its tool as %q, in its reader's language", name)
	}
	if n := s.Provider.Prices(); n != 1 {
		t.Errorf("the price was asked for %d times", n)
	}
}

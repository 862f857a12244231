package registry_test

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestPriceInWords(t *testing.T) {
	t.Parallel()
	t.Run("A49 a price is told without exponent", func(t *testing.T) {
		t.Parallel()
		m := registry.CostingModel{Rate: "1.5e-9", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
		if got := m.Summary(); got != "0.0000000015 USD per request" {
			t.Error(got)
		}
	})
}

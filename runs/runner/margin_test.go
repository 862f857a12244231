package runner

import (
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

func TestMargins(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	tool := perSecond()
	tool.CostingModel = &registry.CostingModel{Rate: "0.6", Unit: registry.UnitRequest, RateSource: registry.RateAPI, Markup: "0.2", MinimumUSD: "0.01"}
	h := newHouse(t, func(c *runs.Config) { c.Metrics = metrics }, tool)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{CostUSD: "0.1"}}
	}
	h.start(t)
	user := h.user(t, 10*billing.Dollar)
	first := h.ends(t, h.accept(t, sing(user)).ID)
	t.Run("A27 the service's price with the markup is taken once, and the receipt names both", func(t *testing.T) {
		if first.Cost != 120_000_000 || first.Receipt.Net != 100_000_000 || first.Receipt.Markup != "0.2" {
			t.Errorf("cost %s, receipt %+v", first.Cost, first.Receipt)
		}
		h.wantBalance(t, user, 10*billing.Dollar-first.Cost, 0)
	})
	t.Run("quotes are learned from what the service took, not from prices with the markup", func(t *testing.T) {
		second := h.acceptAfresh(t, sing(user))
		if second.Quote.Low != 60_000_000 || second.Quote.High != 240_000_000 {
			t.Errorf("quoted %s, expected half to twice of $0.12", second.Quote)
		}
		h.ends(t, second.ID)
	})
	t.Run("what a tool costs usually is what its latest runs came to", func(t *testing.T) {
		usual, err := h.Usual(t.Context(), []string{tool.ToolID, "another"})
		if err != nil || len(usual) != 1 || usual[tool.ToolID] != 120_000_000 {
			t.Errorf("got %v, %v", usual, err)
		}
	})
	t.Run("estimate and actual price are metrics of each tool", func(t *testing.T) {
		families, err := metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if labels := metric.GetLabel(); family.GetName() == "signalbox_tool_estimates_dollars_total" && labels[0].GetValue() == tool.ToolID {
					got[labels[1].GetValue()] = metric.GetCounter().GetValue()
				}
			}
		}
		// The first was quoted by the tool's own rate.
		for what, want := range map[string]float64{"actual": 0.24, "low": 0.6 + 0.06, "high": 0.6 + 0.24} {
			if math.Abs(got[what]-want) > 1e-9 {
				t.Errorf("%s: %v dollars, expected %v", what, got[what], want)
			}
		}
	})
}

package billing

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// BenchmarkPrices is the arithmetic of one run: its quote before, and its receipt after.
func BenchmarkPrices(b *testing.B) {
	model := &registry.CostingModel{Rate: json.Number("0.000337"), Unit: registry.UnitSecond, RateSource: registry.RateStatic}
	history := History{Timeout: 30 * time.Minute, Samples: make([]Sample, 20)}
	for i := range history.Samples {
		history.Samples[i] = Sample{NanoUnits: int64(1e9 + i*1e7), Cost: 337_000}
	}
	usage := registry.Usage{RunTime: 1523 * time.Millisecond}
	b.Run("quote", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Estimate(model, history, registry.Price{}, RateCard{})
		}
	})
	b.Run("receipt", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Cost(model, usage, RateCard{}, "run"); err != nil {
				b.Fatal(err)
			}
			NanoUnits(model, usage)
		}
	})
}

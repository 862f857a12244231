package billing

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

const margins = `{"vidu": {"markup": "0.2", "minimumUsd": "0.05"}, "comfyui": {"markup": 0.125}, "*": {"minimumUsd": "0.001"}}`

// priced gives the model with which a service's tool comes out of the margins.
func priced(t *testing.T, service string, m *registry.CostingModel) *registry.CostingModel {
	t.Helper()
	parsed, err := ParseMargins([]byte(margins))
	if err != nil {
		t.Fatal(err)
	}
	source := registrytest.NewLoader("source", registrytest.Tool("a", func(tool *registry.Tool) { tool.Service, tool.CostingModel = service, m }))
	tools, err := parsed.Loader(source).Load(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	if err := validate.Tool(tools[0]); err != nil {
		t.Fatal(err)
	}
	text, err := registry.Encode(tools[0])
	if err != nil {
		t.Fatal(err)
	}
	if back, err := registry.DecodeTool(text); err != nil || m != nil && *back.CostingModel != *tools[0].CostingModel {
		t.Errorf("A16 it does not survive being written: %s, %v", text, err)
	}
	return tools[0].CostingModel
}

func TestMargins(t *testing.T) {
	t.Parallel()
	t.Run("A49 the rate in the registry is what people pay", func(t *testing.T) {
		t.Parallel()
		original := model("0.0004", "second", "static")
		m := priced(t, "comfyui", original)
		if m.Rate != "0.00045" || m.Markup != "0.125" || original.Rate != "0.0004" {
			t.Errorf("got %+v from %+v", m, original)
		}
		r := cost(t, m, registry.Usage{RunTime: 10 * time.Second})
		if r.MarkupPercent() != "12.5%" || (Receipt{Markup: "0"}).MarkupPercent() != "" {
			t.Errorf("the markup is %q", r.MarkupPercent())
		}
		if r.Cost != 4_500_000 || r.Rate != "0.00045" || r.Markup != "0.125" || r.Units != "10" {
			t.Errorf("A24 got %+v", r)
		}
	})
	t.Run("A27 the service's own price gets the markup once, and the receipt names it", func(t *testing.T) {
		t.Parallel()
		m := priced(t, "vidu", model("0.5", "request", "api"))
		r := cost(t, m, registry.Usage{CostUSD: "0.300000001"})
		if r.Cost != 360_000_001 || r.Net != 300_000_001 || r.Rate != "0.3600000012" || r.Markup != "0.2" || r.Minimum != 0 {
			t.Errorf("got %+v", r)
		}
		if r := cost(t, m, registry.Usage{}); r.Cost != 600_000_000 {
			t.Errorf("without a price of the service: %+v, expected the tool's own rate, which has it", r)
		}
		q := Estimate(m, History{}, registry.Price{CostUSD: "0.3"}, RateCard{})
		if !q.Exact() || q.High != 360_000_000 {
			t.Errorf("quoted %+v", q)
		}
	})
	t.Run("A28 the machine's rate gets it too", func(t *testing.T) {
		t.Parallel()
		card, err := ParseRateCard([]byte(`{"machines": {"T4": "0.0002"}}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Cost(priced(t, "comfyui", model("9", "second", "machine")), registry.Usage{RunTime: 10 * time.Second, Machine: "Tesla T4"}, card, "run")
		if err != nil || r.Rate != "0.000225" || r.Cost != 2_250_000 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("the least that a run costs", func(t *testing.T) {
		t.Parallel()
		m := priced(t, "vidu", model("0.5", "request", "api"))
		r := cost(t, m, registry.Usage{CostUSD: "0.01"})
		if r.Cost != 50_000_000 || r.Minimum != 50_000_000 || r.Net != 10_000_000 {
			t.Errorf("got %+v", r)
		}
		if q := Estimate(m, History{}, registry.Price{CostUSD: "0.01"}, RateCard{}); q.Low != 50_000_000 || q.High != 50_000_000 {
			t.Errorf("quoted %+v", q)
		}
		if r := cost(t, priced(t, "another", model("0", "request", "static")), registry.Usage{}); r.Cost != 1_000_000 {
			t.Errorf("another service: %+v", r)
		}
	})
	t.Run("what was learned is what services took, so that a new markup counts at once", func(t *testing.T) {
		t.Parallel()
		h := History{Samples: make([]Sample, 6)}
		for i := range h.Samples {
			h.Samples[i] = Sample{NanoUnits: 1e9, Cost: 100_000_000}
		}
		q := Estimate(priced(t, "vidu", model("0.5", "request", "api")), h, registry.Price{}, RateCard{})
		if q.Low != 120_000_000 || q.High != 150_000_000 {
			t.Errorf("quoted %s to %s", q.Low, q.High)
		}
	})
	t.Run("A13 what is free stays free, a tool's own margin stays, and what fails costs nothing", func(t *testing.T) {
		t.Parallel()
		if m := priced(t, "vidu", nil); m != nil {
			t.Errorf("got %+v", m)
		}
		own := model("1", "request", "static")
		own.Markup = "0.5"
		if m := priced(t, "vidu", own); *m != *own {
			t.Errorf("got %+v", m)
		}
		if r := NoCharge(priced(t, "vidu", model("1", "request", "static")), "run", ReasonFailed); r.Cost != 0 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("without margins a loader is itself, and its troubles are passed on", func(t *testing.T) {
		t.Parallel()
		source := registrytest.NewLoader("source")
		if l := (Margins{}).Loader(source); l != registry.Loader(source) {
			t.Errorf("got %T", l)
		}
		source.Fail(context.DeadlineExceeded)
		parsed, err := ParseMargins([]byte(margins))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parsed.Loader(source).Load(t.Context()); err != context.DeadlineExceeded { // the very error
			t.Errorf("got %v", err)
		}
	})
	t.Run("what is no margin is refused by name", func(t *testing.T) {
		t.Parallel()
		for text, word := range map[string]string{
			`{"vidu": {"markup": "-0.1"}}`: "markup", `{"vidu": {"markup": "20%"}}`: "20%", `{"vidu": {"minimumUsd": 5000}}`: "minimumUsd",
			`{"vidu": {"margin": 1}}`: "margin", `[]`: "margins",
		} {
			if _, err := ParseMargins([]byte(text)); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v, expected it to name %s", text, err, word)
			}
		}
	})
}

func TestMarginsAreReadExactly(t *testing.T) {
	t.Parallel()
	m, err := ParseMargins([]byte(`{"a": {"markup": 0.1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.add("a", model("0.3", "request", "static")); got.Rate != json.Number("0.33") {
		t.Errorf("a tenth more than 0.3 is %s", got.Rate)
	}
}

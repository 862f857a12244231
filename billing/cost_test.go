package billing

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/registry"
)

func model(rate string, unit registry.CostUnit, source registry.RateSource) *registry.CostingModel {
	return &registry.CostingModel{Rate: json.Number(rate), Unit: unit, RateSource: source}
}

func cost(t *testing.T, m *registry.CostingModel, usage registry.Usage) Receipt {
	t.Helper()
	r, err := Cost(m, usage, DefaultRateCard(), "run")
	if err != nil {
		t.Fatal(err)
	}
	if r.RunID != "run" {
		t.Errorf("receipt names the run %q", r.RunID)
	}
	return r
}

func TestCost(t *testing.T) {
	t.Parallel()
	static := func(unit registry.CostUnit, rate string) *registry.CostingModel {
		return model(rate, unit, registry.RateStatic)
	}
	for _, tt := range []struct {
		name   string
		model  *registry.CostingModel
		usage  registry.Usage
		want   NanoUSD
		source string
	}{
		{"A13 a tool without a costing model costs nothing", nil, registry.Usage{RunTime: time.Hour}, 0, "none"},
		{"A23 12.5 s at 0.000337 is 0.0042125 exactly", static("second", "0.000337"), registry.Usage{RunTime: 12500 * time.Millisecond}, 4_212_500, "static"},
		{"A24 seconds are run time", static("second", "1"), registry.Usage{RunTime: time.Second, Tokens: 99}, Dollar, "static"},
		{"A25 tokens come from the usage block", static("token", "0.000002"), registry.Usage{Tokens: 1234, RunTime: time.Hour}, 2_468_000, "static"},
		{"A26 a request costs one rate whatever its length", static("request", "0.04"), registry.Usage{RunTime: time.Hour, Tokens: 5}, 40_000_000, "static"},
		{"A27 static is the definition's rate whatever the machine", static("second", "0.5"), registry.Usage{RunTime: time.Second, Machine: "H100"}, Dollar / 2, "static"},
		{"A28 the GPU that ran it sets the rate", model("9", "second", "machine"), registry.Usage{RunTime: 10 * time.Second, Machine: "NVIDIA L4"}, 3_200_000, "machine"},
		{"A28 an unknown machine falls back to the tool's rate", model("9", "second", "machine"), registry.Usage{RunTime: time.Second, Machine: "Abacus"}, 9 * Dollar, "static"},
		{"A29 the provider's own charge", model("9", "second", "api"), registry.Usage{RunTime: time.Second, CostUSD: "0.0125"}, 12_500_000, "api"},
		{"A29 a provider that names no price", model("9", "second", "api"), registry.Usage{RunTime: time.Second}, 9 * Dollar, "static"},
		{"A89 historical is billed by its units", model("0.1", "second", "historical"), registry.Usage{RunTime: time.Second}, Dollar / 10, "historical"},
		{"ties round to the even nano-dollar, down", static("second", "0.000000001"), registry.Usage{RunTime: 2500 * time.Millisecond}, 2, "static"},
		{"ties round to the even nano-dollar, up", static("second", "0.000000001"), registry.Usage{RunTime: 3500 * time.Millisecond}, 4, "static"},
		{"under half rounds down", static("second", "0.0000000001"), registry.Usage{RunTime: 4 * time.Second}, 0, "static"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := cost(t, tt.model, tt.usage)
			if r.Cost != tt.want || r.Source != tt.source {
				t.Errorf("got %d from %s, want %d from %s", r.Cost, r.Source, tt.want, tt.source)
			}
		})
	}
}

func TestCostRefuses(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*registry.CostingModel{
		"negative": model("-1", "second", "static"), "huge": model("1e300", "second", "static"),
		"text": model("cheap", "second", "static"), "unit": model("1", "fortnight", "static"),
	} {
		if _, err := Cost(m, registry.Usage{RunTime: time.Second}, RateCard{}, "run"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Cost(model("1", "second", "static"), registry.Usage{RunTime: -1}, RateCard{}, "run"); err == nil {
		t.Error("negative run time: no error")
	}
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	r := cost(t, model("0.000337", "second", "static"), registry.Usage{RunTime: 12500 * time.Millisecond})
	if r.Units != "12.5" || r.Rate != "0.000337" {
		t.Errorf("got %s units at %s", r.Units, r.Rate)
	}
	if capped := r.Capped(4_000_000); capped.Cost != 4_000_000 || capped.FullCost() != 4_212_500 || capped.Note == "" {
		t.Errorf("capped: %+v", capped)
	}
	if same := r.Capped(5_000_000); same != r {
		t.Errorf("a receipt below the promise changed: %+v", same)
	}
	if none := NoCharge(nil, "run", ReasonFailed); none.Cost != 0 || none.Reason != ReasonFailed {
		t.Errorf("no charge: %+v", none)
	}
	if tiny := NoCharge(model("1.50e-9", "request", "static"), "run", ReasonFailed); tiny.Rate != "0.0000000015" {
		t.Errorf("A23 the rate of a run without a charge: %s", tiny.Rate)
	}
	unknown := cost(t, model("9", "second", "machine"), registry.Usage{RunTime: 1, Machine: "Abacus"})
	if !strings.Contains(unknown.Note, "Abacus") {
		t.Errorf("the fall-back is not told: %q", unknown.Note)
	}
}

func TestCostIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nanos := rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "run time")
		micros := rapid.Int64Range(0, 1_000_000).Draw(t, "rate in micro-dollars")
		rate := new(big.Rat).SetFrac64(micros, 1_000_000).FloatString(6)
		r, err := Cost(model(rate, "second", "static"), registry.Usage{RunTime: time.Duration(nanos)}, RateCard{}, "run")
		if err != nil {
			t.Fatal(err)
		}
		// nanos * micros is the exact cost in 1e-6 nano-dollars.
		exact := new(big.Int).Mul(big.NewInt(nanos), big.NewInt(micros))
		difference := exact.Sub(exact, new(big.Int).Mul(big.NewInt(int64(r.Cost)), big.NewInt(1_000_000)))
		if difference.CmpAbs(big.NewInt(500_000)) > 0 {
			t.Fatalf("%d ns at %s: cost %d is off by %s millionths of a nano-dollar", nanos, rate, r.Cost, difference)
		}
	})
}

func TestMoneyText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]NanoUSD{
		"5": 5 * Dollar, "$0.0042125": 4_212_500, "-1.50": -1_500_000_000, " 0.000000001 ": 1, "0": 0, "1e-3": 1_000_000,
	} {
		if got, err := ParseUSD(text); err != nil || got != want {
			t.Errorf("ParseUSD(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$", "five", "0.0000000001", "1e20", "1,5", "$$5", "NaN", "0x10"} {
		if got, err := ParseUSD(text); err == nil {
			t.Errorf("ParseUSD(%q) = %d, want an error", text, got)
		}
	}
	for amount, want := range map[NanoUSD]string{
		0: "$0.00", Dollar: "$1.00", 4_212_500: "$0.0042125", -Dollar / 2: "-$0.50", 1: "$0.000000001", -1 << 63: "-$9223372036.854775808",
	} {
		if got := amount.String(); got != want {
			t.Errorf("%d is written %s, want %s", int64(amount), got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		amount := NanoUSD(rapid.Int64().Draw(t, "amount"))
		if back, err := ParseUSD(amount.String()); err != nil || back != amount {
			t.Fatalf("%d became %s became %d (%v)", int64(amount), amount, int64(back), err)
		}
	})
}

func TestRateCard(t *testing.T) {
	t.Parallel()
	card := DefaultRateCard()
	for machine, want := range map[string]string{
		"A10G": "0.000337", "cuda:0 NVIDIA A100-SXM4-80GB": "0.001708", "nvidia a100": "0.00114", "NVIDIA L40S": "0.000596", "cpu": "0.000042",
	} {
		if got, ok := card.Rate(machine); !ok || got != want {
			t.Errorf("%s: %s, want %s", machine, got, want)
		}
	}
	for _, machine := range []string{"", "L400", "Abacus"} {
		if got, ok := card.Rate(machine); ok {
			t.Errorf("%q has the rate %s", machine, got)
		}
	}
	own, err := ParseRateCard([]byte(`{"machines": {"My Box": 0.5}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := own.Rate("my-box"); got != "0.5" {
		t.Errorf("the operator's own rate is %q", got)
	}
	bare, err := ParseRateCard([]byte(`{"NVIDIA GeForce RTX 4090": "0.0004"}`))
	if got, _ := bare.Rate("cuda:0 NVIDIA GeForce RTX 4090"); err != nil || got != "0.0004" {
		t.Errorf("A28 a card as the README has it: %q, %v", got, err)
	}
	if got, _ := bare.Rate("NVIDIA GeForce RTX 4090 at $0.0007"); got != "0.0007" {
		t.Errorf("a machine with a rate of its own costs %q", got)
	}
	for _, bad := range []string{``, `[]`, `{"machine": {}}`, `{"A10G": 1, "a10g": 2}`, `{"A": 1} {}`, `{"machines": {"A": -1}}`, `{"machines": {"A": "x"}}`, `{"machines": {"-": "1"}}`} {
		if _, err := ParseRateCard([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	seconds := func(values ...float64) []Sample {
		samples := make([]Sample, len(values))
		for i, v := range values {
			samples[i].NanoUnits = int64(v * 1e9)
			samples[i].Cost = NanoUSD(v * 1e6)
		}
		return samples
	}
	perSecond := model("0.001", "second", "static")
	for _, tt := range []struct {
		name      string
		model     *registry.CostingModel
		history   History
		price     registry.Price
		low, high NanoUSD
		basis     string
	}{
		{"A13 free", nil, History{}, registry.Price{}, 0, 0, "free"},
		{"A26 a request has an exact price", model("0.04", "request", "static"), History{}, registry.Price{}, 40_000_000, 40_000_000, "the price of one run"},
		{"A30 a first run is a range", perSecond, History{}, registry.Price{}, 1_000_000, 120_000_000, "first run: an estimate"},
		{"a first run ends at its timeout", perSecond, History{Timeout: 30 * time.Second}, registry.Price{}, 1_000_000, 30_000_000, "first run: an estimate"},
		{"learned from one run", perSecond, History{Samples: seconds(10)}, registry.Price{}, 5_000_000, 20_000_000, "learned from one run"},
		{"learned from many", perSecond, History{Samples: seconds(8, 10, 10, 10, 10, 12)}, registry.Price{}, 8_000_000, 15_000_000, "learned from the last 6 runs"},
		{"never beyond the timeout", perSecond, History{Samples: seconds(10, 10, 10, 10, 20), Timeout: 21 * time.Second}, registry.Price{}, 10_000_000, 21_000_000, "learned from the last 5 runs"},
		{"A28 the machine changes the estimate", model("0.001", "second", "machine"), History{Samples: seconds(10, 10, 10, 10, 10)}, registry.Price{Machine: "L4"}, 3_200_000, 4_000_000, "learned from the last 5 runs"},
		{"A29 the provider's price is exact", model("9", "second", "api"), History{}, registry.Price{CostUSD: "0.02"}, 20_000_000, 20_000_000, "the price of one run"},
		{
			"A29 one charge that was a slip does not price the tool out of reach", model("9", "second", "api"),
			History{Samples: seconds(8, 8, 8, 8, 8, 9e6)}, registry.Price{}, 8_000_000, 10_000_000, "learned from the last 5 runs",
		},
		{
			"A25 nor does one usage that was", model("0.001", "token", "api"),
			History{Samples: seconds(8, 8, 8, 8, 8, 1e9)}, registry.Price{}, 8_000_000, 10_000_000, "learned from the last 5 runs",
		},
		{
			"A30 what is only dear is a lesson", model("9", "second", "api"),
			History{Samples: seconds(8, 8, 8, 8, 800)}, registry.Price{}, 8_000_000, 1_000_000_000, "learned from the last 5 runs",
		},
		{"A29 past charges", model("9", "second", "api"), History{Samples: seconds(8, 8, 8, 8, 8)}, registry.Price{}, 8_000_000, 10_000_000, "learned from the last 5 runs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := Estimate(tt.model, tt.history, tt.price, DefaultRateCard())
			if q.Low != tt.low || q.High != tt.high || q.Basis != tt.basis {
				t.Errorf("got %d to %d (%s), want %d to %d (%s)", q.Low, q.High, q.Basis, tt.low, tt.high, tt.basis)
			}
		})
	}
	t.Run("A89 missing units are those of the past", func(t *testing.T) {
		t.Parallel()
		m := model("0.001", "second", "historical")
		usage := History{Samples: seconds(1, 7, 9)}.Fill(m, registry.Usage{})
		if usage.RunTime != 7*time.Second {
			t.Errorf("got %s", usage.RunTime)
		}
	})
}

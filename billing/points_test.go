package billing_test

import (
	"testing"

	"github.com/signalbox/signalbox/billing"
)

func TestPoints(t *testing.T) {
	t.Parallel()
	points := func(t *testing.T, usd string) billing.Points {
		t.Helper()
		p, err := billing.ParsePoints(usd)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("A91 a point is 0.000337 dollars, to the nano-dollar", func(t *testing.T) {
		t.Parallel()
		p := points(t, "0.000337")
		for amount, want := range map[billing.NanoUSD]string{
			337_000: "1", 0: "0", 4_212_500: "12.5", -337_000: "-1", billing.Dollar: "2967.36", 1_685: "0", 1_686: "0.01", 5_055: "0.02", -10_000: "-0.03",
			billing.MaxAmount: "29673590504.45",
		} {
			if got := p.Of(amount); got != want {
				t.Errorf("%s are %s points, want %s", amount, got, want)
			}
		}
		if p.Worth() != "0.000337" {
			t.Errorf("worth %s", p.Worth())
		}
	})
	t.Run("A91 the conversion is configurable", func(t *testing.T) {
		t.Parallel()
		if got := points(t, "0.01").Of(billing.Dollar); got != "100" {
			t.Errorf("a dollar is %s points of a cent", got)
		}
		if got := points(t, "3").Of(billing.Dollar); got != "0.33" {
			t.Errorf("a dollar is %s points of three", got)
		}
	})
	t.Run("A91 without a worth there are no points, and none that is nonsense", func(t *testing.T) {
		t.Parallel()
		if p := points(t, ""); p.Enabled() {
			t.Error("there are")
		}
		if points(t, "").Unit() != nil {
			t.Error("texts show them")
		}
		for _, bad := range []string{"0", "-1", "cheap", "1/3", "NaN"} {
			if _, err := billing.ParsePoints(bad); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
	})
}

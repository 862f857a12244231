package show

import (
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/runs"
)

func TestPoints(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	points, err := billing.ParsePoints("0.000337")
	if err != nil {
		t.Fatal(err)
	}
	v := Voice{texts.WithUnit(points.Unit).Voice("en")}
	const cost billing.NanoUSD = 4_212_500
	run := runs.Run{Cost: cost, Quote: billing.Quote{Low: cost, High: cost, Source: "static"}}
	for name, c := range map[string]struct{ got, want string }{
		"prices":             {v.Price(run.Quote).String(), "Price: $0.0042125 (12.5 points)"},
		"ranges":             {v.Price(billing.Quote{Low: 337_000, High: 674_000, Source: "static"}).String(), "Price: $0.000337 (1 point) to $0.000674 (2 points)"},
		"receipts":           {v.receipt(run).String(), "$0.0042125 (12.5 points)"},
		"the history":        {v.CostOf(run), "$0.0042125 (12.5 points)"},
		"balances":           {v.Line("balance.available", "amount", billing.Dollar), "You have $1.00 (2967.36 points) to spend."},
		"the price of again": {v.repeatPrice(run, "Again").String(), "Again: $0.0042125 (12.5 points)"},
		"numbers are none":   {v.Line("confirm.life", "n", 10), "You can confirm this for 10 minutes."},
	} {
		t.Run("A91 points are shown beside dollars: "+name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
	t.Run("A91 and not where there are none", func(t *testing.T) {
		t.Parallel()
		if got := (Voice{texts.WithUnit(billing.Points{}.Unit).Voice("en")}).receipt(run).String(); got != "$0.0042125" {
			t.Errorf("got %q", got)
		}
		if got := english(t).receipt(run).String(); got != "$0.0042125" {
			t.Errorf("it spreads: %q", got)
		}
	})
}

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
	v := Voice{texts.WithUnit(points.Unit()).Voice("en")}
	const cost billing.NanoUSD = 4_212_500
	run := runs.Run{Cost: cost, Quote: billing.Quote{Low: cost, High: cost, Source: "static"}}
	for name, c := range map[string]struct{ got, want string }{
		"prices":             {v.Price(run.Tool, run.Quote).String(), "Price: under $0.01 (13 points) · about 230 runs for $1"},
		"partner services":   {v.Price(run.Tool, billing.Quote{Low: 20 * cost, High: 20 * cost, Fees: 19 * cost, Source: "static"}).String(), "Price: $0.085 (250 points)\n$0.08 (238 points) of it goes to partner services, by their price list."},
		"partners unknown":   {v.Price(run.Tool, billing.Quote{Low: 20 * cost, High: 20 * cost, FeesUnknown: true, Source: "static"}).String(), "Price: $0.085 (250 points)\nWithout what partner services charge, which nobody can tell before."},
		"ranges":             {v.Price(run.Tool, billing.Quote{Low: 20 * cost, High: 50 * cost, Source: "static"}).String(), "Price: $0.084 to $0.22 (250 to 625 points)"},
		"receipts":           {v.Receipt(run).String(), "$0.0042125 (12.5 points)"},
		"the history":        {v.CostOf(run), "under $0.01 (12 points)"},
		"balances":           {v.Line("balance.available", "amount", billing.Dollar), "You have $1.00 (2,967 points) to spend."},
		"the price of again": {v.repeatPrice(run, "Again").String(), "Again: under $0.01 (13 points)"},
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
		if got := (Voice{texts.WithUnit(billing.Points{}.Unit()).Voice("en")}).Receipt(run).String(); got != "$0.0042125" {
			t.Errorf("got %q", got)
		}
		if got := english(t).Receipt(run).String(); got != "$0.0042125" {
			t.Errorf("it spreads: %q", got)
		}
	})
}

package pages

import (
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
)

// priceView is a price in words.
type priceView struct {
	Price        string    `json:"price"`
	Basis        string    `json:"basis"`
	BillCanceled bool      `json:"-"`
	Quote        string    `json:"quote,omitempty"` // sealed, for the run that is started at this price
	Code         []snippet `json:"code,omitempty"`
}

// priceWords tells a quote in the reader's language.
func priceWords(v i18n.Voice, q billing.Quote) priceView {
	switch {
	case q.High == 0:
		return priceView{Price: v.Line("web.price.free")}
	case q.Exact():
		return priceView{Price: v.Value(q.High), Basis: v.Line("web.price.exact")}
	}
	basis := "web.price.estimate"
	if strings.HasPrefix(q.Basis, "learned") {
		basis = "web.price.learned"
	}
	return priceView{Price: v.Line("web.price.range", "low", digits(q.Low, false), "high", digits(q.High, true)), Basis: v.Line(basis)}
}

// priceOf says what a tool costs by its costing model.
func priceOf(v i18n.Voice, t registry.Tool) string {
	m := t.CostingModel
	if m == nil {
		return v.Line("web.price.free")
	}
	text := rateOf(v, *m)
	if m.MinimumUSD != "" {
		text += ", " + v.Line("web.price.least", "amount", "$"+registry.PlainDecimal(m.MinimumUSD))
	}
	return text
}

// rateOf says what a unit costs, or who says so.
func rateOf(v i18n.Voice, m registry.CostingModel) string {
	if m.RateSource == registry.RateAPI {
		return v.Line("web.price.provider")
	}
	text := v.Line("web.price.per."+string(m.Unit), "rate", "$"+registry.PlainDecimal(m.Rate))
	if m.RateSource == registry.RateMachine {
		return v.Line("web.price.machine", "rate", text)
	}
	return text
}

// digits cuts an amount to two significant digits, upwards where it is a promise.
func digits(n billing.NanoUSD, up bool) billing.NanoUSD {
	step := billing.NanoUSD(1)
	for n/step >= 100 {
		step *= 10
	}
	if up {
		n += step - 1
	}
	return n / step * step
}

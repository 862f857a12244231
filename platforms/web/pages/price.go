package pages

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/words"
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

// priceWords tells a quote for a tool in the reader's language.
func priceWords(v i18n.Voice, t registry.Tool, q billing.Quote) priceView {
	if q.High == 0 {
		return priceView{Price: v.Line("web.price.free")}
	}
	basis := "web.price.estimate"
	switch {
	case q.Exact():
		basis = "web.price.exact"
	case q.Basis == billing.BasisBound:
		basis = "web.price.bound"
	case strings.HasPrefix(q.Basis, "learned"):
		basis = "web.price.learned"
	}
	fees := ""
	switch {
	case q.FeesUnknown:
		fees = v.Line("price.feesUnknown")
	case q.Fees > 0:
		fees = v.Line("price.fees", "amount", v.Amount(q.Fees))
	}
	share := ""
	if q.Share > 0 {
		share = v.Line("price.share", "amount", v.Amount(q.Share))
	}
	return priceView{Price: v.Between(q.Low, q.High), Basis: joined(v.ForADollar(q.High, words.Makes(t)), v.Line(basis), fees, share)}
}

// exactPrice tells a quote to the nano-dollar, for receipts.
func exactPrice(v i18n.Voice, q billing.Quote) string {
	if q.Exact() {
		return v.Exact(q.High)
	}
	return v.Line("amount.range", "low", v.Exact(q.Low), "high", v.Exact(q.High))
}

// priceOf says what a tool costs by its costing model.
func priceOf(v i18n.Voice, t registry.Tool) string {
	m := t.CostingModel
	if m == nil {
		return v.Line("web.price.free")
	}
	text := rateOf(v, *m)
	if least, err := billing.ParseUSD(decimal.Plain(m.MinimumUSD)); m.MinimumUSD != "" && err == nil {
		text += ", " + v.Line("web.price.least", "amount", v.AtMost(least))
	}
	if rate, err := billing.ParseUSD(decimal.Plain(m.Rate)); err == nil && m.Unit == registry.UnitRequest {
		text = joined(text, v.ForADollar(rate, words.Makes(t)))
	}
	return text
}

// rateOf says what a unit costs, or who says so.
func rateOf(v i18n.Voice, m registry.CostingModel) string {
	if rate, err := billing.ParseUSD(decimal.Plain(m.Rate)); m.UpTo && err == nil {
		return v.Line("web.price.upTo", "amount", v.AtMost(rate))
	}
	if m.RateSource == registry.RateAPI {
		return v.Line("web.price.provider")
	}
	text := v.Rate(decimal.Plain(m.Rate), string(m.Unit))
	if m.RateSource == registry.RateMachine {
		return v.Line("web.price.machine", "rate", text)
	}
	return text
}

// joined puts what there is to remark on one line.
func joined(remarks ...string) string {
	return strings.Join(slices.DeleteFunc(remarks, func(s string) bool { return s == "" }), " · ")
}

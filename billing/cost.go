package billing

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

// SourceNone is the source of quotes and receipts of tools without a price.
const SourceNone = "none"

// Cost bills a run that succeeded: units consumed times rate.
//
// Seconds are the provider's run time without any queue (A24), tokens those of its usage block (A25), a
// request counts once (A26). Of the sources, static takes the definition's rate; machine that of the
// GPU which ran it, or the definition's with a note where the card does not know the GPU; api what the
// provider says it charged, or the definition's rate with a note where it says nothing; historical
// is billed like static, its estimates and missing units come from the past (History.Fill).
// What others charge for parts of the run is added where the model says that there is such a thing.
// A nil model costs nothing, with reason none (A13). Negative consumption is an error, as is a cost above
// MaxAmount.
func Cost(model *registry.CostingModel, usage registry.Usage, card RateCard, runID string) (Receipt, error) {
	if model == nil {
		return Receipt{RunID: runID, Rate: "0", Unit: string(registry.UnitRequest), Units: "0", Source: SourceNone, Reason: ReasonNone}, nil
	}
	t, err := tariffOf(model, registry.Price{Machine: usage.Machine, CostUSD: usage.CostUSD}, card)
	if err != nil {
		return Receipt{}, fmt.Errorf("cost of run %s: %w", runID, err)
	}
	units, err := unitsOf(t.unit, usage)
	if err != nil {
		return Receipt{}, fmt.Errorf("cost of run %s: %w", runID, err)
	}
	cost, err := times(units, t.rate)
	f, told := feesOf(model, usage.FeesUSD)
	if err == nil && cost > MaxAmount-f.marked {
		err = fmt.Errorf("%s and %s for others are more than a run can cost (%s)", cost, f.marked, MaxAmount)
	}
	if err != nil {
		return Receipt{}, fmt.Errorf("cost of run %s: %w", runID, err)
	}
	r := Receipt{
		RunID: runID, Rate: t.text, Unit: string(t.unit), Units: nanoText(units), Markup: model.Markup.String(),
		Source: string(t.source), Machine: usage.Machine, Fees: f.marked, Cost: cost + f.marked, Note: t.note,
	}
	if !told {
		r.Note = joinNotes(r.Note, feesUntold)
	}
	if r.Cost < t.minimum {
		r.Cost, r.Minimum = t.minimum, t.minimum
	}
	net := cost + f.bare
	if t.bare != t.rate {
		net = boundedTimes(units, t.bare) + f.bare
	}
	if net != r.Cost {
		r.Net = net
	}
	return r, nil
}

// NoCharge is the receipt of a run that ended without a result; reason says how.
func NoCharge(model *registry.CostingModel, runID, reason string) Receipt {
	r := Receipt{RunID: runID, Rate: "0", Unit: string(registry.UnitRequest), Units: "0", Source: SourceNone, Reason: reason}
	if model != nil {
		r.Rate, r.Unit, r.Source = decimal.Plain(model.Rate), string(model.Unit), string(model.RateSource)
	}
	return r
}

// CanceledCost bills a run that its owner canceled after it ran for a while, at the quote's rates: the time times the rate, never the
// minimum, which is the price of a result. Errors: those of Cost.
func CanceledCost(model *registry.CostingModel, q Quote, ran time.Duration, card RateCard, runID string) (Receipt, error) {
	if model == nil || !q.BillCanceled {
		return NoCharge(model, runID, ReasonCanceled), nil
	}
	bare := *model
	bare.MinimumUSD, bare.Fees = "", false // nobody tells what others charge for half a run, of which no author has a share
	r, err := Cost(&bare, registry.Usage{RunTime: max(ran, 0), Machine: q.Machine}, card, runID)
	if err != nil {
		return Receipt{}, err
	}
	r.Reason = ReasonCanceled
	if r = r.Capped(q.High); r.Full > 0 { // what a canceled run takes beyond it is nobody's loss to be booked: it brought nothing
		r.Full, r.Note = 0, ""
	}
	return r, nil
}

// NanoUnits is how much of the model's unit was consumed, in billionths: nanoseconds for seconds. It is
// what History keeps. Consumption beyond int64 counts as zero.
func NanoUnits(model *registry.CostingModel, usage registry.Usage) int64 {
	if model == nil {
		return 0
	}
	units, err := unitsOf(model.Unit, usage)
	if err != nil || !units.IsInt64() {
		return 0
	}
	return units.Int64()
}

// tariff is a model's rate once everything that decides it is known.
type tariff struct {
	rate   *big.Rat
	text   string // of rate
	unit   registry.CostUnit
	source registry.RateSource
	note   string

	bare    *big.Rat // the rate before the operator's markup, where that is known
	minimum NanoUSD
}

func tariffOf(model *registry.CostingModel, price registry.Price, card RateCard) (tariff, error) {
	t := tariff{unit: model.Unit, source: model.RateSource}
	rate, foreign := model.Rate.String(), false
	switch model.RateSource {
	case registry.RateMachine:
		if known, ok := card.Rate(price.Machine); ok {
			rate, foreign = known, true
		} else if price.Machine != "" {
			t.note = fmt.Sprintf("no rate is known for the machine %s: the tool's own rate", price.Machine)
		} else {
			t.note = "the machine is not known: the tool's own rate"
		}
	case registry.RateAPI:
		if price.CostUSD != "" {
			// The provider's charge is one amount for the whole run.
			rate, foreign, t.unit = price.CostUSD, true, registry.UnitRequest
		} else {
			t.note = "the provider named no price: the tool's own rate"
		}
	}
	exact, err := parseRat(rate)
	if err != nil {
		return tariff{}, fmt.Errorf("rate: %w", err)
	}
	if exact.Sign() < 0 {
		return tariff{}, fmt.Errorf("rate: %s is negative", rate)
	}
	if t.note != "" {
		t.source = registry.RateStatic
	}
	t.bare, t.rate, t.text = exact, exact, rateText(rate, exact)
	if foreign && model.Markup != "" {
		if t.rate, err = marked(exact, model); err != nil {
			return tariff{}, err
		}
		t.text = decimalText(t.rate)
	}
	t.minimum, err = minimumOf(model)
	return t, err
}

// unitsOf is the consumption in billionths of the unit, which is a whole number of them for each unit there is.
func unitsOf(unit registry.CostUnit, usage registry.Usage) (*big.Int, error) {
	var units *big.Int
	switch unit {
	case registry.UnitSecond:
		units = big.NewInt(int64(usage.RunTime)) // nanoseconds
	case registry.UnitToken:
		units = big.NewInt(usage.Tokens)
		units.Mul(units, big.NewInt(nano))
	case registry.UnitRequest:
		units = big.NewInt(nano)
	default:
		return nil, fmt.Errorf("the unit %q is none of second, token, request", unit)
	}
	if units.Sign() < 0 {
		return nil, fmt.Errorf("the provider reports the consumption %s %s, which is negative", nanoText(units), unit)
	}
	return units, nil
}

// nano is how many billionths make one.
const nano = 1_000_000_000

// nanoText writes billionths as an exact decimal without needless zeros.
func nanoText(n *big.Int) string {
	whole, rest := new(big.Int).QuoRem(n, big.NewInt(nano), new(big.Int))
	if rest.Sign() == 0 {
		return whole.String()
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	return sign + whole.Abs(whole).String() + "." + strings.TrimRight(fmt.Sprintf("%09d", rest.Abs(rest)), "0")
}

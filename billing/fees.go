package billing

import (
	"math"
	"math/big"

	"github.com/signalbox/signalbox/registry"
)

// feesUntold is a receipt's note where a model has fees and nobody knows them: people pay for the rest.
const feesUntold = "without what others charge for parts of it, which is not known"

// fees are what others charge for parts of a run.
type fees struct{ bare, marked NanoUSD } // without and with the operator's markup

// feesOf reads what a provider tells. told is false where a model has fees and they can't be known.
func feesOf(model *registry.CostingModel, usd string) (f fees, told bool) {
	if !model.Fees {
		return f, true
	}
	exact, err := parseRat(usd)
	if usd == "" || err != nil || exact.Sign() < 0 || exact.Cmp(big.NewRat(int64(MaxAmount), int64(Dollar))) > 0 {
		return f, false
	}
	with, err := marked(exact, model)
	if err != nil {
		return f, false
	}
	return fees{bare: bounded(exact), marked: bounded(with)}, true
}

// withFees adds to a quote of a model what others charge.
func (q Quote) withFees(model *registry.CostingModel, usd string) Quote {
	f, told := feesOf(model, usd)
	q.Fees, q.FeesUnknown = f.marked, !told
	q.Low, q.High = plus(q.Low, f.marked), plus(q.High, f.marked)
	return q
}

// plus adds to an estimate, which may be the most that can be counted.
func plus(estimate, more NanoUSD) NanoUSD { return min(estimate, math.MaxInt64-more) + more }

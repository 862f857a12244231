package billing

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

// What a first run is taken to consume at most, where nothing has been learned: held while it runs, and
// given back but for the actual cost. Longer first runs are at the operator's risk.
const (
	firstRunTime   = 2 * time.Minute
	firstRunTokens = 4_000
	minUnitSeconds = 1 // the low end of a first run
)

// slip is how many times the median a past value is no lesson any more: a service that told a wrong charge or consumption once
// would price its tool out of everybody's reach, and for good, since no run could follow that tells better.
const slip = 1000

// Sample is what one past run of a tool consumed.
type Sample struct {
	NanoUnits int64   // of the model's unit, in billionths
	Cost      NanoUSD // what it came to, before the operator's markup and minimum
	Machine   string

	Alike  bool      // it had the numbers, choices and switches of the run that is to be quoted
	Kin    bool      // it had the choices and switches of that run
	Effort []float64 // the values of History.Efforts; nil where they are not known any more
}

// History is what a tool has consumed lately.
type History struct {
	Samples []Sample      // the latest first
	Timeout time.Duration // after which a run of the tool ends; zero: unknown

	Efforts []Effort  // numbers among the tool's inputs
	Choices int       // how many other inputs tell samples apart
	Next    []float64 // the values of Efforts of the run that is to be quoted; zero: none
}

// Fill completes usage for a model with the historical rate source: where the provider can't tell what a
// run consumed, it is taken to be the median of the past runs that are most like it.
func (h History) Fill(model *registry.CostingModel, usage registry.Usage) registry.Usage {
	if model == nil || model.RateSource != registry.RateHistorical || len(h.Samples) == 0 {
		return usage
	}
	like, _ := pick(h.Samples)
	units := make([]int64, len(like))
	for i, s := range like {
		units[i] = s.NanoUnits
	}
	median := quantile(units, 50)
	switch {
	case model.Unit == registry.UnitSecond && usage.RunTime == 0:
		usage.RunTime = time.Duration(median)
	case model.Unit == registry.UnitToken && usage.Tokens == 0:
		usage.Tokens = median / 1e9
	}
	return usage
}

// Estimate quotes a run before it starts. The price is exact per request, and where the provider names
// one; otherwise it is a range learned from the samples, see learn.go, over the machines that may run it, bounded by the tool's
// timeout. Without samples it is a first-run estimate. An unreadable rate is quoted as a range
// from the definition's rate like any other; billing it fails, and then costs nothing.
//
// What others charge for parts of the run, as the provider tells it, is added.
func Estimate(model *registry.CostingModel, h History, price registry.Price, card RateCard) Quote {
	if model == nil {
		return Quote{Source: SourceNone, Basis: "free"}
	}
	return estimateUnits(model, h, price, card).withFees(model, price.FeesUSD)
}

func estimateUnits(model *registry.CostingModel, h History, price registry.Price, card RateCard) Quote {
	var q Quote
	named := price.Machine
	for i, machine := range h.machines(named) {
		price.Machine = machine
		t, err := tariffOf(model, price, card)
		if err != nil {
			return Quote{Source: SourceNone, Rate: decimal.Plain(model.Rate), Unit: string(model.Unit), Basis: "the tool's rate is not readable"}
		}
		one := Quote{Rate: t.text, Unit: string(t.unit), Source: string(t.source)}
		if model.RateSource == registry.RateMachine {
			one.Machine = machine
		}
		if t.unit == registry.UnitRequest && (model.RateSource != registry.RateAPI || price.CostUSD != "") {
			one.Low, one.Basis = max(bounded(t.rate), t.minimum), "the price of one run"
			one.High = one.Low
			if low, bound := lowEnd(model, price); bound {
				one.Low, one.Basis = min(max(low, t.minimum), one.High), BasisBound
			}
			return one
		}
		h.estimate(&one, model, t, machine)
		one.Low, one.High = max(one.Low, t.minimum), max(one.High, t.minimum)
		if i == 0 {
			q = one
			continue
		}
		q.Low, q.High = min(q.Low, one.Low), max(q.High, one.High)
	}
	// Machines that are not far apart make no range that is wider than that of one.
	if from := NanoUSD(float64(q.High) / maxWidth); len(h.Samples) >= settled && from > q.Low && from < q.Low*3/2 {
		q.Low = from
	}
	return q
}

// BasisBound is the Basis of a quote whose High is a bound that the provider names: what it takes is charged.
const BasisBound = "what it takes is charged"

// lowEnd is what a run costs at least where the provider names a bound. One that can't be read is none.
func lowEnd(model *registry.CostingModel, price registry.Price) (low NanoUSD, bound bool) {
	if model.RateSource != registry.RateAPI || price.LowUSD == "" {
		return 0, false
	}
	exact, err := parseRat(price.LowUSD)
	if err != nil || exact.Sign() < 0 {
		return 0, false
	}
	if exact, err = marked(exact, model); err != nil {
		return 0, false
	}
	return bounded(exact), true
}

// estimate sets the range on a machine. What the provider itself charged is judged by past costs, everything else by
// past units, so that a changed rate counts at once.
func (h History) estimate(q *Quote, model *registry.CostingModel, t tariff, machine string) {
	if len(h.Samples) == 0 {
		low, high := h.firstRun(t.unit)
		q.Low, q.High = timesRate(low, t.rate), timesRate(high, t.rate)
		q.Basis = "first run: an estimate"
		return
	}
	of := func(s Sample) int64 { return s.NanoUnits }
	if model.RateSource == registry.RateAPI {
		of = func(s Sample) int64 { return int64(s.Cost) }
	}
	low, high, n := h.learned(machine, of)
	q.Basis = fmt.Sprintf("learned from the last %d runs", n)
	if n == 1 {
		q.Basis = "learned from one run"
	}
	if model.RateSource == registry.RateAPI {
		q.Low, q.High = markedUp(low, model), markedUp(high, model)
		return
	}
	if t.unit == registry.UnitSecond && h.Timeout > 0 {
		high = min(high, int64(h.Timeout))
	}
	low = min(low, high)
	q.Low, q.High = timesRate(low, t.rate), timesRate(high, t.rate)
}

// firstRun is the range of nano-units where nothing is known.
func (h History) firstRun(unit registry.CostUnit) (low, high int64) {
	switch unit {
	case registry.UnitToken:
		return 1e9, firstRunTokens * 1e9
	case registry.UnitRequest:
		return 1e9, 1e9
	}
	high = whole64(float64(firstRunTime) * max(h.firstTime(), 1))
	if h.Timeout > 0 {
		high = min(high, int64(h.Timeout))
	}
	return min(int64(minUnitSeconds*time.Second), high), high
}

// credible leaves out the slips, where there are enough samples to tell.
func credible(samples []Sample, of func(Sample) int64) []Sample {
	values := make([]int64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	median := quantile(values, 50)
	if len(values) < enough || median <= 0 {
		return samples
	}
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return of(s)/slip > median })
}

// quantile gives the nearest-rank percentile of values.
func quantile(values []int64, percent int) int64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)*percent/100]
}

func timesRate(nanoUnits int64, rate *big.Rat) NanoUSD {
	return boundedTimes(big.NewInt(nanoUnits), rate)
}

// boundedTimes is times; an estimate beyond counting is the most that can be counted.
func boundedTimes(nanoUnits *big.Int, rate *big.Rat) NanoUSD {
	n, err := times(nanoUnits, rate)
	if err != nil {
		return NanoUSD(1<<63 - 1)
	}
	return n
}

// bounded is an estimate in nano-dollars; one beyond counting is the most that can be counted.
func bounded(dollars *big.Rat) NanoUSD {
	return boundedTimes(big.NewInt(int64(Dollar)), dollars)
}

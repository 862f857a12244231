package billing

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// What a first run is taken to consume at most, where nothing has been learned: held while it runs, and
// given back but for the actual cost. Longer first runs are at the operator's risk.
const (
	firstRunTime   = 2 * time.Minute
	firstRunTokens = 4_000
	minUnitSeconds = 1 // the low end of a first run
)

// slowRun is how much longer than any before it a run may take and still be charged in full: models that are
// loaded first, busy engines and larger inputs say nothing about it beforehand.
const slowRun = 30 * time.Second

// slip is how many times the median a past value is no lesson any more: a service that told a wrong charge or consumption once
// would price its tool out of everybody's reach, and for good, since no run could follow that tells better.
const slip = 1000

// enough is how many samples make quantiles worth believing.
const enough = 5

// Sample is what one past run of a tool consumed.
type Sample struct {
	NanoUnits int64   // of the model's unit, in billionths
	Cost      NanoUSD // what it came to, before the operator's markup and minimum
}

// History is what a tool has consumed lately.
type History struct {
	Samples []Sample      // in any order
	Timeout time.Duration // after which a run of the tool ends; zero: unknown
	Machine string        // that of the latest run, for rate source machine
}

// Fill completes usage for a model with the historical rate source: where the provider can't tell what a
// run consumed, it is taken to be the median of the past.
func (h History) Fill(model *registry.CostingModel, usage registry.Usage) registry.Usage {
	if model == nil || model.RateSource != registry.RateHistorical || len(h.Samples) == 0 {
		return usage
	}
	median := quantile(h.nanoUnits(), 50)
	switch {
	case model.Unit == registry.UnitSecond && usage.RunTime == 0:
		usage.RunTime = time.Duration(median)
	case model.Unit == registry.UnitToken && usage.Tokens == 0:
		usage.Tokens = median / 1e9
	}
	return usage
}

// Estimate quotes a run before it starts. The price is exact per request, and where the provider names
// one; otherwise it is a range learned from the samples: from the tenth percentile to a quarter above the
// highest (while there are fewer than five: from half the lowest to twice the highest), for seconds at
// least slowRun above it, bounded by the tool's timeout. Without samples it is a first-run estimate. An unreadable rate is quoted as a range
// from the definition's rate like any other; billing it fails, and then costs nothing.
func Estimate(model *registry.CostingModel, h History, price registry.Price, card RateCard) Quote {
	if model == nil {
		return Quote{Source: SourceNone, Basis: "free"}
	}
	if price.Machine == "" {
		price.Machine = h.Machine
	}
	t, err := tariffOf(model, price, card)
	if err != nil {
		return Quote{Source: SourceNone, Rate: registry.PlainDecimal(model.Rate), Unit: string(model.Unit), Basis: "the tool's rate is not readable"}
	}
	q := Quote{Rate: t.text, Unit: string(t.unit), Source: string(t.source)}
	if model.RateSource == registry.RateMachine {
		q.Machine = price.Machine
	}
	if t.unit == registry.UnitRequest && (model.RateSource != registry.RateAPI || price.CostUSD != "") {
		q.Low, q.Basis = max(bounded(t.rate), t.minimum), "the price of one run"
		q.High = q.Low
		return q
	}
	h.estimate(&q, model, t)
	q.Low, q.High = max(q.Low, t.minimum), max(q.High, t.minimum)
	return q
}

// estimate sets the range. What the provider itself charged is judged by past costs, everything else by
// past units, so that a changed rate counts at once.
func (h History) estimate(q *Quote, model *registry.CostingModel, t tariff) {
	if len(h.Samples) == 0 {
		low, high := h.firstRun(t.unit)
		q.Low, q.High = timesRate(low, t.rate), timesRate(high, t.rate)
		q.Basis = "first run: an estimate"
		return
	}
	q.Basis = fmt.Sprintf("learned from the last %d runs", len(h.Samples))
	if len(h.Samples) == 1 {
		q.Basis = "learned from one run"
	}
	if model.RateSource == registry.RateAPI {
		costs := make([]int64, len(h.Samples))
		for i, s := range h.Samples {
			costs[i] = int64(s.Cost)
		}
		low, high := spread(costs)
		q.Low, q.High = markedUp(low, model), markedUp(high, model)
		return
	}
	units := credible(h.nanoUnits())
	low, high := spread(units)
	if t.unit == registry.UnitSecond {
		high = max(high, satAdd(slices.Max(units), int64(slowRun)))
		if h.Timeout > 0 {
			high = min(high, int64(h.Timeout))
		}
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
	high = int64(firstRunTime)
	if h.Timeout > 0 {
		high = min(high, int64(h.Timeout))
	}
	return min(int64(minUnitSeconds*time.Second), high), high
}

func (h History) nanoUnits() []int64 {
	units := make([]int64, len(h.Samples))
	for i, s := range h.Samples {
		units[i] = s.NanoUnits
	}
	return units
}

// spread gives the range that a next value is expected in.
func spread(values []int64) (low, high int64) {
	values = credible(values)
	highest := slices.Max(values)
	if len(values) < enough {
		return slices.Min(values) / 2, satAdd(highest, highest)
	}
	return quantile(values, 10), satAdd(highest, highest/4)
}

// credible leaves out the slips, where there are enough values to tell.
func credible(values []int64) []int64 {
	median := quantile(values, 50)
	if len(values) < enough || median <= 0 {
		return values
	}
	return slices.DeleteFunc(slices.Clone(values), func(v int64) bool { return v/slip > median })
}

func satAdd(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return a
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

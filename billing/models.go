package billing

import (
	"bytes"
	_ "embed" // for the rates that come with the program
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"time"
)

//go:embed models.json
var defaultModelRates []byte

// Tokens are what a call of a language model has read and written, as its service counts them. They are billed apart.
type Tokens struct {
	Input      int64 // read anew
	CacheRead  int64 // read from the service's cache, no part of Input
	CacheWrite int64 // written to it, no part of Input
	Output     int64
}

// prompt is what decides whether a call is beyond the size up to which the first rates hold.
func (t Tokens) prompt() int64 { return t.Input + t.CacheRead + t.CacheWrite }

// ModelRates are what tokens of models cost. The zero value knows no model.
type ModelRates struct{ models map[string][]ModelRate }

// ModelRate is what tokens of a model cost since a day.
type ModelRate struct {
	From   time.Time // the first day (UTC)
	usual  tokenRates
	limit  int64 // tokens of a prompt up to which usual holds; zero: it always does
	beyond tokenRates
}

// tokenRates are US dollars per token, exact.
type tokenRates struct{ input, cacheRead, cacheWrite, output *big.Rat }

// DefaultModelRates are the rates that come with the program.
func DefaultModelRates() ModelRates {
	rates, err := ParseModelRates(defaultModelRates)
	if err != nil {
		panic("billing: the embedded models.json: " + err.Error())
	}
	return rates
}

type modelRateFile struct {
	From   string `json:"from"`
	Beyond *struct {
		Tokens int64 `json:"tokens"`
		tokenRateFile
	} `json:"beyond"`
	tokenRateFile
}

type tokenRateFile struct {
	Input      json.Number `json:"input"`
	CacheRead  json.Number `json:"cacheRead"`
	CacheWrite json.Number `json:"cacheWrite"`
	Output     json.Number `json:"output"`
}

// ParseModelRates reads {"models": {"NAME": [{"from": "2026-09-28", "input": "2", "cacheRead": "0.20", "cacheWrite": "2.50", "output": "10"}]}}:
// US dollars per million tokens since a day, without a day since ever. Input and output are required; cached tokens that have no rate
// cost what input costs. A rate's beyond has other rates for calls whose prompt is longer than its tokens.
func ParseModelRates(data []byte) (ModelRates, error) {
	var file struct {
		About  string                     `json:"_"`
		Models map[string][]modelRateFile `json:"models"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return ModelRates{}, fmt.Errorf(`rates of models: expected {"models": {"NAME": [{"from": "2026-09-28", "input": "2", "output": "10"}]}}: %w`, err)
	}
	rates := ModelRates{map[string][]ModelRate{}}
	for name, list := range file.Models {
		for _, one := range list {
			rate, err := one.rate()
			if err != nil {
				return ModelRates{}, fmt.Errorf("rates of models: %s: %w", name, err)
			}
			rates.models[name] = append(rates.models[name], rate)
		}
		slices.SortFunc(rates.models[name], func(a, b ModelRate) int { return b.From.Compare(a.From) })
	}
	return rates, nil
}

func (f modelRateFile) rate() (r ModelRate, err error) {
	if f.From != "" {
		if r.From, err = time.Parse(time.DateOnly, f.From); err != nil {
			return r, fmt.Errorf("from: found %.20q, expected a day such as 2026-09-28", f.From)
		}
	}
	if r.usual, err = f.tokenRateFile.rates(); err != nil || f.Beyond == nil {
		return r, err
	}
	if r.limit = f.Beyond.Tokens; r.limit <= 0 {
		return r, fmt.Errorf("beyond: tokens: found %d, expected how long a prompt may be at the usual rates", r.limit)
	}
	if r.beyond, err = f.Beyond.rates(); err != nil {
		return r, fmt.Errorf("beyond: %w", err)
	}
	return r, nil
}

var million = big.NewRat(1_000_000, 1)

func (f tokenRateFile) rates() (r tokenRates, err error) {
	for _, one := range []struct {
		name string
		from json.Number
		into **big.Rat
	}{{"input", f.Input, &r.input}, {"cacheRead", f.CacheRead, &r.cacheRead}, {"cacheWrite", f.CacheWrite, &r.cacheWrite}, {"output", f.Output, &r.output}} {
		if one.from == "" && r.input != nil && one.name != "output" {
			*one.into = r.input
			continue
		}
		rate, err := parseRat(one.from.String())
		if err != nil || rate.Sign() < 0 {
			return r, fmt.Errorf("%s: found %.40q, expected US dollars per million tokens", one.name, one.from)
		}
		*one.into = rate.Quo(rate, million)
	}
	return r, nil
}

// With gives the rates with those of other in place of the ones of the same models.
func (r ModelRates) With(other ModelRates) ModelRates {
	both := maps.Clone(r.models)
	if both == nil {
		both = map[string][]ModelRate{}
	}
	maps.Copy(both, other.models)
	return ModelRates{both}
}

// dated is the end of a model's name that says which build it is.
var dated = regexp.MustCompile(`-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$`)

// Rate gives what a model's tokens cost at a time, false for a model without a rate. A build of a model (its name with a day at the end)
// costs what the model costs, unless it has a rate of its own.
func (r ModelRates) Rate(model string, at time.Time) (ModelRate, bool) {
	list, there := r.models[model]
	if !there {
		list = r.models[dated.ReplaceAllString(model, "")]
	}
	for _, rate := range list {
		if !at.Before(rate.From) {
			return rate, true
		}
	}
	return ModelRate{}, false
}

// Cost is what one call has come to, rounded once to the nearest nano-dollar. Counts below zero are none.
func (r ModelRate) Cost(t Tokens) NanoUSD {
	rates := r.usual
	if r.limit > 0 && t.prompt() > r.limit {
		rates = r.beyond
	}
	return rates.cost(t)
}

// Most is the most that a call with such a prompt and answer can come to, whatever comes out of a cache.
func (r ModelRate) Most(prompt, output int64) NanoUSD {
	return max(r.Cost(Tokens{Input: prompt, Output: output}), r.Cost(Tokens{CacheWrite: prompt, Output: output}))
}

func (r tokenRates) cost(t Tokens) NanoUSD {
	sum := new(big.Rat)
	for _, part := range []struct {
		rate  *big.Rat
		count int64
	}{{r.input, t.Input}, {r.cacheRead, t.CacheRead}, {r.cacheWrite, t.CacheWrite}, {r.output, t.Output}} {
		if part.rate != nil && part.count > 0 {
			sum.Add(sum, new(big.Rat).Mul(part.rate, new(big.Rat).SetInt64(part.count)))
		}
	}
	return boundedTimes(big.NewInt(nano), sum)
}

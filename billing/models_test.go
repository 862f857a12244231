package billing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
)

func TestModelRates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	bundled := billing.DefaultModelRates()
	for name, test := range map[string]struct {
		model string
		used  billing.Tokens
		want  billing.NanoUSD
	}{
		"input and output":                        {"claude-sonnet-5-5", billing.Tokens{Input: 1000, Output: 100}, 3_000_000},
		"cached tokens at their own rates":        {"claude-sonnet-5-5", billing.Tokens{Input: 25, CacheRead: 100, CacheWrite: 7, Output: 9}, 50_000 + 20_000 + 17_500 + 90_000},
		"a build costs what its model costs":      {"claude-haiku-4-5-20251001", billing.Tokens{Output: 1}, 5_000},
		"a cache without a rate costs as input":   {"gpt-6.2-astra", billing.Tokens{CacheRead: 1000}, 8_000_000},
		"up to the limit of a prompt":             {"claude-haiku-5-5", billing.Tokens{Input: 60_000, CacheRead: 40_000}, 6_000_000 + 400_000},
		"beyond it all tokens cost more":          {"claude-haiku-5-5", billing.Tokens{Input: 60_000, CacheRead: 40_001, Output: 10}, 30_000_000 + 2_000_050 + 25_000},
		"half a nano-dollar goes to the even one": {"gpt-5-nano", billing.Tokens{CacheRead: 1}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rate, ok := bundled.Rate(test.model, now)
			if !ok {
				t.Fatalf("%s has no rate", test.model)
			}
			if got := rate.Cost(test.used); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
			if most := rate.Most(test.used.Input+test.used.CacheRead+test.used.CacheWrite, test.used.Output); most < test.want {
				t.Errorf("it may come to %d at most, and came to %d", most, test.want)
			}
		})
	}
	if _, ok := bundled.Rate("qwen3", now); ok {
		t.Error("a model that nobody has named has a rate")
	}
}

func TestModelRatesOfTheOperator(t *testing.T) {
	t.Parallel()
	own, err := billing.ParseModelRates([]byte(`{"models": {"claude-sonnet-5-5": [{"from": "2026-12-01", "input": 3, "output": 15}, {"input": "1", "output": "1"}], "qwen3": [{"input": "0.01", "output": "0.01"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	rates := billing.DefaultModelRates().With(own)
	for day, want := range map[string]billing.NanoUSD{"2026-11-30": 1_000, "2026-12-01": 3_000} {
		at, _ := time.Parse(time.DateOnly, day)
		if rate, _ := rates.Rate("claude-sonnet-5-5", at); rate.Cost(billing.Tokens{Input: 1}) != want {
			t.Errorf("on %s a token costs %d, want %d", day, rate.Cost(billing.Tokens{Input: 1}), want)
		}
	}
	if _, ok := rates.Rate("qwen3", time.Now()); !ok {
		t.Error("a model of the operator's has no rate")
	}
	if _, ok := rates.Rate("claude-opus-5", time.Now()); !ok {
		t.Error("the bundled rates are gone")
	}
}

func TestModelRatesThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, says string }{
		"no output":      {`{"models": {"m": [{"input": "1"}]}}`, "m: output"},
		"negative":       {`{"models": {"m": [{"input": "-1", "output": "1"}]}}`, "m: input"},
		"no day":         {`{"models": {"m": [{"from": "soon", "input": "1", "output": "1"}]}}`, "2026-09-28"},
		"unknown member": {`{"models": {"m": [{"in": "1", "output": "1"}]}}`, "expected"},
		"no limit":       {`{"models": {"m": [{"input": "1", "output": "1", "beyond": {"input": "1", "output": "1"}}]}}`, "beyond: tokens"},
		"beyond nothing": {`{"models": {"m": [{"input": "1", "output": "1", "beyond": {"tokens": 1, "input": "1"}}]}}`, "beyond: output"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := billing.ParseModelRates([]byte(test.file)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want a word of %q", err, test.says)
			}
		})
	}
}

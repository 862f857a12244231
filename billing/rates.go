package billing

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/registry"
)

//go:embed rates.json
var defaultRates []byte

// RateCard holds the price per second of each kind of machine. The zero value knows none.
type RateCard struct {
	rates []machineRate
}

type machineRate struct {
	words []string // of the machine's name
	rate  string   // US dollars per second, exact decimal
}

// DefaultRateCard gives the card that comes with the program: public prices of a GPU host as of 2025.
func DefaultRateCard() RateCard {
	card, err := ParseRateCard(defaultRates)
	if err != nil {
		panic("billing: the embedded rates.json: " + err.Error())
	}
	return card
}

func badRates(err error) error {
	return fmt.Errorf(`parse rate card: expected US dollars per second by machine, such as {"NVIDIA L4": "0.0004"}: %w`, err)
}

// ParseRateCard reads {"A10G": "0.000337", ...}, or the same as the member machines of an object: US dollars per second by
// machine name. Rates are strings or numbers, never negative. Two names of the same words are refused: nobody could
// tell which of them counts.
func ParseRateCard(data []byte) (RateCard, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return RateCard{}, badRates(err)
	}
	if machines, ok := file["machines"]; ok && len(file) == 1 {
		data = machines
	}
	var rates map[string]json.Number
	if err := json.Unmarshal(data, &rates); err != nil {
		return RateCard{}, badRates(err)
	}
	var card RateCard
	for name, rate := range rates {
		words := nameWords(name)
		if len(words) == 0 {
			return RateCard{}, fmt.Errorf("parse rate card: %q is no machine name", name)
		}
		exact, err := parseRat(rate.String())
		if err != nil {
			return RateCard{}, fmt.Errorf("parse rate card: machine %s: %w", name, err)
		}
		if exact.Sign() < 0 {
			return RateCard{}, fmt.Errorf("parse rate card: machine %s: the rate %s is negative", name, rate)
		}
		card.rates = append(card.rates, machineRate{words: words, rate: decimalText(exact)})
	}
	// The name with most words is the most specific: A100-80GB goes before A100.
	slices.SortFunc(card.rates, func(a, b machineRate) int {
		if d := len(b.words) - len(a.words); d != 0 {
			return d
		}
		return slices.Compare(a.words, b.words)
	})
	for i := 1; i < len(card.rates); i++ {
		if words := card.rates[i].words; slices.Equal(words, card.rates[i-1].words) {
			return RateCard{}, fmt.Errorf("parse rate card: there are two rates of the machine %s", strings.Join(words, " "))
		}
	}
	return card, nil
}

// Rate gives the price per second of the machine, in US dollars as an exact decimal. Names are compared
// by their words in any case and order, and may say more than the card does: "cuda:0 NVIDIA
// A100-SXM4-80GB" is the card's A100-80GB. A rate in the name itself counts before those of the card, see registry.MachineAt.
func (c RateCard) Rate(machine string) (string, bool) {
	if own, ok := registry.OwnRate(machine); ok {
		return own, true
	}
	words := nameWords(machine)
	for _, r := range c.rates {
		if containsAll(words, r.words) {
			return r.rate, true
		}
	}
	return "", false
}

func nameWords(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

func containsAll(words, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(words, w) {
			return false
		}
	}
	return true
}

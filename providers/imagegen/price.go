package imagegen

import (
	_ "embed" // the price list
	"encoding/json"
	"fmt"
	"math/big"
	"unicode/utf8"
)

//go:embed prices.json
var defaultPrices []byte

// Prices are what the services take, as data with a date: by engine, then by model.
type Prices struct {
	AsOf   string           `json:"asOf"`
	Note   string           `json:"note"`
	OpenAI map[string]Price `json:"openai"`
	Gemini map[string]Price `json:"gemini"`
}

// Price is that of one model, in US dollars per million tokens, as exact decimals.
type Price struct {
	TextIn   json.Number `json:"textIn"`
	ImageIn  json.Number `json:"imageIn"`
	ImageOut json.Number `json:"imageOut"`
	// ImageTokens are the tokens of one picture by quality: square, and not square.
	ImageTokens map[string][2]int64 `json:"imageTokens"`
}

// ParsePrices reads a price list; every model must have all of its prices.
func ParsePrices(data []byte) (Prices, error) {
	var p Prices
	if err := json.Unmarshal(data, &p); err != nil {
		return Prices{}, fmt.Errorf("prices of pictures: %w", err)
	}
	for _, models := range []map[string]Price{p.OpenAI, p.Gemini} {
		for model, price := range models {
			for _, rate := range []json.Number{price.TextIn, price.ImageIn, price.ImageOut} {
				if r, ok := new(big.Rat).SetString(rate.String()); !ok || r.Sign() < 0 {
					return Prices{}, fmt.Errorf("prices of pictures: %s: %q is no price; expected US dollars per million tokens like 0.30", model, rate)
				}
			}
		}
	}
	return p, nil
}

func priceOf(prices map[string]Price, model string) (Price, error) {
	price, known := prices[model]
	if !known {
		return Price{}, fmt.Errorf("prices of pictures: %s is not in the list", model)
	}
	return price, nil
}

// tokens are what a call consumed, or will.
type tokens struct{ textIn, imageIn, imageOut int64 }

func (t tokens) sum() int64 { return t.textIn + t.imageIn + t.imageOut }

// cost is the exact price in US dollars.
func (p Price) cost(t tokens) string {
	total := new(big.Rat)
	for _, part := range []struct {
		rate  json.Number
		count int64
	}{{p.TextIn, t.textIn}, {p.ImageIn, t.imageIn}, {p.ImageOut, t.imageOut}} {
		rate, _ := new(big.Rat).SetString(part.rate.String())
		total.Add(total, rate.Mul(rate, big.NewRat(part.count, 1_000_000)))
	}
	return total.FloatString(12)
}

// The upper ends of what goes in: a token of text has at least one character, and a picture is cut into at
// most this many tokens.
const imageInTokens = 6240

// foresee bounds what a call will consume.
func (p Price) foresee(r request) tokens {
	sizes := p.ImageTokens[r.quality]
	t := tokens{textIn: int64(utf8.RuneCountInString(r.prompt)), imageIn: imageInTokens * int64(len(r.images)), imageOut: sizes[0]}
	if r.aspect != square {
		t.imageOut = sizes[1]
	}
	return t
}

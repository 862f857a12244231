package vidu

import (
	_ "embed" // the price list
	"encoding/json"
	"fmt"
	"math/big"
)

//go:embed prices.json
var defaultPrices []byte

// usualCredits is what a task is taken to cost where nobody says.
const usualCredits = 100

// prices are credits by model and resolution, and what a credit costs.
type prices struct {
	credits map[string]map[string][2]int64 // of the first second, and of each further one
	rate    *big.Rat
}

func parsePrices(data []byte, usdPerCredit json.Number) (prices, error) {
	var list struct {
		Credits map[string]map[string][2]int64 `json:"credits"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return prices{}, fmt.Errorf("prices of Vidu: %w", err)
	}
	rate, ok := new(big.Rat).SetString(usdPerCredit.String())
	if !ok || rate.Sign() < 0 {
		return prices{}, fmt.Errorf("the price of a Vidu credit is %q; expected US dollars like 0.005", usdPerCredit)
	}
	return prices{credits: list.Credits, rate: rate}, nil
}

// usd is what a number of credits costs, or "" where the number is none.
func (p prices) usd(credits json.Number) string {
	n, ok := new(big.Rat).SetString(credits.String())
	if !ok || n.Sign() < 0 {
		return ""
	}
	return n.Mul(n, p.rate).FloatString(9)
}

// fallback is a task's price where neither the service nor the list says more.
func (p prices) fallback() json.Number {
	return json.Number(new(big.Rat).Mul(big.NewRat(usualCredits, 1), p.rate).FloatString(9))
}

// estimate is what the list says a task of m with these inputs costs, or "".
func (p prices) estimate(m model, in map[string]any) string {
	length, resolution := m.standard()
	if n, given := whole(in["duration"]); given {
		length = n
	}
	if r, _ := in["resolution"].(string); r != "" {
		resolution = r
	}
	rate, known := p.credits[m.name][resolution]
	if !known {
		return ""
	}
	return p.usd(json.Number(fmt.Sprint(rate[0] + rate[1]*int64(length-1))))
}

package tripo

import (
	_ "embed" // the price list
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
)

//go:embed prices.json
var defaultPrices []byte

// prices are credits by kind of task and by what an input adds, and what a credit costs.
type prices struct {
	Tasks  map[string]int64 `json:"tasks"`
	Extras map[string]int64 `json:"extras"` // by "input=value"
	rate   *big.Rat
}

func parsePrices(data []byte, usdPerCredit json.Number) (prices, error) {
	var list prices
	if err := json.Unmarshal(data, &list); err != nil {
		return prices{}, fmt.Errorf("prices of Tripo: %w", err)
	}
	rate, ok := new(big.Rat).SetString(usdPerCredit.String())
	if !ok || rate.Sign() < 0 {
		return prices{}, fmt.Errorf("the price of a Tripo credit is %q; expected US dollars like 0.01", usdPerCredit)
	}
	list.rate = rate
	return list, nil
}

// credits are what the list says a task with these inputs takes.
func (p prices) credits(kind string, inputs map[string]any) string {
	sum := p.Tasks[kind]
	for name, value := range inputs {
		sum += p.Extras[fmt.Sprintf("%s=%v", name, value)]
	}
	return strconv.FormatInt(sum, 10)
}

// usd is what a number of credits costs, or "" where the number is none.
func (p prices) usd(credits string) string {
	n, ok := new(big.Rat).SetString(credits)
	if !ok || n.Sign() < 0 {
		return ""
	}
	return n.Mul(n, p.rate).FloatString(9)
}

package billing

import (
	"fmt"
	"math/big"
	"strings"
)

// Points are a second unit in which amounts are shown beside dollars: so many dollars to a point, exactly. Nothing is kept or
// charged in points. The zero value shows none.
type Points struct {
	worth *big.Rat // US dollars of one point; nil: there are none
}

// ParsePoints reads what a point is worth in US dollars, such as "0.000337"; empty is no points.
func ParsePoints(usd string) (Points, error) {
	if usd == "" {
		return Points{}, nil
	}
	worth, err := parseRat(usd)
	if err != nil || worth.Sign() <= 0 {
		return Points{}, fmt.Errorf("what a point is worth: %q is no decimal number of US dollars above zero", usd)
	}
	return Points{worth}, nil
}

// Enabled reports whether there are points.
func (p Points) Enabled() bool { return p.worth != nil }

// Worth is what one point is worth in US dollars, as an exact decimal.
func (p Points) Worth() string { return decimalText(p.worth) }

// Of tells an amount in points, rounded once to a hundredth of a point with ties to even: "12.5", "-0.03".
func (p Points) Of(n NanoUSD) string {
	hundredths := new(big.Rat).Quo(big.NewRat(int64(n), int64(Dollar)/100), p.worth)
	whole, rest := new(big.Int).DivMod(hundredths.Num(), hundredths.Denom(), new(big.Int))
	if side := rest.Lsh(rest, 1).Cmp(hundredths.Denom()); side > 0 || side == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return strings.TrimSuffix(strings.TrimRight(new(big.Rat).SetFrac(whole, big.NewInt(100)).FloatString(2), "0"), ".")
}

// Unit tells an amount in points, for texts that show both; false where the value is no amount.
func (p Points) Unit(value any) (string, bool) {
	n, ok := value.(NanoUSD)
	if !ok || !p.Enabled() {
		return "", false
	}
	return p.Of(n), true
}

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

// In tells an amount in points, exactly.
func (p Points) In(n NanoUSD) *big.Rat {
	return new(big.Rat).Quo(big.NewRat(int64(n), int64(Dollar)), p.worth)
}

// Of tells an amount in points, rounded once to a hundredth of a point with ties to even: "12.5", "-0.03".
func (p Points) Of(n NanoUSD) string {
	hundredths := new(big.Rat).Mul(p.In(n), big.NewRat(100, 1))
	whole, rest := new(big.Int).DivMod(hundredths.Num(), hundredths.Denom(), new(big.Int))
	if side := rest.Lsh(rest, 1).Cmp(hundredths.Denom()); side > 0 || side == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return strings.TrimSuffix(strings.TrimRight(new(big.Rat).SetFrac(whole, big.NewInt(100)).FloatString(2), "0"), ".")
}

// Unit is what texts show amounts in beside dollars; nil where there are no points.
func (p Points) Unit() func(interface{ Nano() int64 }) *big.Rat {
	if !p.Enabled() {
		return nil
	}
	return func(m interface{ Nano() int64 }) *big.Rat { return p.In(NanoUSD(m.Nano())) }
}

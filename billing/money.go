// Package billing is money: exact arithmetic of costs, and a double-entry ledger in Postgres.
//
// Amounts are whole nano-dollars (NanoUSD). Rates and units are exact fractions (math/big.Rat), rounded once, at the very end, to the
// nearest nano-dollar with ties to the even one. Floats are used only to estimate what a run will consume. The arithmetic (Cost,
// Estimate) is pure. One function, queuePost, makes all writes of the Ledger.
package billing

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
)

// NanoUSD is an amount of money in nano-dollars (1e-9 US dollars). It is exact and never a float.
// In JSON it is an integer.
type NanoUSD int64

// Dollar is one US dollar.
const Dollar NanoUSD = 1_000_000_000

// MaxAmount is the most that one transfer may move. No honest amount comes near it, and the sums of as many
// as there will ever be stay within an int64.
const MaxAmount = 10_000_000 * Dollar

var errTooMuch = errors.New("the amount is beyond what can be counted (9.2 billion dollars)")

// ParseUSD reads an exact amount of US dollars such as "5", "$0.0042" or "-1.50". Anything finer than
// a nano-dollar is refused rather than rounded, since the one who typed it meant something else.
func ParseUSD(text string) (NanoUSD, error) {
	number := strings.TrimSpace(text)
	if negative, ok := strings.CutPrefix(number, "-$"); ok {
		number = "-" + negative
	} else if positive, ok := strings.CutPrefix(number, "$"); ok && !strings.HasPrefix(positive, "-") {
		number = positive
	}
	amount, err := parseRat(number)
	if err != nil {
		return 0, fmt.Errorf("parse amount: %w", err)
	}
	nano := new(big.Rat).Mul(amount, big.NewRat(int64(Dollar), 1))
	if !nano.IsInt() {
		return 0, fmt.Errorf("parse amount: %q is finer than a nano-dollar (9 decimals)", text)
	}
	return toNano(amount)
}

// Nano is the amount as a number, for those who write it: i18n.Money.
func (n NanoUSD) Nano() int64 { return int64(n) }

// Decimal writes dollars as an exact decimal without a sign of the currency: 0.0042125.
func (n NanoUSD) Decimal() string {
	return decimal.Plain(json.Number(big.NewRat(int64(n), int64(Dollar)).FloatString(9)))
}

// String writes dollars with as many decimals as needed, at least two: $5.00, $0.0042125, -$0.50.
func (n NanoUSD) String() string {
	sign, magnitude := "", uint64(n)
	if n < 0 {
		sign, magnitude = "-", -magnitude
	}
	whole, fraction := magnitude/uint64(Dollar), magnitude%uint64(Dollar)
	decimals := strings.TrimRight(fmt.Sprintf("%09d", fraction), "0")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return sign + "$" + strconv.FormatUint(whole, 10) + "." + decimals
}

// toNano rounds dollars to the nearest nano-dollar, ties to even.
func toNano(dollars *big.Rat) (NanoUSD, error) {
	return times(big.NewInt(int64(Dollar)), dollars)
}

// times gives nano-dollars: billionths of a unit times a rate in dollars, rounded to the nearest, ties to even. It
// works on the fraction as it is, since bringing one to its lowest terms costs more than all the rest.
func times(nanoUnits *big.Int, rate *big.Rat) (NanoUSD, error) {
	quotient, rest := new(big.Int).Mul(nanoUnits, rate.Num()), new(big.Int)
	quotient.DivMod(quotient, rate.Denom(), rest)
	switch rest.Lsh(rest, 1).Cmp(rate.Denom()) {
	case 1:
		quotient.Add(quotient, big.NewInt(1))
	case 0:
		quotient.Add(quotient, big.NewInt(int64(quotient.Bit(0))))
	}
	if !quotient.IsInt64() {
		return 0, errTooMuch
	}
	return NanoUSD(quotient.Int64()), nil
}

// parseRat reads a decimal number exactly; its length and exponent are bounded.
func parseRat(text string) (*big.Rat, error) {
	return decimal.Parse(json.Number(text))
}

// rateText is decimalText of a rate that was read from text, which mostly is that already.
func rateText(text string, rate *big.Rat) string {
	if strings.ContainsAny(text, "-eE") {
		return decimalText(rate)
	}
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// decimalText writes an exact decimal without needless zeros. All our fractions have finite decimals.
func decimalText(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	digits, _ := r.FloatPrec()
	return strings.TrimRight(r.FloatString(digits), "0")
}

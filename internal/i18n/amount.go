package i18n

import (
	"math/big"
	"strconv"
	"strings"
)

// Amounts are written short: with two digits that count, and cents at least. A hundredth of a cent is nothing that anybody decides by;
// receipts have the exact figure, see Exact. Whatever is rounded is an exact fraction, never a float.

// rounding says on which side of the exact figure a short one may be.
type rounding int

const (
	nearest rounding = iota // ties to even
	up                      // what somebody may have to pay
	down                    // what somebody has
)

const (
	nanosPerDollar = 1_000_000_000
	nanosPerCent   = nanosPerDollar / 100
)

// Amount writes an amount short: "$1,234.50", "$0.042", "under $0.01", with points beside it where there are any.
func (v Voice) Amount(m Money) string { return v.short(m, nearest) }

// AtMost is Amount rounded up, for what somebody may have to pay.
func (v Voice) AtMost(m Money) string { return v.short(m, up) }

// AtLeast is Amount rounded down, for what somebody has.
func (v Voice) AtLeast(m Money) string { return v.short(m, down) }

// About is AtMost of what is not certain: "about $0.05". What is less than a cent is no more certain for saying so.
func (v Voice) About(m Money) string {
	if m.Nano() < nanosPerCent {
		return v.AtMost(m)
	}
	return v.Line("amount.about", "amount", v.AtMost(m))
}

// Between writes a price that lies between two amounts: "$0.02 to $0.05". Where the lower is no cent it is "up to $0.05", and
// where both read alike that one amount.
func (v Voice) Between(low, high Money) string {
	from, to := v.dollars(dollarsOf(low), down), v.dollars(dollarsOf(high), up)
	switch {
	case low.Nano() == high.Nano() || from == to:
		return v.AtMost(high)
	case low.Nano() < nanosPerCent && high.Nano() >= nanosPerCent:
		return v.Line("amount.upTo", "amount", v.AtMost(high))
	}
	text := v.Line("amount.range", "low", from, "high", to)
	if v.unit == nil {
		return text
	}
	points := v.Line("amount.range", "low", v.Number(twoDigits(v.unit(low), 0, down)), "high", v.Number(twoDigits(v.unit(high), 0, up)))
	return v.withPoints(text, points, twoDigits(v.unit(high), 0, up))
}

// Apart writes what is needed and what there is: short, or exactly where the short ones could not be told apart.
func (v Voice) Apart(need, have Money) (needed, there string) {
	needed, there = v.AtMost(need), v.AtLeast(have)
	if needed == there && need.Nano() != have.Nano() {
		return v.Exact(need), v.Exact(have)
	}
	return needed, there
}

// Exact writes an amount to the nano-dollar, with as many decimals as it needs and two at least.
func (v Voice) Exact(m Money) string {
	text := v.Dollars(plainDecimal(dollarsOf(m), 9, 2))
	if v.unit == nil {
		return text
	}
	points := plainDecimal(v.unit(m), 2, 0)
	return v.withPoints(text, v.Number(points), points)
}

// Dollars writes an exact decimal of US dollars as it is, such as a rate: "$0.000337". What is no decimal comes back as it came.
func (v Voice) Dollars(decimal string) string {
	sign, magnitude := "", decimal
	if rest, negative := strings.CutPrefix(decimal, "-"); negative {
		sign, magnitude = "-", rest
	}
	return sign + v.Line("amount.dollars", "number", v.Number(magnitude))
}

// ForADollar tells how many things of a kind (image, video, audio; any other is a run) a dollar buys, where one is less than a
// cent: "about 1,600 pictures for $1". Else it is "", as it is from 100,000 on: nobody makes so many, and an engine that remembers a
// picture gives it again for nearly nothing, which the next one is not.
func (v Voice) ForADollar(m Money, kind string) string {
	if n := m.Nano(); n >= nanosPerCent || n <= nanosPerDollar/100_000 {
		return ""
	}
	count, step := nanosPerDollar/m.Nano(), int64(1)
	for count/step >= 100 {
		step *= 10
	}
	count = count / step * step
	key := "amount.forADollar." + kind
	if !v.Has(key) {
		key = "amount.forADollar.run"
	}
	return v.Line(key, "n", count, "count", v.Number(strconv.FormatInt(count, 10)))
}

// unitSteps are the larger units that a rate is told by where a smaller one costs less than a cent.
var unitSteps = map[string][]unitStep{
	"second": {{"second", 1}, {"minute", 60}, {"hour", 3600}},
	"token":  {{"token", 1}, {"thousand", 1_000}, {"million", 1_000_000}},
}

type unitStep struct {
	name  string
	units int64
}

// Rate tells what a unit costs (second, token, request), as an exact decimal of US dollars, in a way that can be read: $0.000337
// a second is "$0.02 a minute". A rate that is no decimal comes back as it came.
func (v Voice) Rate(dollars, unit string) string {
	rate, ok := new(big.Rat).SetString(dollars)
	if !ok {
		return dollars
	}
	steps := unitSteps[unit]
	if len(steps) == 0 {
		steps = []unitStep{{unit, 1}}
	}
	cent := big.NewRat(1, 100)
	for i, step := range steps {
		price := new(big.Rat).Mul(rate, big.NewRat(step.units, 1))
		if price.Cmp(cent) >= 0 || i == len(steps)-1 {
			return v.Line("amount.per."+step.name, "amount", v.dollars(price, nearest))
		}
	}
	return dollars
}

// short writes an amount with its points. What is owed is rare, and exact.
func (v Voice) short(m Money, to rounding) string {
	if m.Nano() < 0 {
		return v.Exact(m)
	}
	text := v.dollars(dollarsOf(m), to)
	if v.unit == nil {
		return text
	}
	points := twoDigits(v.unit(m), 0, to)
	return v.withPoints(text, v.Number(points), points)
}

// withPoints puts points beside an amount; n is the number that decides about their plural form.
func (v Voice) withPoints(amount, points, n string) string {
	return v.Line("amount.points", "amount", amount, "points", points, "n", n)
}

// dollars writes dollars, or what is less than one cent in cents, down to the least that the language tells of.
func (v Voice) dollars(x *big.Rat, to rounding) string {
	least, _ := new(big.Rat).SetString(v.Line("format.leastDollars"))
	cent := big.NewRat(1, 100)
	switch {
	case x.Sign() == 0 || x.Cmp(cent) >= 0:
		return v.Dollars(twoDigits(x, 2, to))
	case x.Cmp(least) < 0:
		return v.Line("amount.under", "amount", v.dollars(least, to))
	}
	cents := twoDigits(new(big.Rat).Quo(x, cent), 0, to)
	return v.Line("amount.cents", "cents", v.Number(cents), "n", cents)
}

func dollarsOf(m Money) *big.Rat { return big.NewRat(m.Nano(), nanosPerDollar) }

// mostPlaces bounds how small a number twoDigits shows; what is less is 0 or, rounded up, the least above it.
const mostPlaces = 4

// twoDigits writes a number above zero with two digits that count, its whole part, and least decimals.
func twoDigits(x *big.Rat, least int, to rounding) string {
	places, ten := least, big.NewRat(10, 1)
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(power(least)))
	for ; places < mostPlaces && scaled.Cmp(ten) < 0; places++ {
		scaled.Mul(scaled, ten)
	}
	n, rest := new(big.Int).DivMod(scaled.Num(), scaled.Denom(), new(big.Int))
	half := rest.Lsh(rest, 1).Cmp(scaled.Denom())
	if to == up && rest.Sign() > 0 || to == nearest && (half > 0 || half == 0 && n.Bit(0) == 1) {
		n.Add(n, big.NewInt(1))
	}
	return plainDecimal(new(big.Rat).SetFrac(n, power(places)), places, least)
}

// plainDecimal writes a number with at most so many decimals, without zeros at the end beyond the least ones.
func plainDecimal(x *big.Rat, most, least int) string {
	text := x.FloatString(most)
	whole, decimals, _ := strings.Cut(text, ".")
	for len(decimals) > least && strings.HasSuffix(decimals, "0") {
		decimals = decimals[:len(decimals)-1]
	}
	if decimals == "" {
		return whole
	}
	return whole + "." + decimals
}

func power(exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// Number writes a decimal such as "-1234.5" as the language does: its decimal mark, and its thousands apart.
func (v Voice) Number(decimal string) string {
	whole, fraction, broken := strings.Cut(decimal, ".")
	digits := strings.TrimPrefix(whole, "-")
	from, _ := strconv.Atoi(v.Line("format.groupFrom"))
	var b strings.Builder
	b.WriteString(whole[:len(whole)-len(digits)])
	for i, digit := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && len(digits) >= from {
			b.WriteString(v.Line("format.group"))
		}
		b.WriteRune(digit)
	}
	if broken {
		b.WriteString(v.Line("format.decimal") + fraction)
	}
	return b.String()
}

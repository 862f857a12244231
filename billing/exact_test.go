package billing

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The ways that spare the greatest common divisors come to what fractions come to.
func TestShortcutsAreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20, 26))
	for range 20_000 {
		units := big.NewInt(random.Int64() >> random.IntN(63))
		text := big.NewRat(random.Int64()>>random.IntN(63), int64(1)<<random.IntN(20)).FloatString(random.IntN(25))
		if random.IntN(4) == 0 {
			text = decimalText(big.NewRat(random.Int64N(1000), 2_000_000)) // halves of nano-dollars, for ties
		}
		rate, err := parseRat(text)
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat).Mul(new(big.Rat).SetFrac(units, big.NewInt(nano)), rate)
		nanoDollars := new(big.Float).SetPrec(1000).SetRat(exact.Mul(exact, big.NewRat(nano, 1)))
		want, _ := roundHalfEven(nanoDollars).Int(nil)
		got, err := times(units, rate)
		if (err == nil) != want.IsInt64() || err == nil && int64(got) != want.Int64() {
			t.Fatalf("%s billionths at %s: got %d, %v, want %s", units, text, got, err, want)
		}
		if got, want := rateText(text, rate), decimalText(rate); got != want {
			t.Fatalf("the rate %q reads %q, want %q", text, got, want)
		}
		if got, want := nanoText(units), decimalText(new(big.Rat).SetFrac(units, big.NewInt(nano))); got != want {
			t.Fatalf("%s billionths read %q, want %q", units, got, want)
		}
	}
}

// roundHalfEven rounds to a whole number: half of one more than the number of whole digits is exact in a binary float.
func roundHalfEven(f *big.Float) *big.Float {
	if f.Sign() == 0 {
		return f
	}
	exponent := f.MantExp(nil)
	if exponent <= 0 { // below one: half and less is none
		if f.Cmp(big.NewFloat(0.5)) <= 0 {
			return new(big.Float)
		}
		return big.NewFloat(1)
	}
	return new(big.Float).SetMode(big.ToNearestEven).SetPrec(uint(exponent)).Set(f)
}

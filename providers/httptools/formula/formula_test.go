package formula_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/httptools/formula"
)

// sheet answers by the form in which it is asked.
type sheet map[string]string

func (s sheet) Amount(name string) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(s[name])
	if !ok {
		return nil, fmt.Errorf("there is no %s", name)
	}
	return r, nil
}

func (s sheet) Cell(table string, names []string) (*big.Rat, error) {
	return s.Amount(table + "[" + strings.Join(names, ", ") + "]")
}

func TestFormulas(t *testing.T) {
	t.Parallel()
	env := sheet{"seconds": "5", "n": "3", "rate[resolution, audio]": "0.15", "megapixels(width, height)": "1.5", "zero": "0"}
	for text, want := range map[string]string{
		"0.1 + 0.2":                        "0.300000000",
		"2 - 1 - 1":                        "0.000000000",
		"2+3*4/(1 + 1)":                    "8.000000000",
		"rate[resolution,audio] * seconds": "0.750000000",
		"ceil(megapixels( width ,height)) * 0.03": "0.060000000",
		"floor(1.9) + ceil(1) + ceil(0 - 1.5)":    "1.000000000",
		"max(1, seconds, n) + min(n, 1)":          "6.000000000",
		"1/3":                                     "0.333333333",
		"  n ":                                    "3.000000000",
	} {
		f, err := formula.Parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := f.Eval(env); err != nil || got.FloatString(9) != want {
			t.Errorf("%s = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"n / zero", "missing", "rate[n]"} {
		f, err := formula.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Eval(env); err == nil {
			t.Errorf("%s = %s", text, got)
		}
	}
}

func TestWrongFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "expected a number", "1 +": "expected a number", "1 2": "operator", "(1": "expected )", "1..2": "no number", "t[": "a name", "t[a": "expected , or ]", "f(1)": "a name",
		"ceil(1, 2)": "takes 1", "max(1": "expected , or )", "n $ 2": "operator", strings.Repeat("(", 100) + "1": "parentheses", strings.Repeat("1+", 1000) + "1": "bytes",
	} {
		if _, err := formula.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v; want it to say %s", text, err, want)
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	f, err := formula.Parse("n * rate[a, b] + n + count(images) * max(1, seconds)")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.Uses()); got != "[n rate[a, b] count(images) seconds]" {
		t.Errorf("got %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("rate[a, b] * ceil(n / 3)")
	f.Add("max(1,(2),f(x))")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := formula.Parse(text)
		if err != nil {
			return
		}
		if len(read.Uses()) == 0 {
			_, _ = read.Eval(sheet{}) // arithmetic alone neither panics nor asks
		}
	})
}

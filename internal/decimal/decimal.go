// Package decimal reads and writes exact decimal numbers: rates, amounts and inputs that must not be rounded.
package decimal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
)

// Bounds that keep a short text such as 1e999999999 from filling the memory as an exact number.
const (
	maxNumberLength = 400
	maxExponent     = 400
)

// Unmarshal is json.Unmarshal that makes a json.Number of each number that no type says otherwise of: a 64-bit seed must not pass
// through a float.
func Unmarshal(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more follows the JSON value")
	}
	return nil
}

// Parse gives the exact value of a JSON number.
func Parse(n json.Number) (*big.Rat, error) {
	text := string(n)
	if !IsNumber(text) {
		return nil, fmt.Errorf("%q is not a number", said.Brief(text))
	}
	if len(text) > maxNumberLength {
		return nil, fmt.Errorf("the number %s has too many digits", said.Brief(text))
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(text[i+1:])
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return nil, fmt.Errorf("the number %s is too large or too small", said.Brief(text))
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", said.Brief(text))
	}
	return r, nil
}

// Optional is Parse of a number that may be left out, as "", or be none: ok tells whether there is one.
func Optional(n json.Number) (exact *big.Rat, ok bool) {
	if n == "" {
		return nil, false
	}
	exact, err := Parse(n)
	return exact, err == nil
}

// Plain writes a number as an exact decimal, without exponent and needless zeros: 0.0000000015 for 1.5e-9. What is
// no number comes back as it is.
func Plain(n json.Number) string {
	r, err := Parse(n)
	if err != nil {
		return n.String()
	}
	if r.IsInt() {
		return r.Num().String()
	}
	digits, _ := r.FloatPrec() // decimals end, so they are all
	return r.FloatString(digits)
}

// IsNumber reports whether a text is a JSON number, by the grammar of RFC 8259, section 6.
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, rest := cutDigits(s)
	if whole == "" || (len(whole) > 1 && whole[0] == '0') {
		return false
	}
	if strings.HasPrefix(rest, ".") {
		var fraction string
		if fraction, rest = cutDigits(rest[1:]); fraction == "" {
			return false
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		var exponent string
		if exponent, rest = cutDigits(rest); exponent == "" {
			return false
		}
	}
	return rest == ""
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// Format writes r as a JSON number: exact where r has a finite decimal form of reasonable length.
func Format(r *big.Rat) json.Number {
	if r.IsInt() {
		return json.Number(r.Num().String())
	}
	text := r.FloatString(20)
	return json.Number(strings.TrimRight(strings.TrimRight(text, "0"), "."))
}

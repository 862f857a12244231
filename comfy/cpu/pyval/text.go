package pyval

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// FloatRepr is repr() of a float: the shortest text that reads back as the same number.
func FloatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		return s
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Str is str(v).
func Str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Repr(v)
}

// Repr is repr(v). Values of other Go types use their String method.
func Repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return quoted(v)
	case float64:
		return FloatRepr(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = Repr(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []string:
		return Repr(Normalize(v))
	case *Dict:
		parts := make([]string, v.Len())
		for i, k := range v.keys {
			parts[i] = quoted(k) + ": " + Repr(v.values[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func quoted(s string) string {
	mark := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	var b strings.Builder
	b.WriteByte(mark)
	for _, r := range s {
		switch {
		case r == rune(mark) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f || (r < 0x100 && !unicode.IsPrint(r)):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r != ' ' && !unicode.IsPrint(r) && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r != ' ' && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(mark)
	return b.String()
}

// TypeName is type(v).__name__.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []any:
		return "list"
	case *Dict:
		return "dict"
	}
	return "object"
}

// Error is a Python exception raised by a conversion.
type Error struct{ Type, Message string }

// Error is the message alone.
func (e *Error) Error() string { return e.Message }

func raise(kind, format string, args ...any) error {
	return &Error{Type: kind, Message: fmt.Sprintf(format, args...)}
}

// ToInt is int(v): floats are cut towards zero, texts may have spaces around and underscores between digits.
func ToInt(v any) (any, error) {
	switch v := v.(type) {
	case int64, *big.Int:
		return v, nil
	case bool:
		n, _ := Big(v)
		return Int(n), nil
	case float64:
		return floatToInt(v)
	case string:
		if n, ok := parseInt(v); ok {
			return Int(n), nil
		}
		return nil, raise("ValueError", "invalid literal for int() with base 10: %s", Repr(v))
	}
	return nil, raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", TypeName(v))
}

func floatToInt(f float64) (any, error) {
	if math.IsNaN(f) {
		return nil, raise("ValueError", "cannot convert float NaN to integer")
	}
	if math.IsInf(f, 0) {
		return nil, raise("OverflowError", "cannot convert float infinity to integer")
	}
	n, _ := big.NewFloat(f).Int(nil)
	return Int(n), nil
}

func parseInt(s string) (*big.Int, bool) {
	s = asciiDigits(strings.TrimFunc(s, IsSpace))
	body := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if len(body) < len(s)-1 || len(body) > maxDigits || !plainDigits(body) {
		return nil, false
	}
	return new(big.Int).SetString(strings.ReplaceAll(strings.TrimPrefix(s, "+"), "_", ""), 10)
}

// plainDigits tells digits, with single underscores between them.
func plainDigits(s string) bool {
	last := byte('_')
	for i := range len(s) {
		if c := s[i]; (c == '_' && last == '_') || (c != '_' && (c < '0' || c > '9')) {
			return false
		}
		last = s[i]
	}
	return last != '_'
}

// asciiDigits brings the decimal digits of other scripts to ASCII, as Python's int() and float() do.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		// The ten digits of a script follow one another, and each block begins where the character before is no digit.
		zero := r
		for zero > 0 && unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + (r - zero)
	}, s)
}

// ToFloat is float(v).
func ToFloat(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case *big.Int:
		f, _ := Float(v)
		if math.IsInf(f, 0) {
			return 0, raise("OverflowError", "int too large to convert to float")
		}
		return f, nil
	case int64, bool:
		f, _ := Float(v)
		return f, nil
	case string:
		if f, ok := parseFloat(v); ok {
			return f, nil
		}
		return 0, raise("ValueError", "could not convert string to float: %s", Repr(v))
	}
	return 0, raise("TypeError", "float() argument must be a string or a real number, not '%s'", TypeName(v))
}

func parseFloat(s string) (float64, bool) {
	s = asciiDigits(strings.TrimFunc(s, IsSpace))
	sign := 1.0
	body := s
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		body = s[1:]
		if s[0] == '-' {
			sign = -1
		}
	}
	if strings.HasPrefix(body, "-") || strings.HasPrefix(body, "+") {
		return 0, false // one sign is all there may be
	}
	switch strings.ToLower(body) {
	case "inf", "infinity":
		return math.Inf(int(sign)), true
	case "nan":
		return math.NaN(), true
	}
	for i := range len(body) {
		c := body[i]
		digit := func(j int) bool { return j >= 0 && j < len(body) && body[j] >= '0' && body[j] <= '9' }
		if c == '_' && (!digit(i-1) || !digit(i+1)) {
			return 0, false
		}
		if !strings.ContainsRune("0123456789.eE+-_", rune(c)) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(body, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return sign * f, true
}

// IsSpace is str.isspace() of one character, which str.strip() and split() go by.
func IsSpace(r rune) bool {
	return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f)
}

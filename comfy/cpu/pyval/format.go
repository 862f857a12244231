package pyval

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWidth bounds width and precision of a format spec, so that a short text cannot ask for gigabytes.
const maxWidth = 1 << 16

// formatSpec is a parsed "[[fill]align][sign][z][#][0][width][grouping][.precision][type]".
type formatSpec struct {
	fill      rune
	align     byte // 0: by type
	sign      byte
	noMinus   bool // of a zero
	alternate bool
	zero      bool // the alignment comes from the 0
	width     int
	grouping  byte
	precision int // -1: not given
	kind      byte
}

// Format is format(v, spec) for texts, numbers and booleans.
func Format(v any, spec string) (string, error) {
	if spec == "" {
		return Str(v), nil
	}
	s, err := parseSpec(spec)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return s.text(v)
	case float64:
		return s.float(v)
	}
	if n, ok := Big(v); ok {
		return s.integer(n)
	}
	return "", raise("TypeError", "unsupported format string passed to %s.__format__", TypeName(v))
}

func parseSpec(text string) (formatSpec, error) {
	s := formatSpec{precision: -1}
	bad := func() (formatSpec, error) { return s, raise("ValueError", "Invalid format specifier '%s'", text) }
	rest := text
	if r, size := utf8.DecodeRuneInString(rest); size > 0 && len(rest) > size && strings.IndexByte("<>=^", rest[size]) >= 0 {
		s.fill, s.align, rest = r, rest[size], rest[size+1:]
	} else if rest != "" && strings.IndexByte("<>=^", rest[0]) >= 0 {
		s.align, rest = rest[0], rest[1:]
	}
	take := func(set string) byte {
		if rest != "" && strings.IndexByte(set, rest[0]) >= 0 {
			c := rest[0]
			rest = rest[1:]
			return c
		}
		return 0
	}
	number := func() (int, bool) {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		rest = rest[end:]
		return n, err == nil && n <= maxWidth
	}
	s.sign = take("+- ")
	s.noMinus = take("z") != 0
	s.alternate = take("#") != 0
	if take("0") != 0 && s.fill == 0 {
		s.fill = '0'
		if s.align == 0 {
			s.align, s.zero = '=', true
		}
	}
	if s.fill == 0 {
		s.fill = ' '
	}
	if rest != "" && rest[0] >= '1' && rest[0] <= '9' {
		n, ok := number()
		if !ok {
			return bad()
		}
		s.width = n
	}
	s.grouping = take(",_")
	if take(".") != 0 {
		n, ok := number()
		if !ok {
			return bad()
		}
		s.precision = n
	}
	if rest != "" {
		s.kind, rest = rest[0], rest[1:]
	}
	if rest != "" {
		return bad()
	}
	return s, nil
}

// groupable refuses a grouping that the type of the format does not know.
func (s formatSpec) groupable() error {
	if s.grouping == 0 || strings.IndexByte("\x00deEfFgG%", s.kind) >= 0 || s.grouping == '_' && strings.IndexByte("boxX", s.kind) >= 0 {
		return nil
	}
	return raise("ValueError", "Cannot specify '%c' with '%c'.", s.grouping, s.kind)
}

func (s formatSpec) unknown(typ string) error {
	return raise("ValueError", "Unknown format code '%c' for object of type '%s'", s.kind, typ)
}

func (s formatSpec) text(v string) (string, error) {
	if s.kind != 0 && s.kind != 's' {
		return "", s.unknown("str")
	}
	switch {
	case s.sign != 0:
		return "", raise("ValueError", "Sign not allowed in string format specifier")
	case s.noMinus:
		return "", raise("ValueError", "Negative zero coercion (z) not allowed in string format specifier")
	case s.alternate:
		return "", raise("ValueError", "Alternate form (#) not allowed in string format specifier")
	case s.grouping != 0:
		return "", raise("ValueError", "Cannot specify '%c' with 's'.", s.grouping)
	case s.align == '=' && !s.zero:
		return "", raise("ValueError", "'=' alignment not allowed in string format specifier")
	}
	if runes := []rune(v); s.precision >= 0 && len(runes) > s.precision {
		v = string(runes[:s.precision])
	}
	if s.align == 0 || s.align == '=' {
		s.align = '<'
	}
	return s.pad("", v), nil
}

func (s formatSpec) integer(n *big.Int) (string, error) {
	base, prefix := 10, ""
	if err := s.groupable(); err != nil {
		return "", err
	}
	if s.precision >= 0 && strings.IndexByte("\x00dnboxXc", s.kind) >= 0 {
		return "", raise("ValueError", "Precision not allowed in integer format specifier")
	}
	if s.noMinus && strings.IndexByte("\x00dnboxXc", s.kind) >= 0 {
		return "", raise("ValueError", "Negative zero coercion (z) not allowed in format specifier with integer '%c'", cmp.Or(s.kind, 'd'))
	}
	switch s.kind {
	case 0, 'd', 'n':
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	case 'c':
		if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
			return "", raise("OverflowError", "%%c arg not in range(0x110000)")
		}
		switch {
		case s.sign != 0:
			return "", raise("ValueError", "Sign not allowed with integer format specifier 'c'")
		case s.alternate:
			return "", raise("ValueError", "Alternate form (#) not allowed with integer format specifier 'c'")
		}
		return s.pad("", string(rune(n.Int64()))), nil
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		f, err := ToFloat(Int(n))
		if err != nil {
			return "", err
		}
		return s.float(f)
	default:
		return "", s.unknown("int")
	}
	digits := new(big.Int).Abs(n).Text(base)
	if s.kind == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !s.alternate {
		prefix = ""
	}
	head, every := s.signOf(n.Sign() < 0)+prefix, 3
	if base != 10 {
		every = 4
	}
	return s.pad(head, s.grouped(digits, every, s.width-len(head))), nil
}

func (s formatSpec) float(f float64) (string, error) {
	kind, precision, percent := s.kind, s.precision, ""
	if err := s.groupable(); err != nil {
		return "", err
	}
	if precision < 0 && kind != 0 {
		precision = 6
	}
	var digits string
	abs := math.Abs(f)
	if kind == '%' {
		abs *= 100
	}
	switch {
	case kind != 0 && !strings.ContainsRune("eEfFgGn%", rune(kind)):
		return "", s.unknown("float")
	case math.IsNaN(abs) || math.IsInf(abs, 0):
		if digits = FloatRepr(abs); kind >= 'A' && kind <= 'Z' {
			digits = strings.ToUpper(digits)
		}
		if kind == '%' {
			digits += "%"
		}
		return s.pad(s.signOf(math.Signbit(f)), digits), nil
	case kind == '%':
		digits, percent = strconv.FormatFloat(abs, 'f', precision, 64), "%"
	case kind == 'f' || kind == 'F':
		digits = strconv.FormatFloat(abs, 'f', precision, 64)
	case kind == 'e' || kind == 'E':
		digits = strconv.FormatFloat(abs, kind, precision, 64)
	case kind == 'g' || kind == 'G' || kind == 'n':
		digits = general(abs, precision, max(precision, 1), kind == 'G', s.alternate)
	case kind == 0 && precision < 0:
		digits = FloatRepr(abs)
	case kind == 0:
		// Without a type, a digit after the point takes part in the precision.
		if digits = general(abs, precision, max(precision, 1)-1, false, s.alternate); !strings.ContainsAny(digits, ".e") {
			digits += ".0"
		}
	}
	whole, rest := digits, ""
	if i := strings.IndexAny(digits, ".eE"); i >= 0 {
		whole, rest = digits[:i], digits[i:]
	}
	if s.alternate && !strings.HasPrefix(rest, ".") {
		rest = "." + rest
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(digits), "e")
	zero := strings.Trim(mantissa, "0.") == ""
	head, rest := s.signOf(math.Signbit(f) && !(zero && s.noMinus)), rest+percent
	return s.pad(head, s.grouped(whole, 3, s.width-len(head)-len(rest))+rest), nil
}

// general is the "g" format: exponents as C writes them, from limit on, and no trailing zeros.
func general(f float64, precision, limit int, upper, keepZeros bool) string {
	precision = max(precision, 1)
	exponent := 0
	if f != 0 {
		text := strconv.FormatFloat(f, 'e', precision-1, 64)
		exponent, _ = strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	}
	var out, tail string
	if exponent < -4 || exponent >= limit {
		text := strconv.FormatFloat(f, 'e', precision-1, 64)
		i := strings.IndexByte(text, 'e')
		out, tail = text[:i], text[i:]
	} else {
		out = strconv.FormatFloat(f, 'f', precision-1-exponent, 64)
	}
	if !keepZeros && strings.Contains(out, ".") {
		out = strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	if upper {
		tail = strings.ToUpper(tail)
	}
	return out + tail
}

func (s formatSpec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.sign == '+' || s.sign == ' ':
		return string(s.sign)
	}
	return ""
}

// grouped sets marks between the digits. Zeros that fill the number up to its width are digits like the others.
func (s formatSpec) grouped(digits string, every, width int) string {
	if s.grouping == 0 {
		return digits
	}
	out := group(digits, s.grouping, every)
	for s.fill == '0' && s.align == '=' && len(out) < width {
		digits = strings.Repeat("0", max(1, (width-len(out))*every/(every+1))) + digits
		out = group(digits, s.grouping, every)
	}
	return out
}

func group(digits string, mark byte, every int) string {
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%every == 0 {
			b.WriteByte(mark)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// pad brings the text to its width. head is sign and prefix, before which or after which padding goes.
func (s formatSpec) pad(head, body string) string {
	missing := s.width - utf8.RuneCountInString(head+body)
	if missing <= 0 {
		return head + body
	}
	fill := func(n int) string { return strings.Repeat(string(s.fill), n) }
	switch s.align {
	case '<':
		return head + body + fill(missing)
	case '^':
		return fill(missing/2) + head + body + fill(missing-missing/2)
	case '=':
		return head + fill(missing) + body
	default:
		return fill(missing) + head + body
	}
}

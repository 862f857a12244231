package pyval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of JSON texts that Parse reads.
const MaxDepth = 500

// maxDigits bounds the digits of an integer, as Python does, so that a text of digits cannot cost quadratic time.
const maxDigits = 4300

// Parse reads one JSON text as Python's json module does: NaN and Infinity are numbers, integers have any size, of
// equal keys the last counts. The text must be valid UTF-8 without a byte order mark.
func Parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the text is not valid UTF-8")
	}
	p := &parser{text: string(text)}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.text) {
		return nil, p.fail("extra data")
	}
	return v, nil
}

type parser struct {
	text string
	pos  int
}

func (p *parser) fail(what string) error {
	return fmt.Errorf("JSON: %s at character %d", what, p.pos)
}

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) take(word string) bool {
	if strings.HasPrefix(p.text[p.pos:], word) {
		p.pos += len(word)
		return true
	}
	return false
}

func (p *parser) value(depth int) (any, error) {
	if depth > MaxDepth {
		return nil, p.fail("nested too deep")
	}
	p.space()
	if p.pos >= len(p.text) {
		return nil, p.fail("a value is missing")
	}
	switch c := p.text[p.pos]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.str()
	case p.take("true"):
		return true, nil
	case p.take("false"):
		return false, nil
	case p.take("null"):
		return nil, nil
	case p.take("NaN"):
		return math.NaN(), nil
	case p.take("Infinity"):
		return math.Inf(1), nil
	case p.take("-Infinity"):
		return math.Inf(-1), nil
	}
	return p.number()
}

func (p *parser) object(depth int) (any, error) {
	p.pos++
	d := &Dict{}
	if p.space(); p.take("}") {
		return d, nil
	}
	for {
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != '"' {
			return nil, p.fail("a property name in double quotes is missing")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if p.space(); !p.take(":") {
			return nil, p.fail("':' is missing")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		d.Set(key, v)
		p.space()
		if p.take("}") {
			return d, nil
		}
		if !p.take(",") {
			return nil, p.fail("',' is missing")
		}
	}
}

func (p *parser) array(depth int) (any, error) {
	p.pos++
	list := []any{}
	if p.space(); p.take("]") {
		return list, nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		p.space()
		if p.take("]") {
			return list, nil
		}
		if !p.take(",") {
			return nil, p.fail("',' is missing")
		}
	}
}

func (p *parser) str() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			s := p.text[start:p.pos]
			p.pos++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.fail("a control character stands in a string")
		}
		p.pos++
	}
	return "", p.fail("a string does not end")
}

// escaped goes on with a string from its first backslash.
func (p *parser) escaped(start int) (string, error) {
	var b strings.Builder
	b.WriteString(p.text[start:p.pos])
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch {
		case c == '"':
			return b.String(), nil
		case c < 0x20:
			return "", p.fail("a control character stands in a string")
		case c != '\\':
			b.WriteByte(c)
			continue
		}
		if p.pos >= len(p.text) {
			break
		}
		e := p.text[p.pos]
		p.pos++
		if e == 'u' {
			r, err := p.unicode()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, e)
		if i < 0 {
			return "", p.fail("an unknown escape stands in a string")
		}
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
	}
	return "", p.fail("a string does not end")
}

// unicode reads the four digits after \u, and the second half of a pair. A lone half becomes U+FFFD, since Go's
// strings cannot hold it.
func (p *parser) unicode() (rune, error) {
	r, ok := p.hex4()
	if !ok {
		return 0, p.fail("four hex digits are missing after \\u")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if rest := p.pos; p.take(`\u`) {
		if low, ok := p.hex4(); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, nil
			}
		}
		p.pos = rest
	}
	return utf8.RuneError, nil
}

func (p *parser) hex4() (rune, bool) {
	if p.pos+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.pos:p.pos+4], 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 4
	return rune(n), true
}

func (p *parser) digits() int {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - start
}

func (p *parser) number() (any, error) {
	start := p.pos
	p.take("-")
	first := p.pos
	if n := p.digits(); n == 0 || (n > 1 && p.text[first] == '0') {
		p.pos = start
		return nil, p.fail("a value is missing")
	}
	whole := true
	if mark := p.pos; p.take(".") {
		if whole = p.digits() == 0; whole {
			p.pos = mark
		}
	}
	if mark := p.pos; p.take("e") || p.take("E") {
		if !p.take("+") {
			p.take("-")
		}
		if p.digits() == 0 {
			p.pos = mark
		} else {
			whole = false
		}
	}
	text := p.text[start:p.pos]
	if !whole {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, p.fail("a number is malformed")
		}
		return f, nil
	}
	if len(text) > maxDigits {
		return nil, p.fail("an integer has too many digits")
	}
	n, _ := new(big.Int).SetString(text, 10)
	return Int(n), nil
}

// Dumps writes a value as json.dumps does by default: ", " and ": " between parts, everything beyond ASCII escaped,
// NaN and Infinity bare.
func Dumps(v any) string { return dumps(v, "") }

// DumpsIndent writes a value as json.dumps(v, indent=len(indent)) does.
func DumpsIndent(v any, indent string) string { return dumps(v, indent) }

func dumps(v any, indent string) string {
	w := writer{indent: indent}
	w.value(v, 0)
	return w.String()
}

type writer struct {
	strings.Builder
	indent string
}

func (w *writer) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case string:
		w.quote(v)
	case int64:
		w.WriteString(strconv.FormatInt(v, 10))
	case int:
		w.WriteString(strconv.Itoa(v))
	case float64:
		w.WriteString(jsonFloat(v))
	case *big.Int:
		w.WriteString(v.String())
	case []any:
		w.list(len(v), "[", "]", depth, func(i int) { w.value(v[i], depth+1) })
	case []string:
		w.list(len(v), "[", "]", depth, func(i int) { w.quote(v[i]) })
	case *Dict:
		w.list(v.Len(), "{", "}", depth, func(i int) {
			w.quote(v.keys[i])
			w.WriteString(": ")
			w.value(v.values[v.keys[i]], depth+1)
		})
	case map[string]any:
		w.value(sorted(v), depth)
	case map[string][]any:
		m := make(map[string]any, len(v))
		for k, list := range v {
			m[k] = list
		}
		w.value(sorted(m), depth)
	default:
		w.other(v, depth)
	}
}

// other writes Go values of further types by way of encoding/json.
func (w *writer) other(v any, depth int) {
	if n := Normalize(v); !isOther(n) {
		w.value(n, depth)
		return
	}
	text, err := json.Marshal(v)
	if err == nil {
		var parsed any
		if parsed, err = Parse(text); err == nil {
			w.value(parsed, depth)
			return
		}
	}
	w.quote(fmt.Sprint(v))
}

func isOther(v any) bool {
	switch v.(type) {
	case nil, bool, string, int64, float64, *big.Int, []any, *Dict:
		return false
	}
	return true
}

func sorted(m map[string]any) *Dict {
	d := &Dict{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		d.Set(k, m[k])
	}
	return d
}

func (w *writer) list(n int, open, end string, depth int, item func(int)) {
	w.WriteString(open)
	for i := range n {
		switch {
		case w.indent != "" && i > 0:
			w.WriteString(",\n" + strings.Repeat(w.indent, depth+1))
		case w.indent != "":
			w.WriteString("\n" + strings.Repeat(w.indent, depth+1))
		case i > 0:
			w.WriteString(", ")
		}
		item(i)
	}
	if w.indent != "" && n > 0 {
		w.WriteString("\n" + strings.Repeat(w.indent, depth))
	}
	w.WriteString(end)
}

func (w *writer) quote(s string) {
	w.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.WriteByte('\\')
			w.WriteByte(byte(r))
		case strings.ContainsRune("\b\f\n\r\t", r):
			w.WriteByte('\\')
			w.WriteByte("bfnrt"[strings.IndexByte("\b\f\n\r\t", byte(r))])
		case r >= 0x20 && r < 0x7f:
			w.WriteByte(byte(r))
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(w, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(w, `\u%04x`, r)
		}
	}
	w.WriteByte('"')
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return FloatRepr(f)
}

package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of what Parse accepts.
const (
	MaxBytes  = 32 << 20 // of one file
	maxDepth  = 200      // of nested JSON
	maxValues = 2 << 20  // JSON values in one file
)

// object is a JSON object in document order. Of repeated names the last one counts.
type object struct {
	keys []string
	vals []any
}

// get gives the member, or nil.
func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	for i := len(o.keys) - 1; i >= 0; i-- {
		if o.keys[i] == key {
			return o.vals[i]
		}
	}
	return nil
}

func (o *object) has(key string) bool {
	if o == nil {
		return false
	}
	for _, k := range o.keys {
		if k == key {
			return true
		}
	}
	return false
}

func (o *object) add(key string, v any) {
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
}

// MarshalJSON writes the members in document order.
func (o *object) MarshalJSON() ([]byte, error) { return appendJSON(nil, o), nil }

// decodeJSON reads one JSON document into nil, bool, string, json.Number, []any and *object.
// Strings without escapes share one copy of data. Errors are one line and name the place.
func decodeJSON(data []byte) (any, error) { return decodeLimited(data, MaxBytes, maxValues) }

// decodeLimited is decodeJSON with other bounds.
func decodeLimited(data []byte, maxBytes, maxValues int) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := precheck(data, maxBytes); err != nil {
		return nil, err
	}
	text := string(data)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		data = []byte(text)
	}
	d := &decoder{text: text, dec: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), left: maxValues}
	v, err := d.value(0)
	if err != nil {
		return nil, d.explain(err)
	}
	if rest := strings.TrimSpace(text[d.dec.InputOffset():]); rest != "" {
		return nil, fmt.Errorf("%s: something follows the end of the JSON value", d.place(d.dec.InputOffset()))
	}
	return v, nil
}

func precheck(data []byte, maxBytes int) error {
	if len(data) > maxBytes {
		return fmt.Errorf("the file has %d bytes, at most %d are read", len(data), maxBytes)
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(start) == 0:
		return errors.New("the file is empty")
	case start[0] == '<':
		return errors.New("this is a web page or XML, not JSON: download the file itself, not the page that shows it")
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("the text is UTF-16: save it as UTF-8")
	case bytes.HasPrefix(data, []byte("\x89PNG")) || bytes.HasPrefix(data, []byte("RIFF")):
		return errors.New("this is a picture: open it in ComfyUI and export the workflow as JSON")
	}
	return nil
}

type decoder struct {
	dec  *jsontext.Decoder
	text string
	left int // values that may still come
}

var (
	errDeep = fmt.Errorf("more than %d levels of nesting", maxDepth)
	errMany = errors.New("too many JSON values")
)

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	if d.left--; d.left < 0 {
		return nil, errMany
	}
	switch d.dec.PeekKind() {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		return d.str()
	case '0':
		raw, err := d.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(d.dec.InputOffset())
		return json.Number(d.text[end-len(raw) : end]), nil
	}
	tok, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 't', 'f':
		return tok.Bool(), nil
	default:
		return nil, nil
	}
}

func (d *decoder) object(depth int) (any, error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	o := &object{keys: make([]string, 0, 8), vals: make([]any, 0, 8)} // most objects of a graph have about as many
	for d.dec.PeekKind() == '"' {
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o.add(key, v)
	}
	_, err := d.dec.ReadToken()
	return o, err
}

func (d *decoder) array(depth int) (any, error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	list := []any{}
	for {
		if k := d.dec.PeekKind(); k == ']' || k == 0 {
			_, err := d.dec.ReadToken()
			return list, err
		}
		if cap(list) == 0 {
			list = make([]any, 0, 6) // a link has six
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

func (d *decoder) str() (string, error) {
	raw, err := d.dec.ReadValue()
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		end := int(d.dec.InputOffset())
		return d.text[end-len(raw)+1 : end-1], nil
	}
	out, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && len(out) == 0 {
		return "", err
	}
	return string(out), nil
}

// explain turns a decoder's error into one line that says where and, where known, what to do.
func (d *decoder) explain(err error) error {
	if errors.Is(err, errDeep) || errors.Is(err, errMany) {
		return err
	}
	offset := d.dec.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset = syntax.ByteOffset
	}
	offset = min(max(offset, 0), int64(len(d.text)))
	rest := strings.TrimLeft(d.text[offset:], " \t\r\n:,-")
	for _, word := range []string{"NaN", "Infinity"} {
		if strings.HasPrefix(rest, word) {
			return fmt.Errorf("%s: %s is not a JSON number: open the workflow in ComfyUI, mend the value and save it again", d.place(offset), word)
		}
	}
	if rest == "" {
		return fmt.Errorf("%s: the JSON ends too early, the file seems cut off", d.place(offset))
	}
	return fmt.Errorf("%s: not valid JSON near %s", d.place(offset), strconv.QuoteToASCII(clip(rest, 24)))
}

// place names a byte offset as line and column.
func (d *decoder) place(offset int64) string {
	before := d.text[:min(offset, int64(len(d.text)))]
	line := 1 + strings.Count(before, "\n")
	col := len(before) - strings.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d column %d", line, col)
}

// clip cuts s to at most n bytes at a rune border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// appendJSON writes v compactly and without HTML escapes. It knows the values decodeJSON makes, Ref,
// maps, and Go's own numbers.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case json.Number:
		if v == "" {
			return append(b, '0')
		}
		return append(b, v...)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case Ref:
		b = appendString(append(b, '['), v.Node)
		b = strconv.AppendInt(append(b, ','), int64(v.Slot), 10)
		return append(b, ']')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, e)
		}
		return append(b, ']')
	case *object:
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k), ':')
			b = appendJSON(b, v.vals[i])
		}
		return append(b, '}')
	}
	other, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, other...)
}

func appendString(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil { // invalid UTF-8 was replaced by U+FFFD, the text is still complete
		out, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// plain gives v with objects as maps, and its strings detached from the file's text, so that a small
// value does not keep a large file in memory.
func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case json.Number:
		return json.Number(strings.Clone(string(v)))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case *object:
		out := make(map[string]any, len(v.keys))
		for i, k := range v.keys {
			out[strings.Clone(k)] = plain(v.vals[i])
		}
		return out
	}
	return v
}

func asObject(v any) *object { o, _ := v.(*object); return o }
func asArray(v any) []any    { a, _ := v.([]any); return a }
func asString(v any) string  { s, _ := v.(string); return s }
func asBool(v any) bool      { b, _ := v.(bool); return b }

// asInt reads an integer, also one written 2.0.
func asInt(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if i, err := strconv.Atoi(string(n)); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

func asFloat(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

// asID gives a node or link id as text, whichever way it is written.
func asID(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			if i, ok := asInt(v); ok {
				return strconv.Itoa(i)
			}
		}
		return string(v)
	}
	return ""
}

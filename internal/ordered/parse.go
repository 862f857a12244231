package ordered

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

// MaxDepth is how deep a text may nest where Limits say nothing else.
const MaxDepth = 200

// Limits bound what is read. Zero means MaxDepth, and any number of values.
type Limits struct {
	Depth  int
	Values int
}

// Parse reads exactly one JSON value within MaxDepth.
func Parse(data []byte) (any, error) { return Limits{}.Parse(data) }

// Parse reads exactly one JSON value. A byte order mark before it is passed over; bytes that are no UTF-8 are replaced. An
// error is one line that names the place.
func (l Limits) Parse(data []byte) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := string(data)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		data = []byte(text)
	}
	if l.Depth == 0 {
		l.Depth = MaxDepth
	}
	p := &parser{text: text, dec: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), limits: l}
	v, err := p.value()
	if err != nil {
		return nil, p.explain(err)
	}
	if rest := strings.TrimSpace(text[p.dec.InputOffset():]); rest != "" {
		return nil, fmt.Errorf("%s: something follows the end of the JSON value", p.place(p.dec.InputOffset()))
	}
	return v, nil
}

type parser struct {
	dec    *jsontext.Decoder
	text   string
	limits Limits
	values int // read so far
}

// limitError says which bound was passed.
type limitError string

func (e limitError) Error() string { return string(e) }

func (p *parser) value() (any, error) {
	if p.values++; p.limits.Values > 0 && p.values > p.limits.Values {
		return nil, limitError(fmt.Sprintf("more than %d JSON values", p.limits.Values))
	}
	switch kind := p.dec.PeekKind(); kind {
	case '{', '[':
		if p.dec.StackDepth() >= p.limits.Depth {
			return nil, limitError(fmt.Sprintf("nested deeper than %d levels", p.limits.Depth))
		}
		if kind == '[' {
			return p.list()
		}
		return p.object()
	case '"':
		return p.str()
	case '0':
		raw, err := p.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(p.dec.InputOffset())
		return json.Number(p.text[end-len(raw) : end]), nil
	}
	token, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func (p *parser) object() (any, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	o := &Object{members: make([]Member, 0, 8)} // most objects have about as many
	for p.dec.PeekKind() == '"' {
		name, err := p.str()
		if err != nil {
			return nil, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		o.Add(name, v)
	}
	_, err := p.dec.ReadToken()
	return o, err
}

func (p *parser) list() (any, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	items := []any{}
	for {
		if kind := p.dec.PeekKind(); kind == ']' || kind == 0 {
			_, err := p.dec.ReadToken()
			return items, err
		}
		if cap(items) == 0 {
			items = make([]any, 0, 6) // a link of a workflow has six
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
}

func (p *parser) str() (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		end := int(p.dec.InputOffset())
		return p.text[end-len(raw)+1 : end-1], nil
	}
	out, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && len(out) == 0 {
		return "", err
	}
	return string(out), nil
}

// explain turns a decoder's error into one line that says where and, where known, what to do.
func (p *parser) explain(err error) error {
	var limit limitError
	if errors.As(err, &limit) {
		return fmt.Errorf("%s: %w", p.place(p.dec.InputOffset()), limit)
	}
	offset := p.dec.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset = syntax.ByteOffset
	}
	offset = min(max(offset, 0), int64(len(p.text)))
	rest := strings.TrimLeft(p.text[offset:], " \t\r\n:,-")
	for _, word := range []string{"NaN", "Infinity"} {
		if strings.HasPrefix(rest, word) {
			return fmt.Errorf("%s: %s is not a JSON number: mend the value where the file was made and save it again", p.place(offset), word)
		}
	}
	if rest == "" {
		return fmt.Errorf("%s: the JSON ends too early, the file seems cut off", p.place(offset))
	}
	return fmt.Errorf("%s: not valid JSON near %s", p.place(offset), strconv.QuoteToASCII(clip(rest, 24)))
}

// place names a byte offset as line and column, both from one.
func (p *parser) place(offset int64) string {
	before := p.text[:min(offset, int64(len(p.text)))]
	line := 1 + strings.Count(before, "\n")
	column := len(before) - strings.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
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

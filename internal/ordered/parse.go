package ordered

import (
	"bytes"
	"cmp"
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
	// Apart has strings not share the text's memory: for large texts of which little is kept. Short ones that come again are
	// one in memory.
	Apart bool
}

// Parse reads exactly one JSON value within MaxDepth.
func Parse(data []byte) (any, error) { return Limits{}.Parse(data) }

// ParseText is Parse of a text whose memory the strings of the value share.
func ParseText(text string) (any, error) {
	if strings.HasPrefix(text, mark) || !utf8.ValidString(text) {
		return Parse([]byte(text))
	}
	return Limits{}.parse([]byte(text), text)
}

// mark is a byte order mark.
const mark = "\xef\xbb\xbf"

// Parse reads exactly one JSON value. A byte order mark before it is passed over; bytes that are no UTF-8 are replaced. An
// error is one line that names the place.
func (l Limits) Parse(data []byte) (any, error) {
	data = bytes.TrimPrefix(data, []byte(mark))
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	text := ""
	if !l.Apart {
		text = string(data)
	}
	return l.parse(data, text)
}

func (l Limits) parse(data []byte, text string) (any, error) {
	l.Depth = cmp.Or(l.Depth, MaxDepth)
	p := &parser{data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), limits: l, text: text}
	if l.Apart {
		p.known = map[string]any{}
	}
	v, err := p.value()
	if err != nil {
		return nil, p.explain(err)
	}
	if rest := bytes.TrimSpace(data[p.dec.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("%s: something follows the end of the JSON value", p.place(p.dec.InputOffset()))
	}
	return v, nil
}

type parser struct {
	dec    *jsontext.Decoder
	data   []byte
	limits Limits
	values int // read so far

	text  string         // what strings share, if they do
	known map[string]any // short strings, if they don't

	members []Member // of the objects being read, and
	items   []any    // of the lists: they are copied when their number is known
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
		text, err := p.str()
		if same, known := p.known[text]; known {
			return same, err
		}
		return text, err
	case '0':
		raw, err := p.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if p.known != nil {
			return json.Number(raw), nil
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
	first := len(p.members)
	for p.dec.PeekKind() == '"' {
		name, err := p.str()
		if err != nil {
			return nil, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, Member{name, v})
	}
	o := &Object{members: append([]Member(nil), p.members[first:]...)}
	p.members = p.members[:first]
	o.reindex()
	_, err := p.dec.ReadToken()
	return o, err
}

func (p *parser) list() (any, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	first := len(p.items)
	for {
		if kind := p.dec.PeekKind(); kind == ']' || kind == 0 {
			items := append([]any{}, p.items[first:]...)
			p.items = p.items[:first]
			_, err := p.dec.ReadToken()
			return items, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, v)
	}
}

// short is how many bytes a string has at most that is looked for among those known.
const short = 64

func (p *parser) str() (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		out, err := jsontext.AppendUnquote(nil, raw)
		if err != nil && len(out) == 0 {
			return "", err
		}
		return string(out), nil
	}
	if p.known == nil {
		end := int(p.dec.InputOffset())
		return p.text[end-len(raw)+1 : end-1], nil
	}
	if len(inner) > short {
		return string(inner), nil
	}
	if same, known := p.known[string(inner)]; known {
		return same.(string), nil
	}
	text := string(inner)
	p.known[text] = text
	return text, nil
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
	offset = min(max(offset, 0), int64(len(p.data)))
	rest := strings.TrimLeft(string(p.data[offset:]), " \t\r\n:,-")
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
	before := p.data[:min(offset, int64(len(p.data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
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

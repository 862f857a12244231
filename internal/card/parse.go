package card

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep an answer may nest.
const maxDepth = 100

// object is a JSON object in the order of its members; the other values are []any, string, json.Number, bool and nil.
type object []member

type member struct {
	key   string
	name  string // the key without case and separators: confirmation_number is confirmationNumber
	value any
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func newMember(key string, value any) member {
	return member{key, strings.ToLower(separators.Replace(key)), value}
}

// Parse reads an answer. It reports false for what is no JSON object or list, and for what is larger than 256 KiB.
func Parse(text string) (Answer, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxAnswer || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return Answer{}, false
	}
	d := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := readValue(d)
	if err != nil {
		return Answer{}, false
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return Answer{}, false
	}
	r := reader{}
	r.read(value)
	if len(r.out.Cards) == 0 && len(r.out.Actions) == 0 {
		return Answer{}, false // {} and [] say nothing that would be better said
	}
	return r.out, true
}

func readValue(d *jsontext.Decoder) (any, error) {
	if d.StackDepth() > maxDepth {
		return nil, errors.New("nested too deep")
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return readObject(d)
	case '[':
		return readList(d)
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func readObject(d *jsontext.Decoder) (object, error) {
	o := object{}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String() // the next read takes the token's place
		value, err := readValue(d)
		if err != nil {
			return nil, err
		}
		o = append(o, newMember(name, value))
	}
	_, err := d.ReadToken()
	return o, err
}

func readList(d *jsontext.Decoder) ([]any, error) {
	list := []any{}
	for d.PeekKind() != ']' {
		item, err := readValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := d.ReadToken()
	return list, err
}

// take removes the first of the named members that is there and gives its value.
func (o *object) take(names ...string) any {
	for _, name := range names {
		for i, m := range *o {
			if m.name == name && m.value != nil {
				*o = slices.Delete(slices.Clone(*o), i, i+1)
				return m.value
			}
		}
	}
	return nil
}

// has reports whether one of the named members is there.
func (o object) has(names ...string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return slices.Contains(names, m.name) && m.value != nil })
}

// plain gives a value as tools take it: with map[string]any for objects.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		members := make(map[string]any, len(v))
		for _, m := range v {
			members[m.key] = plain(m.value)
		}
		return members
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = plain(item)
		}
		return items
	}
	return v
}

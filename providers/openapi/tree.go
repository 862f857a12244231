package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep a document may nest.
const maxDepth = 200

// object is a JSON object that keeps its order: inputs stand as the document's author put them. The other
// values of a tree are []any, string, json.Number, bool and nil; numbers keep all their digits.
type object struct {
	members []member
	index   map[string]int // of objects with more than few members
}

// few is the number of members up to which looking at all is quicker than an index.
const few = 16

type member struct {
	key   string
	value any
}

// at finds a member by its key, -1 where there is none. It may be called on a nil object.
func (o *object) at(key string) int {
	if o == nil {
		return -1
	}
	if o.index == nil {
		return slices.IndexFunc(o.members, func(m member) bool { return m.key == key })
	}
	if i, there := o.index[key]; there {
		return i
	}
	return -1
}

// get gives a member's value, nil where there is none.
func (o *object) get(key string) any {
	if i := o.at(key); i >= 0 {
		return o.members[i].value
	}
	return nil
}

func (o *object) has(key string) bool { return o.at(key) >= 0 }

func (o *object) set(key string, value any) {
	if i := o.at(key); i >= 0 {
		o.members[i].value = value
		return
	}
	o.members = append(o.members, member{key, value})
	if o.index != nil {
		o.index[key] = len(o.members) - 1
	} else if len(o.members) > few {
		o.reindex()
	}
}

func (o *object) drop(key string) {
	if i := o.at(key); i >= 0 {
		o.members = slices.Delete(o.members, i, i+1)
		o.reindex()
	}
}

// reindex makes the index anew, or none for few members.
func (o *object) reindex() {
	o.index = nil
	if len(o.members) <= few {
		return
	}
	o.index = make(map[string]int, 2*len(o.members))
	for i, m := range o.members {
		o.index[m.key] = i
	}
}

// all are the object's members in their order, none for a nil one.
func (o *object) all() []member {
	if o == nil {
		return nil
	}
	return o.members
}

func (o *object) object(key string) *object {
	found, _ := o.get(key).(*object)
	return found
}

func (o *object) list(key string) []any {
	found, _ := o.get(key).([]any)
	return found
}

func (o *object) text(key string) string {
	found, _ := o.get(key).(string)
	return strings.TrimSpace(found)
}

func (o *object) truth(key string) bool {
	found, _ := o.get(key).(bool)
	return found
}

func (o *object) number(key string) json.Number {
	found, _ := o.get(key).(json.Number)
	return found
}

// MarshalJSON writes the members as they stand.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			b.WriteByte(',')
		}
		for _, part := range []any{m.key, m.value} {
			raw, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			b.Write(raw)
			b.WriteByte(':')
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain gives a value of a tree as registry values are: with map[string]any for objects.
func plain(v any) any {
	switch v := v.(type) {
	case *object:
		members := make(map[string]any, len(v.members))
		for _, m := range v.members {
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

// parseTree reads exactly one JSON object. Of members with one name the last counts.
func parseTree(data []byte) (*object, error) {
	v, err := parseValue(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errors.New("it is no JSON object")
	}
	return o, nil
}

// parseJSON reads exactly one JSON value.
func parseJSON(data []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := readValue(d)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text after the end of the JSON value")
	}
	return v, nil
}

func readValue(d *jsontext.Decoder) (any, error) {
	if d.StackDepth() > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
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

func readObject(d *jsontext.Decoder) (*object, error) {
	o := &object{}
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
		o.set(name, value)
	}
	_, err := d.ReadToken()
	return o, err
}

func readList(d *jsontext.Decoder) ([]any, error) {
	items := []any{}
	for d.PeekKind() != ']' {
		item, err := readValue(d)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken()
	return items, err
}

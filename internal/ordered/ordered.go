// Package ordered reads JSON into trees that keep what encoding/json forgets: the order of members, repeated names, and
// every digit of a number.
//
// A tree's values are nil, bool, string, json.Number, []any and *Object. Strings share the memory of the text they were
// read from unless Limits say otherwise; Plain gives a value that does not.
package ordered

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Member is one member of an object.
type Member struct {
	Name  string
	Value any
}

// Object is a JSON object in the order of its text. Of members with one name the last counts. The zero value is an empty
// object; a nil one can be read, too.
type Object struct {
	members []Member
	index   map[string]int // of objects with more than few members
}

// few is the number of members up to which looking at all is quicker than an index.
const few = 32

// Of makes an object of members.
func Of(members ...Member) *Object { return &Object{members: members} }

// Members are the members in their order. The caller must not change them.
func (o *Object) Members() []Member {
	if o == nil {
		return nil
	}
	return o.members
}

// Len is the number of members.
func (o *Object) Len() int { return len(o.Members()) }

// at finds a member by its name, -1 where there is none.
func (o *Object) at(name string) int {
	if o == nil {
		return -1
	}
	if o.index != nil {
		if i, there := o.index[name]; there {
			return i
		}
		return -1
	}
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].Name == name {
			return i
		}
	}
	return -1
}

// Get gives a member's value, nil where there is none.
func (o *Object) Get(name string) any {
	if i := o.at(name); i >= 0 {
		return o.members[i].Value
	}
	return nil
}

// Has reports whether there is a member of that name, if only null.
func (o *Object) Has(name string) bool { return o.at(name) >= 0 }

// Repeats reports whether there is a name twice.
func (o *Object) Repeats() bool {
	for i, m := range o.Members() {
		if o.at(m.Name) != i {
			return true
		}
	}
	return false
}

// Add appends a member, also one whose name is there already.
func (o *Object) Add(name string, value any) {
	o.members = append(o.members, Member{name, value})
	switch {
	case o.index != nil:
		o.index[name] = len(o.members) - 1
	case len(o.members) > few:
		o.reindex()
	}
}

// Set gives the member of that name another value, or appends one.
func (o *Object) Set(name string, value any) {
	if i := o.at(name); i >= 0 {
		o.members[i].Value = value
		return
	}
	o.Add(name, value)
}

// Drop takes the member of that name away.
func (o *Object) Drop(name string) {
	if i := o.at(name); i >= 0 {
		o.members = slices.Delete(o.members, i, i+1)
		o.reindex()
	}
}

// Object gives a member that is an object, nil for any other.
func (o *Object) Object(name string) *Object {
	found, _ := o.Get(name).(*Object)
	return found
}

// List gives a member that is a list, nil for any other.
func (o *Object) List(name string) []any {
	found, _ := o.Get(name).([]any)
	return found
}

// Text gives a member that is a string, without the space around it, "" for any other.
func (o *Object) Text(name string) string {
	found, _ := o.Get(name).(string)
	return strings.TrimSpace(found)
}

// Bool reports whether a member is true.
func (o *Object) Bool(name string) bool { return o.Get(name) == true }

// Number gives a member that is a number, "" for any other.
func (o *Object) Number(name string) json.Number {
	found, _ := o.Get(name).(json.Number)
	return found
}

func (o *Object) reindex() {
	o.index = nil
	if len(o.members) <= few {
		return
	}
	o.index = make(map[string]int, 2*len(o.members))
	for i, m := range o.members {
		o.index[m.Name] = i
	}
}

// MarshalJSON writes the members as they stand.
func (o *Object) MarshalJSON() ([]byte, error) { return Append(nil, o), nil }

// Plain gives a value with map[string]any for objects, which keeps nothing of the text it was read from in memory.
func Plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case json.Number:
		return json.Number(strings.Clone(string(v)))
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = Plain(item)
		}
		return items
	case *Object:
		members := make(map[string]any, len(v.members))
		for _, m := range v.members {
			members[strings.Clone(m.Name)] = Plain(m.Value)
		}
		return members
	}
	return v
}

// Appender is a value of a tree that writes itself.
type Appender interface{ AppendJSON(b []byte) []byte }

// Append writes a value compactly and without HTML escapes. Beside a tree's own values it takes Appenders and whatever
// encoding/json takes; what that refuses becomes null.
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return AppendString(b, v)
	case json.Number:
		if v == "" {
			return append(b, '0')
		}
		return append(b, v...)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, item)
		}
		return append(b, ']')
	case *Object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendString(b, m.Name), ':')
			b = Append(b, m.Value)
		}
		return append(b, '}')
	case Appender:
		return v.AppendJSON(b)
	}
	other, err := Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, other...)
}

// Compact is what Append writes, as a text.
func Compact(v any) string { return string(Append(nil, v)) }

// Marshal is json.Marshal without the escaping of <, > and &, which nobody who reads a definition wants to see.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil // without the room that the buffer has grown
}

// AppendString writes a string.
func AppendString(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil { // invalid UTF-8 was replaced by U+FFFD, the text is still complete
		out, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

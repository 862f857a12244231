package card

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

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
	tree, err := ordered.Parse([]byte(text))
	if err != nil {
		return Answer{}, false
	}
	r := reader{}
	r.read(named(tree))
	if len(r.out.Cards) == 0 && len(r.out.Actions) == 0 {
		return Answer{}, false // {} and [] say nothing that would be better said
	}
	return r.out, true
}

// named gives a tree with objects whose members are found by their names.
func named(v any) any {
	switch v := v.(type) {
	case *ordered.Object:
		o := make(object, 0, v.Len())
		for _, m := range v.Members() {
			o = append(o, newMember(m.Name, named(m.Value)))
		}
		return o
	case []any:
		for i, item := range v {
			v[i] = named(item)
		}
	}
	return v
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

// Package jsonsample draws a value that shows people what a JSON Schema takes.
package jsonsample

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/ordered"
)

const (
	maxDepth   = 6
	maxBytes   = 400 // beyond which what lies deeper is left out
	maxMembers = 6   // of an object, those that it needs first
)

// formats are texts of the usual formats.
var formats = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T09:30:00Z", "time": "09:30:00Z", "duration": "PT5M", "email": "ann@example.org",
	"uri": "https://example.org", "url": "https://example.org", "uuid": "123e4567-e89b-12d3-a456-426614174000",
}

// Of is a value of the shape that a schema wants, as JSON in one line: its own default or example where it has one, the first of its choices,
// "..." for other texts. It shows how to write a value, and may break bounds. Empty: the schema can't be read or takes any value.
func Of(schema json.RawMessage) string {
	v, err := ordered.Parse(schema)
	if err != nil {
		return ""
	}
	sample := ""
	for depth := maxDepth; depth > 0 && (sample == "" || len(sample) > maxBytes); depth-- {
		if value := drawn(v, depth); value != nil {
			sample = string(ordered.Append(nil, value))
		}
	}
	return sample
}

func drawn(v any, depth int) any {
	s, _ := v.(*ordered.Object)
	if s == nil || depth < 0 {
		return nil
	}
	for _, own := range []any{s.Get("const"), s.Get("default"), first(s.List("examples")), s.Get("example"), first(s.List("enum"))} {
		if own != nil {
			return own
		}
	}
	for _, choice := range []string{"oneOf", "anyOf"} {
		for _, one := range s.List(choice) {
			if value := drawn(one, depth-1); value != nil {
				return value
			}
		}
	}
	switch kind := kindOf(s); {
	case kind == "object":
		return object(s, depth)
	case kind == "array":
		if item := drawn(s.Get("items"), depth-1); item != nil {
			return []any{item}
		}
		return []any{}
	case kind == "string":
		if text := formats[s.Text("format")]; text != "" {
			return text
		}
		return "..."
	case kind == "boolean":
		return true
	case kind == "integer", kind == "number":
		if low := s.Number("minimum"); low != "" {
			return low
		}
		return json.Number("1")
	}
	for _, part := range s.List("allOf") {
		if value := drawn(part, depth-1); value != nil {
			return value
		}
	}
	return nil
}

// object draws the members that are needed and then others, up to maxMembers, those of allOf included: what is said of one later counts.
func object(s *ordered.Object, depth int) any {
	members, needed := &ordered.Object{}, map[string]bool{}
	gather(s, members, needed, depth)
	made := &ordered.Object{}
	for _, wanted := range []bool{true, false} {
		for _, m := range members.Members() {
			if needed[m.Name] != wanted || made.Len() == maxMembers {
				continue
			}
			if value := drawn(m.Value, depth-1); value != nil {
				made.Set(m.Name, value)
			}
		}
	}
	return made
}

func gather(s, members *ordered.Object, needed map[string]bool, depth int) {
	if depth < 0 {
		return
	}
	for _, m := range s.Object("properties").Members() {
		members.Set(m.Name, m.Value)
	}
	for _, name := range s.List("required") {
		if text, ok := name.(string); ok {
			needed[text] = true
		}
	}
	for _, part := range s.List("allOf") {
		o, _ := part.(*ordered.Object)
		gather(o, members, needed, depth-1)
	}
}

func kindOf(s *ordered.Object) string {
	switch kind := s.Get("type").(type) {
	case string:
		return kind
	case []any:
		for _, one := range kind {
			if text, _ := one.(string); text != "null" {
				return text
			}
		}
	}
	if s.Has("properties") {
		return "object"
	}
	for _, part := range s.List("allOf") {
		if o, _ := part.(*ordered.Object); kindOf(o) == "object" {
			return "object"
		}
	}
	return ""
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// style is how a value is written as text, as parameters and forms have it.
type style struct {
	Style    string `json:"style,omitempty"`
	Explode  bool   `json:"explode,omitempty"`
	Reserved bool   `json:"reserved,omitempty"` // reserved characters stay as they are
}

// pairs writes a value as "name=value" for a query, a form or cookies, percent-encoded.
func (s style) pairs(name string, value any) []string {
	name = escape(name)
	if s.Style == "deepObject" {
		return s.deep(name, value)
	}
	var list []string
	members, isObject := value.(map[string]any)
	items, isList := value.([]any)
	switch {
	case isObject && s.Explode:
		for _, key := range sortedKeys(members) {
			if members[key] != nil {
				list = append(list, escape(key)+"="+s.escape(text(members[key])))
			}
		}
		return list
	case isList && s.Explode:
		for _, item := range items {
			list = append(list, name+"="+s.escape(text(item)))
		}
		return list
	}
	for _, part := range inRow(value, false) {
		list = append(list, s.escape(part))
	}
	return []string{name + "=" + strings.Join(list, cmp.Or(map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}[s.Style], ","))}
}

// deep writes a member of an object behind the names that lead to it: a[b][0]=value. The specification leaves lists open; most
// services read them by number.
func (s style) deep(name string, value any) []string {
	var list []string
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for _, key := range sortedKeys(v) {
			list = append(list, s.deep(name+"%5B"+escape(key)+"%5D", v[key])...)
		}
	case []any:
		for i, item := range v {
			list = append(list, s.deep(name+"%5B"+strconv.Itoa(i)+"%5D", item)...)
		}
	default:
		list = append(list, name+"="+s.escape(text(v)))
	}
	return list
}

// escape encodes all but the unreserved characters of RFC 3986.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// unreserve undoes the encoding of reserved characters that mean nothing between the pairs of a query.
var unreserve = strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%40", "@", "%21", "!", "%24", "$", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%3B", ";", "%3D", "=")

func (s style) escape(value string) string {
	if s.Reserved {
		return unreserve.Replace(escape(value))
	}
	return escape(value)
}

// inPath writes a value as a part of a path.
func (s style) inPath(name string, value any) string {
	var parts []string
	for _, part := range inRow(value, s.Explode) {
		parts = append(parts, url.PathEscape(part))
	}
	switch s.Style {
	case "label":
		return "." + strings.Join(parts, map[bool]string{true: ".", false: ","}[s.Explode])
	case "matrix":
		if _, isObject := value.(map[string]any); isObject && s.Explode {
			return ";" + strings.Join(parts, ";")
		}
		if s.Explode {
			return ";" + name + "=" + strings.Join(parts, ";"+name+"=")
		}
		return ";" + name + "=" + strings.Join(parts, ",")
	}
	return strings.Join(parts, ",")
}

// inRow are the parts of a value: a list's items, an object's names and values, or the value itself.
func inRow(value any, explode bool) []string {
	var parts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, text(item))
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			switch {
			case v[name] == nil:
			case explode:
				parts = append(parts, name+"="+text(v[name]))
			default:
				parts = append(parts, name, text(v[name]))
			}
		}
	default:
		parts = append(parts, text(v))
	}
	return parts
}

// text is a value as text: a text itself, all else as JSON.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return asJSON(value)
}

func asJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

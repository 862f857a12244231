package registry

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// kindOf names a value of a tree as JSON Schema does.
func kindOf(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case *ordered.Object:
		return "object"
	}
	return "null"
}

// excerpt shows a wrong value in a message, never much of it.
func excerpt(v any) string {
	switch v.(type) {
	case []any, *ordered.Object, nil:
		return kindOf(v)
	}
	text := ordered.Compact(v)
	if len(text) > 40 {
		text = string(bytes.ToValidUTF8([]byte(text[:40]), nil)) + "..."
	}
	return kindOf(v) + " " + text
}

// joinPath appends a key to a field path.
func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	if strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}

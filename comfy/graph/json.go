package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// Limits of what Parse accepts.
const (
	MaxBytes  = 32 << 20 // of one file
	maxValues = 2 << 20  // JSON values in one file
)

// object is a JSON object in document order. Of repeated names the last one counts.
type object = ordered.Object

// decodeJSON reads one JSON document into a tree. Errors are one line and name the place.
func decodeJSON(data []byte) (any, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the file has %d bytes, at most %d are read", len(data), MaxBytes)
	}
	switch err := ordered.Mistaken(data); {
	case errors.Is(err, ordered.ErrPicture):
		return nil, errors.New("this is a picture: open it in ComfyUI and export the workflow as JSON")
	case err != nil:
		return nil, err
	}
	return ordered.Limits{Values: maxValues}.Parse(data)
}

func asObject(v any) *object { o, _ := v.(*object); return o }
func asArray(v any) []any    { a, _ := v.([]any); return a }
func asString(v any) string  { s, _ := v.(string); return s }

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
			if i, ok := ordered.Int(v); ok {
				return strconv.Itoa(i)
			}
		}
		return string(v)
	}
	return ""
}

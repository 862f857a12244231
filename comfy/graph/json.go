package graph

import (
	"bytes"
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
func decodeJSON(data []byte) (any, error) { return decodeLimited(data, MaxBytes, maxValues) }

// decodeLimited is decodeJSON with other bounds.
func decodeLimited(data []byte, maxBytes, maxValues int) (any, error) {
	if err := precheck(data, maxBytes); err != nil {
		return nil, err
	}
	return ordered.Limits{Values: maxValues}.Parse(data)
}

// precheck refuses what people give by mistake in words that help them.
func precheck(data []byte, maxBytes int) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(data) > maxBytes {
		return fmt.Errorf("the file has %d bytes, at most %d are read", len(data), maxBytes)
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(start) == 0:
		return errors.New("the file is empty")
	case start[0] == '<':
		return errors.New("this is a web page or XML, not JSON: download the file itself, not the page that shows it")
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("the text is UTF-16: save it as UTF-8")
	case bytes.HasPrefix(data, []byte("\x89PNG")) || bytes.HasPrefix(data, []byte("RIFF")):
		return errors.New("this is a picture: open it in ComfyUI and export the workflow as JSON")
	}
	return nil
}

func asObject(v any) *object { o, _ := v.(*object); return o }
func asArray(v any) []any    { a, _ := v.([]any); return a }
func asString(v any) string  { s, _ := v.(string); return s }
func asBool(v any) bool      { b, _ := v.(bool); return b }

// asInt reads an integer, also one written 2.0.
func asInt(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if i, err := strconv.Atoi(string(n)); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

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
			if i, ok := asInt(v); ok {
				return strconv.Itoa(i)
			}
		}
		return string(v)
	}
	return ""
}

package openapi

import (
	"bytes"
	"errors"

	"github.com/signalbox/signalbox/internal/ordered"
)

// parseTree reads exactly one object in JSON or YAML. Trees keep the order of members, so that inputs stand as the
// document's author put them, and all digits of numbers.
func parseTree(data []byte) (*ordered.Object, error) {
	v, err := parseValue(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*ordered.Object)
	if !ok {
		return nil, errors.New("it is no JSON object")
	}
	return o, nil
}

// parseValue reads exactly one value in JSON or YAML.
func parseValue(data []byte) (any, error) {
	if text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); !bytes.HasPrefix(text, []byte("{")) {
		return parseYAML(text)
	}
	return ordered.Limits{Apart: true}.Parse(data)
}

package openapi

import (
	"bytes"
	"errors"
	"fmt"

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
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if !bytes.HasPrefix(data, []byte("{")) {
		return parseYAML(data)
	}
	v, err := ordered.Limits{Apart: true}.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	return v, nil
}

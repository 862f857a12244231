package store

import (
	"bytes"
	"encoding/json"
)

// Unmarshal reads JSON with numbers kept as json.Number: a 64-bit seed must not pass through a float.
func Unmarshal(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

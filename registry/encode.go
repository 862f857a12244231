package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"

	"github.com/signalbox/signalbox/internal/ordered"
)

// versionDigits is the length of a Version in hex digits.
const versionDigits = 12

// Encode writes the definition as canonical JSON: known members in the order of the contract, inputs
// and outputs in their own order, keys of free-form objects sorted, numbers digit by digit as they
// came, no blanks. Equal tools give equal bytes, and DecodeTool reads them back equal.
func Encode(t Tool) ([]byte, error) {
	data, err := ordered.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("tool %q: encode definition: %w", t.ToolID, err)
	}
	return data, nil
}

// Equal reports whether two definitions say the same.
func (t *Tool) Equal(o *Tool) bool {
	a, errA := Encode(*t)
	b, errB := Encode(*o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// MarshalJSON writes the bare value, or {"value": ..., "label": ...} where there is a label or the
// value is itself an object.
func (c Choice) MarshalJSON() ([]byte, error) {
	if _, isObject := c.Value.(map[string]any); c.Label == "" && !isObject {
		return ordered.Marshal(c.Value)
	}
	return ordered.Marshal(struct {
		Value any    `json:"value"`
		Label string `json:"label,omitempty"`
	}{c.Value, c.Label})
}

// Seal sets Version to the hash of everything in the definition but its version and its status, so
// that a service that goes down and comes back does not look like a new tool. Nor does one whose
// address is written out that it has anyway.
func (t *Tool) Seal() error {
	bare := *t
	bare.Version, bare.Status = "", nil
	if bare.APIPath == defaultRunPath(bare.ToolID) {
		bare.APIPath = ""
	}
	data, err := Encode(bare)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	t.Version = hex.EncodeToString(sum[:])[:versionDigits]
	return nil
}

// Clone gives a copy that shares nothing with t.
func (t Tool) Clone() Tool { return clone(t) }

// Clone gives a copy that shares nothing with s.
func (s InputSchema) Clone() InputSchema { return clone(s) }

// clone copies a value with everything it leads to. It must not lead back to itself, and have no unexported fields.
func clone[T any](v T) T {
	copied := reflect.ValueOf(&v).Elem()
	unshare(copied)
	return v
}

// unshare replaces what v leads to by copies.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			unshare(field)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(unshared(v.Elem()).Addr())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(unshared(v.Elem()))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		items := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(items, v)
		for i := 0; hasParts(v.Type().Elem()) && i < items.Len(); i++ {
			unshare(items.Index(i))
		}
		v.Set(items)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		members := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			members.SetMapIndex(key, unshared(value))
		}
		v.Set(members)
	}
}

// unshared gives a copy of v that can be addressed.
func unshared(v reflect.Value) reflect.Value {
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	unshare(copied)
	return copied
}

// hasParts reports whether values of a type can lead to others.
func hasParts(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	}
	return false
}

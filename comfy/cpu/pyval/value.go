// Package pyval holds the few semantics of Python values that show through ComfyUI's protocol: JSON as Python reads
// and writes it (NaN, big integers, ordered objects), the conversions int(), float(), str(), bool(), and repr().
//
// A value is nil, bool, int64, *big.Int (only beyond int64), float64, string, []any, or *Dict.
package pyval

import (
	"maps"
	"math"
	"math/big"
	"slices"
)

// Dict is a JSON object that keeps the order of its keys. The zero value is empty and ready.
type Dict struct {
	keys   []string
	values map[string]any
}

// D makes a dict of alternating keys and values, for literals in code. It panics on an odd count or a key that is no
// string, since both are mistakes in the code.
func D(pairs ...any) *Dict {
	d := &Dict{}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i].(string), pairs[i+1])
	}
	return d
}

// Get gives the value of a key.
func (d *Dict) Get(key string) (any, bool) {
	v, ok := d.values[key]
	return v, ok
}

// At gives the value of a key, or nil.
func (d *Dict) At(key string) any { return d.values[key] }

// Set puts a value; a key that is there keeps its place.
func (d *Dict) Set(key string, value any) {
	if d.values == nil {
		d.values = map[string]any{}
	}
	if _, ok := d.values[key]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
}

// Delete removes a key.
func (d *Dict) Delete(key string) {
	if _, ok := d.values[key]; !ok {
		return
	}
	delete(d.values, key)
	for i, k := range d.keys {
		if k == key {
			d.keys = append(d.keys[:i:i], d.keys[i+1:]...)
			return
		}
	}
}

// Keys gives the keys in order; the slice must not be changed.
func (d *Dict) Keys() []string { return d.keys }

// Len counts the keys.
func (d *Dict) Len() int { return len(d.keys) }

// Normalize brings Go's other number types and maps into the value types of this package. Map keys are sorted.
func Normalize(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return Int(new(big.Int).SetUint64(v))
	case float32:
		return float64(v)
	case *big.Int:
		return Int(v)
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case map[string]any:
		d := &Dict{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			d.Set(k, Normalize(v[k]))
		}
		return d
	default:
		return v
	}
}

// Int gives the smallest form of an integer: int64 where it fits, else *big.Int.
func Int(v *big.Int) any {
	if v.IsInt64() {
		return v.Int64()
	}
	return v
}

// Big gives any integer as *big.Int; ok is false for other values.
func Big(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	}
	return nil, false
}

// Float gives any number as float64; ok is false for other values.
func Float(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// Compare orders two numbers exactly, also a large integer against a float. ok is false when one is not a number or is
// NaN, which orders with nothing.
func Compare(a, b any) (order int, ok bool) {
	fa, oka := Float(a)
	fb, okb := Float(b)
	if !oka || !okb || math.IsNaN(fa) || math.IsNaN(fb) {
		return 0, false
	}
	ba, inta := Big(a)
	bb, intb := Big(b)
	switch {
	case inta && intb:
		return ba.Cmp(bb), true
	case math.IsInf(fa, 0) || math.IsInf(fb, 0) || (!inta && !intb):
		return cmpFloat(fa, fb), true
	case inta:
		return new(big.Float).SetInt(ba).Cmp(big.NewFloat(fb)), true
	default:
		return big.NewFloat(fa).Cmp(new(big.Float).SetInt(bb)), true
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Equal is Python's ==: 1 == 1.0 == True, lists and dicts by content.
func Equal(a, b any) bool {
	if order, ok := Compare(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := b.(string)
		return ok && s == a
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			return false
		}
		for i := range a {
			if !Equal(a[i], l[i]) {
				return false
			}
		}
		return true
	case *Dict:
		d, ok := b.(*Dict)
		if !ok || d.Len() != a.Len() {
			return false
		}
		for k, v := range a.values {
			w, ok := d.values[k]
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	return false
}

// Truth is bool(v).
func Truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case *Dict:
		return v.Len() > 0
	}
	return true
}

package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// ReadStrict reads a file that people write, as JSON, into what to points to. Keys that it has no field for are refused, all at
// once as Problems, each with the one that was probably meant.
func ReadStrict(data []byte, to any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("it is empty")
	}
	v, err := ordered.Parse(data)
	if err != nil {
		return err
	}
	var d decoder
	d.refuseUnknown(v, reflect.TypeOf(to).Elem(), "")
	if err := d.problems.Err(); err != nil {
		return err
	}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(to); err != nil {
		return fmt.Errorf("it is not as expected: %w", err)
	}
	return nil
}

// refuseUnknown looks for keys that no field of a type takes. What types read by themselves is theirs to judge.
func (d *decoder) refuseUnknown(v any, of reflect.Type, path string) {
	if reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	o, isObject := v.(*ordered.Object)
	switch of.Kind() {
	case reflect.Pointer:
		d.refuseUnknown(v, of.Elem(), path)
	case reflect.Slice:
		list, _ := v.([]any)
		for i, item := range list {
			d.refuseUnknown(item, of.Elem(), path+"["+strconv.Itoa(i)+"]")
		}
	case reflect.Map:
		for _, m := range o.Members() {
			d.refuseUnknown(m.Value, of.Elem(), joinPath(path, m.Name))
		}
	case reflect.Struct:
		if !isObject {
			return
		}
		members := d.members(of)
		var known []string
		for _, f := range members {
			known = append(known, f.name)
		}
		for _, m := range o.Members() {
			at := joinPath(path, m.Name)
			i := slices.IndexFunc(known, func(name string) bool { return strings.EqualFold(name, m.Name) })
			if i < 0 {
				d.bad(at, "unknown key%s", didYouMean(m.Name, known))
				continue
			}
			d.refuseUnknown(m.Value, of.FieldByIndex(members[i].index).Type, at)
		}
	}
}

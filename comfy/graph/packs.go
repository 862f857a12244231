package graph

import (
	"encoding/json"

	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// readPack maps a value list by the version of the class whose widgets it fits in number and kind.
func (n *FlatNode) readPack(values []any) bool {
	for len(values) > 0 && (values[len(values)-1] == nil || values[len(values)-1] == "") {
		values = values[:len(values)-1] // buttons
	}
	for _, c := range objectinfo.Versions(n.Class) {
		r := widgetReader{values: values, lax: true}
		if r.read(c.Inputs, ""); r.next == len(values)-1 && (values[r.next] == KindImage || values[r.next] == KindVideo) {
			r.next++ // the button of an upload
		}
		if r.exact() && fits(c.Inputs, r.out) {
			n.Inputs, n.control = r.out, r.control
			return true
		}
	}
	return false
}

// fits says whether each value is of the kind its widget holds.
func fits(list []objectinfo.Input, values Inputs) bool {
	for i := range list {
		v, ok := values.Get(list[i].Name)
		if !ok {
			return false
		}
		switch list[i].Type {
		case "INT", "FLOAT":
			_, ok = v.(json.Number)
		case "BOOLEAN":
			_, ok = v.(bool)
		default:
			_, ok = v.(string)
		}
		if !ok {
			return false
		}
	}
	return true
}

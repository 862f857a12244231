package graph

import (
	"encoding/json"

	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// readPack maps a value list by the version of the class whose widgets it fits in number and kind.
func (n *FlatNode) readPack(values []any) bool {
	for _, c := range objectinfo.Versions(n.Class) {
		for end := len(values); end > 0; end-- {
			r := widgetReader{values: values[:end], lax: true}
			if r.read(c.Inputs, ""); r.next == end-1 && (values[r.next] == KindImage || values[r.next] == KindVideo) {
				r.next++ // the button of an upload
			}
			if r.exact() && fits(c.Inputs, r.out) {
				n.Inputs, n.control = r.out, r.control
				return true
			}
			if _, choices := values[end-1].([]any); !choices && values[end-1] != nil && values[end-1] != "" {
				break // neither a button nor what one offers: a value
			}
		}
	}
	return false
}

// fits says whether each value is of the kind its widget holds.
func fits(list []objectinfo.Input, values Inputs) bool {
	for i := range list {
		ok := false
		switch v, _ := values.Get(list[i].Name); list[i].Type {
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

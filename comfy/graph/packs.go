package graph

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// packs holds the widgets of classes of well-known node packs, for graphs of the time when files did not name
// them. A class has a line for each version whose widgets differ. It is never modified.
var packs = parsePacks()

// packWidgets is written as builtinWidgets is; a ~ in a name stands for a space.
//
//go:embed packs.txt
var packWidgets string

func parsePacks() map[string][]*ClassInfo {
	out := map[string][]*ClassInfo{}
	for line := range strings.Lines(packWidgets) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		c := &ClassInfo{Name: strings.ReplaceAll(name, "~", " ")}
		for field := range strings.FieldsSeq(rest) {
			widget, typ, _ := strings.Cut(field, "=")
			c.Inputs = append(c.Inputs, builtinSpec(strings.ReplaceAll(widget, "~", " "), typ))
		}
		out[c.Name] = append(out[c.Name], c)
	}
	return out
}

// readPack maps a value list by the version of the class whose widgets it fits in number and kind.
func (n *FlatNode) readPack(values []any) bool {
	for _, c := range packs[n.Class] {
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
func fits(list []InputSpec, values Inputs) bool {
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

package objectinfo

import (
	_ "embed"
	"strings"
)

// builtins holds the widgets of ComfyUI-Deploy's nodes, which no core server declares, and of the commonest
// core classes for use without a server. packs holds those of classes of well-known node packs, for graphs of the time when
// files did not name them; a class has a line for each version whose widgets differ. Neither is ever modified.
var builtins, packs = read(builtinWidgets), read(packWidgets)

// builtinWidgets lists class: widget widget ..., in the order of their values. A widget is name=type, the
// type one of I(nt), F(loat), S(tring), M(ultiline string), B(oolean), C(ombo) or a bare upper-case socket
// type; an upload combo is U and the kind. A ~ in a name stands for a space.
//
//go:embed builtin.txt
var builtinWidgets string

// packWidgets is written as builtinWidgets is.
//
//go:embed packs.txt
var packWidgets string

// Builtin is what is known of a class without a server, nil for most.
func Builtin(class string) *Class {
	if list := builtins[class]; list != nil {
		return list[0]
	}
	return nil
}

// Versions are the widgets that a class of a node pack had in the versions that are known.
func Versions(class string) []*Class { return packs[class] }

func read(list string) map[string][]*Class {
	out := map[string][]*Class{}
	for line := range strings.Lines(list) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		c := &Class{Name: strings.ReplaceAll(name, "~", " ")}
		for field := range strings.FieldsSeq(rest) {
			widget, typ, _ := strings.Cut(field, "=")
			c.Inputs = append(c.Inputs, known(strings.ReplaceAll(widget, "~", " "), typ))
		}
		out[c.Name] = append(out[c.Name], c)
	}
	return out
}

// known is the input of a widget.
func known(name, typ string) Input {
	s := Input{Name: name, Type: typ, Required: true}
	switch typ {
	case "I":
		s.Type, s.Widget = "INT", true
	case "F":
		s.Type, s.Widget = "FLOAT", true
	case "S", "M":
		s.Type, s.Multiline, s.Widget = "STRING", typ == "M", true
	case "B":
		s.Type, s.Widget = "BOOLEAN", true
	case "C":
		s.Type, s.Widget = "COMBO", true
	}
	if kind, ok := strings.CutPrefix(typ, "U"); ok && kind == strings.ToLower(kind) {
		s.Type, s.Upload, s.Widget = "COMBO", kind, true
	}
	return s
}

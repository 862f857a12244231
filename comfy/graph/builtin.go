package graph

import (
	_ "embed"
	"strings"
)

// builtins holds the widgets of ComfyUI-Deploy's nodes, which no core server declares, and of the commonest
// core classes for use without a server. It is never modified.
var builtins = parseBuiltins()

// builtinWidgets lists class: widget widget ..., in the order of their values. A widget is name=type, the
// type one of I(nt), F(loat), S(tring), M(ultiline string), B(oolean), C(ombo) or a bare upper-case socket
// type; an upload combo is U and the kind.
//
//go:embed builtin.txt
var builtinWidgets string

func parseBuiltins() map[string]*ClassInfo {
	out := map[string]*ClassInfo{}
	for line := range strings.Lines(builtinWidgets) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		c := &ClassInfo{Name: name, OutputNode: OutputKind(name) != ""}
		for field := range strings.FieldsSeq(rest) {
			widget, typ, _ := strings.Cut(field, "=")
			c.Inputs = append(c.Inputs, builtinSpec(widget, typ))
		}
		out[name] = c
	}
	return out
}

func builtinSpec(name, typ string) InputSpec {
	s := InputSpec{Name: name, Type: typ, Required: true}
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

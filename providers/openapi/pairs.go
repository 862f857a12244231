package openapi

import (
	"regexp"
	"slices"
	"strings"
)

// cancelPairs judges what the operations of an annotated document say of each other: anyone who makes an obligation says how
// it is taken back, both sides say so, and taking back needs no second question, which would stand in the way when
// nobody is there to answer. A document that breaks this is refused as a whole.
func cancelPairs(built []*builder) {
	byID := map[string]*builder{}
	for _, b := range built {
		byID[b.tool.ToolID] = b
	}
	for _, b := range built {
		t := b.tool
		if b.obliges() && t.Cancels == "" {
			b.refuse("%s makes an obligation and names no tool that cancels it: say which in %s", t.ToolID, extCancels)
		}
		if t.Cancels != "" {
			b.paired(t.Cancels, extCancels, extCancelFor, byID, func(o *builder) string { return o.tool.CancelFor })
		}
		if t.CancelFor != "" {
			b.paired(t.CancelFor, extCancelFor, extCancels, byID, func(o *builder) string { return o.tool.Cancels })
			if b.op.object.Get(extConfirmation) != false {
				b.refuse("%s cancels %s and must have %s: false, found %s", t.ToolID, t.CancelFor, extConfirmation, shown(b.op.object.Get(extConfirmation)))
			}
		}
		b.undoable(byID)
	}
}

// paired checks that the tool another is linked to is there and links back.
func (b *builder) paired(other, link, back string, byID map[string]*builder, linked func(*builder) string) {
	o := byID[other]
	switch {
	case o == nil:
		b.refuse("%s of %s names %s, which is no tool of this document", link, b.tool.ToolID, other)
	case linked(o) != b.tool.ToolID:
		b.refuse("%s of %s names %s, whose %s does not name it back (found %q)", link, b.tool.ToolID, other, back, linked(o))
	}
}

// undoable checks the tool that undoes this one.
func (b *builder) undoable(byID map[string]*builder) {
	name := b.op.object.Text(extUndo)
	if name == "" {
		return
	}
	o := byID[name]
	switch {
	case o == nil:
		b.refuse("%s of %s names %s, which is no tool of this document", extUndo, b.tool.ToolID, name)
		return
	case o.tool.Confirmation != "":
		b.refuse("%s of %s names %s, which asks for a confirmation", extUndo, b.tool.ToolID, name)
	}
	template := b.op.object.Object(extTemplate)
	for _, m := range template.Members() {
		if _, known := o.tool.InputSchema.Get(m.Name); !known {
			b.warn("%s gives %s, which is no input of %s", extTemplate, m.Name, name)
		}
	}
}

var (
	making     = []string{"create", "place", "make", "add", "submit", "file", "new"}
	obligation = regexp.MustCompile(`^(booking|order|reservation|expense|purchase|subscription)s?$`)
	binding    = []string{"book", "reserve", "purchase", "buy", "rent", "order"}
)

// obliges reports whether an operation makes somebody owe something: by what it asks people to affirm, or by its
// name. One that cancels does not.
func (b *builder) obliges() bool {
	if b.tool.CancelFor != "" || b.op.method != "post" {
		return false
	}
	parts := strings.Fields(strings.ToLower(words(b.tool.ToolID)))
	makes := slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(making, p) }) && slices.ContainsFunc(parts, obligation.MatchString)
	first := slices.ContainsFunc(parts[:min(len(parts), 2)], func(p string) bool { return slices.Contains(binding, p) })
	return b.tool.Confirmation != "" || makes || first && !slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(looking, p) })
}

// looking are verbs of operations that only look.
var looking = []string{"get", "list", "search", "find", "quote", "check", "show", "update", "change", "cancel", "confirm", "read", "address"}

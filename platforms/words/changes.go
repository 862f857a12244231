package words

import (
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
)

// Asked is what a call would do, as its provider says, in the reader's language where the program has the words.
func Asked(v i18n.Voice, p registry.Preview) string {
	if text, ok := v.Text(p.Said); ok {
		return text
	}
	return p.Message
}

// Field names a field that a call would change, where it is an input of the tool by its label: "content › body".
func Field(t registry.Tool, field string) string {
	first, rest, nested := strings.Cut(field, ".")
	label := registry.InputField{Name: first}.Label()
	if f, known := t.InputSchema.Get(first); known {
		label = f.Label()
	}
	if nested {
		label += " › " + strings.ReplaceAll(rest, ".", " › ")
	}
	return label
}

// Marked is a difference where there are no styles: what goes stands in [− −], what comes in [+ +].
func Marked(pieces []edit.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch p.Kind {
		case edit.Gone:
			b.WriteString("[−" + p.Text + "−]")
		case edit.New:
			b.WriteString("[+" + p.Text + "+]")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

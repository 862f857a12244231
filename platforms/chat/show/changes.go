package show

import (
	"cmp"
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// changes tell what would be different, field by field, and where it can be looked at as it is.
func (v Voice) changes(t registry.Tool, p registry.Preview) chat.Text {
	var said chat.Text
	for _, c := range p.Changes {
		label := chat.Plain(words.Field(t, c.Field) + ": ")
		said = chat.Lines(said, append(label, Difference(c.Pieces)...))
	}
	if p.Untold > 0 {
		said = chat.Lines(said, v.Text("confirm.more", "n", p.Untold))
	}
	if p.Link != "" {
		said = chat.Lines(said, chat.Text{{Style: chat.StyleLink, Text: v.Line("confirm.look"), URL: p.Link}})
	}
	return said
}

// Difference marks what goes and what is new in a text.
func Difference(pieces []edit.Piece) chat.Text {
	styles := map[edit.Kind]chat.Style{edit.Gone: chat.StyleGone, edit.New: chat.StyleNew}
	var said chat.Text
	for _, piece := range pieces {
		text := strings.TrimRight(piece.Text, " \n")
		spaces := piece.Text[len(text):]
		if piece.Kind == edit.Gone {
			spaces = cmp.Or(spaces, " ") // what takes its place stands apart from it
		}
		said = append(said, chat.Segment{Style: styles[piece.Kind], Text: text})
		if spaces != "" {
			said = append(said, chat.Segment{Text: spaces})
		}
	}
	return said
}

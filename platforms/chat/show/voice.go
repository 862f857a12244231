package show

import (
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/runs"
)

// Voice speaks one language.
type Voice struct{ i18n.Voice }

// Read is a run with its tool as people read it in the voice's language.
func (v Voice) Read(run runs.Run) runs.Run {
	run.Tool = *run.Tool.In(v.Language())
	return run
}

// ReadAll changes runs into what Read gives of each.
func (v Voice) ReadAll(list []runs.Run) []runs.Run {
	for i, run := range list {
		list[i] = v.Read(run)
	}
	return list
}

// Text gives a text with its placeholders filled: pairs of name and value. A value that is a Text keeps
// its styles.
func (v Voice) Text(key string, pairs ...any) chat.Text { return Styled(v.Say(key, pairs...)) }

// Styled makes a chat's text of pieces.
func Styled(pieces []i18n.Piece) chat.Text {
	var text chat.Text
	for _, p := range pieces {
		switch value := p.Value.(type) {
		case chat.Text:
			text = append(text, value...)
		case time.Time:
			text = append(text, chat.Segment{Style: chat.StyleTime, Text: p.Text, At: value})
		default:
			text = append(text, chat.Segment{Style: styleOf(p.Style), Text: p.Text})
		}
	}
	return text
}

// When tells a moment, in the reader's own zone where the platform can.
func (v Voice) When(at time.Time) chat.Segment {
	return chat.Segment{Style: chat.StyleTime, Text: v.Moment(at), At: at}
}

func styleOf(s i18n.Style) chat.Style {
	switch s {
	case i18n.Bold:
		return chat.StyleBold
	case i18n.Code:
		return chat.StyleCode
	}
	return chat.StylePlain
}

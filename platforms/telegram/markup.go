package telegram

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// htmlOf renders a text in Telegram's HTML.
func htmlOf(t chat.Text) string {
	var b strings.Builder
	for _, s := range t {
		text := botapi.EscapeHTML(s.Text)
		open, end := tags(s)
		if strings.TrimSpace(s.Text) == "" {
			open, end = "", ""
		}
		b.WriteString(open + text + end)
	}
	return b.String()
}

func tags(s chat.Segment) (open, end string) {
	switch s.Style {
	case chat.StyleBold, chat.StyleNew:
		return "<b>", "</b>"
	case chat.StyleGone:
		return "<s>", "</s>"
	case chat.StyleItalic:
		return "<i>", "</i>"
	case chat.StyleCode:
		return "<code>", "</code>"
	case chat.StylePre:
		return "<pre>", "</pre>"
	case chat.StyleQuote:
		return "<blockquote expandable>", "</blockquote>"
	case chat.StyleLink:
		return `<a href="` + botapi.EscapeHTML(s.URL) + `">`, "</a>"
	case chat.StyleMention:
		return mentionTags(s.URL)
	}
	return "", ""
}

// mentionTags links to a person. Who speaks as a chat has no person to link to.
func mentionTags(person string) (open, end string) {
	if id, err := strconv.ParseInt(person, 10, 64); err != nil || id <= 0 {
		return "", ""
	}
	return `<a href="tg://user?id=` + person + `">`, "</a>"
}

// keyboardOf gives the buttons under a message; nil without any.
func keyboardOf(rows [][]chat.Button) *botapi.InlineKeyboard {
	if len(rows) == 0 {
		return nil
	}
	keyboard := botapi.InlineKeyboard{Rows: make([][]botapi.Button, len(rows))}
	for i, row := range rows {
		for _, b := range row {
			keyboard.Rows[i] = append(keyboard.Rows[i], botapi.Button{Text: b.Label, Data: b.Data, URL: b.URL, Style: string(b.Style)})
		}
	}
	return &keyboard
}

// unseen is a character of no width: a mention of it tells a person without showing it.
const unseen = "\u200b"

// asking makes the reply field open for the person asked. Telegram opens it for those who are mentioned and
// for the sender of the message replied to.
func asking(m chat.Message) (botapi.ForceReply, chat.Text) {
	force := botapi.ForceReply{Force: true, Placeholder: botapi.Truncate(m.Ask.Placeholder, 64), Selective: m.Ask.Person != ""}
	if m.Ask.Person != "" && m.ReplyTo.IsZero() {
		return force, append(chat.Text{{Style: chat.StyleMention, Text: unseen, URL: m.Ask.Person}}, m.Text...)
	}
	return force, m.Text
}

package telegramtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// message is the server's own record; Message is the copy tests get.
type message struct {
	id       int
	chat     *Chat
	from     *User // nil: the bot
	date     time.Time
	edited   time.Time
	thread   int
	replyTo  *message
	external *message
	quote    string
	album    string

	text      string // or caption, with media
	entities  []Entity
	media     *file
	spoiler   bool
	keyboard  [][]Button
	hadMarkup bool // sent with a markup that is no inline keyboard: cannot be edited
	force     bool
	selective bool
	silent    bool
	protected bool
	noPreview bool
	reaction  string
	deleted   bool
	edits     int
	viaBot    bool
	inlineID  string // of a message of inline mode with a keyboard
}

// Message is what a person sees of a message, at the moment it was asked for.
type Message struct {
	Chat *Chat
	ID   int
	// From is nil for the bot's own messages.
	From     *User
	Date     time.Time
	Edits    int
	Deleted  bool
	ThreadID int
	// ReplyTo is the number of the message it answers, 0 for none.
	ReplyTo int
	AlbumID string
	// Text is the text, or the caption where there is Media.
	Text     string
	Entities []Entity
	Media    *Media
	Keyboard [][]Button
	// ForceReply: the reply field is opened for the people addressed.
	ForceReply bool
	Silent     bool
	Protected  bool
	// NoPreview: the link preview is switched off.
	NoPreview bool
	// Reaction is the bot's emoji on the message.
	Reaction string
}

// Media is the file of a message as its recipient has it.
type Media struct {
	// Kind is photo, video, animation, audio, voice or document.
	Kind      string
	Name      string
	MIME      string
	Bytes     []byte
	FileID    string
	Width     int
	Height    int
	Spoiler   bool
	Thumbnail []byte
	Title     string
	Performer string
	Duration  int
}

func (m *message) snapshot() Message {
	out := Message{
		Chat: m.chat, ID: m.id, From: m.from, Date: m.date, Edits: m.edits, Deleted: m.deleted, ThreadID: m.thread,
		AlbumID: m.album, Text: m.text, Entities: slices.Clone(m.entities), Keyboard: cloneKeyboard(m.keyboard),
		ForceReply: m.force, Silent: m.silent, Protected: m.protected, NoPreview: m.noPreview, Reaction: m.reaction,
	}
	if m.replyTo != nil {
		out.ReplyTo = m.replyTo.id
	}
	if m.media != nil {
		media := m.media.snapshot()
		media.Spoiler = m.spoiler
		out.Media = &media
	}
	return out
}

func cloneKeyboard(k [][]Button) [][]Button {
	var out [][]Button
	for _, row := range k {
		out = append(out, slices.Clone(row))
	}
	return out
}

// Labels returns the texts of all buttons, row by row.
func (m Message) Labels() []string {
	var out []string
	for _, row := range m.Keyboard {
		for _, b := range row {
			out = append(out, b.Text)
		}
	}
	return out
}

// Button finds a button by its text, or by a part of it when no text agrees; ok is false without one.
func (m Message) Button(label string) (b Button, ok bool) {
	for _, agrees := range []func(string) bool{
		func(s string) bool { return s == label },
		func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(label)) },
	} {
		for _, row := range m.Keyboard {
			for _, b := range row {
				if agrees(b.Text) || label != "" && b.CallbackData == label {
					return b, true
				}
			}
		}
	}
	return Button{}, false
}

// String shows the message on one line, for failure reports.
func (m Message) String() string {
	var b strings.Builder
	who := "bot"
	if m.From != nil {
		who = m.From.name
	}
	fmt.Fprintf(&b, "#%d %s", m.ID, who)
	if m.ThreadID != 0 {
		fmt.Fprintf(&b, " topic=%d", m.ThreadID)
	}
	if m.ReplyTo != 0 {
		fmt.Fprintf(&b, " reply-to=%d", m.ReplyTo)
	}
	if m.Edits > 0 {
		fmt.Fprintf(&b, " edited=%d", m.Edits)
	}
	if m.Deleted {
		b.WriteString(" deleted")
	}
	if m.Media != nil {
		fmt.Fprintf(&b, " [%s %q %d bytes]", m.Media.Kind, m.Media.Name, len(m.Media.Bytes))
	}
	fmt.Fprintf(&b, " %q", m.Text)
	if labels := m.Labels(); len(labels) > 0 {
		fmt.Fprintf(&b, " {%s}", strings.Join(labels, " | "))
	}
	return b.String()
}

// wire gives the JSON shape; nested replies carry no reply of their own.
func (m *message) wire(withReply bool) wMessage {
	w := wMessage{
		MessageID: m.id, MessageThreadID: m.thread, IsTopicMessage: m.thread != 0, Date: m.date.Unix(), Chat: m.chat.wire(),
		MediaGroupID: m.album, HasMediaSpoiler: m.spoiler,
	}
	from := m.chat.s.me()
	if m.from != nil {
		from = m.from.wire()
	}
	w.From = &from
	if !m.edited.IsZero() {
		w.EditDate = m.edited.Unix()
	}
	if withReply {
		m.wireReply(&w)
	}
	if m.viaBot {
		me := m.chat.s.me()
		w.ViaBot = &me
	}
	if m.media == nil {
		w.Text, w.Entities = m.text, m.entities
	} else {
		w.Caption, w.CaptionEntities = m.text, m.entities
		m.media.wireInto(&w)
	}
	if m.keyboard != nil {
		w.ReplyMarkup = &wKeyboard{InlineKeyboard: m.keyboard}
	}
	return w
}

func (m *message) wireReply(w *wMessage) {
	if m.replyTo != nil && !m.replyTo.deleted {
		reply := m.replyTo.wire(false)
		w.ReplyToMessage = &reply
	}
	if m.replyTo == nil && m.thread != 0 {
		// In a topic whatever answers nothing else seems to answer the message that opened the topic.
		w.ReplyToMessage = &wMessage{
			MessageID: m.thread, MessageThreadID: m.thread, IsTopicMessage: true, Date: m.date.Unix(), Chat: m.chat.wire(), From: w.From,
		}
	}
	if m.quote != "" {
		w.Quote = &wQuote{Text: m.quote, IsManual: true}
		if m.replyTo != nil {
			if before, _, found := strings.Cut(m.replyTo.text, m.quote); found {
				w.Quote.Position = utf16Len(before)
			}
		}
	}
	if m.external == nil {
		return
	}
	full := m.external.wire(false)
	w.ExternalReply = &wExternalReply{
		Origin: wOrigin{Type: "user", Date: full.Date, SenderUser: full.From}, Chat: &full.Chat, MessageID: full.MessageID,
		Photo: full.Photo, Document: full.Document, Video: full.Video, Animation: full.Animation, Audio: full.Audio, Voice: full.Voice,
	}
}

package telegram

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/users"
)

// Accounts of the service itself. A message of the first two says in sender_chat who is speaking.
const (
	anonymousAdmin = 1087968824
	channelBot     = 136817688
	serviceAccount = 777000 // posts of a channel, forwarded to its discussion group
)

// reader turns updates into what the chat contract knows.
type reader struct {
	bot      int64
	username string
	now      time.Time
}

// read gives false for updates that are none of ours: commands for other bots, service messages, kinds we do not know.
// A place, a contact or a poll that is sent to the bot has nothing to read, and is answered like words that say nothing.
func (r reader) read(u botapi.Update) (in chat.Incoming, ok bool) {
	switch {
	case u.Message != nil && u.Message.ViaBot != nil && u.Message.ViaBot.ID == r.bot:
		in, ok = r.placed(u.Message)
	case u.Message != nil:
		in, ok = r.message(u.Message)
		in.Kind = chat.KindMessage
	case u.EditedMessage != nil:
		in, ok = r.message(u.EditedMessage)
		in.Kind = chat.KindEdited
	case u.CallbackQuery != nil:
		in, ok = r.press(u.CallbackQuery)
	case u.MyChatMember != nil:
		in, ok = r.membership(u.MyChatMember)
	}
	in.ID = fmt.Sprintf("%d/%d", r.bot, u.ID)
	return in, ok
}

func (r reader) message(m *botapi.Message) (chat.Incoming, bool) {
	from, ok := r.sender(m)
	text, _ := m.Body()
	files := attachments(m.Content)
	empty := text == "" && len(files) == 0
	if !ok || empty && !m.Any() {
		return chat.Incoming{}, false
	}
	command, rest, ours := chat.ParseCommand(clean(text), r.username)
	if !ours {
		return chat.Incoming{}, false
	}
	in := chat.Incoming{
		Chat: chatOf(m), From: from, At: m.Time(), Message: refOf(m), Command: command, Text: rest,
		Attachments: files, ReplyTo: r.quoted(m), Album: m.MediaGroupID,
	}
	in.Anonymous = speaksForChat(m)
	in.Admin = in.Anonymous && m.From.ID == anonymousAdmin && m.SenderChat.ID == m.Chat.ID
	in.Named = r.names(m)
	if in.Named && command == "" {
		in.Text = r.unnamed(rest)
	}
	in.Addressed = in.Named || in.ReplyTo != nil && in.ReplyTo.Own
	return in, !empty || in.Addressed || m.Chat.IsPrivate()
}

// sender gives who speaks. Anonymous administrators and channels are who they speak as; other bots, and
// posts of a channel that are copied to its group, are nobody.
func (r reader) sender(m *botapi.Message) (users.Identity, bool) {
	switch {
	case m.From == nil || m.From.ID == serviceAccount:
		return users.Identity{}, false
	case speaksForChat(m):
		return users.Identity{Platform: Platform, ExternalID: idText(m.SenderChat.ID), Name: clean(m.SenderChat.Title), Handle: handle(m.SenderChat.Username)}, true
	case m.From.IsBot:
		return users.Identity{}, false
	}
	return person(*m.From), true
}

func speaksForChat(m *botapi.Message) bool {
	return m.SenderChat != nil && (m.From.ID == anonymousAdmin || m.From.ID == channelBot)
}

func person(u botapi.User) users.Identity {
	return users.Identity{Platform: Platform, ExternalID: idText(u.ID), Name: clean(u.Name()), Handle: handle(u.Username), Language: u.LanguageCode}
}

// handle is a user name as people write it.
func handle(username string) string {
	if username == "" {
		return ""
	}
	return "@" + clean(username)
}

// names tells whether a message names the bot.
func (r reader) names(m *botapi.Message) bool {
	text, entities := m.Body()
	for _, e := range entities {
		if e.Type != "mention" && e.Type != "bot_command" {
			continue
		}
		start := botapi.ByteOffset(text, e.Offset)
		_, name, _ := strings.Cut(text[start:start+botapi.ByteOffset(text[start:], e.Length)], "@")
		if strings.EqualFold(name, r.username) {
			return true
		}
	}
	return false
}

// unnamed takes the bot's own name out of what was said to it.
func (r reader) unnamed(text string) string {
	name := regexp.MustCompile(`(?i)(^|\s)@` + regexp.QuoteMeta(r.username) + `\b[,:]?[ \t]*`)
	return strings.TrimSpace(name.ReplaceAllString(text, "$1"))
}

// quoted gives the message replied to. In a topic every message seems to answer the topic's first one:
// that is no reply. Of a message in another chat there is only what it held.
func (r reader) quoted(m *botapi.Message) *chat.Quoted {
	var q chat.Quoted
	switch to := m.ReplyTo; {
	case m.ExternalReply != nil:
		q.Attachments = attachments(m.ExternalReply.Content)
	case to == nil || m.IsTopicMessage && to.MessageID == m.ThreadID:
		return nil
	default:
		text, _ := to.Body()
		q = chat.Quoted{Ref: refOf(to), Own: to.From != nil && to.From.ID == r.bot, Text: clean(text), Attachments: attachments(to.Content)}
		q.From, _ = r.sender(to)
	}
	if m.Quote != nil {
		q.Text = clean(m.Quote.Text)
	}
	return &q
}

func (r reader) press(q *botapi.CallbackQuery) (chat.Incoming, bool) {
	switch {
	case q.Message == nil && q.InlineID == "":
		return chat.Incoming{}, false
	case q.Message == nil:
		return r.inlinePress(q), true
	}
	return chat.Incoming{
		Kind: chat.KindPress, Chat: chatOf(q.Message), From: person(q.From), At: r.now, Message: refOf(q.Message),
		Addressed: true, Press: &chat.Press{ID: q.ID, Data: clean(q.Data)},
	}, true
}

// membership tells of the bot's coming and going; other changes of its place are of no interest.
func (r reader) membership(u *botapi.MemberUpdate) (chat.Incoming, bool) {
	was, is := present(u.Old), present(u.New)
	if was == is {
		return chat.Incoming{}, false
	}
	in := chat.Incoming{
		Kind: chat.KindMembership, Chat: chatOf(&botapi.Message{Chat: u.Chat}), From: person(u.From), At: time.Unix(u.Date, 0),
		Membership: chat.MemberRemoved,
	}
	if is {
		in.Membership = chat.MemberJoined
	}
	return in, true
}

func present(m botapi.Member) bool { return m.Status != "left" && m.Status != "kicked" }

func chatOf(m *botapi.Message) chat.Chat {
	c := chat.Chat{Place: placeOf(m), Kind: chat.ChatGroup, Title: clean(m.Chat.Title)}
	if m.Chat.IsPrivate() {
		c.Kind = chat.ChatPrivate
	}
	return c
}

// placeOf gives a message's chat and topic. Outside of topics message_thread_id names a thread of replies,
// and the general topic is addressed by none.
func placeOf(m *botapi.Message) chat.Place {
	p := chat.Place{Chat: idText(m.Chat.ID)}
	if m.IsTopicMessage && m.ThreadID > generalTopic {
		p.Topic = strconv.Itoa(m.ThreadID)
	}
	return p
}

const generalTopic = 1

func refOf(m *botapi.Message) chat.MessageRef {
	_, _, media := m.Media()
	return chat.MessageRef{Place: placeOf(m), ID: strconv.Itoa(m.MessageID), Media: media}
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// clean takes out what Postgres can't keep in a text.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}

// attachments gives a message's file, as a list of at most one.
func attachments(c botapi.Content) []chat.Attachment {
	kind, file, ok := c.Media()
	if !ok {
		return nil
	}
	a := chat.Attachment{
		Kind: chat.MediaKind(kind), Name: clean(file.Name), MIMEType: file.MimeType, Bytes: file.Size,
		Width: file.Width, Height: file.Height, Handle: file.FileID,
	}
	if a.MIMEType == "" {
		a.MIMEType = usualType(kind)
	}
	if file.IsSticker {
		a.Kind, a.MIMEType = stickerType(file)
	}
	return []chat.Attachment{a}
}

// usualType is what a kind is when the message does not say.
func usualType(kind botapi.MediaKind) string {
	switch kind {
	case botapi.KindPhoto:
		return "image/jpeg"
	case botapi.KindVideo, botapi.KindAnimation:
		return "video/mp4"
	case botapi.KindVoice:
		return "audio/ogg"
	case botapi.KindAudio:
		return "audio/mpeg"
	}
	return ""
}

// stickerType tells pictures from films and drawings.
func stickerType(f botapi.FileInfo) (chat.MediaKind, string) {
	switch {
	case f.IsVideo:
		return chat.KindVideo, "video/webm"
	case f.IsAnimated:
		return chat.KindDocument, "application/x-tgsticker"
	}
	return chat.KindSticker, "image/webp"
}

package telegramtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target finds the chat of a request and checks that the bot may write there.
func (s *Server) target(req *request) (*Chat, *apiError) {
	if !req.has("chat_id") {
		return nil, badRequest("chat_id is empty")
	}
	chat, ok := s.chats[req.int64("chat_id")]
	if !ok {
		return nil, badRequest("chat not found")
	}
	if err := chat.access(); err != nil {
		return nil, err
	}
	return chat, nil
}

// draft reads what all sending methods have in common.
func (s *Server) draft(req *request) (*message, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	if req.params["message_thread_id"] == "1" {
		return nil, badRequest("message thread not found") // the general topic is addressed by leaving it out
	}
	m := &message{
		chat: chat, thread: req.int("message_thread_id"), silent: req.bool("disable_notification"),
		protected: req.bool("protect_content"), spoiler: req.bool("has_spoiler"),
	}
	if err := chat.thread(m.thread); err != nil {
		return nil, err
	}
	if err := s.reply(req, m); err != nil {
		return nil, err
	}
	mk, err := parseMarkup(req)
	if err != nil {
		return nil, err
	}
	m.keyboard, m.hadMarkup, m.force, m.selective = mk.inline, mk.other, mk.force, mk.selective
	return m, nil
}

// reply reads reply_parameters, or the old reply_to_message_id where they are absent.
func (s *Server) reply(req *request, m *message) *apiError {
	var p struct {
		MessageID int             `json:"message_id"`
		ChatID    json.RawMessage `json:"chat_id"`
		Without   bool            `json:"allow_sending_without_reply"`
		Quote     string          `json:"quote"`
	}
	if req.has("reply_parameters") {
		if err := req.decode("reply_parameters", &p); err != nil {
			return err
		}
	} else {
		p.MessageID, p.Without = req.int("reply_to_message_id"), req.bool("allow_sending_without_reply")
	}
	if p.MessageID == 0 {
		return nil
	}
	chat := m.chat
	if len(p.ChatID) > 0 && string(p.ChatID) != "null" {
		id, _ := strconv.ParseInt(strings.Trim(string(p.ChatID), `"`), 10, 64)
		if chat = s.chats[id]; chat == nil {
			return badRequest("chat not found")
		}
	}
	to := chat.find(p.MessageID)
	if to == nil {
		if p.Without {
			return nil
		}
		return badRequest("message to be replied not found")
	}
	if p.Quote != "" && !strings.Contains(to.text, p.Quote) {
		return badRequest("QUOTE_TEXT_INVALID")
	}
	m.quote = p.Quote
	if chat != m.chat {
		m.external = to
		return nil
	}
	m.replyTo = to
	if m.thread == 0 && to.thread != 0 {
		m.thread = to.thread // a reply lands in the topic of its message
	}
	return nil
}

// text reads a formatted text parameter within its limit; entitiesName is its companion.
func readText(value, mode, rawEntities string, limit int, tooLong string) (formatted, *apiError) {
	var entities []Entity
	if rawEntities != "" && rawEntities != "null" && mode == "" {
		if json.Unmarshal([]byte(rawEntities), &entities) != nil {
			return formatted{}, badRequest("can't parse entities JSON object")
		}
	}
	f, err := parseText(value, mode, entities)
	if err != nil {
		return f, err
	}
	if utf16Len(f.text) > limit {
		return f, badRequest("%s", tooLong)
	}
	mention(f.entities)
	return f, nil
}

// mention turns links to people into mentions, as the service does with people it knows.
func mention(entities []Entity) {
	for i, e := range entities {
		id, found := strings.CutPrefix(e.URL, "tg://user?id=")
		n, err := strconv.ParseInt(id, 10, 64)
		if e.Type == "text_link" && found && err == nil {
			entities[i].Type, entities[i].URL, entities[i].User = "text_mention", "", &wUser{ID: n, FirstName: "Somebody"}
		}
	}
}

func messageText(req *request) (formatted, *apiError) {
	f, err := readText(req.params["text"], req.params["parse_mode"], req.params["entities"], 4096, "message is too long")
	if err == nil && f.text == "" {
		return f, badRequest("text must be non-empty")
	}
	return f, err
}

func messageCaption(req *request) (formatted, *apiError) {
	return readText(req.params["caption"], req.params["parse_mode"], req.params["caption_entities"], 1024, "message caption is too long")
}

func (s *Server) sendMessage(req *request) (any, *apiError) {
	m, err := s.draft(req)
	if err != nil {
		return nil, err
	}
	f, err := messageText(req)
	if err != nil {
		return nil, err
	}
	if err := m.chat.may("text messages"); err != nil {
		return nil, err
	}
	m.text, m.entities, m.noPreview = f.text, f.entities, previewOff(req)
	return s.post(m), nil
}

func previewOff(req *request) bool {
	var options struct {
		Disabled bool `json:"is_disabled"`
	}
	if req.has("link_preview_options") {
		_ = json.Unmarshal([]byte(req.params["link_preview_options"]), &options)
		return options.Disabled
	}
	return req.bool("disable_web_page_preview")
}

// post publishes a message of the bot and ends its chat action.
func (s *Server) post(m *message) wMessage {
	m.chat.otherBot = false
	m.chat.add(m)
	return m.wire(true)
}

// rightOf names the right that sending a kind of media needs.
var rightOf = map[string]string{
	"photo": "photos", "video": "videos", "animation": "animations", "audio": "audios", "voice": "voice notes", "document": "documents",
}

// sendMedia makes the handler of the sending method for one kind of media.
func (s *Server) sendMedia(kind string) handler {
	return func(req *request) (any, *apiError) {
		m, err := s.draft(req)
		if err != nil {
			return nil, err
		}
		if err := m.chat.may(rightOf[kind]); err != nil {
			return nil, err
		}
		f, err := messageCaption(req)
		if err != nil {
			return nil, err
		}
		media, err := s.mediaOf(req, kind, mediaFields{
			Media: req.params[kind], Thumbnail: req.params["thumbnail"], Width: req.int("width"), Height: req.int("height"),
			Duration: req.int("duration"), Title: req.params["title"], Performer: req.params["performer"],
		}, kind)
		if err != nil {
			return nil, err
		}
		m.text, m.entities, m.media = f.text, f.entities, media
		return s.post(m), nil
	}
}

// mediaFields are the parts of a media parameter, plain or inside InputMedia.
type mediaFields struct {
	Type            string          `json:"type"`
	Media           string          `json:"media"`
	Thumbnail       string          `json:"thumbnail"`
	Thumb           string          `json:"thumb"`
	Caption         string          `json:"caption"`
	ParseMode       string          `json:"parse_mode"`
	CaptionEntities json.RawMessage `json:"caption_entities"`
	Spoiler         bool            `json:"has_spoiler"`
	Width           int             `json:"width"`
	Height          int             `json:"height"`
	Duration        int             `json:"duration"`
	Title           string          `json:"title"`
	Performer       string          `json:"performer"`
}

func (s *Server) mediaOf(req *request, kind string, p mediaFields, field string) (*file, *apiError) {
	f, err := s.inputFile(req, kind, field, p.Media)
	if err != nil {
		return nil, err
	}
	thumb, err := s.thumbnail(req, p.Thumbnail+p.Thumb)
	if err != nil {
		return nil, err
	}
	if p.Media != "" && !strings.HasPrefix(p.Media, "attach://") {
		return f, nil // the file is as it was first sent
	}
	f.thumbnail, f.title, f.performer, f.duration = thumb, p.Title, p.Performer, p.Duration
	if p.Width > 0 && p.Height > 0 && kind != "photo" {
		f.width, f.height = p.Width, p.Height
	}
	return f, nil
}

func (p mediaFields) caption() (formatted, *apiError) {
	return readText(p.Caption, p.ParseMode, string(p.CaptionEntities), 1024, "message caption is too long")
}

// albumKind groups what may stand together in an album.
func albumKind(kind string) string {
	if kind == "photo" || kind == "video" {
		return "visual"
	}
	return kind
}

func (s *Server) sendMediaGroup(req *request) (any, *apiError) {
	model, err := s.draft(req)
	if err != nil {
		return nil, err
	}
	var items []mediaFields
	if err := req.decode("media", &items); err != nil {
		return nil, err
	}
	var album []*message
	group := strconv.FormatInt(13_000_000_000+s.nextSeq(), 10)
	for _, item := range items {
		if albumKind(item.Type) != albumKind(items[0].Type) {
			return nil, badRequest("%s can't be mixed with other media types", title(item.Type))
		}
		m := *model
		m.album, m.spoiler = group, item.Spoiler
		if err := m.chat.may(rightOf[item.Type]); err != nil {
			return nil, err
		}
		f, err := item.caption()
		if err != nil {
			return nil, err
		}
		if m.media, err = s.mediaOf(req, item.Type, item, ""); err != nil {
			return nil, err
		}
		m.text, m.entities = f.text, f.entities
		album = append(album, &m)
	}
	out := []wMessage{}
	for _, m := range album {
		out = append(out, s.post(m))
	}
	return out, nil
}

// editable finds the message of an edit and checks that the bot may change it.
func (s *Server) editable(req *request) (*message, markup, *apiError) {
	if req.has("inline_message_id") {
		return s.editableInline(req)
	}
	chat, err := s.target(req)
	if err != nil {
		return nil, markup{}, err
	}
	if !req.has("message_id") {
		return nil, markup{}, badRequest("message identifier is not specified")
	}
	m := chat.find(req.int("message_id"))
	if m == nil {
		return nil, markup{}, badRequest("message to edit not found")
	}
	if m.from != nil || m.hadMarkup {
		return nil, markup{}, badRequest("message can't be edited")
	}
	mk, err := parseMarkup(req)
	if err != nil {
		return nil, markup{}, err
	}
	if mk.other {
		return nil, markup{}, badRequest("inline keyboard expected")
	}
	return m, mk, nil
}

// editableInline is editable for a message of inline mode: files come into it by their ids or addresses only.
func (s *Server) editableInline(req *request) (*message, markup, *apiError) {
	m := s.placedInline(req)
	switch {
	case m == nil:
		return nil, markup{}, badRequest("MESSAGE_ID_INVALID")
	case req.has("chat_id") || req.has("message_id"):
		return nil, markup{}, badRequest("message identifier is not specified")
	case len(req.files) > 0:
		return nil, markup{}, badRequest("can't upload new files to an inline message")
	}
	mk, err := parseMarkup(req)
	if err == nil && mk.other {
		err = badRequest("inline keyboard expected")
	}
	return m, mk, err
}

const notModified = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"

// edit replaces what the message shows; an edit without markup takes the keyboard away.
func (s *Server) edit(m *message, f formatted, media *file, mk markup) (any, *apiError) {
	same := m.text == f.text && reflect.DeepEqual(m.entities, f.entities) && m.media == media && reflect.DeepEqual(m.keyboard, mk.inline)
	if same {
		return nil, badRequest(notModified)
	}
	m.text, m.entities, m.media, m.keyboard = f.text, f.entities, media, mk.inline
	m.edits++
	m.edited = s.now()
	s.signal()
	if m.inlineID != "" {
		return true, nil
	}
	return m.wire(true), nil
}

func (s *Server) editMessageText(req *request) (any, *apiError) {
	m, mk, err := s.editable(req)
	if err != nil {
		return nil, err
	}
	f, err := messageText(req)
	if err != nil {
		return nil, err
	}
	if m.media != nil {
		return nil, badRequest("there is no text in the message to edit")
	}
	m.noPreview = previewOff(req)
	return s.edit(m, f, nil, mk)
}

func (s *Server) editMessageCaption(req *request) (any, *apiError) {
	m, mk, err := s.editable(req)
	if err != nil {
		return nil, err
	}
	f, err := messageCaption(req)
	if err != nil {
		return nil, err
	}
	if m.media == nil {
		return nil, badRequest("there is no caption in the message to edit")
	}
	return s.edit(m, f, m.media, mk)
}

func (s *Server) editMessageReplyMarkup(req *request) (any, *apiError) {
	m, mk, err := s.editable(req)
	if err != nil {
		return nil, err
	}
	return s.edit(m, formatted{m.text, m.entities}, m.media, mk)
}

func (s *Server) editMessageMedia(req *request) (any, *apiError) {
	m, mk, err := s.editable(req)
	if err != nil {
		return nil, err
	}
	var item mediaFields
	if err := req.decode("media", &item); err != nil {
		return nil, err
	}
	if m.album != "" && albumKind(item.Type) != albumKind(m.media.kind) {
		return nil, badRequest("can't use the media of the specified type in the album")
	}
	if err := m.chat.may(rightOf[item.Type]); err != nil && m.inlineID == "" {
		return nil, err
	}
	f, err := item.caption()
	if err != nil {
		return nil, err
	}
	media, err := s.mediaOf(req, item.Type, item, "")
	if err != nil {
		return nil, err
	}
	m.spoiler = item.Spoiler
	return s.edit(m, f, media, mk)
}

// deletable tells whether the bot may remove the message.
func (s *Server) deletable(m *message) bool {
	if m.chat.botStatus == "administrator" {
		return true
	}
	mine := m.from == nil || m.chat.kind == "private"
	return mine && s.now().Sub(m.date) < deletableFor
}

func (s *Server) remove(m *message) {
	m.deleted = true
	s.signal()
}

func (s *Server) deleteMessage(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	m := chat.find(req.int("message_id"))
	if m == nil {
		return nil, badRequest("message to delete not found")
	}
	if !s.deletable(m) {
		return nil, badRequest("message can't be deleted")
	}
	s.remove(m)
	return true, nil
}

func (s *Server) deleteMessages(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	var ids []int
	if err := req.decode("message_ids", &ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if m := chat.find(id); m != nil && s.deletable(m) {
			s.remove(m)
		}
	}
	return true, nil
}

func (s *Server) sendChatAction(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	if err := chat.thread(req.int("message_thread_id")); err != nil {
		return nil, err
	}
	chat.actions = append(chat.actions, req.params["action"])
	s.signal()
	return true, nil
}

// reactionEmoji is the fixed list bots may choose from.
const reactionEmoji = `👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡`

func (s *Server) setMessageReaction(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	m := chat.find(req.int("message_id"))
	if m == nil {
		return nil, badRequest("message to react not found")
	}
	var reactions []struct{ Type, Emoji string }
	if err := req.decode("reaction", &reactions); err != nil {
		return nil, err
	}
	if len(reactions) > 1 {
		return nil, badRequest("REACTIONS_TOO_MANY")
	}
	m.reaction = ""
	if len(reactions) == 1 {
		emoji := strings.TrimSuffix(reactions[0].Emoji, "\uFE0F")
		if reactions[0].Type != "emoji" || !slices.Contains(strings.Fields(reactionEmoji), emoji) {
			return nil, badRequest("REACTION_INVALID")
		}
		m.reaction = reactions[0].Emoji
	}
	s.signal()
	return true, nil
}

const deletableFor = 48 * time.Hour

package botapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
)

// The types below are our own where the library lacks fields or kinds; unknown fields are ignored, since
// new ones appear at any time. Field names follow the Bot API.

// Update is one thing that happened. At most one of the pointers is set; none is for kinds this program
// does not read.
type Update struct {
	ID            int64          `json:"update_id"`
	Message       *Message       `json:"message"`
	EditedMessage *Message       `json:"edited_message"`
	CallbackQuery *CallbackQuery `json:"callback_query"`
	MyChatMember  *MemberUpdate  `json:"my_chat_member"`
	InlineQuery   *InlineQuery   `json:"inline_query"`
	PreCheckout   *PreCheckout   `json:"pre_checkout_query"`
	// Broken tells why the update could not be read; then only ID is set.
	Broken error `json:"-"`
}

// ParseUpdate reads one update. It fails only where there is not even an update_id; an update that is
// broken further in comes back with Broken set, so that it can be confirmed and does not come again.
func ParseUpdate(data []byte) (Update, error) {
	var u Update
	err := json.Unmarshal(data, &u)
	if err == nil && u.ID != 0 {
		return u, nil
	}
	var only struct {
		ID int64 `json:"update_id"`
	}
	if json.Unmarshal(data, &only) != nil || only.ID == 0 {
		return Update{}, fmt.Errorf("telegram: not an update: no update_id in %d bytes", len(data))
	}
	return Update{ID: only.ID, Broken: fmt.Errorf("telegram: update %d: %w", only.ID, err)}, nil
}

// User is a person or a bot.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name"`
	Username     string `json:"username"`
	LanguageCode string `json:"language_code"`
}

// Name returns the full name as apps show it.
func (u User) Name() string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// Chat is a conversation; Type is private, group, supergroup or channel.
type Chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	Username  string `json:"username"`
	FirstName string `json:"first_name"`
	IsForum   bool   `json:"is_forum"`
}

// IsPrivate tells a conversation with one person from groups and channels.
func (c Chat) IsPrivate() bool { return c.Type == "private" }

// Entity is a formatted or recognised part of a text; Offset and Length count UTF-16 code units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// PhotoSize is one size of a picture.
type PhotoSize struct {
	FileID   string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Size     int64  `json:"file_size"`
}

// FileInfo is a file in a message, of whatever kind; fields a kind does not have are zero.
type FileInfo struct {
	FileID   string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Name     string `json:"file_name"`
	MimeType string `json:"mime_type"`
	Size     int64  `json:"file_size"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Duration int    `json:"duration"` // seconds
	// IsAnimated and IsVideo are of stickers only.
	IsAnimated bool `json:"is_animated"`
	IsVideo    bool `json:"is_video"`
	IsSticker  bool `json:"-"`
}

// Quote is the part of a message that a reply is about.
type Quote struct {
	Text     string `json:"text"`
	Position int    `json:"position"`
	IsManual bool   `json:"is_manual"`
}

// Content is what a message and a quoted message from another chat have in common.
type Content struct {
	Photo     []PhotoSize `json:"photo"`
	Document  *FileInfo   `json:"document"`
	Video     *FileInfo   `json:"video"`
	Animation *FileInfo   `json:"animation"`
	Audio     *FileInfo   `json:"audio"`
	Voice     *FileInfo   `json:"voice"`
	VideoNote *FileInfo   `json:"video_note"`
	Sticker   *FileInfo   `json:"sticker"`
}

// Unreadable are the kinds of content that have neither text nor a file that bots can fetch.
type Unreadable struct {
	Location  json.RawMessage `json:"location"`
	Contact   json.RawMessage `json:"contact"`
	Poll      json.RawMessage `json:"poll"`
	Dice      json.RawMessage `json:"dice"`
	Game      json.RawMessage `json:"game"`
	Story     json.RawMessage `json:"story"`
	PaidMedia json.RawMessage `json:"paid_media"`
	Checklist json.RawMessage `json:"checklist"`
}

// Any reports whether a message has such content: it is no service message.
func (u Unreadable) Any() bool {
	for _, raw := range []json.RawMessage{u.Location, u.Contact, u.Poll, u.Dice, u.Game, u.Story, u.PaidMedia, u.Checklist} {
		if len(raw) > 0 {
			return true
		}
	}
	return false
}

// Message is a message in a chat. Date 0 means that its content is no longer accessible.
type Message struct {
	Content
	Unreadable
	MessageID         int             `json:"message_id"`
	ThreadID          int             `json:"message_thread_id"`
	IsTopicMessage    bool            `json:"is_topic_message"`
	From              *User           `json:"from"`
	SenderChat        *Chat           `json:"sender_chat"`
	ViaBot            *User           `json:"via_bot"` // the bot in whose inline mode it was chosen
	Date              int64           `json:"date"`    // Unix seconds
	Chat              Chat            `json:"chat"`
	ReplyTo           *Message        `json:"reply_to_message"`
	ExternalReply     *ExternalReply  `json:"external_reply"`
	Quote             *Quote          `json:"quote"`
	MediaGroupID      string          `json:"media_group_id"`
	Text              string          `json:"text"`
	Entities          []Entity        `json:"entities"`
	Caption           string          `json:"caption"`
	CaptionEntities   []Entity        `json:"caption_entities"`
	ReplyMarkup       *InlineKeyboard `json:"reply_markup"`
	MigrateToChatID   int64           `json:"migrate_to_chat_id"`
	MigrateFromChatID int64           `json:"migrate_from_chat_id"`
	Paid              *StarPayment    `json:"successful_payment"`
	Refunded          *StarPayment    `json:"refunded_payment"`
}

// ExternalReply is the message of another chat or topic that a message answers.
type ExternalReply struct {
	Content
	Chat      *Chat `json:"chat"`
	MessageID int   `json:"message_id"`
}

// CallbackQuery is a pressed button. Message may be inaccessible (Date 0), or missing: then InlineID names a message of inline
// mode.
type CallbackQuery struct {
	ID       string   `json:"id"`
	From     User     `json:"from"`
	Message  *Message `json:"message"`
	InlineID string   `json:"inline_message_id"`
	Data     string   `json:"data"`
}

// MemberUpdate tells that somebody's place in a chat changed; for my_chat_member it is the bot's own:
// "kicked" is a block by a person or a removal from a group, "left" a group the bot is no longer in.
type MemberUpdate struct {
	Chat Chat   `json:"chat"`
	From User   `json:"from"`
	Date int64  `json:"date"`
	Old  Member `json:"old_chat_member"`
	New  Member `json:"new_chat_member"`
}

// Member is somebody's place in a chat: creator, administrator, member, restricted, left or kicked.
type Member struct {
	Status string `json:"status"`
	User   User   `json:"user"`
	// CanDelete: an administrator may delete other people's messages. A creator may in any case.
	CanDelete bool `json:"can_delete_messages"`
	// IsMember: who is restricted is in the chat.
	IsMember bool `json:"is_member"`
}

// Time returns when the message was sent.
func (m *Message) Time() time.Time { return time.Unix(m.Date, 0) }

// Body returns the text or the caption with its entities.
func (m *Message) Body() (text string, entities []Entity) {
	if m.Text != "" {
		return m.Text, m.Entities
	}
	return m.Caption, m.CaptionEntities
}

// ByteOffset turns an offset in UTF-16 code units into one in bytes; beyond the end it is the length.
func ByteOffset(text string, units int) int {
	n := 0
	for i, r := range text {
		if n >= units {
			return i
		}
		n += max(1, utf16.RuneLen(r))
	}
	return len(text)
}

// MediaKind is a kind of media as the Bot API names it.
type MediaKind string

// The kinds of media.
const (
	KindPhoto     MediaKind = "photo"
	KindVideo     MediaKind = "video"
	KindAnimation MediaKind = "animation"
	KindAudio     MediaKind = "audio"
	KindVoice     MediaKind = "voice"
	KindDocument  MediaKind = "document"
)

// Media returns the file of a message and how it was sent; ok is false without one. A photo gives its
// largest size by area. Animations also come as documents and count as animations; stickers and round
// videos count as documents and videos.
func (c Content) Media() (kind MediaKind, file FileInfo, ok bool) {
	if len(c.Photo) > 0 {
		best := c.Photo[0]
		for _, p := range c.Photo[1:] {
			if p.Width*p.Height > best.Width*best.Height {
				best = p
			}
		}
		return KindPhoto, FileInfo{
			FileID: best.FileID, UniqueID: best.UniqueID, Size: best.Size, Width: best.Width, Height: best.Height, MimeType: "image/jpeg",
		}, true
	}
	for _, candidate := range []struct {
		kind MediaKind
		file *FileInfo
	}{
		{KindAnimation, c.Animation}, {KindVideo, c.Video}, {KindVideo, c.VideoNote}, {KindAudio, c.Audio},
		{KindVoice, c.Voice}, {KindDocument, c.Document}, {KindDocument, c.Sticker},
	} {
		if candidate.file != nil {
			file := *candidate.file
			file.IsSticker = candidate.file == c.Sticker
			return candidate.kind, file, true
		}
	}
	return "", FileInfo{}, false
}

package chat

import (
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Incoming is one update from a platform. It is stored as JSON until it has been handled, so handles in
// it must still work after a restart.
type Incoming struct {
	// ID is unique among the platform's updates: the same update delivered twice has the same ID.
	ID   string         `json:"id"`
	Kind IncomingKind   `json:"kind"`
	Chat Chat           `json:"chat"`
	From users.Identity `json:"from"`
	At   time.Time      `json:"at"`

	// Message is the message that came, was edited, or carries the pressed button.
	Message MessageRef `json:"message"`
	// Command is the command's name as typed, without slash and without the bot's own name; empty when
	// the message is none. Adapters don't pass on commands addressed to other bots. See ParseCommand.
	Command string `json:"command,omitempty"`
	// Addressed tells that the message is meant for this bot beyond doubt: it names the bot, or answers
	// one of its messages. In private chats it does not matter.
	Addressed bool `json:"addressed,omitempty"`
	// Named tells that the words of the message name this bot.
	Named bool `json:"named,omitempty"`
	// Text is the text or caption; where Command is set, what follows it.
	Text string `json:"text,omitempty"`
	// Options are typed options of the command by input name (string, bool, json.Number), on platforms
	// that have them. An option that takes a file holds "attachment:N", the index into Attachments, or a list of such.
	Options map[string]any `json:"options,omitempty"`
	// Quote is the sealed price that stood beside the form that the command comes from, see runs.Request.
	Quote       string       `json:"quote,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// ReplyTo is the message replied to, or the one a command for messages was used on.
	ReplyTo *Quoted `json:"replyTo,omitempty"`
	// Meant is the message that a command from a message's menu was used on; what comes of it answers that.
	Meant MessageRef `json:"meant,omitzero"`
	// Roles are the ids of the sender's roles in the chat's space, where the platform tells them.
	Roles []string `json:"roles,omitempty"`
	// Admin tells that the sender runs the chat, where updates say so; see AdminTeller for the others.
	Admin bool `json:"admin,omitempty"`
	// Anonymous tells that the sender speaks for a chat, which From names: nobody knows which person it is.
	Anonymous bool `json:"anonymous,omitempty"`
	// Region and DeviceKind are where and with what the sender writes, as in registry.CallContext, where the
	// platform tells more of it than From.Language does.
	Region     string `json:"region,omitempty"`
	DeviceKind string `json:"deviceKind,omitempty"`
	// Album groups messages that were sent as one; its items arrive as updates of their own.
	Album string `json:"album,omitempty"`

	Press      *Press     `json:"press,omitempty"`      // KindPress, KindForm and KindPlaced only
	Membership Membership `json:"membership,omitempty"` // KindMembership only
}

// Answers is the message that what comes of an update answers.
func (in *Incoming) Answers() MessageRef {
	if !in.Meant.IsZero() {
		return in.Meant
	}
	return in.Message
}

// IncomingKind says what an update is.
type IncomingKind string

// The kinds of updates.
const (
	KindMessage IncomingKind = "message"
	KindPress   IncomingKind = "press"
	// KindForm is a form sent in: Press.Data is the form's Data, Options are its values by field name.
	KindForm       IncomingKind = "form"
	KindEdited     IncomingKind = "edited"
	KindMembership IncomingKind = "membership"
	// KindPlaced is a message of inline mode that was sent to a chat where the bot is: Press.Data is that of its first button.
	KindPlaced IncomingKind = "placed"
)

// Place is where a message goes: a chat and, within it, a topic or thread (empty: none).
type Place struct {
	Chat  string `json:"chat"`
	Topic string `json:"topic,omitempty"`
}

// ChatKind says who reads a chat.
type ChatKind string

// The kinds of chats.
const (
	ChatPrivate ChatKind = "private"
	ChatGroup   ChatKind = "group" // groups and channels
)

// Chat is a chat as updates name it.
type Chat struct {
	Place
	Kind  ChatKind `json:"kind"`
	Title string   `json:"title,omitempty"`
	// Space is the server or community the chat belongs to, where the platform has such (a guild).
	Space string `json:"space,omitempty"`
	// AgeRestricted tells that the platform lets only adults into the chat.
	AgeRestricted bool `json:"ageRestricted,omitempty"`
	// UploadLimit is the largest file this chat takes, in bytes, where the platform tells it; 0: as
	// Capabilities.Uploads says.
	UploadLimit int64 `json:"uploadLimit,omitempty"`
	// Inline is set for a message of inline mode.
	Inline *Inline `json:"inline,omitempty"`
}

// MessageRef finds a message again, also after a restart. ID is opaque to the Router. Media tells that
// the message carries media, so that an edit of its text is one of its caption; the adapter sets it.
type MessageRef struct {
	Place
	ID    string `json:"id"`
	Media bool   `json:"media,omitempty"`
}

// IsZero reports whether the reference leads nowhere.
func (r MessageRef) IsZero() bool { return r.ID == "" }

// Attachment is a file somebody sent. Only what the platform tells is set.
type Attachment struct {
	Kind     MediaKind `json:"kind"`
	Name     string    `json:"name,omitempty"`
	MIMEType string    `json:"mimeType,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	Width    int       `json:"width,omitempty"`
	Height   int       `json:"height,omitempty"`
	// Handle is the adapter's own key for Fetch; it works after a restart too.
	Handle string `json:"handle"`
	// Ref is the content's key in our store ("asset:<sha256>") where the file is known to be one of ours: it
	// is then not fetched.
	Ref registry.Media `json:"ref,omitempty"`
}

// Quoted is a message replied to.
type Quoted struct {
	Ref MessageRef `json:"ref"`
	Own bool       `json:"own,omitempty"` // sent by this bot
	// From is who wrote it, where the platform tells.
	From        users.Identity `json:"from,omitzero"`
	Text        string         `json:"text,omitempty"`
	Attachments []Attachment   `json:"attachments,omitempty"`
}

// Press is a pressed button, a choice from a menu, or a form sent in.
type Press struct {
	ID   string `json:"id"` // what AnswerPress needs
	Data string `json:"data"`
	// Values are the values chosen from a Menu.
	Values []string `json:"values,omitempty"`
	// Handle is the adapter's own, e.g. an interaction's token.
	Handle string `json:"handle,omitempty"`
}

// Membership says what became of the bot in a chat.
type Membership string

// The changes of membership.
const (
	MemberJoined  Membership = "joined"  // added to a group, or unblocked by a person
	MemberRemoved Membership = "removed" // removed from a group, or blocked by a person
)

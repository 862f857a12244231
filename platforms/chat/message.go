package chat

import (
	"context"
	"io"

	"github.com/signalbox/signalbox/registry"
)

// Message is a message to send, or what an edited one becomes. The Router keeps it within the adapter's
// Capabilities.
type Message struct {
	To      Place
	ReplyTo MessageRef // zero: no reply
	Text    Text       // caption where there are Media
	Media   []Media    // two and more are an album
	Buttons [][]Button
	// Ask opens the reply field of the person addressed; needs Capabilities.ForceReply, and together with
	// Buttons also Capabilities.AskButtons.
	Ask *Ask
	// OnlyFor makes the message visible to one person only (their external id); needs
	// Capabilities.Ephemeral. Trigger is then the update answered.
	OnlyFor string
	Trigger *Incoming
	Silent  bool // no notification
	// Droppable marks a sign of progress: it is not worth waiting for rate limits.
	Droppable bool
}

// Text is a text in pieces; each adapter renders them in its own markup, escaping what it must.
type Text []Segment

// Segment is a piece of a text in one style.
type Segment struct {
	Style Style
	Text  string
	// URL is where a link leads (StyleLink), or the external id of a person (StyleMention).
	URL string
}

// Style is how a segment looks.
type Style string

// The styles.
const (
	StylePlain   Style = ""
	StyleBold    Style = "bold"
	StyleItalic  Style = "italic"
	StyleCode    Style = "code"
	StylePre     Style = "pre"
	StyleQuote   Style = "quote" // folded where the platform can
	StyleLink    Style = "link"
	StyleMention Style = "mention"
)

// Plain is a text without style.
func Plain(s string) Text { return Text{{Text: s}} }

// String gives the text without its styles.
func (t Text) String() string {
	var n int
	for _, s := range t {
		n += len(s.Text)
	}
	b := make([]byte, 0, n)
	for _, s := range t {
		b = append(b, s.Text...)
	}
	return string(b)
}

// MediaKind is how a file is shown.
type MediaKind string

// The kinds of media.
const (
	KindPhoto     MediaKind = "photo"
	KindVideo     MediaKind = "video"
	KindAnimation MediaKind = "animation"
	KindAudio     MediaKind = "audio"
	KindVoice     MediaKind = "voice"
	KindDocument  MediaKind = "document"
	KindSticker   MediaKind = "sticker" // incoming only
)

// Media is one file of a message.
type Media struct {
	Kind MediaKind
	// Ref is the content's stable key, "asset:<sha256>": adapters that can send a file again without
	// uploading it remember it by this.
	Ref      registry.Media
	FileName string
	MIMEType string
	Bytes    int64 // 0: unknown
	Width    int
	Height   int
	Spoiler  bool
	Alt      string
	// Open reads the content; it may be called again after an error. The adapter closes it.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Button is one button under a message: either Data or URL is set.
type Button struct {
	Label string
	Data  string
	URL   string
	Style ButtonStyle
}

// ButtonStyle is a hint for the look of a button; platforms without styles ignore it.
type ButtonStyle string

// The button styles.
const (
	ButtonDefault ButtonStyle = ""
	ButtonPrimary ButtonStyle = "primary"
	ButtonSuccess ButtonStyle = "success"
	ButtonDanger  ButtonStyle = "danger"
)

// Ask asks one person for an answer by reply.
type Ask struct {
	Placeholder string // at most 64 characters
	// Person is the external id of who is asked, in groups.
	Person string
}

// PressAnswer answers the press of a button. The zero value only ends the button's waiting state.
type PressAnswer struct {
	Text  string // at most Capabilities.AnswerLimit
	Alert bool   // as a dialog, for errors
}

// Activity is what Working shows.
type Activity string

// The activities.
const (
	ActivityTyping   Activity = "typing"
	ActivityPhoto    Activity = "photo"
	ActivityVideo    Activity = "video"
	ActivityAudio    Activity = "audio"
	ActivityDocument Activity = "document"
)

// CommandSet is one list of commands: for a kind of chat and a language.
type CommandSet struct {
	Kind     ChatKind
	Language string // two letters; empty: for all without a list of their own
	Commands []Command
}

// Command is an entry of a command list.
type Command struct {
	Name        string // without slash
	Description string
	// Inputs are the tool's inputs, for platforms with typed options; nil for the house's own commands.
	Inputs registry.InputSchema
}

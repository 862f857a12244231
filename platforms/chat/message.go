package chat

import (
	"context"
	"io"
	"strings"
	"time"

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
	// Menus are lists to choose from, above the buttons; within Capabilities.Menus.
	Menus []Menu
	// Ask opens the reply field of the person addressed; needs Capabilities.ForceReply, and together with
	// Buttons also Capabilities.AskButtons.
	Ask *Ask
	// OnlyFor makes the message visible to one person only (their external id); needs
	// Capabilities.Ephemeral.
	OnlyFor string
	// Ping is the external id of the person to notify of the message, and nobody else, where a reply does not do that;
	// empty: nobody.
	Ping string
	// Trigger is the update that the message answers, where there is one: some platforms take answers
	// only to it, and need it for what only one person sees.
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
	// At is the moment that Text tells (StyleTime): platforms that can show it in the reader's own zone and way.
	At time.Time `json:",omitzero"`
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
	StyleTime    Style = "time"
	StyleGone    Style = "gone" // what a change takes away
	StyleNew     Style = "new"  // what a change adds
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

// KindOf is how a file of a MIME type is shown, where nobody asks for another way.
func KindOf(mimeType string) MediaKind {
	kind, _, _ := strings.Cut(mimeType, "/")
	switch {
	case mimeType == "image/gif":
		return KindAnimation
	case mimeType == "image/svg+xml":
		return KindDocument
	case kind == "image":
		return KindPhoto
	case kind == "video":
		return KindVideo
	case kind == "audio":
		return KindAudio
	}
	return KindDocument
}

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

// Button is one button under a message: one of Data, URL and SKU is set.
type Button struct {
	Label string
	Data  string
	URL   string
	SKU   string // what the platform's own store sells; it says itself what that is and costs
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

// Menu is a list to choose from under a message. A choice arrives as a press with the menu's Data and the
// chosen Values.
type Menu struct {
	Data        string
	Placeholder string
	Min, Max    int // how many may be chosen; zero values mean exactly one
	Options     []MenuOption
}

// MenuOption is one entry of a Menu.
type MenuOption struct {
	Label       string
	Value       string
	Description string
	Chosen      bool
}

// Form is a dialog of text fields. It arrives as KindForm when it is sent in.
type Form struct {
	Title  string
	Data   string
	Fields []FormField // within Capabilities.Forms
}

// FormField is one text field of a Form.
type FormField struct {
	Name        string
	Label       string
	Placeholder string
	Value       string
	Required    bool
	Multiline   bool
	MaxLength   int // characters; 0: the platform's limit
}

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
	// Form opens a dialog instead; needs Capabilities.Forms. Platforms open it only as the first answer.
	Form *Form
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
	// Tool is the id of the tool that it starts; empty for the bot's own commands.
	Tool string
	// Inputs are the tool's inputs, for platforms with typed options. The bot's own commands have the
	// inputs that follow their name in a text, e.g. the tool of /settings.
	Inputs registry.InputSchema
	// OnMessages makes it an entry of the menu that messages have; its Name is then free text. The message
	// arrives as Incoming.ReplyTo, and Incoming.Command is Use.
	OnMessages bool
	// OnPeople makes it an entry of the menu that people have, likewise: their picture is what the message holds.
	OnPeople bool
	// Entry makes it what the platform's list of apps opens; its Name is a word, and Incoming.Command is Use.
	Entry bool
	Use   string
	// Private tells that its answers are only for who gave the command, where the platform can do that.
	Private bool
	// Completes names the inputs whose values are offered while they are typed; see Completer.
	Completes []string
	// Localized are names and descriptions by language (BCP 47), for platforms that take all of them in
	// one list. Name and Description are the fallback. They are asked for where they are shown: all texts in all languages take memory.
	Localized map[string]func() CommandText
}

// CommandText is a command's face in one language.
type CommandText struct {
	Name        string // empty: as everywhere
	Description string
	Inputs      registry.InputSchema // those of the command, in its order; none: as everywhere
}

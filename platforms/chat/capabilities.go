package chat

import "time"

// Capabilities says what a platform can do. Lengths of texts are in UTF-16 code units, the widest of the
// units the platforms use, so that a text within a limit is within it everywhere. Zero means: not
// available.
type Capabilities struct {
	Buttons  ButtonLimits
	Menus    MenuLimits
	Forms    FormLimits
	Commands CommandLimits

	TextLimit    int // of a message's text
	SplitsAt     int // longest text that people send as one message: their clients make several of a longer one; 0: they don't
	CaptionLimit int // of the text that goes with media; 0: media carry no text
	AnswerLimit  int // of the text that answers a press

	Edit         bool // own messages can be edited
	EditToMedia  bool // a text message can become one with a media item
	AlbumMax     int  // media items in one message; below 2: no albums
	AlbumButtons bool // albums can carry buttons
	ForceReply   bool // Message.Ask opens the reply field
	AskButtons   bool // Message.Ask and Message.Buttons work together
	Ephemeral    bool // Message.OnlyFor works
	AltLimit     int  // of Media.Alt; 0: media carry no description
	Alerts       bool // PressAnswer.Alert is shown as a dialog

	// Uploads is the largest file per kind, in bytes. A kind that is absent can't be sent.
	Uploads map[MediaKind]int64
	// Download is the largest file that Fetch can open, in bytes.
	Download int64
	Photo    PhotoLimits

	// WorkingFor is how long the sign of Working stays; it is repeated a little earlier.
	WorkingFor time.Duration
	// NoticedFor is how long after a request people notice that an edit brings its result, where edits notify nobody; what
	// comes later is a new message, which notifies. 0: for as long as it takes.
	NoticedFor time.Duration
	// Progress intervals: edits of one status message are at least this far apart.
	ProgressPrivate time.Duration
	ProgressGroup   time.Duration

	// DeepLink is an address that opens a private chat with the bot and sends "/start PARAM"; "%s"
	// stands for the parameter, 1-64 characters of A-Z a-z 0-9 _ -. Empty: none.
	DeepLink string
}

// ButtonLimits are the limits of a message's buttons.
type ButtonLimits struct {
	Rows       int // 0: no buttons at all
	PerRow     int
	LabelLimit int
	DataBytes  int
}

// MenuLimits are the limits of menus under messages.
type MenuLimits struct {
	PerMessage int // 0: no menus; each takes the place of a row of buttons
	Options    int
	LabelLimit int
}

// FormLimits are the limits of dialogs.
type FormLimits struct {
	Fields     int // 0: no dialogs
	TitleLimit int
	LabelLimit int
	ValueLimit int
}

// CommandLimits are the limits of the platform's command lists.
type CommandLimits struct {
	Max              int    // per set; 0: no command lists
	NameChars        int    // longest name
	NamePattern      string // regular expression that a whole name must match
	DescriptionLimit int
	// Options is how many typed options a command can have, drawn from Command.Inputs; 0: commands are
	// followed by text.
	Options int
	// OnMessages is how many commands the menu of a message can have (Command.OnMessages).
	OnMessages int
	// OnPeople is likewise for the menu of a person (Command.OnPeople).
	OnPeople int
	// Entry tells that there is a list of apps (Command.Entry).
	Entry bool
	// Localized tells that one list carries all languages (Command.Localized): a set for each language is
	// not needed.
	Localized bool
}

// PhotoLimits say which pictures can be sent as KindPhoto; others go as KindDocument.
type PhotoLimits struct {
	MaxSides   int     // width + height in pixels; 0: no limit
	MaxRatio   float64 // longer side to shorter side; 0: no limit
	LosesAlpha bool    // photos are recompressed without transparency
}

// ProgressInterval is the least time between two edits of a status message in a chat of that kind.
func (c Capabilities) ProgressInterval(kind ChatKind) time.Duration {
	if kind == ChatPrivate {
		return c.ProgressPrivate
	}
	return c.ProgressGroup
}

// Fits reports whether a picture of that size can be sent as a photo.
func (p PhotoLimits) Fits(width, height int) bool {
	if width <= 0 || height <= 0 {
		return true // unknown
	}
	if p.MaxSides > 0 && width+height > p.MaxSides {
		return false
	}
	long, short := float64(max(width, height)), float64(min(width, height))
	return p.MaxRatio <= 0 || long/short <= p.MaxRatio
}

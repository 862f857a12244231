// Package chattest proves chat adapters: a conformance suite that looks at a bot as the people in a chat
// do, and Fake, a strict chat platform in memory that passes it. It is imported by tests only.
package chattest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// Harness is a simulated platform with people on it. The suite makes one per test; it ends with the test.
// Its methods fail the test for what should not happen.
type Harness interface {
	// Connect makes an adapter that talks to this platform, as a program does at its start. The suite
	// connects again after it has stopped the Run of the connection before.
	Connect(t testing.TB) Connection

	// Private gives the private chat between the bot and a person; it exists without being asked for.
	Private(p Person) Room
	// Group makes a group in which the bot and everybody else are. On platforms without chats of several people
	// it gives the zero Room, and what the suite asks of groups does not apply.
	Group(title string) Room

	// Post sends a message as a person and returns its id. Several files make an album. A text that
	// begins with a slash is a command.
	Post(t testing.TB, p Post) string
	// Press presses a button and returns once the press was answered.
	Press(t testing.TB, by Person, in Room, messageID, label string) chat.PressAnswer
	// PressData presses a button that carries other data than the bot ever sent.
	PressData(t testing.TB, by Person, in Room, messageID, data string) chat.PressAnswer
	// Repeat delivers the last update once more, as platforms do.
	Repeat(t testing.TB)

	// Messages lists the bot's messages as they look now, oldest first, without deleted ones. An album
	// is one message for each item.
	Messages(t testing.TB, in Room) []Seen
	// Notices tells what became of a chat's messages so far, in order.
	Notices(t testing.TB, in Room) []Notice
	// Commands lists the command names shown in chats of a kind.
	Commands(t testing.TB, kind chat.ChatKind) []string

	// Block makes a person refuse the bot; Unblock ends it.
	Block(t testing.TB, p Person)
	Unblock(t testing.TB, p Person)
	// DeleteMessage removes a message of the bot, as a person with the right to may.
	DeleteMessage(t testing.TB, in Room, messageID string)
	// Refuse makes the platform refuse the next n sends and edits as too many, to be repeated after d.
	Refuse(n int, d time.Duration)
}

// What only some platforms have is an extra of a Harness, found by type assertion. The suite uses an extra
// where the adapter's Capabilities declare the matter, and then it must be there.
type (
	// Commander is a Harness of a platform whose commands have typed options (Capabilities.Commands.Options).
	Commander interface {
		// Command gives a command of the command list, with options by input name: string, json.Number, bool,
		// or a File where the option takes one. It returns an id under which the request can be replied to,
		// or "". A command that is not listed, or an option it does not have, fails the test.
		Command(t testing.TB, by Person, in Room, name string, options map[string]any) string
		// Complete types into an option of a command and gives what is offered, in order.
		Complete(t testing.TB, by Person, in Room, name, option, typed string) []chat.Choice
		// Options lists the inputs of a listed command, in order.
		Options(t testing.TB, kind chat.ChatKind, name string) []string
	}
	// MessageMenu is a Harness of a platform with commands on messages (Capabilities.Commands.OnMessages).
	MessageMenu interface {
		// UseOn picks an entry of a message's menu. The message is the person's own or the bot's.
		UseOn(t testing.TB, by Person, in Room, messageID, entry string)
		// Entries lists the entries that messages' menus have.
		Entries(t testing.TB) []string
	}
	// PeopleMenu is a Harness of a platform with commands on people (Capabilities.Commands.OnPeople) and a list of apps
	// (Capabilities.Commands.Entry).
	PeopleMenu interface {
		// UseOnPerson picks an entry of a person's menu. Their picture is this one; empty: they have none.
		UseOnPerson(t testing.TB, by Person, in Room, whom Person, picture []byte, entry string)
		// OpenApp opens the bot from the list of apps.
		OpenApp(t testing.TB, by Person, in Room)
	}
	// Chooser is a Harness of a platform with menus (Capabilities.Menus).
	Chooser interface {
		// Choose chooses entries, by their labels, of the message's menu that has them all, and returns once
		// the choice was answered.
		Choose(t testing.TB, by Person, in Room, messageID string, labels ...string) chat.PressAnswer
	}
	// FormFiller is a Harness of a platform with dialogs (Capabilities.Forms). The answers of its Press and
	// Choose have the Form that was opened.
	FormFiller interface {
		// Fill sends in a form that was opened by a press under that message; fields that values does not
		// name, by their labels, keep what they were opened with. It returns once that was answered.
		Fill(t testing.TB, by Person, in Room, messageID string, form chat.Form, values map[string]string) chat.PressAnswer
	}
	// Promoter is a Harness of a platform with groups, and somebody who runs them.
	Promoter interface {
		// Promote makes somebody an admin of a group.
		Promote(t testing.TB, p Person, in Room)
	}
	// Expeller is a Harness of a platform with groups, which can remove the bot from one.
	Expeller interface {
		// Expel removes the bot from a group.
		Expel(t testing.TB, by Person, in Room)
	}
	// Mentioner is a Harness of a platform where messages in groups can name the bot.
	Mentioner interface {
		// Mention is how a message names the bot.
		Mention() string
	}
	// Forwarder is a Harness of a platform that tells the program of what people did after their call has returned.
	Forwarder interface {
		// Pending is how many updates the program has yet to take.
		Pending() int
	}
	// Localizer is a Harness that can tell commands' descriptions in a language.
	Localizer interface {
		// Description gives the description of a listed command as somebody who speaks that language sees it.
		Description(t testing.TB, kind chat.ChatKind, name, language string) string
	}
)

// Connection is an adapter and its receiving end.
type Connection struct {
	Adapter chat.Adapter
	// Run passes on what comes in until ctx ends.
	Run func(ctx context.Context, to chat.Receiver) error
}

// Person is somebody on the platform.
type Person struct {
	ID       string // digits only, so that it fits every platform
	Name     string
	Language string
}

// Room is a chat, or a topic of one.
type Room struct {
	ID    string
	Topic string
	Kind  chat.ChatKind
	Space string // the server the chat belongs to
	// AgeRestricted tells that the platform lets only adults in.
	AgeRestricted bool
	// UploadLimit is the largest file the platform takes here, where that differs from chat to chat.
	UploadLimit int64
}

// none tells the Room of platforms without groups.
func (r Room) none() bool { return r.ID == "" }

// Post is a message of a person.
type Post struct {
	From    Person
	In      Room
	Text    string // caption where there are files
	Files   []File
	ReplyTo string // id of the message replied to
	Aside   bool   // of a command in a group: it is another bot's, and names nobody
}

// File is a file of a message. Data is the real content: simulators may check it.
type File struct {
	Kind     chat.MediaKind
	Name     string
	MIMEType string
	Data     []byte
	Width    int
	Height   int
}

// Seen is a message of the bot as people see it.
type Seen struct {
	ID      string
	Text    string // without markup; the caption where there is media
	Media   *File  // nil: a text message
	Buttons [][]string
	Asks    bool // opens the reply field
	ReplyTo string
	Topic   string
	OnlyFor string // a person's id when nobody else sees it
	Menus   []SeenMenu
	Pings   []string // the ids of whom it notified by name
	Alt     string   // the description of Media
	Spoiler bool     // Media is covered until somebody uncovers it
}

// SeenMenu is a menu as people see it.
type SeenMenu struct {
	Placeholder string
	Options     []string // labels
	Chosen      []string
}

// Notice is one change of a chat's messages.
type Notice struct {
	MessageID string
	Kind      string // sent, edited, deleted
	At        time.Time
}

// contains reports whether all parts are in the text.
func (s Seen) contains(parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s.Text, p) {
			return false
		}
	}
	return true
}

// Has reports whether a button with this label is under the message.
func (s Seen) Has(label string) bool {
	for _, row := range s.Buttons {
		if slices.Contains(row, label) {
			return true
		}
	}
	return false
}

// Offers reports whether a menu of the message has this entry.
func (s Seen) Offers(label string) bool {
	for _, m := range s.Menus {
		if slices.Contains(m.Options, label) {
			return true
		}
	}
	return false
}

// shows reports whether there is a button or an entry of a menu with this label.
func (s Seen) shows(label string) bool { return s.Has(label) || s.Offers(label) }

// chosen reports whether an entry of a menu is the current one, as buttons say by a check mark before their label.
func (s Seen) chosen(label string) bool {
	label, marked := strings.CutPrefix(label, "✓ ")
	return marked && slices.ContainsFunc(s.Menus, func(m SeenMenu) bool { return slices.Contains(m.Chosen, label) })
}

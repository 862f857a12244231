// Package chattest proves chat adapters: a conformance suite that looks at a bot as the people in a chat
// do, and Fake, a strict chat platform in memory that passes it. It is imported by tests only.
package chattest

import (
	"context"
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
	// Group makes a group in which the bot and everybody else are.
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
}

// Post is a message of a person.
type Post struct {
	From    Person
	In      Room
	Text    string // caption where there are files
	Files   []File
	ReplyTo string // id of the message replied to
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
		for _, b := range row {
			if b == label {
				return true
			}
		}
	}
	return false
}

package chat

import (
	"context"
	"errors"
	"io"

	"github.com/signalbox/signalbox/users"
)

// Adapter is one chat platform. All methods may be called from many goroutines at once.
//
// An adapter keeps to its platform's rate limits by itself: a call waits for its turn as long as ctx
// allows, and a refusal "too many requests" is waited out and repeated inside the call where the wait
// fits ctx's deadline. Where it does not fit, the call returns a *registry.Error with CodeRateLimited,
// Retryable and RetryAfter. Messages marked Droppable never wait: they return such an error at once.
//
// Other errors worth telling apart wrap ErrGone, ErrKept, ErrUnreachable, ErrTooLarge, ErrNoRight or
// ErrUncertain. A refusal of the markup is repaired inside the adapter (sent again as plain text), a
// reply target that is gone is left out, an edit that changes nothing is a success.
type Adapter interface {
	// Platform is the name under which identities and runs of this adapter are kept. It is stable.
	Platform() string

	// Capabilities tells what the platform can do. It is constant while the adapter runs.
	Capabilities() Capabilities

	// Send posts a new message and returns where it went. An album gives one reference per item, in
	// order; anything else gives exactly one.
	Send(ctx context.Context, m Message) ([]MessageRef, error)

	// Edit replaces text, media and buttons of an own message and returns its (possibly changed)
	// reference. A message without Buttons loses its buttons. Turning a text message into one with a
	// single media item needs Capabilities.EditToMedia; editing a message with media (ref.Media) while
	// m.Media is empty changes its caption and keeps the media.
	Edit(ctx context.Context, ref MessageRef, m Message) (MessageRef, error)

	// EditButtons replaces only the buttons; menus go.
	EditButtons(ctx context.Context, ref MessageRef, rows [][]Button) error

	// Delete removes an own message. One that is already gone is no error; one that the platform keeps all the same wraps ErrKept.
	Delete(ctx context.Context, ref MessageRef) error

	// AnswerPress answers the press of a button. A press too old to be answered, or answered before,
	// is no error, but for a dialog, which can't be opened then: ErrLateForm.
	AnswerPress(ctx context.Context, p Press, a PressAnswer) error

	// Working shows that something is being done, for at most Capabilities.WorkingFor. It never waits
	// for rate limits. Platforms without such a sign do nothing.
	Working(ctx context.Context, to Place, what Activity) error

	// Fetch opens an attachment that came in. The caller closes it and bounds what it reads; a file the
	// platform does not hand out for its size wraps ErrTooLarge.
	Fetch(ctx context.Context, a Attachment) (io.ReadCloser, error)

	// SyncCommands makes the platform's command lists equal to sets, which hold no more than
	// Capabilities.Commands allows. Equal lists cost no call.
	SyncCommands(ctx context.Context, sets []CommandSet) error
}

// Introducer is an Adapter of a platform that shows what a bot is for before anybody has written to it.
type Introducer interface {
	// Introduce makes these texts what the platform shows of the bot. What its operator wrote there by hand stays; equal
	// texts cost no call.
	Introduce(ctx context.Context, texts []Introduction) error
}

// Introduction says in a language what a bot is for; the one of language "" is for everybody else, and comes first.
type Introduction struct {
	Language string
	Short    string // at most 120 characters
	Long     string // at most 400
	Open     string // the label of a button that opens the pages
}

// AdminTeller is an Adapter that can tell who runs a group, so that they may remove what others made there.
type AdminTeller interface {
	// IsAdmin reports whether the sender of an update may delete other people's messages in its chat. It
	// is asked while a pressed button waits, so rarely and with a short deadline. Platforms whose updates
	// tell it read it from there (Press.Handle), others ask.
	IsAdmin(ctx context.Context, in Incoming) (bool, error)
}

// MemberTeller is an Adapter that can tell how somebody stands in a group by now, without an update of theirs.
type MemberTeller interface {
	// Member reports whether a person is in a chat and whether they run it. An error says that nobody knows.
	Member(ctx context.Context, chat, externalID string) (in, runs bool, err error)
}

// MoveTeller is an Adapter of a platform where a chat may go on under another id, with its messages counted anew.
type MoveTeller interface {
	// Present gives the id of a chat as it is by now, which is mostly the same. Messages of the former one stay there: they can't be edited.
	Present(ctx context.Context, chat string) (string, error)
}

// Receiver takes what comes in from a platform; the Router is one.
//
// When Receive returns nil the updates are stored and will be handled, also after a crash; the adapter
// may confirm them to the platform. Updates whose ID was received before are ignored. Receive returns
// quickly and does not wait for the updates to be handled.
type Receiver interface {
	Receive(ctx context.Context, platform string, updates ...Incoming) error
}

// Completer offers values while a command's option is typed; the Router is one. It answers from memory.
type Completer interface {
	// Complete gives at most n choices, the best first. What was typed is itself among them where the
	// input takes free text.
	Complete(ctx context.Context, platform string, q Completion, n int) []Choice
}

// Completion asks what could follow in an option that is being typed.
type Completion struct {
	From    users.Identity
	Chat    Chat
	Command string
	Option  string         // the input's name
	Typed   string         // so far
	Options map[string]any // the other options so far
}

// Choice is an offered value.
type Choice struct {
	Label string
	Value any // string or json.Number
}

// Errors that adapters wrap.
var (
	// ErrGone: the message to edit does not exist any more, or can't be edited.
	ErrGone = errors.New("the message is gone")
	// ErrKept: the message can't be deleted by the bot, such as for its age.
	ErrKept = errors.New("the platform keeps the message")
	// ErrUnreachable: the chat can't be written to (blocked, kicked, deleted, never started).
	ErrUnreachable = errors.New("the chat can't be reached")
	// ErrTooLarge: a file or a text is beyond the platform's limit.
	ErrTooLarge = errors.New("too large for the platform")
	// ErrNoRight: the bot lacks a right in this chat; the error's text names it.
	ErrNoRight = errors.New("the bot lacks a right in this chat")
	// ErrLateForm: the press was answered before a dialog could be opened; another press may be in time.
	ErrLateForm = errors.New("too late for a dialog")
	// ErrUncertain: the call may or may not have had its effect (time-out or cut after sending).
	ErrUncertain = errors.New("the platform did not confirm")
)

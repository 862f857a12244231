package discord

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// Error is a call that failed. It never contains a token: neither the bot's nor an interaction's.
type Error struct {
	// Call is the method and the route, with ids left out.
	Call string
	// Status is the HTTP status, 0 when there was no answer; Code is Discord's own code, 0 when there was none.
	Status int
	Code   int
	// Message is Discord's text, with the fields it complains about.
	Message string
	// RetryAfter is how long a 429 asks to wait.
	RetryAfter time.Duration
	// Uncertain says that the call may have been carried out all the same.
	Uncertain bool

	err error
}

// Error gives the call, the codes and Discord's text.
func (e *Error) Error() string {
	text := e.Message
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	switch {
	case e.Code != 0:
		return fmt.Sprintf("discord: %s: %d (code %d) %s", e.Call, e.Status, e.Code, text)
	case e.Status != 0:
		return fmt.Sprintf("discord: %s: %d %s", e.Call, e.Status, text)
	}
	return fmt.Sprintf("discord: %s: %s", e.Call, text)
}

// Unwrap gives the cause, such as context.Canceled.
func (e *Error) Unwrap() error { return e.err }

// reason says what a failed call means.
type reason int

const (
	unknown         reason = iota
	gone                   // the message is not there, or can't be edited any more
	tokenOver              // the interaction can't be answered any more, at least not in this way
	alreadyAnswered        // the interaction had its first answer
	tooLarge
	noRight
	unreachable
	rateLimited
	unauthorized
	temporary
)

// Codes of Discord that its library has no name for.
const (
	codeEditTooOften    = 30046
	codeNotConsumable   = 40018
	codeFollowupLimit   = 40094
	codeUploadTooLarge  = 50045
	codeNoMutualGuilds  = 50278
	codeArchivedThread  = 50083
	codeLockedThread    = 160005
	codeChannelSlowMode = 20016
	codeChannelWrites   = 20028
	codeServerWrites    = 20029
	codeAnotherAuthor   = 50005
	codeRequestTooLarge = 40005
	codeOverload        = 130000
	codeGoneFile        = -1 // our own: a file's address is over
)

// reasons maps Discord's codes to what they mean for us.
func reasons(code int) reason {
	switch code {
	case discordgo.ErrCodeUnknownMessage, codeEditTooOften, codeAnotherAuthor, codeGoneFile:
		return gone
	case discordgo.ErrCodeUnknownInteraction, discordgo.ErrCodeUnknownWebhook, discordgo.ErrCodeInvalidWebhookTokenProvided, codeFollowupLimit:
		return tokenOver
	case discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged:
		return alreadyAnswered
	case codeRequestTooLarge, codeUploadTooLarge:
		return tooLarge
	case discordgo.ErrCodeMissingPermissions, codeArchivedThread, codeLockedThread:
		return noRight
	case discordgo.ErrCodeMissingAccess, discordgo.ErrCodeUnknownChannel, discordgo.ErrCodeUnknownGuild, discordgo.ErrCodeUnknownUser,
		discordgo.ErrCodeCannotSendMessagesToThisUser, codeNoMutualGuilds:
		return unreachable
	case codeChannelSlowMode, codeChannelWrites, codeServerWrites:
		return rateLimited
	case codeOverload:
		return temporary
	}
	return unknown
}

// reasonOf classifies an error of this package; nil and foreign errors are unknown.
func reasonOf(err error) reason {
	var e *Error
	if !errors.As(err, &e) {
		return unknown
	}
	if r := reasons(e.Code); r != unknown {
		return r
	}
	switch {
	case e.Status == http.StatusTooManyRequests:
		return rateLimited
	case e.Status == http.StatusUnauthorized:
		return unauthorized
	case e.Status == http.StatusRequestEntityTooLarge:
		return tooLarge
	case e.Status == 0, e.Status >= 500:
		return temporary
	}
	return unknown
}

// contract turns an error of the client into what the chat contract knows.
func contract(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	kind := error(nil)
	switch reasonOf(err) {
	case gone:
		kind = chat.ErrGone
	case unreachable, tokenOver:
		kind = chat.ErrUnreachable
	case tooLarge:
		kind = chat.ErrTooLarge
	case noRight:
		return &lackingRight{e}
	case rateLimited:
		return limited(e.RetryAfter, err)
	default:
		if e.Uncertain {
			kind = chat.ErrUncertain
		}
	}
	if kind == nil {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// limited is the refusal of a call that would have to wait too long.
func limited(wait time.Duration, cause error) error {
	return &registry.Error{
		Code: registry.CodeRateLimited, Message: "Discord takes no more messages at the moment",
		Retryable: true, RetryAfter: max(wait, time.Millisecond), Cause: cause,
	}
}

// lackingRight is a right the bot lacks. Its text is for people: what Discord says.
type lackingRight struct{ cause *Error }

func (e *lackingRight) Error() string   { return e.cause.Message }
func (e *lackingRight) Unwrap() []error { return []error{chat.ErrNoRight, e.cause} }

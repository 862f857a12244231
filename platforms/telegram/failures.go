package telegram

import (
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/registry"
)

// contract turns an error of the client into what the chat contract knows.
func contract(err error) error {
	var e *botapi.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := error(nil)
	switch botapi.ReasonOf(err) {
	case botapi.EditGone, botapi.HasMedia, botapi.BadFile, botapi.Migrated:
		kind = chat.ErrGone
	case botapi.DeleteKept:
		kind = chat.ErrKept
	case botapi.Unreachable:
		kind = chat.ErrUnreachable
	case botapi.TooLarge, botapi.TooLong:
		kind = chat.ErrTooLarge
	case botapi.NoRights:
		return &noRight{e}
	case botapi.RateLimited:
		return &registry.Error{
			Code: registry.CodeRateLimited, Message: "Telegram takes no more messages at the moment",
			Retryable: true, RetryAfter: e.RetryAfter, Cause: err,
		}
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

// noRight is a right the bot lacks. Its text is for people: what Telegram says is missing.
type noRight struct{ cause *botapi.Error }

func (e *noRight) Error() string {
	_, text, found := strings.Cut(e.cause.Description, ": ")
	if !found {
		text = e.cause.Description
	}
	return strings.TrimSuffix(text, " to the chat")
}

func (e *noRight) Unwrap() []error { return []error{chat.ErrNoRight, e.cause} }

// sourceError is a file of ours that could not be read to its end. What Telegram got of it is no message.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// atSource gives the cause of an upload's failure that lies on our side, else err.
func atSource(err error) error {
	var source *sourceError
	if errors.As(err, &source) {
		return source.err
	}
	return err
}

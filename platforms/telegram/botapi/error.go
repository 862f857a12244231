package botapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// Error is a call that failed. It never contains the token.
type Error struct {
	// Method is the Bot API method that was called.
	Method string
	// Code is the service's error code or the HTTP status, 0 when there was no answer.
	Code int
	// Description is the service's text.
	Description string
	// RetryAfter is how long a 429 asks to wait.
	RetryAfter time.Duration
	// MigrateTo is the chat that took this one's place, 0 if none did.
	MigrateTo int64
	// Uncertain says that the call may have been carried out all the same: the connection broke or a
	// proxy answered. There is no way to ask; a repeated send may show a message twice.
	Uncertain bool

	err error
}

// Error gives the method, the code and the service's text.
func (e *Error) Error() string {
	text := e.Description
	if e.err != nil {
		text = strings.TrimPrefix(text+": "+e.err.Error(), ": ")
	}
	if e.Code == 0 {
		return fmt.Sprintf("telegram: %s: %s", e.Method, text)
	}
	return fmt.Sprintf("telegram: %s: %d %s", e.Method, e.Code, text)
}

// Unwrap gives the cause, such as context.Canceled.
func (e *Error) Unwrap() error { return e.err }

// Reason says what a failed call means for the caller.
type Reason int

// The reasons, and what to do about each.
const (
	// Unknown: not one of the below; treat it as a failure of this call.
	Unknown Reason = iota
	// NotModified: the message already shows this; success.
	NotModified
	// EditGone: the message to edit is gone or cannot be edited; send a new one.
	EditGone
	// HasMedia: the message to edit carries media; edit its caption.
	HasMedia
	// DeleteGone: the message to delete is gone; nothing to do.
	DeleteGone
	// DeleteKept: the message is too old to be deleted by a bot, or not its own to delete; people have to.
	DeleteKept
	// ReplyGone: the message to be replied to is gone; send without.
	ReplyGone
	// ThreadNotFound: the topic is gone; send without a thread.
	ThreadNotFound
	// ParseError: the markup is broken; send as plain text.
	ParseError
	// TooLong: the text or caption is over the limit; split it.
	TooLong
	// TooOld: the button press can no longer be answered; ignore.
	TooOld
	// TooLarge: the file is over a limit; send a smaller version or a link.
	TooLarge
	// BadFile: the file_id or address does not work; upload the bytes.
	BadFile
	// BadPhoto: the picture cannot be a photo; send it as a document.
	BadPhoto
	// NoRights: the bot may not send this here; say which right is missing.
	NoRights
	// Unreachable: blocked, kicked, deactivated, never started or gone; stop delivering to this chat.
	Unreachable
	// Migrated: the chat has a new identifier, MigrateTo; use that.
	Migrated
	// RateLimited: wait RetryAfter, then repeat.
	RateLimited
	// Unauthorized: the token is wrong or revoked; stop and tell the operator.
	Unauthorized
	// Conflict: another instance polls, or a webhook is set; back off.
	Conflict
	// Temporary: the server or the network failed; repeat with growing pauses where that is safe.
	Temporary
)

// texts maps parts of the service's descriptions to reasons; the first that fits counts.
var texts = []struct {
	part   string
	reason Reason
}{
	{"message is not modified", NotModified},
	{"message to edit not found", EditGone},
	{"message can't be edited", EditGone},
	{"message_id_invalid", EditGone},
	{"there is no text in the message to edit", HasMedia},
	{"message to delete not found", DeleteGone},
	{"message can't be deleted", DeleteKept},
	{"message to be replied not found", ReplyGone},
	{"replied message not found", ReplyGone},
	{"message thread not found", ThreadNotFound},
	{"topic_closed", ThreadNotFound},
	{"topic_deleted", ThreadNotFound},
	{"topic_id_invalid", ThreadNotFound},
	{"can't parse entities", ParseError},
	{"message is too long", TooLong},
	{"message caption is too long", TooLong},
	{"query is too old", TooOld},
	{"too big", TooLarge},
	{"request entity too large", TooLarge},
	{"wrong file_id", BadFile},
	{"wrong file identifier", BadFile},
	{"wrong remote file", BadFile},
	{"can't use file of type", BadFile},
	{"failed to get http url content", BadFile},
	{"wrong type of the web page content", BadFile},
	{"image_process_failed", BadPhoto},
	{"photo_invalid_dimensions", BadPhoto},
	{"not enough rights", NoRights},
	{"have no rights", NoRights},
	{"chat_write_forbidden", NoRights},
	{"chat_send_", NoRights},
	{"chat not found", Unreachable},
	{"peer_id_invalid", Unreachable},
}

// ReasonOf classifies an error of this package; nil and foreign errors are Unknown.
func ReasonOf(err error) Reason {
	var e *Error
	if !errors.As(err, &e) {
		return Unknown
	}
	switch {
	case e.MigrateTo != 0:
		return Migrated
	case e.Code == http.StatusTooManyRequests || e.RetryAfter > 0:
		return RateLimited
	case e.Method == downloadMethod && e.Code == http.StatusNotFound:
		return BadFile
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusNotFound:
		return Unauthorized
	case e.Code == http.StatusConflict:
		return Conflict
	}
	lower := strings.ToLower(e.Description)
	for _, t := range texts {
		if strings.Contains(lower, t.part) {
			return t.reason
		}
	}
	switch {
	case e.Code == http.StatusRequestEntityTooLarge:
		return TooLarge
	case e.Code == http.StatusForbidden:
		return Unreachable
	case errors.Is(err, context.Canceled):
		return Unknown
	case e.Code == 0, e.Code == http.StatusOK, e.Code >= 500:
		return Temporary
	}
	return Unknown
}

// failure turns what the library returned into an Error.
func (c *Client) failure(x *exchange, resp *tgbotapi.APIResponse, err error) error {
	e := &Error{Method: x.method, Code: x.status}
	if resp != nil && resp.ErrorCode != 0 {
		// The library's own error has no code for failed uploads; the envelope does.
		e.Code, e.Description = resp.ErrorCode, c.redact(resp.Description)
		if p := resp.Parameters; p != nil {
			e.RetryAfter, e.MigrateTo = time.Duration(p.RetryAfter)*time.Second, p.MigrateToChatID
		}
		e.Uncertain = e.Code >= 500
		return e
	}
	e.err = c.clean(err)
	if x.status != 0 {
		e.Description = "the answer is not one of the Bot API (" + http.StatusText(x.status) + ")"
		e.Uncertain = x.status == http.StatusOK || x.status >= 500
		return e
	}
	var op *net.OpError
	neverSent := errors.As(err, &op) && op.Op == "dial"
	e.Description, e.Uncertain = "no answer", !neverSent
	return e
}

// redact replaces the token in a text.
func (c *Client) redact(text string) string {
	token := c.token.reveal()
	_, key, _ := strings.Cut(token, ":")
	return strings.ReplaceAll(strings.ReplaceAll(text, token, "[token]"), key, "[token]")
}

// clean returns err, or one that reads the same without the token and still answers errors.Is.
func (c *Client) clean(err error) error {
	if text := c.redact(err.Error()); text != err.Error() {
		return &cleanError{text, func(target error) bool { return errors.Is(err, target) }}
	}
	return err
}

type cleanError struct {
	text string
	is   func(error) bool
}

func (e *cleanError) Error() string        { return e.text }
func (e *cleanError) Is(target error) bool { return e.is(target) }

package registry

import (
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/said"
)

// Code classifies an Error. The list is closed.
type Code string

// The error codes.
const (
	CodeInvalidInput Code = "invalid_input" // the user can mend it
	CodeUnavailable  Code = "unavailable"   // the tool or service can't be used now
	CodeTimeout      Code = "timeout"
	CodeRateLimited  Code = "rate_limited"
	CodeRefused      Code = "refused" // content policy of the provider
	CodeUnauthorized Code = "unauthorized"
	CodeLost         Code = "lost" // the provider does not know the run
	CodeGone         Code = "gone" // where the run is does not answer any more; it may go on there, see Call.Sending
	CodeProvider     Code = "provider_error"
	CodeBadOutput    Code = "invalid_output" // the result lacks what the outputSchema declares
	CodeCanceled     Code = "canceled"
	CodeInternal     Code = "internal"
)

// Error is the one typed error that crosses from providers to runs and on to people.
type Error struct {
	Code       Code
	Message    string // in English and safe to show: no paths, no secrets, no prompt
	Field      string // the input concerned, if one is
	Retryable  bool
	RetryAfter time.Duration // zero: as the caller sees fit
	// Wait says that nothing is lost by waiting, and that the run is not to blame: it counts as no try, and the same is asked
	// again until the run's time is over. Where Call.Repeated was not set nothing has left.
	Wait bool
	// Waking says with Wait that what the run waits for is being started for it.
	Waking bool
	Cause  error // for logs only
	// Said is Message as a sentence of the program's, so that it can be said in another language. Without a key Message is
	// all there is: a service's words, or English that only programs and operators read.
	Said said.Text
}

// Error gives the code and the safe message.
func (e *Error) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s: %s: %s", e.Code, e.Field, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an *Error with a safe message for programs and operators, who read English. What people read is said by Say.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Say makes an *Error whose message is a sentence with its values: pairs of placeholder and value.
func Say(code Code, sentence said.Sentence, pairs ...any) *Error {
	return SayText(code, sentence.With(pairs...))
}

// SayText makes an *Error whose message is a text.
func SayText(code Code, text said.Text) *Error {
	return (&Error{Code: code}).Reword(text)
}

// Reword gives e another message, and e.
func (e *Error) Reword(text said.Text) *Error {
	e.Message, e.Said = text.String(), text
	return e
}

// Map changes the message and the words in it by f, and gives e: to take secrets out, or to make it shorter.
func (e *Error) Map(f func(string) string) *Error {
	e.Message, e.Said = f(e.Message), e.Said.Map(f)
	return e
}

// Text is the message, as a sentence where it is one.
func (e *Error) Text() said.Text {
	if e.Said.Known() {
		return e.Said
	}
	return said.Text{Words: e.Message}
}

// At sets Field and gives e.
func (e *Error) At(field string) *Error {
	e.Field = field
	return e
}

// Because sets Cause and gives e.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// Again sets Retryable and gives e.
func (e *Error) Again() *Error {
	e.Retryable = true
	return e
}

// After sets Retryable and RetryAfter and gives e.
func (e *Error) After(wait time.Duration) *Error {
	e.Retryable, e.RetryAfter = true, wait
	return e
}

// StatusError is the cause of an *Error whose service answered over HTTP, for those who have to tell refusals apart: a call that takes
// another back has nothing left to do at 409, and comes too late at 422.
type StatusError struct {
	Status int    // of the answer, 100 to 599
	Answer string // its beginning, without secrets; for logs
}

// Error gives the status and the beginning of the answer.
func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Answer) }

// StatusOf is the HTTP status with which a service refused a call, or 0 where none is known.
func StatusOf(err error) int {
	var refused *StatusError
	if errors.As(err, &refused) {
		return refused.Status
	}
	return 0
}

// AsError finds the *Error in err's chain. Anything else becomes CodeInternal with a message that gives
// nothing away; nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Say(CodeInternal, said.Internal).Because(err)
}

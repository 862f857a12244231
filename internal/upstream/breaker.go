package upstream

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// newBreaker opens after failures in a row that tell of the service's trouble, not of the request's. opened is set to when it does.
func newBreaker(name string, opened *atomic.Int64) *gobreaker.CircuitBreaker[Response] {
	return gobreaker.NewCircuitBreaker[Response](gobreaker.Settings{
		Name: name, Timeout: openFor,
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				opened.Store(time.Now().UnixNano())
			}
		},
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		IsSuccessful: func(err error) bool { return !isTrouble(err) },
		// A caller that gave up says nothing about the service.
		IsExcluded: func(err error) bool {
			return !isTrouble(err) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
		},
	})
}

// troubleError marks what counts against the service in the breaker.
type troubleError struct{ error }

func isTrouble(err error) bool { return errors.As(err, new(*troubleError)) }

// Unwrap gives what went wrong.
func (e *troubleError) Unwrap() error { return e.error }

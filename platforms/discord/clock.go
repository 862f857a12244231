package discord

import "time"

// Clock is the time that deadlines, pauses and rates run on.
type Clock interface {
	Now() time.Time
	// After sends once when d has passed.
	After(d time.Duration) <-chan time.Time
}

// SystemClock is the computer's clock.
type SystemClock struct{}

// Now returns the present time.
func (SystemClock) Now() time.Time { return time.Now() }

// After sends once when d has passed.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

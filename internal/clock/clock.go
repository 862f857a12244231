// Package clock is the time that pauses, deadlines and rates run on.
package clock

import (
	"context"
	"time"
)

// Clock is a time that something runs on.
type Clock interface {
	Now() time.Time
	// After sends once when d has passed.
	After(d time.Duration) <-chan time.Time
}

// System is the computer's clock.
type System struct{}

// Now is the present time.
func (System) Now() time.Time { return time.Now() }

// After sends once when d has passed.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Sleep waits for d by the computer's clock, or ends early with the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

package discordtest

import (
	"sync"
	"time"
)

// Clock is the server's time: deadlines, ages, rate limits and delays run on it. The gateway's heartbeats keep to
// real time, since clients count them so.
type Clock interface {
	Now() time.Time
	// After sends once when d has passed.
	After(d time.Duration) <-chan time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// ManualClock stands still until Advance moves it. The zero value is not usable; see NewManualClock.
type ManualClock struct {
	mu      sync.Mutex
	now     time.Time
	waiting []alarm
}

type alarm struct {
	at   time.Time
	ring chan time.Time
}

// NewManualClock returns a clock that shows start.
func NewManualClock(start time.Time) *ManualClock { return &ManualClock{now: start} }

// Now returns the time the clock was last moved to.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After sends once the clock has been moved d ahead.
func (c *ManualClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := alarm{c.now.Add(d), make(chan time.Time, 1)}
	if d <= 0 {
		a.ring <- c.now
		return a.ring
	}
	c.waiting = append(c.waiting, a)
	return a.ring
}

// Advance moves the clock and rings what is due.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	var later []alarm
	for _, a := range c.waiting {
		if a.at.After(c.now) {
			later = append(later, a)
			continue
		}
		a.ring <- c.now
	}
	c.waiting = later
}

// Waiting tells how many alarms are set, so that a test can move the clock once somebody waits.
func (c *ManualClock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

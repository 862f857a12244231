// Package clocktest has a clock for tests and simulators that stands still until a test moves it, and Until for what no clock moves.
package clocktest

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for somebody to wait.
const patience = 20 * time.Second

// Manual stands still until Advance moves it. It is safe for concurrent use. Make it with NewManual.
type Manual struct {
	mu      sync.Mutex
	now     time.Time
	waiting []alarm
	set     chan struct{} // closed when the next alarm is set
}

type alarm struct {
	at   time.Time
	ring chan time.Time
}

// NewManual gives a clock that shows start.
func NewManual(start time.Time) *Manual { return &Manual{now: start, set: make(chan struct{})} }

// Now is the time that the clock was last moved to.
func (c *Manual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After sends once the clock has been moved d ahead.
func (c *Manual) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := alarm{c.now.Add(d), make(chan time.Time, 1)}
	if d <= 0 {
		a.ring <- c.now
		return a.ring
	}
	c.waiting = append(c.waiting, a)
	close(c.set)
	c.set = make(chan struct{})
	return a.ring
}

// Advance moves the clock and rings what is due.
func (c *Manual) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.waiting = slices.DeleteFunc(c.waiting, func(a alarm) bool {
		due := !a.at.After(c.now)
		if due {
			a.ring <- c.now
		}
		return due
	})
}

// Waiting is how many alarms are set.
func (c *Manual) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// Await waits until n alarms are set at least, so that moving the clock is felt. It ends the test when that does not
// come about; call it from the test's goroutine.
func (c *Manual) Await(t testing.TB, n int) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		waiting, set := len(c.waiting), c.set
		c.mu.Unlock()
		if waiting >= n {
			return
		}
		select {
		case <-set:
		case <-late.C:
			t.Fatalf("%d alarms are set on the clock, expected %d", waiting, n)
		}
	}
}

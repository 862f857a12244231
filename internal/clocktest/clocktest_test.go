package clocktest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestManual(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	t.Run("it stands still, and rings what is due when it is moved", func(t *testing.T) {
		t.Parallel()
		c := NewManual(start)
		at := c.After(0)
		soon, late := c.After(time.Second), c.After(time.Minute)
		if got := <-at; !got.Equal(start) || c.Waiting() != 2 {
			t.Errorf("at once: %s, %d wait", got, c.Waiting())
		}
		c.Advance(time.Second)
		if got := <-soon; !got.Equal(start.Add(time.Second)) || !c.Now().Equal(got) || c.Waiting() != 1 {
			t.Errorf("after a second: %s, %s, %d wait", got, c.Now(), c.Waiting())
		}
		select {
		case <-late:
			t.Error("the minute rang after a second")
		default:
		}
		c.Advance(time.Hour)
		<-late
	})
	t.Run("a test waits until somebody waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := NewManual(start)
			rung := make(chan time.Time)
			for range 2 {
				go func() {
					time.Sleep(5 * time.Second) // of the bubble
					rung <- <-c.After(time.Minute)
				}()
			}
			c.Await(t, 2)
			c.Advance(time.Minute)
			for range 2 {
				if got := <-rung; !got.Equal(start.Add(time.Minute)) {
					t.Errorf("rang at %s", got)
				}
			}
		})
	})
}

package peers

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestClock(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	for name, off := range map[string]time.Duration{"two minutes ahead": 2 * time.Minute, "two minutes behind": -2 * time.Minute} {
		t.Run(name+" it goes by the database, and says so once", func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			c := NewClock(pool, slog.New(slog.NewTextHandler(&said, nil)))
			c.now = func() time.Time { return time.Now().Add(off) }
			for range 2 {
				if err := c.Ask(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if left := time.Until(c.Now()).Abs(); left > tolerance {
				t.Errorf("it is still %v off", left)
			}
			if n := strings.Count(said.String(), "level=WARN"); n != 1 {
				t.Errorf("it said %d times that it is off:\n%s", n, &said)
			}
		})
	}
	t.Run("a little off it stays as it is", func(t *testing.T) {
		t.Parallel()
		c := NewClock(pool, slog.New(slog.DiscardHandler))
		still := time.Now().Add(tolerance / 4)
		c.now = func() time.Time { return still }
		if err := c.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Now(); !got.Equal(still) {
			t.Errorf("it says %v at %v", got, still)
		}
	})
	t.Run("an answer that comes late sets right what it proves to be wrong", func(t *testing.T) {
		t.Parallel()
		for off, want := range map[time.Duration]time.Duration{2 * time.Minute: 2 * time.Minute, time.Second / 2: 0} {
			c := NewClock(pool, slog.New(slog.DiscardHandler))
			late := time.Duration(0)
			c.now = func() time.Time {
				defer func() { late = 10 * time.Second }()
				return time.Now().Add(off + late)
			}
			if err := c.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ahead := time.Duration(c.ahead.Load()); (ahead-want).Abs() > 6*time.Second || want == 0 && ahead != 0 {
				t.Errorf("%v ahead it reckons with %v after an answer that took 10 s, want %v, give or take half of that", off, ahead, want)
			}
		}
	})
}

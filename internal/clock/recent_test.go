package clock_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/clocktest"
)

func TestRecent(t *testing.T) {
	t.Parallel()
	c := clocktest.NewManual(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	r := clock.NewRecent[string, bool](c, time.Minute)
	if _, known := r.Get("ann"); known {
		t.Error("an answer that nobody gave is known")
	}
	r.Set("ann", true)
	c.Advance(59 * time.Second)
	r.Set("bob", false)
	if yes, known := r.Get("ann"); !yes || !known {
		t.Error("an answer is forgotten too early")
	}
	c.Advance(time.Second)
	if _, known := r.Get("ann"); known {
		t.Error("an answer is believed for too long")
	}
	if yes, known := r.Get("bob"); yes || !known {
		t.Error("a later answer goes with an earlier one")
	}
}

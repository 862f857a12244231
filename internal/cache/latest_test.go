package cache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/cache"
)

func TestLatest(t *testing.T) {
	t.Parallel()
	start, broken := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), errors.New("broken")
	l := cache.Latest[int]{Life: time.Minute}
	for _, c := range []struct {
		what        string
		now         time.Duration
		reads       int
		err         error
		want        int
		wantedSince time.Duration
	}{
		{"the first time it is read", 0, 1, nil, 1, 0},
		{"for its life it is kept", 59 * time.Second, 2, nil, 1, 0},
		{"then an error is told", time.Minute, 3, broken, 3, time.Minute},
		{"and not kept", time.Minute, 4, nil, 4, time.Minute},
		{"nor is what was read after now", 0, 5, nil, 5, 0},
	} {
		value, at, err := l.Get(start.Add(c.now), func() (int, error) { return c.reads, c.err })
		if value != c.want || !at.Equal(start.Add(c.wantedSince)) || !errors.Is(err, c.err) {
			t.Errorf("%s: got %d of %s, %v", c.what, value, at.Sub(start), err)
		}
	}
}

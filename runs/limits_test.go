package runs

import (
	"testing"

	"github.com/signalbox/signalbox/users"
)

func TestUsageBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits users.Limits
		want   bool
	}{
		"none":                       {users.Limits{}, false},
		"what does not concern runs": {users.Limits{Streams: 20, UploadBytes: 1, ConfirmPercent: 50}, false},
		"runs at once":               {users.Limits{AtOnce: 1, Streams: 20}, true},
		"runs a day":                 {users.Limits{PerDay: 1}, true},
		"spending of a day":          {users.Limits{DayCap: 1}, true},
		"spending of a month":        {users.Limits{MonthCap: 1}, true},
		"files of results":           {users.Limits{ResultBytes: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (Usage{Limits: c.limits}).Bounds(); got != c.want {
				t.Errorf("%+v bound runs: %v, want %v", c.limits, got, c.want)
			}
		})
	}
}

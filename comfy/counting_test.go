package comfy

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/comfy/placement"
)

type deaf struct{}

func (deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestCountingGoesOnBesideADeafServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counted := 0
		f := NewFleet([]*url.URL{{Scheme: "http", Host: "gpu1"}}, FleetConfig{
			HTTPClient: &http.Client{Transport: deaf{}},
			Waiting:    func(context.Context) (map[string]int, error) { counted++; return map[string]int{"paint": 1}, nil },
		})
		f.waits.Refused(placement.Job{Tool: "paint"}, time.Now())
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		f.Run(ctx)
		if counted < 55 {
			t.Errorf("what waits was counted %d times in a minute", counted)
		}
	})
}

package webhooks

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/signalbox/signalbox/providers/vidu"
	"github.com/signalbox/signalbox/providers/vidu/vidutest"
)

func TestSignedService(t *testing.T) {
	t.Parallel()
	videos, err := vidu.New(vidu.Config{Key: vidutest.Key, BaseURL: "https://api.vidu.example/ent/v2", USDPerCredit: "0.005"})
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, func(c *InboxConfig) { c.Sources[vidu.Service] = Source{Verifier: videos} }).start(t)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	run := h.run()
	body := []byte(`{"id":"task-1","state":"success","creations":[{"id":"c","url":"https://example.com/v.mp4"}]}`)
	send := func(key, path string, at time.Time, nonce string) int {
		t.Helper()
		r, err := vidutest.Callback(key, server.URL+path, at, nonce, body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	now, address := h.clock.Now(), Root+vidu.Service+"/"+run
	t.Run("W4 W6 a service that signs is believed to be itself by its signature, over HTTP", func(t *testing.T) {
		for what, test := range map[string]struct {
			key  string
			at   time.Time
			want int
		}{
			"its key":       {vidutest.Key, now, http.StatusOK},
			"another key":   {"vda_other", now, http.StatusUnauthorized},
			"too long ago":  {vidutest.Key, now.Add(-301 * time.Second), http.StatusUnauthorized},
			"in the future": {vidutest.Key, now.Add(302 * time.Second), http.StatusUnauthorized}, // its time has whole seconds
		} {
			if got := send(test.key, address, test.at, "n-"+what); got != test.want {
				t.Errorf("%s: %d, want %d", what, got, test.want)
			}
		}
	})
	t.Run("W8 W9 its nonce is the event's id", func(t *testing.T) {
		for range 3 {
			if got := send(vidutest.Key, address, now, "n-its key"); got != http.StatusOK {
				t.Errorf("a repeat gives %d", got)
			}
		}
		h.becomes(t, StatusDone, 1)
		if e := h.events(t, StatusDone)[0]; e.ProviderID != "task-1" || e.State != "succeeded" || e.Copies != 4 || e.RunID != run {
			t.Errorf("%+v", e)
		}
		if h.looks() != 1 {
			t.Errorf("the run looked %d times", h.looks())
		}
	})
}

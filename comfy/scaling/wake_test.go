package scaling_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/scaling"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/signature"
)

// All processes of a house together call no more often than one would, and not without end.
func TestWaking(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	calls := 0
	var refuses error
	look := func(after time.Duration) (time.Duration, error) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), `UPDATE engine_wakes SET since = since - $1::interval, next_at = next_at - $1::interval`, after); err != nil {
			t.Fatal(err)
		}
		w := scaling.Waker{Pool: pool, For: 10 * time.Minute, Send: func(context.Context, string, scaling.Wake) error { calls++; return refuses }} // each time by another process
		return w.Wake(t.Context(), "gpu1:8188", "https://pods.example/start")
	}
	down := errors.New("nobody is there")
	for i, step := range []struct {
		after   time.Duration
		refuses error
		calls   int // in all
		tired   bool
	}{
		{0, nil, 1, false},
		{time.Second, nil, 1, false},
		{2 * time.Minute, nil, 1, false},
		{30 * time.Second, down, 2, false}, // it was taken and the engine did not come
		{20 * time.Second, nil, 2, false},
		{10 * time.Second, nil, 3, false}, // it was not taken, so it is tried again sooner
		{7 * time.Minute, nil, 3, true},   // ten minutes
		{2 * time.Minute, nil, 3, true},
		{3 * time.Minute, nil, 4, false}, // once more, after a rest
	} {
		refuses = step.refuses
		tired, err := look(step.after)
		if !errors.Is(err, step.refuses) || calls != step.calls || (tired > 0) != step.tired || tired > 5*time.Minute {
			t.Errorf("step %d: %d calls, tired for %v, %v", i, calls, tired, err)
		}
	}
	w := scaling.Waker{Pool: pool}
	if err := w.Awake(t.Context(), "gpu1:8188"); err != nil {
		t.Fatal(err)
	}
	if tired, err := look(0); err != nil || tired != 0 || calls != 5 {
		t.Errorf("when it sleeps again it is called at once: %d calls, %v, %v", calls, tired, err)
	}

	if kept, err := w.Kept(t.Context(), "gpu1:8188"); err != nil || kept != nil {
		t.Errorf("%q, %v", kept, err)
	}
	for _, declared := range []string{`{"A": {}}`, `{"B": {}}`} {
		if err := w.Keep(t.Context(), "gpu1:8188", []byte(declared)); err != nil {
			t.Fatal(err)
		}
		if kept, err := w.Kept(t.Context(), "gpu1:8188"); err != nil || !bytes.Equal(kept, []byte(declared)) {
			t.Errorf("%q, %v", kept, err)
		}
	}
}

func TestWakeCalls(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("k", 24))
	status := http.StatusOK
	var got scaling.Wake
	var key string
	var forged error
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var data bytes.Buffer
		_, _ = data.ReadFrom(r.Body)
		_, forged = signature.Standard(r.Header, data.Bytes(), time.Now(), [][]byte{secret})
		_ = json.Unmarshal(data.Bytes(), &got)
		key = r.Header.Get("Authorization")
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	send := scaling.ToAddresses(outbound.NewHooks([]string{host}, time.Minute), map[string]http.Header{host + "/start": {"Authorization": {"Bearer pod"}}}, secret)
	w := scaling.Wake{ID: "3b5c", Type: "engine.wake", At: time.Now().UTC(), Engine: "gpu1:8188"}
	if err := send(t.Context(), s.URL+"/start?id=7", w); err != nil || forged != nil || got.Engine != w.Engine || key != "Bearer pod" {
		t.Errorf("%v, signature %v, %+v, key %q", err, forged, got, key)
	}
	status = http.StatusForbidden
	if err := send(t.Context(), s.URL+"/start", w); !errors.Is(err, scaling.ErrRefused) || !strings.Contains(err.Error(), "403") {
		t.Errorf("%v", err)
	}
	s.Close()
	if err := send(t.Context(), s.URL+"/start?key=secret", w); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
}

package sceneapi

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// newServer has one drawing, d1, which is ann's. The header X-Caller says who asks.
func newServer(t *testing.T, version *atomic.Int64) string {
	t.Helper()
	get := func(_ context.Context, a users.Account, id string) (Info, error) {
		if a.ID != "ann" || id != "d1" {
			return Info{}, registry.Errorf(registry.CodeLost, "there is no drawing %q of yours", id)
		}
		return Info{ID: id, Title: "Poster", Version: version.Load()}, nil
	}
	type key struct{}
	handler := Handler(Config{
		Get: get,
		List: func(_ context.Context, account users.Account) ([]Info, error) {
			if one, err := get(t.Context(), account, "d1"); err == nil {
				return []Info{one}, nil
			}
			return []Info{}, nil
		},
		Picture: func(_ context.Context, _ users.Account, _ string, p Picture) ([]byte, string, error) {
			if p.Board == "nobody" {
				return nil, "", registry.Errorf(registry.CodeInvalidInput, "there is no such board")
			}
			return []byte(p.Format), "image/" + p.Format, nil
		},
		Export: func(context.Context, users.Account, string) (json.RawMessage, error) {
			return json.RawMessage(`{}`), nil
		},
		Edit: func(_ context.Context, account users.Account, id string, body json.RawMessage) (any, error) {
			if _, err := get(t.Context(), account, id); err != nil {
				return nil, err
			}
			if strings.Contains(string(body), "old") {
				return nil, Conflict
			}
			return map[string]any{"took": body}, nil
		},
		Caller: func(ctx context.Context) (users.Account, bool) {
			name, _ := ctx.Value(key{}).(string)
			return users.Account{ID: name}, name != ""
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, r.Header.Get("X-Caller"))))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func get(t *testing.T, url, caller string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Caller", caller)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer, string(body)
}

func TestScenes(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	url := newServer(t, &version)
	for _, format := range []string{"svg", "png", "jpg", "webp", "pdf", "json"} {
		if r, body := get(t, url+"/api/scenes/d1."+format, "ann"); r.StatusCode != http.StatusOK || format != "json" && body != format || !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %s, %s", format, r.Status, body)
		}
	}
	for name, c := range map[string]struct {
		path, caller string
		status       int
	}{
		"nobody":            {"/api/scenes/d1.svg", "", http.StatusUnauthorized},
		"somebody else":     {"/api/scenes/d1.svg", "bob", http.StatusNotFound},
		"else's events":     {"/api/scenes/d1/events", "bob", http.StatusNotFound},
		"another format":    {"/api/scenes/d1.gif", "ann", http.StatusNotFound},
		"a scale too large": {"/api/scenes/d1.png?scale=90", "ann", http.StatusUnprocessableEntity},
		"no number":         {"/api/scenes/d1.png?scale=NaN", "ann", http.StatusUnprocessableEntity},
		"no such board":     {"/api/scenes/d1.png?board=nobody", "ann", http.StatusUnprocessableEntity},
	} {
		r, body := get(t, url+c.path, c.caller)
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != "application/problem+json" || r.Header.Get("ETag") != "" {
			t.Errorf("%s: %s, %s", name, r.Status, body)
		}
	}
	if _, body := get(t, url+"/api/scenes", "bob"); !strings.Contains(body, `"scenes":[]`) {
		t.Errorf("bob is shown %s", body)
	}
	first, _ := get(t, url+"/api/scenes/d1.png", "ann")
	if again, _ := get(t, url+"/api/scenes/d1.png", "ann", "If-None-Match", first.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("an unchanged drawing is sent again: %s", again.Status)
	}
}

func TestEditing(t *testing.T) {
	t.Parallel()
	url := newServer(t, new(atomic.Int64)) + "/api/scenes/d1/operations"
	for name, c := range map[string]struct {
		caller, body string
		status       int
		says         string
	}{
		"its owner":             {"ann", `{"version":1}`, http.StatusOK, `{"took":{"version":1}}`},
		"somebody else":         {"bob", `{}`, http.StatusNotFound, "not_found"},
		"nobody":                {"", `{}`, http.StatusUnauthorized, "unauthorized"},
		"what was changed":      {"ann", `{"version":"old"}`, http.StatusConflict, "changed_meanwhile"},
		"more than is accepted": {"ann", strings.Repeat(" ", door.MaxText+1), http.StatusUnprocessableEntity, "too large"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Caller", c.caller)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s: %s, %s", name, answer.Status, body)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	version.Store(3)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, newServer(t, &version)+"/api/scenes/d1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Caller", "ann")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("X-Accel-Buffering") != "no" {
		t.Error("a proxy may hold the events back")
	}
	lines := bufio.NewScanner(answer.Body)
	for _, want := range []string{"id: 3", "id: 4"} {
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "id: ") {
		}
		if lines.Text() != want {
			t.Errorf("got %q, want %q", lines.Text(), want)
		}
		version.Add(1)
	}
}

package penpot

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
)

// newServer serves the plugin; the code "good" is ann's.
func newServer(t *testing.T) (*Hub, string) {
	t.Helper()
	hub := NewHub()
	server := httptest.NewServer(Handler(Config{Hub: hub, Pair: func(_ *http.Request, code string) (Pairing, error) {
		if code != "good" {
			return Pairing{}, errors.New("no such code")
		}
		return Pairing{Account: "ann", Ended: func(context.Context) bool { return false }, Leave: func(context.Context) {}}, nil
	}}))
	t.Cleanup(server.Close)
	return hub, server.URL
}

// plugin connects as the plugin does, and answers with what reply gives; nil answers nothing.
func plugin(t *testing.T, hub *Hub, url string, reply func(m map[string]any) []map[string]any) *websocket.Conn {
	t.Helper()
	before := hub.of("ann")
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1)+"/penpot/socket?code=good", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	go func() {
		for {
			var m map[string]any
			if wsjson.Read(context.Background(), conn, &m) != nil {
				return
			}
			for _, a := range reply(m) {
				_ = wsjson.Write(context.Background(), conn, a)
			}
		}
	}()
	clocktest.Until(t, "the server takes the plugin, a moment after it has answered", func() bool { return hub.of("ann") != before })
	return conn
}

func (h *Hub) of(account string) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.links[account]
}

func answerTo(m map[string]any, payload any) map[string]any {
	return map[string]any{"source": Plugin, "messageId": m["messageId"], "success": true, "payload": payload}
}

func code(err error) registry.Code {
	var e *registry.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestHub(t *testing.T) {
	t.Parallel()
	t.Run("E4 without a connection it is said so", func(t *testing.T) {
		hub, _ := newServer(t)
		if _, err := hub.Ask(t.Context(), "ann", "GET_USER_DATA", nil); code(err) != registry.CodeUnavailable || !strings.Contains(err.Error(), "no Penpot is connected") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a wrong code connects nobody", func(t *testing.T) {
		_, url := newServer(t)
		_, response, err := websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1)+"/penpot/socket?code=bad", nil)
		if err == nil || response.StatusCode != http.StatusForbidden {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a plugin whose owner signs it out is cut off, and has left", func(t *testing.T) {
		hub := NewHub()
		hub.beat = 10 * time.Millisecond
		var ended atomic.Bool
		left := make(chan struct{})
		server := httptest.NewServer(Handler(Config{Hub: hub, Pair: func(*http.Request, string) (Pairing, error) {
			return Pairing{Account: "ann", Ended: func(context.Context) bool { return ended.Load() }, Leave: func(context.Context) { close(left) }}, nil
		}}))
		t.Cleanup(server.Close)
		plugin(t, hub, server.URL, func(m map[string]any) []map[string]any { return []map[string]any{answerTo(m, "there")} })
		if _, err := hub.Ask(t.Context(), "ann", "GET_USER_DATA", nil); err != nil {
			t.Fatal(err)
		}
		ended.Store(true)
		<-left
		if _, err := hub.Ask(t.Context(), "ann", "GET_USER_DATA", nil); code(err) != registry.CodeUnavailable {
			t.Errorf("got %v", err)
		}
	})
	t.Run("E69 E70 a message goes out once, and its own answer comes back; others are dropped", func(t *testing.T) {
		hub, url := newServer(t)
		seen := make(chan map[string]any, 10)
		plugin(t, hub, url, func(m map[string]any) []map[string]any {
			seen <- m
			foreign := answerTo(map[string]any{"messageId": "nobody's"}, "foreign")
			stranger := answerTo(m, "stranger")
			stranger["source"] = "somebody"
			return []map[string]any{foreign, stranger, answerTo(m, "mine"), answerTo(m, "repeated")}
		})
		for _, kind := range []string{"GET_USER_DATA", "GET_PROJECT_DATA", "DRAW_SHAPE"} {
			raw, err := hub.Ask(t.Context(), "ann", kind, map[string]any{"shapeType": "rectangle", "params": map[string]any{}})
			if err != nil || string(raw) != `"mine"` {
				t.Fatalf("got %s, %v", raw, err)
			}
			if m := <-seen; m["type"] != kind || m["source"] != Client || m["messageId"] == "" || len(seen) > 0 {
				t.Errorf("sent was %v", m)
			}
		}
		if _, err := hub.Ask(t.Context(), "bob", "GET_USER_DATA", nil); code(err) != registry.CodeUnavailable {
			t.Errorf("another account reaches it: %v", err)
		}
	})
	t.Run("E138 no answer in time is a failure", func(t *testing.T) {
		hub, url := newServer(t)
		hub.wait = 300 * time.Millisecond
		plugin(t, hub, url, func(map[string]any) []map[string]any { return nil })
		if _, err := hub.Ask(t.Context(), "ann", "GET_USER_DATA", nil); code(err) != registry.CodeTimeout {
			t.Errorf("got %v", err)
		}
		if answerWait != 30*time.Second {
			t.Errorf("it waits %s", answerWait)
		}
	})
	t.Run("E138 signs of life hold an answer up, and without them it is late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hub := NewHub()
			l := &link{gone: make(chan struct{}), waiting: map[string]chan answer{}}
			signs := 0
			l.send = func(_ context.Context, m message) error {
				gives := signs
				go func() {
					for range gives {
						time.Sleep(20 * time.Second)
						l.take(answer{Source: Plugin, ID: m.ID, Working: true})
					}
					if m.Type == "UPLOAD_PICTURE" {
						time.Sleep(20 * time.Second)
						l.take(answer{Source: Plugin, ID: m.ID, Success: true})
					}
				}()
				return nil
			}
			defer hub.join("ann", l)()
			for _, c := range []struct {
				kind  string
				signs int
				takes time.Duration
				code  registry.Code
			}{{"UPLOAD_PICTURE", 5, 120 * time.Second, ""}, {"GET_FILE", 0, 30 * time.Second, registry.CodeTimeout}, {"GET_FILE", 2, 70 * time.Second, registry.CodeTimeout}} {
				signs = c.signs
				began := time.Now()
				if _, err := hub.Ask(t.Context(), "ann", c.kind, nil); code(err) != c.code || time.Since(began) != c.takes {
					t.Errorf("%s with %d signs ends after %s: %v", c.kind, c.signs, time.Since(began), err)
				}
			}
		})
	})
	t.Run("what the plugin refuses is told in its words", func(t *testing.T) {
		hub, url := newServer(t)
		plugin(t, hub, url, func(m map[string]any) []map[string]any {
			return []map[string]any{{"source": Plugin, "messageId": m["messageId"], "success": false, "message": "value is not valid"}}
		})
		if _, err := hub.Ask(t.Context(), "ann", "DRAW_SHAPE", nil); code(err) != registry.CodeProvider || !strings.Contains(err.Error(), "value is not valid") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a connection that is cut ends what waits, and another takes its place", func(t *testing.T) {
		hub, url := newServer(t)
		var conn *websocket.Conn
		conn = plugin(t, hub, url, func(map[string]any) []map[string]any { conn.CloseNow(); return nil })
		if _, err := hub.Ask(t.Context(), "ann", "GET_USER_DATA", nil); code(err) != registry.CodeUnavailable {
			t.Errorf("got %v", err)
		}
		plugin(t, hub, url, func(map[string]any) []map[string]any { return nil })
		plugin(t, hub, url, func(m map[string]any) []map[string]any { return []map[string]any{answerTo(m, "second")} })
		if raw, err := hub.Ask(t.Context(), "ann", "GET_USER_DATA", nil); err != nil || string(raw) != `"second"` {
			t.Errorf("got %s, %v", raw, err)
		}
	})
}

func TestFiles(t *testing.T) {
	t.Parallel()
	_, url := newServer(t)
	for name, want := range map[string]string{"manifest.json": `"version": 2`, "plugin.js": "undoBlockBegin", "ui.html": "ui.js", "ui.js": "WebSocket", "icon.svg": "<svg"} {
		r, err := http.Get(url + "/penpot/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %v, %s (%v)", name, r.Header, raw, err)
		}
	}
	var manifest struct{ Permissions []string }
	raw, _ := static.ReadFile("static/manifest.json")
	if err := json.Unmarshal(raw, &manifest); err != nil || len(manifest.Permissions) == 0 {
		t.Errorf("the manifest is %s, %v", raw, err)
	}
	if r, err := http.Get(url + "/penpot/hub.go"); err != nil || r.StatusCode != http.StatusNotFound {
		t.Errorf("other files are served: %v", err)
	}
}

package web_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// takesPicture is a bundled tool with a picture as input, and that input's name.
func (h *house) takesPicture() (path, input string) {
	h.t.Helper()
	for _, tool := range h.reg.Snapshot().Public() {
		for _, f := range tool.InputSchema {
			if f.Type == "image" {
				return tool.RunPath(), f.Name
			}
		}
	}
	h.t.Fatal("no tool takes a picture")
	return "", ""
}

// pictureServer serves a picture on an address of this machine.
func pictureServer(t *testing.T, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Skip("this machine has no " + address)
	}
	picture := photo(t)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			fmt.Fprint(w, "<html>no picture</html>")
			return
		}
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture)
	})}}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func TestMediaIsThereBeforeARunIsTakenOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	path, input := h.takesPicture()
	inner, allowed := pictureServer(t, "127.0.0.1"), pictureServer(t, allowedHost)
	body := func(ref string) string { return fmt.Sprintf(`{"inputs":{%q:%q}}`, input, ref) }

	for name, ref := range map[string]string{
		"an upload that is not there":         "asset:" + strings.Repeat("ab", 32),
		"an inner address":                    inner + "/picture.png",
		"an inner address by https":           "https://127.0.0.1:1/picture.png",
		"an address without a picture":        allowed + "/page",
		"an address with a name and password": "http://ann:secret@127.0.0.2/picture.png",
		"a file of this machine":              "file:///etc/passwd",
	} {
		t.Run(name+" is refused at once, and names the input", func(t *testing.T) {
			var p struct{ Code, Field, Detail string }
			status := dev.call("POST", path, body(ref), &p)
			if status != http.StatusUnprocessableEntity || p.Field != input || strings.Contains(p.Detail, "secret") {
				t.Errorf("status %d, %+v", status, p)
			}
		})
	}
	t.Run("for a model nothing is fetched before somebody may say no", func(t *testing.T) {
		listener, err := net.Listen("tcp", allowedHost+":0")
		if err != nil {
			t.Fatal(err)
		}
		var asked atomic.Int64
		canary := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })}}
		canary.Start()
		t.Cleanup(canary.Close)
		agent := h.visitor()
		agent.key = h.key(h.reader().accountID(), 0, true)
		for who, call := range map[string]func() int{
			"an agent's key": func() int { return agent.call("POST", path, body(canary.URL+"/?secret"), nil) },
			"a program that says so": func() int {
				return dev.call("POST", path, body(canary.URL+"/?secret"), nil, "X-Planner-Provider", "anthropic")
			},
		} {
			if status := call(); status != http.StatusUnprocessableEntity || asked.Load() > 0 {
				t.Errorf("%s: status %d after %d requests", who, status, asked.Load())
			}
		}
	})
	t.Run("an address that OUTBOUND_ALLOW lists is fetched once and kept", func(t *testing.T) {
		var run apiRun
		if status := dev.call("POST", path, body(allowed+"/picture.png"), &run); status != http.StatusAccepted {
			t.Fatalf("status %d", status)
		}
		if ref := string(run.Inputs[input]); !strings.HasPrefix(ref, `"asset:`) {
			t.Errorf("the run holds %s", ref)
		}
		if done := dev.finished(run.RunID); done.Status != "succeeded" {
			t.Errorf("%+v", done.Error)
		}
	})
}

func TestAnswersThatDidNotChange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	for _, path := range []string{"/api/tools", "/openapi.json"} {
		t.Run(path+" has an ETag, answers 304, and comes compressed", func(t *testing.T) {
			res := dev.do("GET", path, "", nil, "Accept-Encoding", "identity")
			plain := readAll(t, res.Body)
			etag := res.Header.Get("ETag")
			if etag == "" || !strings.Contains(res.Header.Get("Vary"), "Authorization") || !strings.Contains(res.Header.Get("Cache-Control"), "private") {
				t.Errorf("%v", res.Header)
			}
			for _, given := range []string{etag, `"other", W/` + etag, "*"} {
				again := dev.do("GET", path, "", nil, "If-None-Match", given, "Accept-Encoding", "identity")
				if rest := readAll(t, again.Body); again.StatusCode != http.StatusNotModified || rest != "" {
					t.Errorf("If-None-Match %s: %d %q", given, again.StatusCode, rest)
				}
			}
			if again := dev.do("GET", path, "", nil, "If-None-Match", `"other"`); again.StatusCode != http.StatusOK {
				t.Errorf("another tag: %d", again.StatusCode)
			}
			zipped := dev.do("GET", path, "", nil, "Accept-Encoding", "gzip")
			if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("ETag") == etag {
				t.Fatalf("%v", zipped.Header)
			}
			z, err := gzip.NewReader(zipped.Body)
			if err != nil {
				t.Fatal(err)
			}
			if readAll(t, z) != plain {
				t.Error("the compressed answer says something else")
			}
		})
	}
	t.Run("operators see internal tools, and others never theirs", func(t *testing.T) {
		operator := h.visitor()
		operator.key = adminToken
		if status := operator.call("GET", "/api/tools", "", nil); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
}

// TestMisspelledRestrictions: a restriction that nobody reads would be none, for the key's whole life.
func TestMisspelledRestrictions(t *testing.T) {
	t.Parallel()
	ann := newHouse(t).developer("ann")
	for body, names := range map[string]string{
		`{"label":"bot","spendLimit":"5"}`:                       `unknown field \"spendLimit\"`,
		`{"label":"bot","spendLimitNanoUsd":5000000000}`:         `unknown field \"spendLimitNanoUsd\"`, // as lists of keys call it
		`{"label":"bot","spendLimitUsd":"5","spendLimitUsd":""}`: `\"spendLimitUsd\" appears twice`,
		`{"label":"bot","agents":true}`:                          `unknown field \"agents\"`,
		`{"label":"bot"} {"agent":true}`:                         "after it",
	} {
		res := ann.do("POST", "/api/keys", "application/json", strings.NewReader(body))
		if told := readAll(t, res.Body); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(told, names) {
			t.Errorf("%s: %d %s", body, res.StatusCode, told)
		}
	}
	var made struct{ Keys []struct{ Label string } }
	if ann.call("GET", "/api/keys", "", &made); len(made.Keys) != 1 {
		t.Errorf("there are the keys %+v, expected that of the request alone", made.Keys)
	}
}

// fullDisk takes no file.
type fullDisk struct{ web.Runs }

func (fullDisk) PutMedia(context.Context, string, io.Reader, string) (registry.Media, registry.MediaInfo, error) {
	return "", registry.MediaInfo{}, fmt.Errorf("store a file: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
}

func TestAFullDiskIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *web.Config) { c.Runs = fullDisk{c.Runs} })
	res := h.developer("ann").do("POST", "/api/uploads?name=a.txt", "text/plain", strings.NewReader("a"))
	if said := readAll(t, res.Body); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !strings.Contains(said, `"storage"`) {
		t.Errorf("%d %s", res.StatusCode, said)
	}
}

func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	var run apiRun
	h.fakes.Set(sketch())
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	dev.call("POST", "/api/run/sketch", `{"inputs":{"prompt":"a slow one"}}`, &run)
	path := "/api/runs/" + run.RunID + "/events"
	ann, _, err := h.users.KeyOf(t.Context(), dev.key)
	if err == nil {
		err = h.users.SetLimits(t.Context(), ann.ID, users.Limits{Streams: 3}, "operator", "a browser with many tabs")
	}
	if err != nil {
		t.Fatal(err)
	}
	var open []*http.Response
	for range 3 {
		res := dev.do("GET", path, "", nil)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: status %d", len(open), res.StatusCode)
		}
		open = append(open, res)
	}
	res := dev.do("GET", path, "", nil)
	if said := readAll(t, res.Body); res.StatusCode != http.StatusTooManyRequests || !strings.Contains(said, "3 event streams") || res.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", res.StatusCode, said)
	}
	if status := h.developer("eve").call("GET", "/api/tools", "", nil); status != http.StatusOK {
		t.Errorf("others: %d", status)
	}
	open[0].Body.Close()
	for n := 0; ; n++ { // the server notices it when it writes
		if res := dev.do("GET", path, "", nil); res.StatusCode == http.StatusOK {
			break
		}
		if n == 1000 {
			t.Fatal("a closed stream counts for ever")
		}
	}
}

func TestEventsGoOnWhereTheyBroke(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	var run apiRun
	dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &run)
	dev.finished(run.RunID)
	path := "/api/runs/" + run.RunID + "/events"
	id, data := lastEvent(t, dev.do("GET", path, "", nil).Body)
	var end apiRun
	if err := json.Unmarshal([]byte(data), &end); err != nil || end.Status != "succeeded" || id == "" {
		t.Fatalf("the last event: %s %s, %v", id, data, err)
	}
	t.Run("who knows the end is told so, and browsers stop asking", func(t *testing.T) {
		if res := dev.do("GET", path, "", nil, "Last-Event-ID", id); res.StatusCode != http.StatusNoContent {
			t.Errorf("status %d", res.StatusCode)
		}
	})
	t.Run("who knows less is told the rest", func(t *testing.T) {
		if again, _ := lastEvent(t, dev.do("GET", path, "", nil, "Last-Event-ID", "0123456789abcdef").Body); again != id {
			t.Errorf("event %q, want %q", again, id)
		}
	})
	t.Run("strangers hear nothing", func(t *testing.T) {
		if res := h.developer("eve").do("GET", path, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
	})
	t.Run("a result that is remembered is its owner's only", func(t *testing.T) {
		for range 2 {
			if status := dev.call("GET", "/api/runs/"+run.RunID, "", nil); status != http.StatusOK {
				t.Errorf("the owner: %d", status)
			}
			if status := h.developer("eve").call("GET", "/api/runs/"+run.RunID, "", nil); status != http.StatusNotFound {
				t.Errorf("a stranger: %d", status)
			}
		}
	})
}

// lastEvent reads a stream to its end and gives its last event.
func lastEvent(t *testing.T, stream io.Reader) (id, data string) {
	t.Helper()
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = v
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return id, data
}

// strangers knows nobody.
type strangers struct{ web.Users }

func (strangers) CheckAccount(context.Context, users.Account, string, string) (users.Decision, error) {
	return users.Decision{Reason: users.ReasonStranger}, nil
}

func TestStrangersStartNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *web.Config) { c.Users = strangers{c.Users} })
	dev := h.developer("eve")
	var p struct{ Code, Detail string }
	if status := dev.call("POST", "/api/run/wallpaper", `{}`, &p); status != http.StatusForbidden || p.Code != "unauthorized" || p.Detail == "" {
		t.Errorf("by the API: %d, %+v", status, p)
	}
	v := h.visitor()
	v.do("GET", "/", "", nil)
	if res := v.form("/tool/wallpaper", url.Values{"width": {"64"}, "height": {"64"}}); res.StatusCode == http.StatusSeeOther {
		t.Error("by the page: it started")
	}
	var list struct{ Runs []any }
	if dev.call("GET", "/api/runs", "", &list); len(list.Runs) != 0 {
		t.Errorf("%d runs", len(list.Runs))
	}
}

func TestStatusNamesInnerAddresses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"))
	if status := h.developer("eve").call("GET", "/api/status", "", nil); status != http.StatusForbidden {
		t.Errorf("anybody: %d", status)
	}
	operator := h.visitor()
	operator.key = adminToken
	if status := operator.call("GET", "/api/status", "", nil); status != http.StatusOK {
		t.Errorf("the operator: %d", status)
	}
}

// What the sender got wrong is told as that: it is no trouble of ours, and fills no log.
func TestNothingOfTheSenderIsOurFault(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"))
	h.withHooks()
	dev, person := h.developer("ann"), h.visitor()
	person.form("/signin", url.Values{"key": {dev.key}})
	for _, c := range []struct {
		who          *client
		method, path string
		want         int
	}{
		{h.visitor(), "GET", "/files/%00/%00/%00", http.StatusUnprocessableEntity}, {h.visitor(), "GET", "/files/%ff/%ff/x", http.StatusUnprocessableEntity},
		{dev, "GET", "/api/runs?toolId=%00", http.StatusUnprocessableEntity}, {dev, "GET", "/api/webhooks/%00", http.StatusUnprocessableEntity},
		{dev, "GET", "/api/run/wallpaper", http.StatusMethodNotAllowed}, {dev, "DELETE", "/api/tools", http.StatusMethodNotAllowed}, {dev, "GET", "/api/nothing", http.StatusNotFound}, {dev, "POST", "/nothing", http.StatusNotFound},
		{dev, "POST", "/api/webhooks/%ff/test", http.StatusUnprocessableEntity}, {person, "GET", "/history?tool=%00", http.StatusUnprocessableEntity},
		{person, "GET", "/tool/wallpaper?preset=gone", http.StatusNotFound}, {person, "POST", "/account/keys/x/revoke", http.StatusNotFound},
	} {
		if res := c.who.do(c.method, c.path, "", nil); res.StatusCode != c.want {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, res.StatusCode, c.want)
		} else if allow := res.Header.Get("Allow"); (allow != "") != (c.want == http.StatusMethodNotAllowed) {
			t.Errorf("%s %s: allowed is %q", c.method, c.path, allow)
		}
	}
}

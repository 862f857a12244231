package comfytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/comfy/comfytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// judge is a test whose failures are counted instead of reported.
type judge struct {
	testing.TB

	mu     sync.Mutex
	errors []string
}

func (j *judge) Errorf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.errors = append(j.errors, fmt.Sprintf(format, args...))
}

// said gives what was complained of since the last time.
func (j *judge) said() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := strings.Join(j.errors, "\n")
	j.errors = nil
	return text
}

const (
	anID   = "0b0cf4a2-7b0e-4c50-8a3c-6a2a6f3b3a01"
	prompt = `{"1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 1, "color": 0}}, "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "x"}}}`
)

func submission(id string) string {
	return fmt.Sprintf(`{"prompt": %s, "prompt_id": %q, "client_id": %q}`, prompt, id, id)
}

// do makes a call and gives status and body, or 0 when there was no answer.
func do(t *testing.T, s *comfytest.Server, route, body string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	method, path, _ := strings.Cut(route, " ")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.URL().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, string(data)
	}
	return res.StatusCode, string(data)
}

func TestStrictness(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ route, body, complaint string }{
		"a prompt without an id":          {"POST /prompt", `{"prompt": ` + prompt + `, "client_id": "x"}`, "no UUID"},
		"an id of another form":           {"POST /api/prompt", submission(strings.ToUpper(anID)), "no UUID"},
		"a client_id that is a list":      {"POST /prompt", `{"prompt": ` + prompt + `, "prompt_id": "` + anID + `", "client_id": ["x"]}`, "would end a real server"},
		"a body that is no JSON":          {"POST /prompt", `{`, "not a JSON object"},
		"jumping the queue":               {"POST /prompt", strings.Replace(submission(anID), `{`, `{"front": true, `, 1), "jumps the queue"},
		"a bare interrupt":                {"POST /interrupt", ``, "whatever runs"},
		"an interrupt that is no JSON":    {"POST /interrupt", `prompt_id=x`, "whatever runs"},
		"clearing the queue":              {"POST /queue", `{"clear": true}`, "belongs to others"},
		"deleting what is no prompt":      {"POST /queue", `{"delete": ["x"]}`, "no prompt id"},
		"everybody's history":             {"GET /history", ``, "all of the history"},
		"a name that leaves the folder":   {"GET /view?filename=..%2Fx.png&type=output", ``, "not a plain name"},
		"a subfolder that leaves":         {"GET /view?filename=x.png&subfolder=..&type=output", ``, "lead out"},
		"a folder type of another kind":   {"GET /view?filename=x.png&type=models", ``, "400"},
		"an upload without a file":        {"POST /upload/image", `x`, "multipart"},
		"a socket without an id":          {"GET /ws", ``, "no clientId"},
		"a route with the wrong method":   {"DELETE /prompt", ``, "405"},
		"what a real server dies of":      {"POST /prompt", `{"prompt": null, "prompt_id": "` + anID + `", "client_id": "x"}`, "500"},
		"an extra_data that is no object": {"POST /prompt", strings.Replace(submission(anID), `{`, `{"extra_data": null, `, 1), "extra_data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &judge{TB: t}
			s := comfytest.New(j, comfytest.Options{})
			do(t, s, c.route, c.body)
			if said := j.said(); !strings.Contains(said, c.complaint) {
				t.Errorf("complaints %q, expected %q", said, c.complaint)
			}
		})
	}
	t.Run("a prompt that comes twice", func(t *testing.T) {
		t.Parallel()
		j := &judge{TB: t}
		s := comfytest.New(j, comfytest.Options{})
		do(t, s, "POST /prompt", submission(anID))
		if said := j.said(); said != "" || s.Runs(anID) != 1 {
			t.Errorf("%d runs, %s", s.Runs(anID), said)
		}
		s.Restart()
		do(t, s, "POST /prompt", submission(anID))
		if said := j.said(); said != "" || s.Runs(anID) != 2 {
			t.Errorf("after a restart, which forgot it: %d runs, %s", s.Runs(anID), said)
		}
		if do(t, s, "POST /prompt", submission(anID)); !strings.Contains(j.said(), "twice") {
			t.Error("goes unnoticed")
		}
	})
	t.Run("two sockets of one client, and a wrong greeting", func(t *testing.T) {
		t.Parallel()
		j := &judge{TB: t}
		s := comfytest.New(j, comfytest.Options{})
		for range 2 {
			conn, _, err := websocket.Dial(t.Context(), s.URL().String()+"/ws?clientId=me", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.CloseNow()
			if err := conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		deadline := time.After(2 * time.Minute)
		for said := ""; !strings.Contains(said, "second socket") || !strings.Contains(said, "first message"); said += j.said() {
			select {
			case <-deadline:
				t.Fatalf("only %q", said)
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	t.Run("a fault comes as often as asked for, the latest first", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		s.On("GET /queue", 2, comfytest.Answer(http.StatusBadGateway, "a"))
		clear := s.On("GET /queue", comfytest.Always, comfytest.Answer(http.StatusTeapot, "b"))
		for i, want := range []int{http.StatusTeapot, http.StatusTeapot, http.StatusBadGateway, http.StatusBadGateway, http.StatusOK} {
			if i == 2 {
				clear()
			}
			if status, _ := do(t, s, "GET /queue", ""); status != want {
				t.Errorf("call %d: %d", i, status)
			}
		}
	})
	t.Run("cut before, cut after, cut in the middle", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		for i, c := range []struct {
			fault comfytest.Action
			runs  int
		}{{comfytest.Cut, 0}, {comfytest.CutAfter, 1}, {comfytest.CutMidAnswer, 1}} {
			id := anID[:len(anID)-1] + string(rune('2'+i))
			s.On("POST /prompt", 1, c.fault)
			if status, _ := do(t, s, "POST /prompt", submission(id)); status != 0 || s.Runs(id) != c.runs {
				t.Errorf("%d: status %d, %d runs", i, status, s.Runs(id))
			}
		}
	})
	t.Run("broken JSON", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		s.On("GET /system_stats", 1, comfytest.BrokenJSON)
		if status, body := do(t, s, "GET /system_stats", ""); status != http.StatusOK || body == "" || json.Valid([]byte(body)) {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("down, up, restarted", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Without: []string{"SaveImage"}})
		s.Down()
		if status, _ := do(t, s, "GET /queue", ""); status != 0 {
			t.Errorf("down, and answers %d", status)
		}
		s.Up()
		if status, _ := do(t, s, "GET /queue", ""); status != http.StatusOK {
			t.Errorf("up, and answers %d", status)
		}
		if status, _ := do(t, s, "POST /prompt", submission(anID)); status != http.StatusBadRequest {
			t.Errorf("a class that was left out: %d", status)
		}
		s.Install("SaveImage")
		s.Restart()
		if status, _ := do(t, s, "POST /prompt", submission(anID)); status != http.StatusOK {
			t.Errorf("after the install: %d", status)
		}
		s.Restart()
		if _, body := do(t, s, "GET /history/"+anID, ""); body != "{}" {
			t.Errorf("remembers %s", body)
		}
	})
	t.Run("a held run waits, and goes on", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		gate := s.Hold("SaveImage")
		do(t, s, "POST /prompt", submission(anID))
		held := gate.Next()
		if held.PromptID != anID || held.NodeID != "2" {
			t.Errorf("%+v", held)
		}
		if _, body := do(t, s, "GET /history/"+anID, ""); body != "{}" {
			t.Errorf("over: %s", body)
		}
		held.Release()
		deadline := time.Now().Add(2 * time.Minute)
		for body := "{}"; body == "{}"; _, body = do(t, s, "GET /history/"+anID, "") {
			if time.Now().After(deadline) {
				t.Fatal("it does not go on")
			}
		}
	})
}

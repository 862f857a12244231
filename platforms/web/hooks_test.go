package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/api"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/webhooks"
)

// withHooks adds an outbox that may send to this machine.
func (h *house) withHooks() {
	h.t.Helper()
	outbox, err := webhooks.NewOutbox(webhooks.OutboxConfig{
		Pool: h.pool, Key: []byte(strings.Repeat("k", 32)), Hooks: outbound.NewHooks([]string{"127.0.0.1"}, time.Minute), Poll: 5 * time.Millisecond,
		Data: func(ctx context.Context, id string) (json.RawMessage, error) {
			run, err := h.runs.Get(ctx, id)
			if err != nil {
				return nil, err
			}
			return h.web.TellRun(run, "127.0.0.1")
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	answers, err := api.NewAnswers(h.pool, []byte("a secret of the tests"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.serve(func(c *web.Config) { c.Hooks, c.Answers = outbox, answers })
	housetest.Begin(h.t, outbox)
}

// program is an endpoint of somebody's program: it takes messages, or answers with another status.
type program struct {
	*httptest.Server
	t      *testing.T
	status atomic.Int32 // zero: 200
	got    chan message
}

type message struct {
	request *http.Request
	body    string
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{t: t, got: make(chan message, 100)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("a message can't be read: %v", err)
		}
		if status := int(p.status.Load()); status != 0 {
			http.Error(w, "out of order", status)
		}
		p.got <- message{r, string(body)}
	}))
	t.Cleanup(p.Close)
	return p
}

// arrived gives the next message.
func (p *program) arrived() (r *http.Request, body string) {
	p.t.Helper()
	select {
	case m := <-p.got:
		return m.request, m.body
	case <-time.After(2 * time.Minute):
		p.t.Fatal("no message came")
		return nil, ""
	}
}

type apiHook struct {
	ID, URL, Secret string
	Events          []string
	DisabledAt      *time.Time
}

func TestKeysThatEndMakeNoEndpoints(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withHooks()
	ann := h.developer("ann")
	soon := ann.makesKey(h, `{"days":1}`)
	var refused struct{ Detail string }
	if status := soon.call("POST", "/api/webhooks", `{"url":"https://example.com/x"}`, &refused); status != http.StatusForbidden || !strings.Contains(refused.Detail, "would outlast it") {
		t.Errorf("%d %s", status, refused.Detail)
	}
	if status := ann.call("POST", "/api/webhooks", `{"url":"https://example.com/x"}`, nil); status != http.StatusCreated {
		t.Errorf("a key that does not end: %d", status)
	}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withHooks()
	dev, stranger := h.developer("dev"), h.developer("stranger")
	program := newProgram(t)
	var made apiHook
	if status := dev.call("POST", "/api/webhooks", `{"url":"`+program.URL+`","events":["run.finished"]}`, &made); status != http.StatusCreated {
		t.Fatalf("POST /api/webhooks: %d", status)
	}
	t.Run("A92 a program is told of the end of a run, signed", func(t *testing.T) {
		var run apiRun
		dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &run)
		r, body := program.arrived()
		key, err := signature.ParseSecret(made.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signature.Standard(r.Header, []byte(body), time.Now(), [][]byte{key}); err != nil {
			t.Error(err)
		}
		var told struct {
			Type string
			Data apiRun
		}
		if err := json.Unmarshal([]byte(body), &told); err != nil || told.Type != "run.finished" || told.Data.RunID != run.RunID || told.Data.Status != "succeeded" || len(told.Data.Outputs) != 1 {
			t.Errorf("%s (%v)", body, err)
		}
	})
	t.Run("W22 the secret is told once; others' endpoints are not there", func(t *testing.T) {
		var list struct{ Webhooks []apiHook }
		if dev.call("GET", "/api/webhooks", "", &list); len(list.Webhooks) != 1 || list.Webhooks[0].Secret != "" || list.Webhooks[0].ID != made.ID {
			t.Errorf("%+v", list)
		}
		if stranger.call("GET", "/api/webhooks", "", &list); len(list.Webhooks) != 0 {
			t.Errorf("a stranger sees %+v", list)
		}
		for _, path := range []string{"", "/messages"} {
			if status := stranger.call("GET", "/api/webhooks/"+made.ID+path, "", nil); status != http.StatusNotFound {
				t.Errorf("a stranger gets %d for %q", status, path)
			}
		}
		var problem struct{ Code, Field string }
		if status := dev.call("POST", "/api/webhooks", `{"url":"http://10.0.0.1/"}`, &problem); status != http.StatusUnprocessableEntity || problem.Field != "url" {
			t.Errorf("an inner address: %d %+v", status, problem)
		}
	})
	t.Run("W29 tests, the log, sending again", func(t *testing.T) {
		at := "/api/webhooks/" + made.ID
		var test struct{ MessageID string }
		if status := dev.call("POST", at+"/test", "", &test); status != http.StatusAccepted {
			t.Errorf("test: %d", status)
		}
		r, _ := program.arrived()
		for who, id := range map[*client]string{stranger: test.MessageID, dev: made.ID} {
			if status := who.call("GET", at+"/messages/"+id, "", nil); status != http.StatusNotFound {
				t.Errorf("attempts of a message that is not there for them: %d", status)
			}
		}
		if status := dev.call("POST", at+"/messages/"+test.MessageID+"/resend", "", nil); status != http.StatusAccepted {
			t.Errorf("resend: %d", status)
		}
		if again, _ := program.arrived(); again.Header.Get("Webhook-Id") != r.Header.Get("Webhook-Id") {
			t.Error("the ids differ")
		}
		var log struct {
			Messages []struct{ Type, Status string }
		}
		if dev.call("GET", at+"/messages", "", &log); len(log.Messages) != 2 || log.Messages[0].Type != webhooks.EventTest {
			t.Errorf("%+v", log)
		}
		var tries struct{ Attempts []struct{ Status int } }
		for deadline := time.Now().Add(2 * time.Minute); len(tries.Attempts) < 2 && time.Now().Before(deadline); {
			dev.call("GET", at+"/messages/"+test.MessageID, "", &tries)
		}
		if len(tries.Attempts) != 2 || tries.Attempts[0].Status != http.StatusOK {
			t.Errorf("%+v", tries)
		}
		var hook apiHook
		if status := dev.call("POST", at+"/rotate", "", &hook); status != http.StatusOK || hook.Secret == "" || hook.Secret == made.Secret {
			t.Errorf("rotate: %d %q", status, hook.Secret)
		}
		if status := dev.call("POST", at+"/disable", "", &hook); status != http.StatusOK || hook.DisabledAt == nil {
			t.Errorf("disable: %d %+v", status, hook)
		}
		hook.DisabledAt = nil
		if status := dev.call("POST", at+"/enable", "", &hook); status != http.StatusOK || hook.DisabledAt != nil {
			t.Errorf("enable: %d %+v", status, hook)
		}
		if status := dev.call("POST", at+"/recover", `{"since":"2026-01-01T00:00:00Z"}`, nil); status != http.StatusAccepted {
			t.Errorf("recover: %d", status)
		}
	})
	t.Run("the document describes it", func(t *testing.T) {
		var document struct{ Paths map[string]any }
		if dev.call("GET", "/openapi.json", "", &document); document.Paths["/api/webhooks/{id}/messages/{message}/resend"] == nil {
			t.Error("the endpoints are not described")
		}
	})
	t.Run("an endpoint is removed", func(t *testing.T) {
		if status := dev.call("DELETE", "/api/webhooks/"+made.ID, "", nil); status != http.StatusNoContent {
			t.Error(status)
		}
		if status := dev.call("DELETE", "/api/webhooks/"+made.ID, "", nil); status != http.StatusNotFound {
			t.Error(status)
		}
	})
}

func TestIdempotentRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withHooks()
	dev, other := h.developer("dev"), h.developer("other")
	const body = `{"url":"https://example.com/hook"}`
	post := func(c *client, body, key string) (*http.Response, string) {
		t.Helper()
		res := c.do("POST", "/api/webhooks", "application/json", strings.NewReader(body), "Idempotency-Key", key)
		return res, readAll(t, res.Body)
	}
	t.Run("W30 a repeat with the same key gets the answer of the first, and does nothing", func(t *testing.T) {
		first, said := post(dev, body, "k1")
		again, saidAgain := post(dev, body, "k1")
		if first.StatusCode != http.StatusCreated || again.StatusCode != first.StatusCode || said != saidAgain || first.Header.Get("Idempotent-Replayed") != "" || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d %q, then %d %q, %v", first.StatusCode, said, again.StatusCode, saidAgain, again.Header)
		}
		var list struct{ Webhooks []apiHook }
		if dev.call("GET", "/api/webhooks", "", &list); len(list.Webhooks) != 1 {
			t.Errorf("%d were made", len(list.Webhooks))
		}
		var stored []byte
		if err := h.pool.QueryRow(t.Context(), `SELECT answer FROM web_answers`).Scan(&stored); err != nil || strings.Contains(string(stored), "whsec_") {
			t.Errorf("the secret is stored as it is (%v)", err)
		}
		refused, _ := post(dev, `{"url":"nowhere"}`, "k2")
		if again, _ := post(dev, `{"url":"nowhere"}`, "k2"); again.StatusCode != refused.StatusCode || again.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("a refusal is repeated as %d %v", again.StatusCode, again.Header)
		}
	})
	t.Run("W30 the same key for another request is refused, and nobody else's request is the same", func(t *testing.T) {
		if res, said := post(dev, `{"url":"https://example.org/"}`, "k1"); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(said, "idempotency_key_reused") {
			t.Errorf("%d %s", res.StatusCode, said)
		}
		if res, _ := post(other, body, "k1"); res.StatusCode != http.StatusCreated || res.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("another account's: %d", res.StatusCode)
		}
		if res, _ := post(dev, body, strings.Repeat("k", 256)); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("a key of 256 bytes: %d", res.StatusCode)
		}
	})
	t.Run("W30 while the first is worked on a repeat is told to wait, and after a day all is forgotten", func(t *testing.T) {
		if _, err := h.pool.Exec(t.Context(), `UPDATE web_answers SET status = NULL, answer = NULL WHERE key = 'k1'`); err != nil {
			t.Fatal(err)
		}
		if res, said := post(dev, body, "k1"); res.StatusCode != http.StatusConflict || !strings.Contains(said, "idempotency_key_in_use") {
			t.Errorf("%d %s", res.StatusCode, said)
		}
		if _, err := h.pool.Exec(t.Context(), `UPDATE web_answers SET created_at = created_at - interval '24 hours'`); err != nil {
			t.Fatal(err)
		}
		if res, _ := post(dev, body, "k1"); res.StatusCode != http.StatusCreated || res.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("after a day: %d %v", res.StatusCode, res.Header)
		}
	})
	t.Run("W30 a run is begun once, and the repeat says so", func(t *testing.T) {
		var ids []string
		for n := range 2 {
			res := dev.do("POST", "/api/run/wallpaper", "application/json", strings.NewReader(`{"inputs":{"width":64,"height":64}}`), "Idempotency-Key", "r1")
			var run apiRun
			if err := json.Unmarshal([]byte(readAll(t, res.Body)), &run); err != nil {
				t.Fatal(err)
			}
			if replayed := res.Header.Get("Idempotent-Replayed") == "true"; replayed != (n == 1) {
				t.Errorf("request %d: replayed %v", n+1, replayed)
			}
			ids = append(ids, run.RunID)
		}
		if ids[0] != ids[1] {
			t.Errorf("two runs: %v", ids)
		}
	})
}

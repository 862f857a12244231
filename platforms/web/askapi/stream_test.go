package askapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// speaker says its words one by one, and calls a tool that is not there first.
type speaker struct {
	words []string
	heard agent.Conversation
}

func (s *speaker) Answer(_ context.Context, c agent.Conversation) (agent.Turn, error) {
	s.heard = c
	if c.Turns[len(c.Turns)-1].By == agent.Person {
		return agent.Turn{By: agent.Asked, Text: "Let me see.", Calls: []agent.Call{{ID: "1", Tool: "searchTools", Arguments: `{"query":"mugs"}`}}}, nil
	}
	text := ""
	for _, w := range s.words {
		text += w
		c.Saying(text)
	}
	return agent.Turn{By: agent.Asked, Text: text, Usage: agent.Usage{Input: 7}}, nil
}

type forgetful struct{ forgotten []string }

func (f *forgetful) ForgetConversation(_ context.Context, account, conversation string) (bool, error) {
	f.forgotten = append(f.forgotten, account+"/"+conversation)
	return conversation == "a", nil
}

func newConfig(t testing.TB, m agent.Model) askapi.Config {
	return askapi.Config{
		Agents:  map[string]*agent.Agent{"": agent.New(agent.Config{Registry: registrytest.Registry(t), Model: m, Provider: "fake"})},
		Default: "fake", Users: door{}, Budget: func(context.Context) runs.Budget { return runs.Budget{} }, ByAgent: func(context.Context) bool { return false },
		Caller: func(context.Context) (users.Account, bool) { return users.Account{ID: "ann"}, true }, Conversations: &forgetful{},
	}
}

func post(h http.Handler, accept, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/ask", strings.NewReader(body))
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEvents(t *testing.T) {
	t.Parallel()
	m := &speaker{words: []string{"It ", "is ", "blue."}}
	w := post(askapi.Handler(newConfig(t, m)), "text/event-stream", `{"question":"which colour?","attachments":["asset:1.png",{"type":"audio","url":"https://a.example/x"}]}`)
	var names []string
	text, done := "", ""
	for event := range strings.SplitSeq(strings.TrimSpace(w.Body.String()), "\n\n") {
		name, data, _ := strings.Cut(event, "\n")
		name = strings.TrimPrefix(name, "event: ")
		if names = append(names, name); name == "text" {
			var body struct {
				Text    string
				Replace bool
			}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &body); err != nil {
				t.Fatal(err)
			}
			if body.Replace {
				text = ""
			}
			text += body.Text
		}
		if name == "done" {
			done = data
		}
	}
	t.Run("E5 the answer comes word by word, between the steps and the end", func(t *testing.T) {
		if got := strings.Join(names, " "); got != "step text text text done" || text != "It is blue." {
			t.Errorf("got %s: %q\n%s", got, text, w.Body)
		}
		if w.Header().Get("Content-Type") != "text/event-stream" || !strings.Contains(done, `"answer":"It is blue."`) || !strings.Contains(done, `"input":7`) {
			t.Errorf("the end is %s", done)
		}
	})
	t.Run("what came with the question is told the model by kind and reference", func(t *testing.T) {
		if opening := m.heard.Turns[0].Text; !strings.Contains(opening, `{"type":"image","ref":"asset:1.png"}`) || !strings.Contains(opening, `"audio"`) {
			t.Errorf("the model heard %q", opening)
		}
	})
}

func TestBodies(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t, &speaker{words: []string{"ok"}})
	for body, want := range map[string]string{
		`{"question":"x","budgetNanoUsd":-1}`:                                "budgetNanoUsd",
		`{"question":"x","attachments":[{"type":"smell"}]}`:                  "attachments",
		`{"question":"x","planSchema":{"type":"nothing at all"}}`:            "planSchema",
		`{"question":"x","conversation":"` + strings.Repeat("x", 201) + `"}`: "conversation",
	} {
		if w := post(askapi.Handler(cfg), "", body); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.60s: %d %s", body, w.Code, w.Body)
		}
	}
	t.Run("an agent's key can't give itself a budget", func(t *testing.T) {
		cfg := cfg
		cfg.ByAgent = func(context.Context) bool { return true }
		if w := post(askapi.Handler(cfg), "", `{"question":"x","budgetNanoUsd":1000}`); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "person's word") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("the model's trouble is the end of a stream, too", func(t *testing.T) {
		broken := model2{err: registry.Errorf(registry.CodeUnavailable, "too much to do")}
		w := post(askapi.Handler(newConfig(t, broken)), "text/event-stream", `{"question":"x"}`)
		if !strings.Contains(w.Body.String(), `event: done`) || !strings.Contains(w.Body.String(), `"error":{`) || !strings.Contains(w.Body.String(), "too much to do") {
			t.Errorf("%s", w.Body)
		}
	})
}

// model2 fails.
type model2 struct{ err error }

func (m model2) Answer(context.Context, agent.Conversation) (agent.Turn, error) {
	return agent.Turn{}, m.err
}

func TestForget(t *testing.T) {
	t.Parallel()
	kept := &forgetful{}
	cfg := newConfig(t, &speaker{})
	cfg.Conversations = kept
	mux := http.NewServeMux()
	mux.Handle("DELETE /api/conversations/{id}", askapi.Handler(cfg))
	for id, want := range map[string]int{"a": http.StatusNoContent, "b": http.StatusNotFound} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("DELETE", "/api/conversations/"+id, nil))
		if w.Code != want {
			t.Errorf("%s: %d %s", id, w.Code, w.Body)
		}
	}
	if len(kept.forgotten) != 2 || !strings.HasPrefix(kept.forgotten[0], "ann/") {
		t.Errorf("forgotten: %v", kept.forgotten)
	}
}

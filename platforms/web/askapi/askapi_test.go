package askapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// model notes that it was asked.
type model struct{ asked atomic.Int32 }

func (m *model) Answer(context.Context, agent.Conversation) (agent.Turn, error) {
	m.asked.Add(1)
	return agent.Turn{By: agent.Asked, Text: "hello"}, nil
}

// door turns away anyone who is called eve.
type door struct{}

func (door) CheckAccount(_ context.Context, a users.Account, _, _ string) (users.Decision, error) {
	return users.Decision{Allowed: a.ID != "eve", Reason: users.ReasonBlocked}, nil
}

type callerKey struct{}

// ask has somebody ask and gives the status and what was said.
func ask(h http.Handler, who string) (int, string) {
	r := httptest.NewRequest("POST", "/api/ask", strings.NewReader(`{"question":"hello"}`))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	said, _ := io.ReadAll(w.Body)
	return w.Code, string(said)
}

// What a model charges is the operator's bill.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	asked := new(model)
	h := askapi.Handler(askapi.Config{
		Agents:  map[string]*agent.Agent{"fake": agent.New(agent.Config{Registry: registrytest.Registry(t), Model: asked, Provider: "fake"})},
		Default: "fake", Users: door{}, Budget: func(context.Context) runs.Budget { return runs.Budget{} }, ByAgent: func(context.Context) bool { return false },
		Caller: func(ctx context.Context) (users.Account, bool) {
			return users.Account{ID: fmt.Sprint(ctx.Value(callerKey{}))}, true
		},
	})
	t.Run("who may not use the tools is refused before a model is asked", func(t *testing.T) {
		if status, said := ask(h, "eve"); status != http.StatusForbidden || !strings.Contains(said, "blocked") || asked.asked.Load() != 0 {
			t.Errorf("%d %s; the model was asked %d times", status, said, asked.asked.Load())
		}
		if status, said := ask(h, "ann"); status != http.StatusOK {
			t.Errorf("somebody who may: %d %s", status, said)
		}
	})
}

// What is said to a model in a chat is told it with the next question there, as the person's own words.
func TestRestrictedKeysHaveNoPartInChats(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		budget runs.Budget
		in     string
		ask    int
		forget int
	}{
		"a restricted key in a chat":                  {runs.Budget{Name: "key:1"}, "chat:telegram/7", http.StatusForbidden, http.StatusForbidden},
		"a restricted key in a conversation it names": {runs.Budget{Name: "key:1"}, "a", http.StatusOK, http.StatusNoContent},
		"a key without restrictions":                  {runs.Budget{}, "chat:telegram/7", http.StatusOK, http.StatusNotFound},
	} {
		asked, conversations := new(model), new(forgetful)
		cfg := newConfig(t, asked)
		cfg.Budget, cfg.Conversations = func(context.Context) runs.Budget { return tc.budget }, conversations
		h := askapi.Handler(cfg)
		w := post(h, "", `{"question":"hello","conversation":"`+tc.in+`"}`)
		if w.Code != tc.ask || (asked.asked.Load() > 0) != (tc.ask == http.StatusOK) {
			t.Errorf("%s asks: %d %s", name, w.Code, w.Body)
		}
		r := httptest.NewRequest("DELETE", "/api/conversations/x", nil)
		r.SetPathValue("id", tc.in)
		w = httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != tc.forget || (len(conversations.forgotten) > 0) == (tc.forget == http.StatusForbidden) {
			t.Errorf("%s forgets: %d %s", name, w.Code, w.Body)
		}
	}
}

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

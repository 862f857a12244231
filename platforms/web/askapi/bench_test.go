package askapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// prompt is a model that speaks at once.
type prompt struct{}

func (prompt) Answer(_ context.Context, c agent.Conversation) (agent.Turn, error) {
	c.Saying("Hello.")
	return agent.Turn{By: agent.Asked, Text: "Hello."}, nil
}

// BenchmarkFirstWord measures how much later than the model the asker has the first word, with a thousand tools.
func BenchmarkFirstWord(b *testing.B) {
	tools := make([]registry.Tool, 1000)
	for i := range tools {
		tools[i] = registrytest.Tool(fmt.Sprintf("tool%04d", i), func(t *registry.Tool) { t.CommandName = "" })
	}
	cfg := newConfig(b, prompt{})
	cfg.Agents[""] = agent.New(agent.Config{Registry: registrytest.Registry(b, registrytest.NewLoader("tools", tools...)), Model: prompt{}, Provider: "fake"})
	server := httptest.NewServer(askapi.Handler(cfg))
	b.Cleanup(server.Close)
	var waited []time.Duration
	for b.Loop() {
		began := time.Now()
		request, err := http.NewRequestWithContext(b.Context(), "POST", server.URL, strings.NewReader(`{"question":"make a picture of a boat with tool 0007"}`))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Accept", "text/event-stream")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() && lines.Text() != "event: text" {
		}
		waited = append(waited, time.Since(began))
		response.Body.Close()
	}
	slices.Sort(waited)
	b.ReportMetric(float64(waited[len(waited)/2].Microseconds())/1000, "ms-p50")
}

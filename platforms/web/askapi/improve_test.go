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
	"github.com/signalbox/signalbox/registry/registrytest"
)

// rewriter has one better prompt for everything.
type rewriter struct{}

func (rewriter) Answer(context.Context, agent.Conversation) (agent.Turn, error) {
	return agent.Turn{By: agent.Asked, Text: `"a red bicycle, photograph"`}, nil
}

func improved(t *testing.T, cfg askapi.Config, body string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	askapi.Handler(cfg).ServeHTTP(w, httptest.NewRequest(http.MethodPost, askapi.ImprovePath, strings.NewReader(body)))
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return w.Code, got
}

func TestImprove(t *testing.T) {
	t.Parallel()
	const body = `{"tool":"paint","input":"prompt","text":"a bicycle"}`
	withTool := func(t *testing.T) askapi.Config {
		cfg := newConfig(t, rewriter{})
		cfg.Registry = registrytest.Registry(t, registrytest.NewLoader("tools", registrytest.Tool("paint")))
		return cfg
	}
	t.Run("a model rewrites the prompt, and what differs is shown", func(t *testing.T) {
		t.Parallel()
		code, got := improved(t, withTool(t), body)
		if code != http.StatusOK || got["text"] != "a red bicycle, photograph" || got["model"] != "fake" {
			t.Fatalf("%d %v", code, got)
		}
		first, _ := got["difference"].([]any)[0].(map[string]any)
		if first["kind"] != "same" || first["text"] != "a " {
			t.Errorf("the difference is %v", got["difference"])
		}
	})
	t.Run("without a model there are styles", func(t *testing.T) {
		t.Parallel()
		cfg := withTool(t)
		cfg.Agents = map[string]*agent.Agent{}
		code, got := improved(t, cfg, body)
		styles, _ := got["styles"].([]any)
		if code != http.StatusOK || len(styles) < 3 || got["text"] != nil {
			t.Fatalf("%d %v", code, got)
		}
		if first, _ := styles[0].(map[string]any); !strings.HasPrefix(first["text"].(string), "a bicycle, ") {
			t.Errorf("the first is %v", first)
		}
	})
	for says, body := range map[string]string{
		"no such tool": `{"tool":"none","input":"prompt","text":"x"}`, "takes any text": `{"tool":"paint","input":"none","text":"x"}`, "at most": `{"tool":"paint","input":"prompt","text":" "}`,
	} {
		t.Run("refused: "+says, func(t *testing.T) {
			t.Parallel()
			code, got := improved(t, withTool(t), body)
			if detail, _ := got["detail"].(string); code < 400 || code > 499 || !strings.Contains(strings.ToLower(detail), says) {
				t.Errorf("%d %v", code, got)
			}
		})
	}
}

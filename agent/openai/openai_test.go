package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/openai"
	"github.com/signalbox/signalbox/agent/openai/openaitest"
	"github.com/signalbox/signalbox/registry"
)

var talk = agent.Conversation{
	System: "Be kind.", Turns: []agent.Turn{{By: agent.Person, Text: "find a mug"}},
	Tools: []agent.Tool{{Name: "a.b", Input: json.RawMessage(`{"type":"object"}`)}, {Name: "a_b", Input: json.RawMessage(`{"type":"object"}`)}},
}

func newClient(t *testing.T, address, key string) *openai.Client {
	t.Helper()
	client, err := openai.New(openai.Config{Key: key, BaseURL: address, Model: openaitest.Model})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	server := openaitest.New(t, func(heard []agent.Result) agent.Turn {
		if heard == nil {
			return agent.Turn{Text: "Let me see.", Calls: []agent.Call{{Tool: "a_b", Arguments: `{"n":12345678901234567890}`}, {Tool: "a_b_2", Arguments: `{}`}}}
		}
		return agent.Turn{Text: heard[0].Text + heard[1].Text}
	})
	client := newClient(t, server.BaseURL(), openaitest.Key)
	asked, err := client.Answer(t.Context(), talk)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("calls come with the registry's names and their arguments digit by digit", func(t *testing.T) {
		if len(asked.Calls) != 2 || asked.Calls[0].Tool != "a_b" || asked.Calls[1].Tool != "a.b" || asked.Calls[0].Arguments != `{"n":12345678901234567890}` || asked.Text != "Let me see." {
			t.Errorf("got %+v", asked)
		}
	})
	t.Run("each call is answered", func(t *testing.T) {
		next := talk
		next.Turns = append(next.Turns[:1:1], asked, agent.Turn{By: agent.Tools, Results: []agent.Result{{CallID: asked.Calls[0].ID, Text: "one "}, {CallID: asked.Calls[1].ID, Text: "two", Failed: true}}})
		done, err := client.Answer(t.Context(), next)
		if err != nil || done.Text != "one two" || len(done.Calls) != 0 {
			t.Fatalf("got %+v, %v", done, err)
		}
		next.Turns[2].Results = next.Turns[2].Results[:1]
		if _, err := client.Answer(t.Context(), next); err == nil || !strings.Contains(err.Error(), "no tool output found") {
			t.Errorf("a call without a result: %v", err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	server := openaitest.New(t, func([]agent.Result) agent.Turn { return agent.Turn{Text: "hello"} })
	for name, c := range map[string]struct {
		fault http.HandlerFunc
		key   string
		want  registry.Code
		retry bool
	}{
		"a wrong key":           {key: "wrong", want: registry.CodeUnauthorized},
		"in trouble":            {fault: openaitest.Refuse(500, "server_error", "", "Sorry"), want: registry.CodeProvider, retry: true},
		"too many requests":     {fault: openaitest.Refuse(429, "requests", "rate_limit_exceeded", "Slow down"), want: registry.CodeRateLimited, retry: true},
		"no credit":             {fault: openaitest.Refuse(429, "insufficient_quota", "insufficient_quota", "Pay"), want: registry.CodeUnavailable},
		"no such model":         {fault: openaitest.Refuse(404, "invalid_request_error", "model_not_found", "no x"), want: registry.CodeProvider},
		"a stream that is cut":  {fault: openaitest.Cut, want: registry.CodeProvider, retry: true},
		"an answer that is cut": {fault: openaitest.Incomplete("max_output_tokens"), want: registry.CodeProvider},
		"a filter":              {fault: openaitest.Incomplete("content_filter"), want: registry.CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			key := openaitest.Key
			if c.fault != nil {
				server.Fail(c.fault)
			} else {
				key = c.key
			}
			_, err := newClient(t, server.BaseURL(), key).Answer(t.Context(), talk)
			if e := registry.AsError(err); err == nil || e.Code != c.want || e.Retryable != c.retry || strings.Contains(err.Error(), key) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	server := openaitest.New(t, func(heard []agent.Result) agent.Turn {
		if heard == nil {
			return agent.Turn{Text: "Let me see.", Calls: []agent.Call{{Tool: "a_b", Arguments: `{"q":"mug"}`}}}
		}
		return agent.Turn{Text: "It is blue."}
	})
	client := newClient(t, server.BaseURL(), openaitest.Key)
	var said []string
	listening := talk
	listening.Said = func(text string) { said = append(said, text) }
	asked, err := client.Answer(t.Context(), listening)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("B30 the text is told as far as it has come, and cached tokens are counted apart", func(t *testing.T) {
		if !slices.Contains(said, "Let me ") || said[len(said)-1] != "Let me see." || asked.Usage != (agent.Usage{Input: 20, CacheRead: 100, Output: 9}) {
			t.Errorf("told %q, used %+v", said, asked.Usage)
		}
	})
	t.Run("B30 what the model thought goes back sealed, in its place", func(t *testing.T) {
		next := talk
		next.Turns = append(next.Turns[:1:1], asked, agent.Turn{By: agent.Tools, Results: []agent.Result{{CallID: asked.Calls[0].ID, Text: "blue"}}})
		if _, err := client.Answer(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if sent := server.Requests()[1].Input; sent[1].Type != "reasoning" || sent[1].Encrypted == "" {
			t.Errorf("sent %+v", sent)
		}
	})
}

// dot is a picture of one pixel.
var dot = agent.Picture{MIMEType: "image/gif", Content: []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")}

func TestPictures(t *testing.T) {
	t.Parallel()
	say := func([]agent.Result) agent.Turn { return agent.Turn{Text: "a dot"} }
	for key, address := range map[string]string{
		openaitest.Key: openaitest.New(t, say).BaseURL(), // responses
		"":             openaitest.NewChat(t, openaitest.Habits{}, say).BaseURL(),
	} {
		client := newClient(t, address, key)
		ask := func(shown agent.Picture) (agent.Turn, error) {
			return client.Answer(t.Context(), agent.Conversation{Turns: []agent.Turn{{By: agent.Person, Text: "What is it?", Pictures: []agent.Picture{shown}}}})
		}
		if turn, err := ask(dot); err != nil || turn.Text != "a dot" {
			t.Errorf("with the key %q: %+v, %v", key, turn, err)
		}
		if _, err := ask(agent.Picture{MIMEType: "image/png", Content: dot.Content}); err == nil {
			t.Errorf("with the key %q a picture of another type was taken", key)
		}
	}
}

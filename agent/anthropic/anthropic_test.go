package anthropic_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic"
	"github.com/signalbox/signalbox/agent/anthropic/anthropictest"
	"github.com/signalbox/signalbox/registry"
)

var talk = agent.Conversation{
	System: "Be kind.", Turns: []agent.Turn{{By: agent.Person, Text: "find a mug"}},
	Tools: []agent.Tool{{Name: "a.b", Input: json.RawMessage(`{"type":"object"}`)}, {Name: "a_b", Input: json.RawMessage(`{"type":"object"}`)}},
}

func newClient(t *testing.T, address, key string) *anthropic.Client {
	t.Helper()
	client, err := anthropic.New(anthropic.Config{Key: key, BaseURL: address, Model: anthropictest.Model})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	server := anthropictest.New(t, func(heard []agent.Result) agent.Turn {
		if heard == nil {
			return agent.Turn{Text: "Let me see.", Calls: []agent.Call{{Tool: "a_b", Arguments: `{"n":12345678901234567890}`}, {Tool: "a_b_2", Arguments: `{}`}}}
		}
		return agent.Turn{Text: heard[0].Text + heard[1].Text}
	})
	client := newClient(t, server.URL, anthropictest.Key)
	asked, err := client.Answer(t.Context(), talk)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("B31 B32 calls come with the registry's names and their arguments digit by digit", func(t *testing.T) {
		if len(asked.Calls) != 2 || asked.Calls[0].Tool != "a_b" || asked.Calls[1].Tool != "a.b" || asked.Calls[0].Arguments != `{"n":12345678901234567890}` || asked.Text != "Let me see." {
			t.Errorf("got %+v", asked)
		}
	})
	t.Run("B34 each call is answered in the next message, and failures are marked", func(t *testing.T) {
		next := talk
		next.Turns = append(next.Turns[:1:1], asked, agent.Turn{By: agent.Tools, Results: []agent.Result{{CallID: asked.Calls[0].ID, Text: "one "}, {CallID: asked.Calls[1].ID, Text: "two", Failed: true}}})
		done, err := client.Answer(t.Context(), next)
		if err != nil || done.Text != "one two" || len(done.Calls) != 0 {
			t.Fatalf("got %+v, %v", done, err)
		}
		if sent := string(server.Requests()[1].Messages[2].Content); strings.Count(sent, `"is_error":true`) != 1 {
			t.Errorf("sent %s", sent)
		}
		next.Turns[2].Results = next.Turns[2].Results[:1]
		if _, err := client.Answer(t.Context(), next); err == nil || !strings.Contains(err.Error(), "without `tool_result` blocks") {
			t.Errorf("a call without a result: %v", err)
		}
	})
}

// dot is a picture of one pixel.
var dot = agent.Picture{MIMEType: "image/gif", Content: []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")}

func TestPictures(t *testing.T) {
	t.Parallel()
	server := anthropictest.New(t, func([]agent.Result) agent.Turn { return agent.Turn{Text: "a dot"} })
	client := newClient(t, server.URL, anthropictest.Key)
	ask := func(shown agent.Picture) (agent.Turn, error) {
		return client.Answer(t.Context(), agent.Conversation{Turns: []agent.Turn{{By: agent.Person, Text: "What is it?", Pictures: []agent.Picture{shown}}}})
	}
	if turn, err := ask(dot); err != nil || turn.Text != "a dot" {
		t.Fatalf("got %+v, %v", turn, err)
	}
	if sent := string(server.Requests()[0].Messages[0].Content); !strings.Contains(sent, `"R0lGODlh`) || strings.Index(sent, "image/gif") > strings.Index(sent, "What is it?") {
		t.Errorf("sent %s", sent)
	}
	if _, err := ask(agent.Picture{MIMEType: "image/png", Content: dot.Content}); err == nil {
		t.Error("a picture of another type was taken")
	}
}

// TestPauses has the service pause in the middle of an answer, which it goes on with when it gets back what it said.
func TestPauses(t *testing.T) {
	t.Parallel()
	server := anthropictest.New(t, func([]agent.Result) agent.Turn { return agent.Turn{Text: "and here it is."} })
	server.Fail(anthropictest.Pause("Let me look,"), anthropictest.Pause("a moment,"))
	turn, err := newClient(t, server.URL, anthropictest.Key).Answer(t.Context(), talk)
	if err != nil || turn.Text != "Let me look,\na moment,\nand here it is." {
		t.Fatalf("got %+v, %v", turn, err)
	}
	sent := server.Requests()[0].Messages
	if last := sent[len(sent)-1]; len(sent) != 2 || last.Role != "assistant" || !strings.Contains(string(last.Content), "Let me look") || !strings.Contains(string(last.Content), "a moment") {
		t.Errorf("sent %+v", sent)
	}
	for range 20 {
		server.Fail(anthropictest.StopAs("pause_turn"))
	}
	if _, err := newClient(t, server.URL, anthropictest.Key).Answer(t.Context(), talk); err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("a service that pauses for ever: %v", err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	server := anthropictest.New(t, func([]agent.Result) agent.Turn { return agent.Turn{Text: "hello"} })
	for name, c := range map[string]struct {
		fault http.HandlerFunc
		key   string
		want  registry.Code
		retry bool
	}{
		"a wrong key":                      {key: "wrong", want: registry.CodeUnauthorized},
		"overloaded":                       {fault: anthropictest.Refuse(529, "overloaded_error", "Overloaded"), want: registry.CodeUnavailable, retry: true},
		"too many requests":                {fault: anthropictest.Refuse(429, "rate_limit_error", "Slow down"), want: registry.CodeRateLimited, retry: true},
		"no such model":                    {fault: anthropictest.Refuse(404, "not_found_error", "model: x"), want: registry.CodeProvider},
		"an answer that is cut":            {fault: anthropictest.StopAs("max_tokens"), want: registry.CodeProvider},
		"a refusal":                        {fault: anthropictest.StopAs("refusal"), want: registry.CodeRefused},
		"a stream that is cut":             {fault: anthropictest.Cut("Let me"), want: registry.CodeProvider, retry: true},
		"overloaded in the middle":         {fault: anthropictest.Break("overloaded_error", "Overloaded"), want: registry.CodeUnavailable, retry: true},
		"an error in the middle":           {fault: anthropictest.Break("api_error", "oh"), want: registry.CodeProvider, retry: true},
		"a reason that nobody has told us": {fault: anthropictest.StopAs("new_reason"), want: registry.CodeProvider},
	} {
		t.Run(name, func(t *testing.T) {
			key := anthropictest.Key
			if c.fault != nil {
				server.Fail(c.fault)
			} else {
				key = c.key
			}
			_, err := newClient(t, server.URL, key).Answer(t.Context(), talk)
			if e := registry.AsError(err); err == nil || e.Code != c.want || e.Retryable != c.retry || strings.Contains(err.Error(), key) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	server := anthropictest.New(t, func(heard []agent.Result) agent.Turn {
		if heard == nil {
			return agent.Turn{Text: "Let me see.", Calls: []agent.Call{{Tool: "a_b", Arguments: `{"q":"mug"}`}}}
		}
		return agent.Turn{Text: "It is blue."}
	})
	client := newClient(t, server.URL, anthropictest.Key)
	var said []string
	listening := talk
	listening.Said = func(text string) { said = append(said, text) }
	asked, err := client.Answer(t.Context(), listening)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("B30 the text is told as far as it has come", func(t *testing.T) {
		if !slices.Contains(said, "Let ") || !slices.Contains(said, "Let me ") || said[len(said)-1] != "Let me see." {
			t.Errorf("told %q", said)
		}
	})
	t.Run("B30 tokens are counted by how they were read", func(t *testing.T) {
		if want := (agent.Usage{Input: 25, CacheRead: 100, CacheWrite: 7, Output: 9}); asked.Usage != want {
			t.Errorf("got %+v, want %+v", asked.Usage, want)
		}
	})
	next := talk
	next.Turns = append(next.Turns[:1:1], asked, agent.Turn{By: agent.Tools, Results: []agent.Result{{CallID: asked.Calls[0].ID, Text: "blue"}}})
	t.Run("B30 what the model thought goes back signed, and the last turn is marked for the cache", func(t *testing.T) {
		if _, err := client.Answer(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		sent := server.Requests()[1]
		if !strings.Contains(string(sent.Messages[1].Content), "which tool?") || !strings.Contains(string(sent.Messages[2].Content), "ephemeral") || sent.System[0].Cache == nil {
			t.Errorf("sent %+v", sent)
		}
	})
	t.Run("B30 a turn of another model goes without what that one thought", func(t *testing.T) {
		next.Turns[1].Model = "another"
		if _, err := client.Answer(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if sent := string(server.Requests()[2].Messages[1].Content); strings.Contains(sent, "which tool?") || !strings.Contains(sent, "tool_use") {
			t.Errorf("sent %s", sent)
		}
	})
	t.Run("B30 arguments that are no JSON stay a call, which no tool takes", func(t *testing.T) {
		server.Fail(anthropictest.Malformed("a_b", `{"q": "mu`))
		turn, err := client.Answer(t.Context(), talk)
		if err != nil || len(turn.Calls) != 1 || !strings.Contains(turn.Calls[0].Arguments, "malformed") {
			t.Errorf("got %+v, %v", turn, err)
		}
	})
}

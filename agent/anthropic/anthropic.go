// Package anthropic asks models of Anthropic by the Messages API with tool use.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Provider names the service in contexts of calls.
const Provider = "anthropic"

// Version is the version of the API that is spoken here, sent as the header Anthropic-Version.
const Version = "2023-06-01"

const (
	defaultTokens = 8192
	timeout       = 5 * time.Minute // of one answer
	maxPauses     = 10              // of one answer
	paused        = "pause_turn"
)

// Config is the account and the model; all but MaxTokens are required.
type Config struct {
	Key       string
	BaseURL   string // without the version: https://api.anthropic.com
	Model     string
	MaxTokens int // of one answer; zero: 8192
}

// Client is an agent.Model.
type Client struct {
	api    *upstream.Client
	model  string
	tokens int
}

var _ agent.Model = (*Client)(nil)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	api, err := upstream.New(upstream.Config{
		Name: "Anthropic", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, Timeout: timeout, Failure: failure,
		Authorize: func(r *http.Request) {
			r.Header.Set("X-Api-Key", cfg.Key)
			r.Header.Set("Anthropic-Version", Version)
		},
	})
	return &Client{api, cfg.Model, cmp.Or(cfg.MaxTokens, defaultTokens)}, err
}

// Answer asks for the next turn, which comes as a stream. The turn's own blocks, thinking included, go back unchanged
// with the next request, as the API wants it.
func (c *Client) Answer(ctx context.Context, talk agent.Conversation) (agent.Turn, error) {
	names := agent.NewNames(talk.Tools)
	body := request{Model: c.model, MaxTokens: c.tokens, Stream: true}
	if talk.System != "" {
		body.System = []text{{"text", talk.System, kept}}
	}
	for _, t := range talk.Tools {
		body.Tools = append(body.Tools, tool{names.Alias(t.Name), t.Description, t.Input})
	}
	for i, turn := range talk.Turns {
		body.Messages = append(body.Messages, c.messageOf(turn, names, i == len(talk.Turns)-1))
	}
	got, used, err := c.ask(ctx, body, talk.Saying)
	if err != nil {
		return agent.Turn{Usage: used}, err
	}
	turn, err := c.read(got, names)
	turn.Usage, turn.Model = used, c.model
	return turn, err
}

// ask makes a request, and goes on for as long as the service pauses in the middle of an answer, whose parts it joins.
func (c *Client) ask(ctx context.Context, body request, said func(string)) (answer, agent.Usage, error) {
	talk, parts, used, spoken := body.Messages, []json.RawMessage(nil), agent.Usage{}, ""
	for range maxPauses {
		s := stream{said: func(text string) { said(joined(spoken, text)) }}
		got, err := c.once(ctx, body, &s)
		used = used.Plus(got.Usage.counted())
		if err != nil {
			return answer{}, used, err
		}
		var part []json.RawMessage
		if err := json.Unmarshal(got.Content, &part); err != nil {
			return answer{}, used, unreadable()
		}
		if parts == nil && got.StopReason != paused {
			return got, used, nil
		}
		parts = append(parts, part...)
		if got.Content, err = json.Marshal(parts); err != nil || got.StopReason != paused {
			return got, used, err
		}
		spoken = joined(spoken, s.text())
		if len(parts) > 0 {
			body.Messages = append(talk[:len(talk):len(talk)], message{"assistant", got.Content})
		}
	}
	return answer{}, used, registry.Errorf(registry.CodeProvider, "Anthropic paused an answer %d times", maxPauses)
}

func joined(before, text string) string {
	if before == "" || text == "" {
		return before + text
	}
	return before + "\n" + text
}

// once makes one request. A server that does not stream is understood as well.
func (c *Client) once(ctx context.Context, body request, s *stream) (answer, error) {
	res, err := c.api.Do(ctx, upstream.Request{Method: http.MethodPost, Path: "/v1/messages", JSON: body, Repeatable: true, Events: s.take})
	if err != nil {
		return answer{Usage: s.usage}, err
	}
	if res.Body == nil {
		return s.answer()
	}
	var got answer
	err = c.api.Decode(res, &got)
	return got, err
}

// messageOf writes a turn; the last one is marked for the cache, so that the next round reads it from there. What
// another model wrote goes as plain text and calls: its thinking is tied to it.
func (c *Client) messageOf(turn agent.Turn, names agent.Names, last bool) message {
	switch {
	case turn.By == agent.Asked && turn.Model == c.model:
		return message{"assistant", turn.Native}
	case turn.By == agent.Asked:
		return message{"assistant", plain(turn, names)}
	case turn.By == agent.Tools:
		results := make([]toolResult, len(turn.Results))
		for i, r := range turn.Results {
			results[i] = toolResult{Type: "tool_result", ToolUseID: r.CallID, Content: r.Text, IsError: r.Failed}
		}
		if last && len(results) > 0 {
			results[len(results)-1].Cache = kept
		}
		return message{"user", results}
	}
	if len(turn.Pictures) > 0 {
		return message{"user", shown(turn)}
	}
	return message{"user", turn.Text}
}

func (c *Client) read(got answer, names agent.Names) (agent.Turn, error) {
	switch got.StopReason {
	case "end_turn", "tool_use", "stop_sequence":
	case "refusal":
		return agent.Turn{}, registry.Errorf(registry.CodeRefused, "the model does not answer this")
	case "max_tokens":
		return agent.Turn{}, registry.Errorf(registry.CodeProvider, "the model's answer is longer than %d tokens", c.tokens)
	case "model_context_window_exceeded":
		return agent.Turn{}, registry.Errorf(registry.CodeProvider, "the conversation is longer than the model can take")
	default:
		return agent.Turn{}, registry.Errorf(registry.CodeProvider, "Anthropic ended an answer for a reason that is not known here: %.40q", got.StopReason)
	}
	var blocks []block
	if err := json.Unmarshal(got.Content, &blocks); err != nil {
		return agent.Turn{}, unreadable()
	}
	turn := agent.Turn{By: agent.Asked, Native: got.Content}
	var said []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			said = append(said, b.Text)
		case "tool_use":
			turn.Calls = append(turn.Calls, agent.Call{ID: b.ID, Tool: names.Tool(b.Name), Arguments: string(b.Input)})
		}
	}
	turn.Text = strings.Join(said, "\n")
	return turn, nil
}

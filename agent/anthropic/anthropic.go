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

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // text, or blocks
}

type toolResult struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content"`
	IsError   bool   `json:"is_error,omitempty"`
}

type answer struct {
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
}

type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Answer asks for the next turn. The turn's own blocks go back unchanged with the next request, as the API wants it.
func (c *Client) Answer(ctx context.Context, talk agent.Conversation) (agent.Turn, error) {
	names := agent.NewNames(talk.Tools)
	body := request{Model: c.model, MaxTokens: c.tokens, System: talk.System}
	for _, t := range talk.Tools {
		body.Tools = append(body.Tools, tool{names.Alias(t.Name), t.Description, t.Input})
	}
	for _, turn := range talk.Turns {
		body.Messages = append(body.Messages, messageOf(turn))
	}
	got, err := c.ask(ctx, body)
	if err != nil {
		return agent.Turn{}, err
	}
	return c.read(got, names)
}

// ask makes a request, and goes on for as long as the service pauses in the middle of an answer, whose parts it joins.
func (c *Client) ask(ctx context.Context, body request) (answer, error) {
	talk, said := body.Messages, []json.RawMessage(nil)
	for range maxPauses {
		var got answer
		res, err := c.api.Do(ctx, upstream.Request{Method: http.MethodPost, Path: "/v1/messages", JSON: body, Repeatable: true})
		if err == nil {
			err = c.api.Decode(res, &got)
		}
		if err != nil {
			return answer{}, err
		}
		var part []json.RawMessage
		if err := json.Unmarshal(got.Content, &part); err != nil {
			return answer{}, registry.Errorf(registry.CodeProvider, "Anthropic gave an answer that can't be read")
		}
		if said == nil && got.StopReason != paused {
			return got, nil
		}
		said = append(said, part...)
		if got.Content, err = json.Marshal(said); err != nil {
			return answer{}, err
		}
		if got.StopReason != paused {
			return got, nil
		}
		if len(said) > 0 {
			body.Messages = append(talk[:len(talk):len(talk)], message{"assistant", got.Content})
		}
	}
	return answer{}, registry.Errorf(registry.CodeProvider, "Anthropic paused an answer %d times", maxPauses)
}

func messageOf(turn agent.Turn) message {
	switch turn.By {
	case agent.Asked:
		return message{"assistant", turn.Native}
	case agent.Tools:
		results := make([]toolResult, len(turn.Results))
		for i, r := range turn.Results {
			results[i] = toolResult{"tool_result", r.CallID, r.Text, r.Failed}
		}
		return message{"user", results}
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
		return agent.Turn{}, registry.Errorf(registry.CodeProvider, "Anthropic gave an answer that can't be read")
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

// failure reads the API's own words where the status says too little.
func failure(res upstream.Response) *registry.Error {
	var body struct {
		Error struct{ Type, Message string } `json:"error"`
	}
	if json.Unmarshal(res.Body, &body) != nil {
		return nil
	}
	switch body.Error.Type {
	case "overloaded_error":
		return &registry.Error{Code: registry.CodeUnavailable, Retryable: true, Message: "Anthropic has too much to do at the moment"}
	case "invalid_request_error", "not_found_error", "request_too_large": // ours, or the account's: the asker can't mend it
		return registry.Errorf(registry.CodeProvider, "Anthropic did not take the request: %.200s", body.Error.Message)
	}
	return nil
}

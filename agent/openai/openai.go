// Package openai asks models of OpenAI by the Responses API with function calls.
//
// Nothing is kept at OpenAI (store is false): each request carries the whole conversation. The model's reasoning between calls is not
// carried along.
package openai

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
const Provider = "openai"

const (
	defaultTokens = 16384           // reasoning counts, too
	timeout       = 5 * time.Minute // of one answer
)

// Config is the account and the model; all but MaxTokens are required.
type Config struct {
	Key       string
	BaseURL   string // with its version: https://api.openai.com/v1
	Model     string
	MaxTokens int // of one answer; zero: 16384
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
		Name: "OpenAI", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, Timeout: timeout, Failure: failure,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) },
	})
	return &Client{api, cfg.Model, cmp.Or(cfg.MaxTokens, defaultTokens)}, err
}

type request struct {
	Model        string     `json:"model"`
	Instructions string     `json:"instructions,omitempty"`
	Input        []any      `json:"input"`
	Tools        []function `json:"tools,omitempty"`
	MaxTokens    int        `json:"max_output_tokens"`
	Store        bool       `json:"store"`
}

// function describes a tool. Strict schemas would have to require every input, so ours are not: runs checks the arguments.
type function struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type callOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

type response struct {
	Status     string `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Output []struct {
		functionCall
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"output"`
}

// Answer asks for the next turn.
func (c *Client) Answer(ctx context.Context, talk agent.Conversation) (agent.Turn, error) {
	names := agent.NewNames(talk.Tools)
	body := request{Model: c.model, Instructions: talk.System, MaxTokens: c.tokens}
	for _, t := range talk.Tools {
		body.Tools = append(body.Tools, function{Type: "function", Name: names.Alias(t.Name), Description: t.Description, Parameters: t.Input})
	}
	for _, turn := range talk.Turns {
		body.Input = append(body.Input, items(turn, names)...)
	}
	var got response
	res, err := c.api.Do(ctx, upstream.Request{Method: http.MethodPost, Path: "/responses", JSON: body, Repeatable: true})
	if err == nil {
		err = c.api.Decode(res, &got)
	}
	if err == nil {
		err = c.check(got)
	}
	if err != nil {
		return agent.Turn{}, err
	}
	return read(got, names)
}

func items(turn agent.Turn, names agent.Names) (list []any) {
	switch {
	case turn.By == agent.Person:
		list = append(list, message{"user", turn.Text})
	case turn.By == agent.Asked && turn.Text != "":
		list = append(list, message{"assistant", turn.Text})
	}
	for _, call := range turn.Calls {
		list = append(list, functionCall{"function_call", call.ID, names.Alias(call.Tool), call.Arguments})
	}
	for _, r := range turn.Results {
		list = append(list, callOutput{"function_call_output", r.CallID, r.Text})
	}
	return list
}

// check refuses answers that are not whole.
func (c *Client) check(got response) error {
	switch got.Status {
	case "completed":
		return nil
	case "incomplete":
		if got.Incomplete.Reason == "max_output_tokens" {
			return registry.Errorf(registry.CodeProvider, "the model's answer is longer than %d tokens", c.tokens)
		}
		return registry.Errorf(registry.CodeRefused, "the model does not answer this")
	case "failed":
		return registry.Errorf(registry.CodeProvider, "OpenAI failed: %.200s", got.Error.Message)
	}
	return registry.Errorf(registry.CodeProvider, "OpenAI gave an answer of a status that is not known here: %.40q", got.Status)
}

func read(got response, names agent.Names) (agent.Turn, error) {
	turn := agent.Turn{By: agent.Asked}
	var said []string
	for _, item := range got.Output {
		if item.Type == "function_call" {
			turn.Calls = append(turn.Calls, agent.Call{ID: item.CallID, Tool: names.Tool(item.Name), Arguments: item.Arguments})
		}
		for _, part := range item.Content {
			switch part.Type {
			case "output_text":
				said = append(said, part.Text)
			case "refusal":
				return agent.Turn{}, registry.Errorf(registry.CodeRefused, "the model does not answer this")
			}
		}
	}
	turn.Text = strings.Join(said, "\n")
	return turn, nil
}

// failure reads the API's own words where the status says too little.
func failure(res upstream.Response) *registry.Error {
	var body struct {
		Error struct{ Code, Type, Message string } `json:"error"`
	}
	if json.Unmarshal(res.Body, &body) != nil {
		return nil
	}
	switch {
	case body.Error.Code == "insufficient_quota":
		return registry.Errorf(registry.CodeUnavailable, "OpenAI takes no more work on this account; the operator has to look at it")
	case body.Error.Type == "invalid_request_error" && res.Status != http.StatusUnauthorized: // ours, or the account's: the asker can't mend it
		return registry.Errorf(registry.CodeProvider, "OpenAI did not take the request: %.200s", body.Error.Message)
	}
	return nil
}

package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Answer asks for the next turn, which comes as a stream. A server that does not know the Responses API is asked by
// chat completions from then on.
func (c *Client) Answer(ctx context.Context, talk agent.Conversation) (agent.Turn, error) {
	if !c.compatible.Load() {
		turn, err := c.respond(ctx, talk)
		if !errors.Is(err, errNoResponses) {
			return turn, err
		}
		c.compatible.Store(true)
	}
	return c.complete(ctx, talk)
}

// respond asks by the Responses API.
func (c *Client) respond(ctx context.Context, talk agent.Conversation) (agent.Turn, error) {
	names := agent.NewNames(talk.Tools)
	body := request{Model: c.model, Instructions: talk.System, MaxTokens: c.tokens, Stream: true, Include: []string{"reasoning.encrypted_content"}}
	for _, t := range talk.Tools {
		body.Tools = append(body.Tools, function{Type: "function", Name: names.Alias(t.Name), Description: t.Description, Parameters: t.Input})
	}
	for _, turn := range talk.Turns {
		body.Input = append(body.Input, c.items(turn, names)...)
	}
	s := stream{said: talk.Saying}
	res, err := c.api.Do(ctx, upstream.Request{Method: http.MethodPost, Path: "/responses", JSON: body, Repeatable: true, Events: s.take})
	if err == nil && res.Body != nil {
		err = c.api.Decode(res, &s.response)
		s.ended = true
	}
	if err == nil {
		err = c.check(s)
	}
	if err != nil {
		return agent.Turn{Usage: s.response.Usage.counted()}, err
	}
	return c.read(s.response, names)
}

type request struct {
	Model        string     `json:"model"`
	Instructions string     `json:"instructions,omitempty"`
	Input        []any      `json:"input"`
	Tools        []function `json:"tools,omitempty"`
	MaxTokens    int        `json:"max_output_tokens"`
	Store        bool       `json:"store"`
	Stream       bool       `json:"stream"`
	Include      []string   `json:"include"`
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
	Content any    `json:"content"` // text, or parts
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

// shown is what a person says: parts where there are pictures, which stand before the text.
func shown(turn agent.Turn) any {
	if len(turn.Pictures) == 0 {
		return turn.Text
	}
	var parts []part
	for _, p := range turn.Pictures {
		parts = append(parts, part{Type: "input_image", ImageURL: p.DataURL()})
	}
	return append(parts, part{Type: "input_text", Text: turn.Text})
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
	Output []json.RawMessage `json:"output"`
	Usage  usage             `json:"usage"`
}

// item is a part of an answer.
type item struct {
	functionCall
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// stream puts an answer together: items count when they are whole, pieces of text only show how it goes on.
type stream struct {
	said     func(text string)
	text     strings.Builder
	items    []json.RawMessage
	response response
	ended    bool
}

func (s *stream) take(e upstream.Event) error {
	var event struct {
		Type     string          `json:"type"`
		Delta    string          `json:"delta"`
		Item     json.RawMessage `json:"item"`
		Response *response       `json:"response"`
		Message  string          `json:"message"`
	}
	if err := json.Unmarshal(e.Data, &event); err != nil {
		if string(e.Data) == "[DONE]" {
			return nil
		}
		return registry.Say(registry.CodeProvider, said.AnswerUnreadable, "service", "OpenAI")
	}
	switch event.Type {
	case "response.output_text.delta":
		s.text.WriteString(event.Delta)
		s.said(s.text.String())
	case "response.output_item.done":
		s.items = append(s.items, event.Item)
	case "response.completed", "response.incomplete", "response.failed":
		if event.Response != nil {
			s.response, s.ended = *event.Response, true
			if len(s.items) > 0 {
				s.response.Output = s.items
			}
		}
	case "error":
		return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "OpenAI broke an answer off", Cause: errors.New(event.Message)}
	}
	return nil
}

// items writes a turn: as it came, where this model wrote it, since reasoning must stand beside what followed it.
func (c *Client) items(turn agent.Turn, names agent.Names) (list []any) {
	if turn.By == agent.Asked && turn.Native != nil && turn.Model == c.model {
		var native []json.RawMessage
		if json.Unmarshal(turn.Native, &native) == nil {
			for _, item := range native {
				list = append(list, item)
			}
			return list
		}
	}
	switch {
	case turn.By == agent.Person:
		list = append(list, message{"user", shown(turn)})
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
func (c *Client) check(s stream) error {
	got := s.response
	switch {
	case !s.ended:
		return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "OpenAI's answer was cut off"}
	case got.Status == "completed":
		return nil
	case got.Status == "incomplete" && got.Incomplete.Reason == "max_output_tokens":
		return registry.Errorf(registry.CodeProvider, "the model's answer is longer than %d tokens", c.tokens)
	case got.Status == "incomplete":
		return refused()
	case got.Status == "failed":
		return registry.Say(registry.CodeProvider, said.ServiceFailedWhy, "service", "OpenAI", "words", fmt.Sprintf("%.200s", got.Error.Message))
	}
	return registry.Errorf(registry.CodeProvider, "OpenAI gave an answer of a status that is not known here: %.40q", got.Status)
}

func (c *Client) read(got response, names agent.Names) (agent.Turn, error) {
	turn := agent.Turn{By: agent.Asked, Model: c.model, Usage: got.Usage.counted()}
	var texts []string
	for _, raw := range got.Output {
		var one item
		if err := json.Unmarshal(raw, &one); err != nil {
			return turn, registry.Say(registry.CodeProvider, said.AnswerUnreadable, "service", "OpenAI")
		}
		if one.Type == "function_call" {
			turn.Calls = append(turn.Calls, agent.Call{ID: one.CallID, Tool: names.Tool(one.Name), Arguments: one.Arguments})
		}
		for _, part := range one.Content {
			switch part.Type {
			case "output_text":
				texts = append(texts, part.Text)
			case "refusal":
				return turn, refused()
			}
		}
	}
	native, err := json.Marshal(got.Output)
	turn.Native, turn.Text = native, strings.Join(texts, "\n")
	return turn, err
}

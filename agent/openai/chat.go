package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

type chatRequest struct {
	Model     string        `json:"model"`
	Messages  []chatMessage `json:"messages"`
	Tools     []chatTool    `json:"tools,omitempty"`
	MaxTokens int           `json:"max_tokens"`
	Stream    bool          `json:"stream"`
	Options   chatOptions   `json:"stream_options"`
}

type chatOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // text, or parts
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatDescribe `json:"function"`
}

type chatDescribe struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// complete asks by chat completions. Servers differ in what they send, and what can be understood is: see chatStream.
func (c *Client) complete(ctx context.Context, talk agent.Conversation) (agent.Turn, error) {
	names := agent.NewNames(talk.Tools)
	body := chatRequest{Model: c.model, MaxTokens: c.tokens, Stream: true, Options: chatOptions{true}}
	if talk.System != "" {
		body.Messages = append(body.Messages, chatMessage{Role: "system", Content: talk.System})
	}
	for _, t := range talk.Tools {
		body.Tools = append(body.Tools, chatTool{"function", chatDescribe{names.Alias(t.Name), t.Description, t.Input}})
	}
	for _, turn := range talk.Turns {
		body.Messages = append(body.Messages, chatMessages(turn, names)...)
	}
	s := chatStream{said: talk.Saying, round: len(talk.Turns)}
	res, err := c.api.Do(ctx, upstream.Request{Method: http.MethodPost, Path: "/chat/completions", JSON: body, Repeatable: true, Events: s.take})
	if err == nil && res.Body != nil { // a server that does not stream
		err = s.take(upstream.Event{Data: res.Body})
	}
	turn := s.turn(names)
	turn.Model = c.model
	if err != nil {
		return agent.Turn{Usage: turn.Usage}, err
	}
	return turn, s.check(c.tokens)
}

func chatMessages(turn agent.Turn, names agent.Names) []chatMessage {
	switch turn.By {
	case agent.Asked:
		m := chatMessage{Role: "assistant", Content: turn.Text}
		for _, call := range turn.Calls {
			m.ToolCalls = append(m.ToolCalls, chatCall{call.ID, "function", chatFunction{names.Alias(call.Tool), arguments(call)}})
		}
		return []chatMessage{m}
	case agent.Tools:
		var list []chatMessage
		for _, r := range turn.Results {
			list = append(list, chatMessage{Role: "tool", Content: r.Text, ToolCallID: r.CallID})
		}
		return list
	}
	return []chatMessage{{Role: "user", Content: chatShown(turn)}}
}

type chatPart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *chatLink `json:"image_url,omitempty"`
}

type chatLink struct {
	URL string `json:"url"`
}

// chatShown is shown for chat completions.
func chatShown(turn agent.Turn) any {
	if len(turn.Pictures) == 0 {
		return turn.Text
	}
	var parts []chatPart
	for _, p := range turn.Pictures {
		parts = append(parts, chatPart{Type: "image_url", ImageURL: &chatLink{p.DataURL()}})
	}
	return append(parts, chatPart{Type: "text", Text: turn.Text})
}

// arguments are those of a call, or none where they are no JSON: some servers refuse what their own model wrote.
func arguments(call agent.Call) string {
	if !json.Valid([]byte(call.Arguments)) {
		return "{}"
	}
	return call.Arguments
}

// chatStream puts an answer together. Of what servers have been seen to do it takes: places of calls that are missing
// or negative, ids that are empty, arguments that are an object, a finish_reason of stop beside calls, content that is
// null, whole arguments repeated in the last piece, no [DONE], usage in a piece without choices, and a whole answer in
// place of a stream.
type chatStream struct {
	round  int // makes ids that a server leaves out unique
	said   func(text string)
	text   strings.Builder
	calls  []*chatGrown
	usage  usage
	reason string
	done   bool
}

type chatGrown struct {
	index    int
	id, name string
	input    strings.Builder
}

type chatPiece struct {
	Choices []struct {
		Delta   *chatDelta `json:"delta"`
		Message *chatDelta `json:"message"`
		Reason  string     `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`
	Calls   []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (s *chatStream) take(e upstream.Event) error {
	if string(bytes.TrimSpace(e.Data)) == "[DONE]" {
		s.done = true
		return nil
	}
	var p chatPiece
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return registry.Say(registry.CodeProvider, said.AnswerUnreadable, "service", "the model's server")
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: fmt.Sprintf("the model's server broke an answer off: %.200s", p.Error)}
	}
	if p.Usage != nil {
		s.usage.Input, s.usage.Output, s.usage.Details.Cached = p.Usage.Prompt, p.Usage.Completion, p.Usage.Details.Cached
	}
	for _, choice := range p.Choices[:min(len(p.Choices), 1)] {
		delta := choice.Delta
		if delta == nil {
			delta = choice.Message
		}
		if delta != nil {
			s.grow(*delta)
		}
		s.reason = cmp.Or(choice.Reason, s.reason)
	}
	return nil
}

func (s *chatStream) grow(d chatDelta) {
	if d.Content != nil && *d.Content != "" {
		s.text.WriteString(*d.Content)
		s.said(s.text.String())
	}
	if d.Refusal != nil && *d.Refusal != "" {
		s.reason = "content_filter"
	}
	for place, piece := range d.Calls {
		index := place
		if piece.Index != nil && *piece.Index >= 0 {
			index = *piece.Index
		}
		call := s.call(index, piece.ID)
		call.name = cmp.Or(call.name, piece.Function.Name)
		call.add(piece.Function.Arguments)
	}
}

// call is the one of a place; another id at the same place is another call.
func (s *chatStream) call(index int, id string) *chatGrown {
	for _, c := range s.calls {
		if c.index == index && (id == "" || c.id == "" || c.id == id) {
			c.id = cmp.Or(c.id, id)
			return c
		}
		if id != "" && c.id == id {
			return c
		}
	}
	c := &chatGrown{index: index, id: id}
	s.calls = append(s.calls, c)
	return c
}

// add takes a piece of arguments: text that goes on, an object, or all of them once more.
func (c *chatGrown) add(raw json.RawMessage) {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if whole := c.input.String(); len(whole) > 2 && text == whole && json.Valid([]byte(whole)) {
		return
	}
	c.input.WriteString(text)
}

func (s *chatStream) turn(names agent.Names) agent.Turn {
	turn := agent.Turn{By: agent.Asked, Text: s.text.String(), Usage: s.usage.counted()}
	for i, c := range s.calls {
		turn.Calls = append(turn.Calls, agent.Call{ID: cmp.Or(c.id, fmt.Sprintf("call_%d_%d", s.round, i)), Tool: names.Tool(c.name), Arguments: c.input.String()})
	}
	return turn
}

// check refuses answers that are not whole. A stream without [DONE] is whole when it says why it ended.
func (s *chatStream) check(most int) error {
	switch s.reason {
	case "length":
		return registry.Errorf(registry.CodeProvider, "the model's answer is longer than %d tokens, or than its server's context", most)
	case "content_filter":
		return refused()
	case "":
		if !s.done {
			return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "the answer of the model's server was cut off"}
		}
	}
	return nil
}

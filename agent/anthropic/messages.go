package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    []text    `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
	Stream    bool      `json:"stream"`
}

// text is a block of text. What stands up to a mark for the cache is read from there the next time: the tools and
// the system text, which stand before it, are the same in each round.
type text struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Cache *cache `json:"cache_control,omitempty"`
}

type cache struct {
	Type string `json:"type"`
}

var kept = &cache{"ephemeral"}

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
	Cache     *cache `json:"cache_control,omitempty"`
}

type picture struct {
	Type   string `json:"type"`
	Source source `json:"source"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // in base64
}

type answer struct {
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      usage           `json:"usage"`
}

type usage struct {
	Input      *int64 `json:"input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

// over takes the members that a later count has, which are totals.
func (u usage) over(later usage) usage {
	return usage{cmp.Or(later.Input, u.Input), cmp.Or(later.CacheWrite, u.CacheWrite), cmp.Or(later.CacheRead, u.CacheRead), cmp.Or(later.Output, u.Output)}
}

func (u usage) counted() agent.Usage {
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	return agent.Usage{Input: value(u.Input), CacheRead: value(u.CacheRead), CacheWrite: value(u.CacheWrite), Output: value(u.Output)}
}

type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// shown writes a turn with pictures, which stand best before the text.
func shown(turn agent.Turn) []any {
	var blocks []any
	for _, p := range turn.Pictures {
		blocks = append(blocks, picture{"image", source{"base64", p.MIMEType, p.Content}})
	}
	return append(blocks, text{Type: "text", Text: turn.Text})
}

func plain(turn agent.Turn, names agent.Names) []map[string]any {
	var blocks []map[string]any
	if turn.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": turn.Text})
	}
	for _, call := range turn.Calls {
		input := json.RawMessage(call.Arguments)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": call.ID, "name": names.Alias(call.Tool), "input": input})
	}
	return blocks
}

func unreadable() *registry.Error {
	return registry.Say(registry.CodeProvider, said.AnswerUnreadable, "service", "Anthropic")
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
		return registry.Say(registry.CodeUnavailable, said.ServiceBusyWork, "service", "Anthropic").Again()
	case "invalid_request_error", "not_found_error", "request_too_large": // ours, or the account's: the asker can't mend it
		return registry.Errorf(registry.CodeProvider, "Anthropic did not take the request: %.200s", body.Error.Message)
	}
	return nil
}

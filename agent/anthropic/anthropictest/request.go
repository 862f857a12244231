package anthropictest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/agent"
)

// Key is the only key that is accepted, Model the only model there is.
const (
	Key   = "sk-ant-test-4711"
	Model = "claude-test"
)

// signed is the signature of what the model thought; only with it the API takes a thought back.
const signed = "c2lnbmVk"

// Request is a request's body; members that are not here are refused.
type Request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    []Block   `json:"system"`
	Messages  []Message `json:"messages"`
	Tools     []Tool    `json:"tools"`
	Stream    bool      `json:"stream"`
}

// Tool is a tool of a request.
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema map[string]any `json:"input_schema"`
}

// Message is a message of a request: its Content is text or blocks.
type Message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Block is a part of a message.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Source    *Source         `json:"source,omitempty"`
	Cache     *struct {
		Type string `json:"type"`
	} `json:"cache_control,omitempty"`
}

// Source is the picture of a block.
type Source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// shows reports whether a source is a picture of the type that it says.
func (s *Source) shows() bool {
	types := []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	return s != nil && s.Type == "base64" && slices.Contains(types, s.MediaType) && http.DetectContentType(s.Data) == s.MediaType
}

var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check reads a request as the API does, and gives the results that it ends with.
func check(r *http.Request) (request Request, heard []agent.Result, err error) {
	if v := r.Header.Get("Anthropic-Version"); v != "2023-06-01" {
		return request, nil, fmt.Errorf("anthropic-version: %q is not a valid version", v)
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return request, nil, fmt.Errorf("content-type: application/json is required")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, nil, err
	}
	if marks := marks(request); marks > 4 {
		return request, nil, fmt.Errorf("a maximum of 4 blocks with cache_control may be provided. Found %d", marks)
	}
	if request.Model != Model || request.MaxTokens < 1 {
		return request, nil, fmt.Errorf("model: %q, max_tokens: %d", request.Model, request.MaxTokens)
	}
	if err := checkTools(request.Tools); err != nil {
		return request, nil, err
	}
	heard, err = checkMessages(request.Messages)
	return request, heard, err
}

func checkTools(tools []Tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		switch {
		case !legalName.MatchString(t.Name):
			return fmt.Errorf("tools.%d.custom.name: String should match pattern '%s'", i, legalName)
		case seen[t.Name]:
			return fmt.Errorf("tools: Tool names must be unique")
		case t.InputSchema["type"] != "object":
			return fmt.Errorf("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		seen[t.Name] = true
	}
	return nil
}

// checkMessages pairs every tool_use with a tool_result at the beginning of the next message.
func checkMessages(messages []Message) (heard []agent.Result, err error) {
	if n := len(messages); n > 1 && messages[n-1].Role == "assistant" && strings.Contains(string(messages[n-1].Content), `"text"`) {
		messages = messages[:n-1] // of an answer that was paused, see Pause
	}
	if len(messages) == 0 || messages[0].Role != "user" || messages[len(messages)-1].Role != "user" {
		return nil, fmt.Errorf("messages: the first and the last must have the role user")
	}
	var open []string // tool_use ids of the message before
	for i, m := range messages {
		blocks, err := blocksOf(m)
		if err != nil {
			return nil, fmt.Errorf("messages.%d: %w", i, err)
		}
		var asked []string
		heard = nil
		for j, b := range blocks {
			switch {
			case b.Type == "text" && m.Role == "user" && b.Text != "" && len(open) == 0, b.Type == "text" && m.Role == "assistant" && b.Text != "":
			case b.Type == "image" && m.Role == "user" && len(open) == 0 && b.Source.shows():
			case b.Type == "thinking" && m.Role == "assistant":
				if b.Signature != signed {
					return nil, fmt.Errorf("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
				}
			case b.Type == "tool_use" && m.Role == "assistant" && b.ID != "" && legalName.MatchString(b.Name) && strings.HasPrefix(strings.TrimSpace(string(b.Input)), "{"):
				asked = append(asked, b.ID)
			case b.Type == "tool_result" && m.Role == "user":
				at := slices.Index(open, b.ToolUseID)
				if at < 0 {
					return nil, fmt.Errorf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, j, b.ToolUseID)
				}
				open = slices.Delete(open, at, at+1)
				heard = append(heard, agent.Result{CallID: b.ToolUseID, Text: b.Content, Failed: b.IsError})
			default:
				return nil, fmt.Errorf("messages.%d.content.%d: a block %q does not belong here, or lacks a member", i, j, b.Type)
			}
		}
		if len(open) > 0 {
			return nil, fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, strings.Join(open, ", "))
		}
		open = asked
	}
	return heard, nil
}

func blocksOf(m Message) (blocks []Block, err error) {
	if m.Role != "user" && m.Role != "assistant" {
		return nil, fmt.Errorf("role: Input should be 'user' or 'assistant'")
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		blocks = []Block{{Type: "text", Text: text}}
	} else if err := json.Unmarshal(m.Content, &blocks); err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("all messages must have non-empty content")
	}
	return blocks, nil
}

// marks counts the marks for the cache in a request.
func marks(r Request) int {
	found := 0
	count := func(blocks []Block) {
		for _, b := range blocks {
			if b.Cache != nil {
				found++
			}
		}
	}
	count(r.System)
	for _, m := range r.Messages {
		blocks, err := blocksOf(m)
		if err == nil {
			count(blocks)
		}
	}
	return found
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	write(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": "req_test"})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

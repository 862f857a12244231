package openaitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/agent"
)

// ChatServer is a server of chat completions without keys, as people run at home. It knows no Responses API.
type ChatServer struct {
	*httptest.Server
	script Script
	habits Habits

	mu       sync.Mutex
	requests []ChatRequest
	calls    int
}

// Habits are those in which such servers differ.
type Habits struct {
	NoIndex, NoID, Objects, Repeats bool // of calls: without places, without ids, arguments as an object, all of them once more
	NoDone, NoStream                bool // the stream has no [DONE]; whole answers
	Cut, Fails                      bool // the stream ends anywhere; it ends with an error
}

// ChatRequest is a request's body; members that are not here are refused.
type ChatRequest struct {
	Model    string        `json:"model"`
	Messages []ChatMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	MaxTokens int  `json:"max_tokens"`
	Stream    bool `json:"stream"`
	Options   struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// ChatMessage is a message of a request.
type ChatMessage struct {
	Role      string `json:"role"`
	Content   any    `json:"content"` // text, or parts of a person's message
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// NewChat starts a server that ends with the test.
func NewChat(t testing.TB, habits Habits, script Script) *ChatServer {
	s := &ChatServer{script: script, habits: habits}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.Server = httptest.NewServer(mux) // any other address: 404 page not found
	t.Cleanup(s.Close)
	return s
}

// BaseURL is the address of the API with its version.
func (s *ChatServer) BaseURL() string { return s.URL + "/v1" }

// Requests are those that were accepted.
func (s *ChatServer) Requests() []ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ChatRequest{}, s.requests...)
}

func (s *ChatServer) complete(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var request ChatRequest
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&request)
	var heard []agent.Result
	if err == nil {
		heard, err = checkChat(request)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
		return
	}
	s.requests = append(s.requests, request)
	turn := s.script(heard)
	if s.habits.NoStream {
		write(w, http.StatusOK, map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": turn.Text, "tool_calls": s.wholeCalls(turn)}, "finish_reason": "stop"}}, "usage": chatUsage})
		return
	}
	s.stream(w, turn)
}

var chatUsage = map[string]any{"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45}

func (s *ChatServer) wholeCalls(turn agent.Turn) []any {
	var list []any
	for i, call := range turn.Calls {
		s.calls++
		one := map[string]any{"index": i, "id": fmt.Sprintf("call_%04d", s.calls), "type": "function", "function": map[string]any{"name": call.Tool, "arguments": call.Arguments}}
		if s.habits.NoIndex {
			one["index"] = -1
		}
		if s.habits.NoID {
			one["id"] = ""
		}
		if s.habits.Objects {
			one["function"] = map[string]any{"name": call.Tool, "arguments": json.RawMessage(call.Arguments)}
		}
		list = append(list, one)
	}
	return list
}

func (s *ChatServer) stream(w http.ResponseWriter, turn agent.Turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, reason any) {
		data, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}})
		if err != nil {
			panic(err) // a mistake of the test
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	send(map[string]any{"role": "assistant", "content": nil}, nil)
	for word := range strings.SplitAfterSeq(turn.Text, " ") {
		send(map[string]any{"content": word}, nil)
	}
	if s.habits.Cut {
		return
	}
	if s.habits.Fails {
		fmt.Fprint(w, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n")
		return
	}
	if calls := s.wholeCalls(turn); calls != nil {
		send(map[string]any{"tool_calls": calls}, nil)
		if s.habits.Repeats {
			send(map[string]any{"tool_calls": calls}, nil)
		}
	}
	send(map[string]any{}, "stop") // also where there are calls
	usage, err := json.Marshal(map[string]any{"choices": []any{}, "usage": chatUsage})
	if err != nil {
		panic(err) // a mistake of the test
	}
	fmt.Fprintf(w, "data: %s\n\n", usage)
	if !s.habits.NoDone {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// checkChat pairs every call with the message of a tool that answers it.
func checkChat(r ChatRequest) (heard []agent.Result, err error) {
	if r.Model != Model || r.MaxTokens < 1 || len(r.Messages) == 0 {
		return nil, fmt.Errorf("model %q, max_tokens %d, %d messages", r.Model, r.MaxTokens, len(r.Messages))
	}
	for _, t := range r.Tools {
		if t.Type != "function" || !legalName.MatchString(t.Function.Name) || t.Function.Parameters["type"] != "object" {
			return nil, fmt.Errorf("tools: %+v", t)
		}
	}
	open := map[string]bool{}
	for i, m := range r.Messages {
		switch {
		case m.Role == "tool" && open[m.ToolCallID]:
			delete(open, m.ToolCallID)
			text, _ := m.Content.(string)
			heard = append(heard, agent.Result{CallID: m.ToolCallID, Text: text})
			continue
		case len(open) > 0:
			return nil, errors.New("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'")
		case m.Role == "system" && i == 0, m.Role == "user" && said(m.Content, "text", "image_url"), m.Role == "assistant":
		default:
			return nil, fmt.Errorf("messages[%d]: a message of %q does not belong here", i, m.Role)
		}
		heard = nil
		for _, call := range m.ToolCalls {
			if call.ID == "" || call.Type != "function" || !json.Valid([]byte(call.Function.Arguments)) {
				return nil, fmt.Errorf("messages[%d].tool_calls: %+v", i, call)
			}
			open[call.ID] = true
		}
	}
	if len(open) > 0 {
		return nil, errors.New("tool calls without answers")
	}
	return heard, nil
}

// Package anthropictest is Anthropic's Messages API for tests: it refuses what the real one refuses of requests with tools, and answers by
// a script.
package anthropictest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/agent"
)

// Script gives the model's next turn by what the tools said since its last one; nil at the beginning. Tools of calls go by the names that
// the request has for them.
type Script func(heard []agent.Result) agent.Turn

// Server is the API.
type Server struct {
	*httptest.Server
	script Script

	mu       sync.Mutex
	requests []Request
	faults   []http.HandlerFunc
	calls    int
}

// New starts a server that ends with the test.
func New(t testing.TB, script Script) *Server {
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unknown address: %s %s", r.Method, r.URL)
		refuse(w, http.StatusNotFound, "not_found_error", "Not found")
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Fail lets the next requests end in these ways.
func (s *Server) Fail(faults ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests are those that were accepted.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Refuse answers with an error of the API.
func Refuse(status int, kind, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { refuse(w, status, kind, message) }
}

// StopAs answers with no content and a stop_reason.
func StopAs(reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { stream(w, []Block{}, reason) }
}

// Pause answers with a text and the stop_reason of an answer that goes on when it is sent back.
func Pause(said string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		stream(w, []Block{{Type: "text", Text: said}}, "pause_turn")
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		fault := s.faults[0]
		s.faults = s.faults[1:]
		fault(w, r)
		return
	}
	if r.Header.Get("X-Api-Key") != Key {
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
		return
	}
	request, heard, err := check(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s.requests = append(s.requests, request)
	blocks, reason := s.blocks(s.script(heard))
	if request.Stream {
		stream(w, blocks, reason)
		return
	}
	write(w, http.StatusOK, message(blocks, reason))
}

// blocks writes a turn.
func (s *Server) blocks(turn agent.Turn) (blocks []Block, reason string) {
	blocks, reason = []Block{}, "end_turn"
	if len(turn.Calls) > 0 {
		blocks = append(blocks, Block{Type: "thinking", Thinking: "which tool?", Signature: signed})
	}
	if turn.Text != "" {
		blocks = append(blocks, Block{Type: "text", Text: turn.Text})
	}
	for _, call := range turn.Calls {
		reason = "tool_use"
		s.calls++
		blocks = append(blocks, Block{Type: "tool_use", ID: fmt.Sprintf("toolu_%04d", s.calls), Name: call.Tool, Input: json.RawMessage(call.Arguments)})
	}
	return blocks, reason
}

func message(blocks []Block, reason string) map[string]any {
	return map[string]any{
		"id": "msg_test", "type": "message", "role": "assistant", "model": Model, "content": blocks, "stop_reason": reason, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
	}
}

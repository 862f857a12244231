// Package openaitest is OpenAI's Responses API for tests: it refuses what the real one refuses of requests with functions, and answers by a
// script.
package openaitest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/agent"
)

// Key is the only key that is accepted, Model the only model there is.
const (
	Key   = "sk-test-0815"
	Model = "gpt-test"
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
	mux.HandleFunc("POST /v1/responses", s.responses)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unknown address: %s %s", r.Method, r.URL)
		refuse(w, http.StatusNotFound, "invalid_request_error", "", "Invalid URL")
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// BaseURL is the address of the API with its version.
func (s *Server) BaseURL() string { return s.URL + "/v1" }

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

// Request is a request's body; members that are not here are refused.
type Request struct {
	Model        string   `json:"model"`
	Instructions string   `json:"instructions"`
	Input        []Item   `json:"input"`
	Tools        []Tool   `json:"tools"`
	MaxTokens    int      `json:"max_output_tokens"`
	Store        *bool    `json:"store"`
	Stream       bool     `json:"stream"`
	Include      []string `json:"include"`
}

// Tool is a function of a request.
type Tool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
	Strict      *bool          `json:"strict"` // missing: true
}

// Item is a part of the conversation; one without a type is a message.
type Item struct {
	Type      string `json:"type"`
	Role      string `json:"role"`
	Content   any    `json:"content"` // text, or parts of an answer that comes back
	ID        string `json:"id"`
	Status    string `json:"status"`
	Summary   []any  `json:"summary"`
	Encrypted string `json:"encrypted_content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Output    string `json:"output"`
}

// Refuse answers with an error of the API.
func Refuse(status int, kind, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { refuse(w, status, kind, code, message) }
}

// Incomplete answers with a response that ended early.
func Incomplete(reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		body := response(nil)
		body["status"], body["incomplete_details"] = "incomplete", map[string]string{"reason": reason}
		stream(w, body, nil, "response.incomplete")
	}
}

func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		fault := s.faults[0]
		s.faults = s.faults[1:]
		fault(w, r)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+Key {
		refuse(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
		return
	}
	request, heard, err := check(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
		return
	}
	s.requests = append(s.requests, request)
	output := s.output(s.script(heard))
	if request.Stream {
		stream(w, response(output), output, "response.completed")
		return
	}
	write(w, http.StatusOK, response(output))
}

// output writes a turn, after some reasoning as newer models do.
func (s *Server) output(turn agent.Turn) []any {
	list := []any{map[string]any{"type": "reasoning", "id": fmt.Sprintf("rs_%04d", len(s.requests)), "summary": []any{}, "encrypted_content": sealed}}
	if turn.Text != "" {
		list = append(list, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_%04d", len(s.requests)), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": turn.Text, "annotations": []any{}}},
		})
	}
	for _, call := range turn.Calls {
		s.calls++
		list = append(list, map[string]any{
			"type": "function_call", "id": fmt.Sprintf("fc_%04d", s.calls), "call_id": fmt.Sprintf("call_%04d", s.calls), "name": call.Tool,
			"arguments": call.Arguments, "status": "completed",
		})
	}
	return list
}

func response(output []any) map[string]any {
	return map[string]any{
		"id": "resp_test", "object": "response", "created_at": 1, "model": Model, "status": "completed", "error": nil, "incomplete_details": nil, "output": output,
		"usage": map[string]any{"input_tokens": 120, "output_tokens": 9, "total_tokens": 129, "input_tokens_details": map[string]int{"cached_tokens": 100}},
	}
}

// sealed is what the model thought, as it comes and must go back.
const sealed = "c2VhbGVk"

var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check reads a request as the API does, and gives the results that it ends with.
func check(r *http.Request) (request Request, heard []agent.Result, err error) {
	if r.Header.Get("Content-Type") != "application/json" {
		return request, nil, errors.New("content-Type must be application/json")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, nil, err
	}
	if request.Model != Model || request.MaxTokens < 16 || len(request.Input) == 0 {
		return request, nil, fmt.Errorf("model %q, max_output_tokens %d, %d items", request.Model, request.MaxTokens, len(request.Input))
	}
	if err := checkTools(request.Tools); err != nil {
		return request, nil, err
	}
	heard, err = checkInput(request.Input)
	return request, heard, err
}

func checkTools(tools []Tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		switch {
		case t.Type != "function":
			return fmt.Errorf("invalid value: '%s'. tools[%d].type", t.Type, i)
		case !legalName.MatchString(t.Name):
			return fmt.Errorf("invalid 'tools[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", i)
		case seen[t.Name]:
			return fmt.Errorf("tool names must be unique: %s", t.Name)
		case t.Parameters["type"] != "object":
			return fmt.Errorf("invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'", t.Name)
		case (t.Strict == nil || *t.Strict) && t.Parameters["additionalProperties"] != false:
			return fmt.Errorf("invalid schema for function '%s': In context=(), 'additionalProperties' is required to be supplied and to be false", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// checkInput pairs every function_call with one function_call_output.
func checkInput(items []Item) (heard []agent.Result, err error) {
	calls, answered := map[string]bool{}, map[string]bool{}
	for i, item := range items {
		switch {
		case (item.Type == "" || item.Type == "message") && slices.Contains([]string{"user", "assistant", "system", "developer"}, item.Role) && said(item.Content, "input_text", "input_image"):
			heard = nil
		case item.Type == "reasoning" && item.Encrypted == sealed && i+1 < len(items) && items[i+1].Type != "function_call_output":
			heard = nil
		case item.Type == "function_call" && item.CallID != "" && legalName.MatchString(item.Name) && !calls[item.CallID]:
			calls[item.CallID], heard = true, nil
		case item.Type == "function_call_output" && !calls[item.CallID]:
			return nil, fmt.Errorf("no tool call found for function call output with call_id %s", item.CallID)
		case item.Type == "function_call_output" && !answered[item.CallID]:
			answered[item.CallID] = true
			heard = append(heard, agent.Result{CallID: item.CallID, Text: item.Output})
		default:
			return nil, fmt.Errorf("input[%d]: an item %q does not belong here, or lacks a member", i, item.Type)
		}
	}
	for id := range calls {
		if !answered[id] {
			return nil, fmt.Errorf("no tool output found for function call %s", id)
		}
	}
	return heard, nil
}

// said reports whether the content of a message is a text, or parts that are texts and whole pictures, of the types that an API has for them.
func said(content any, text, image string) bool {
	parts, are := content.([]any)
	if !are {
		return content != nil && content != ""
	}
	for _, p := range parts {
		part, _ := p.(map[string]any)
		switch part["type"] {
		case image:
			if !isPicture(addressIn(part, image)) {
				return false
			}
		case text, "output_text": // the latter of an answer that comes back
		default:
			return false
		}
	}
	return len(parts) > 0
}

// addressIn is the address of a picture: a text, in chat completions within an object.
func addressIn(part map[string]any, kind string) string {
	if kind == "image_url" {
		within, _ := part["image_url"].(map[string]any)
		address, _ := within["url"].(string)
		return address
	}
	address, _ := part["image_url"].(string)
	return address
}

// isPicture reports whether an address has a picture of the type that it says.
func isPicture(address string) bool {
	kind, data, _ := strings.Cut(strings.TrimPrefix(address, "data:"), ";base64,")
	content, err := base64.StdEncoding.DecodeString(data)
	return err == nil && strings.HasPrefix(kind, "image/") && http.DetectContentType(content) == kind
}

func refuse(w http.ResponseWriter, status int, kind, code, message string) {
	write(w, status, map[string]any{"error": map[string]any{"type": kind, "code": code, "message": message, "param": nil}})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

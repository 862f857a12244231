package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// way is one way to make the call.
type way struct {
	name string
	call func(context.Context) error
}

// answer is what the service says to everything.
const answer = `{"state": "done", "text": "A red bicycle leans against a wall in the evening sun.", "credits": 2}`

// question is what it is asked.
var question = map[string]any{"prompt": "a red bicycle", "size": 512}

// service answers at once.
type service struct {
	address string
	server  *http.Server
	client  http.Client // the bare one
	ended   chan error
}

func startService() (*service, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{address: "http://" + listener.Addr().String(), ended: make(chan error, 1)}
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})}
	go func() { s.ended <- s.server.Serve(listener) }()
	return s, nil
}

func (s *service) stop() {
	_ = s.server.Close()
	<-s.ended
}

// ways are the ways to ask the service; the bare one is the first.
func (s *service) ways(ctx context.Context, dir string) ([]way, error) {
	client, err := upstream.New(upstream.Config{Name: "the service", BaseURL: s.address, PerSecond: 1e9, Burst: 1000})
	if err != nil {
		return nil, err
	}
	asked := func(ctx context.Context) error {
		var got map[string]any
		return client.Post(ctx, "say", question, &got)
	}
	tool, err := s.tool(ctx, dir)
	if err != nil {
		return nil, err
	}
	return []way{{"a bare client", s.bare}, {"internal/upstream", asked}, {"providers/httptools", tool}}, nil
}

// bare asks by net/http and encoding/json alone.
func (s *service) bare(ctx context.Context) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/say", bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var got map[string]any
	return json.NewDecoder(res.Body).Decode(&got)
}

const file = `
tool:
  toolId: say
  displayName: Say
  inputSchema:
    prompt: {type: string, required: true}
    size: {type: number}
  outputSchema:
    text: {type: text}
  costingModel: {rate: 0.01, unit: request, rateSource: api}
  webhookStrategy: {expectedStatusField: state, successValue: done, resultPath: [text], costPath: [credits]}
http:
  baseURL: %s
  submit: {path: /say, body: {prompt: "{{prompt}}", size: "{{size}}"}}
`

// tool asks by a tool that a file describes, as runs does: through the guard against inner addresses.
func (s *service) tool(ctx context.Context, dir string) (func(context.Context) error, error) {
	if err := os.WriteFile(filepath.Join(dir, "say.tool.yaml"), fmt.Appendf(nil, file, s.address), 0o600); err != nil {
		return nil, err
	}
	tools := httptools.New(httptools.Config{Dir: dir, Store: &registrytest.Specs{}, Guard: outbound.NewClient([]string{"127.0.0.1"})})
	loaded, err := tools.Load(ctx)
	if err != nil {
		return nil, err
	}
	call := registry.Call{RunID: "run", Handle: "run", Tool: loaded[0], Inputs: map[string]any{"prompt": "a red bicycle", "size": json.Number("512")}}
	calls := tools.Calls()
	return func(ctx context.Context) error {
		result, err := calls.Call(ctx, call)
		if err == nil && len(result.Outputs) != 1 {
			return errors.New("the tool gave no text")
		}
		return err
	}, nil
}

// Package openai asks models of OpenAI by the Responses API, and models of servers that are compatible with OpenAI (Ollama,
// vLLM, llama.cpp) by chat completions.
//
// Nothing is kept at the service (store is false): each request carries the whole conversation, the model's reasoning
// between calls included, which comes encrypted.
package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Provider names the service in contexts of calls.
const Provider = "openai"

const (
	defaultTokens = 16384           // reasoning counts, too
	timeout       = 5 * time.Minute // of one answer
)

// Config is the account and the model; BaseURL and Model are required.
type Config struct {
	Key       string // empty for servers that want none: they are asked by chat completions
	BaseURL   string // with its version: https://api.openai.com/v1
	Model     string
	MaxTokens int // of one answer; zero: 16384
}

// Client is an agent.Model.
type Client struct {
	api    *upstream.Client
	model  string
	tokens int
	// compatible says that the server knows chat completions only: it has no key, or it has said so.
	compatible atomic.Bool
}

var _ agent.Model = (*Client)(nil)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	api, err := upstream.New(upstream.Config{
		Name: "OpenAI", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, Timeout: timeout, Failure: failure,
		Authorize: func(r *http.Request) {
			if cfg.Key != "" {
				r.Header.Set("Authorization", "Bearer "+cfg.Key)
			}
		},
	})
	c := &Client{api: api, model: cfg.Model, tokens: cmp.Or(cfg.MaxTokens, defaultTokens)}
	c.compatible.Store(cfg.Key == "")
	return c, err
}

// usage counts what was read from the cache as a part of the input.
type usage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Details struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

func (u usage) counted() agent.Usage {
	return agent.Usage{Input: max(0, u.Input-u.Details.Cached-u.Details.Written), CacheRead: u.Details.Cached, CacheWrite: u.Details.Written, Output: u.Output}
}

func refused() *registry.Error {
	return registry.Errorf(registry.CodeRefused, "the model does not answer this")
}

// errNoResponses is the cause of a failure of servers that don't know the Responses API.
var errNoResponses = errors.New("no such address")

// failure reads the API's own words where the status says too little.
func failure(res upstream.Response) *registry.Error {
	var body struct {
		Error *struct {
			Code          any
			Type, Message string
		} `json:"error"`
	}
	unreadable := json.Unmarshal(res.Body, &body) != nil || body.Error == nil
	switch {
	case unreadable && (res.Status == http.StatusNotFound || res.Status == http.StatusMethodNotAllowed):
		return &registry.Error{Code: registry.CodeProvider, Message: "the model's server does not know the address", Cause: errNoResponses}
	case unreadable:
		return nil
	case body.Error.Code == "insufficient_quota":
		return registry.Say(registry.CodeUnavailable, said.ServiceNoMoney, "service", "OpenAI")
	case body.Error.Type == "invalid_request_error" && res.Status != http.StatusUnauthorized: // ours, or the account's: the asker can't mend it
		return registry.Errorf(registry.CodeProvider, "OpenAI did not take the request: %.200s", body.Error.Message)
	}
	return nil
}

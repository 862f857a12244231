// Package webtools reaches the world outside for models and people: searchWeb asks a search service, fetchContent gives the readable
// text of pages and PDF files, httpGet and httpPost make one request.
//
// Addresses come from anybody, so all go through the guard of internal/outbound. All that comes back is somebody else's words: it is
// marked as untrusted, and nothing in it is ever followed.
package webtools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

var (
	_ registry.Loader    = (*Provider)(nil)
	_ registry.Caller    = (*Provider)(nil)
	_ registry.Previewer = (*Provider)(nil)
)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	search, err := newSearcher(cfg)
	if err != nil {
		return nil, err
	}
	return &Provider{cfg, search, clock.NewRecent[string, rules](cfg.Clock, time.Hour)}, nil
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load gives the tools.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	list := tools()
	if p.search == nil {
		list[0].Status = noSearch()
	}
	return list, ctx.Err()
}

// Call carries out a tool. Its result is one text: a JSON object.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	if err := ctx.Err(); err != nil {
		return registry.Result{}, err
	}
	do := map[string]func(context.Context, map[string]any) (any, error){
		SearchToolID: p.searchWeb, FetchToolID: p.fetchContent, GetToolID: p.httpGet, PostToolID: p.httpPost,
	}[c.Tool.ToolID]
	if do == nil {
		return registry.Result{}, registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", c.Tool.DisplayName)
	}
	answer, err := do(ctx, c.Inputs)
	if err != nil {
		return registry.Result{}, err
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		return registry.Result{}, fmt.Errorf("%s: %w", c.Tool.ToolID, err)
	}
	return registry.Result{Outputs: []registry.Output{{Name: resultName, Type: "text", Text: string(encoded)}}}, nil
}

// Preview tells that httpPost without confirmed only shows what it would send.
func (p *Provider) Preview(_ context.Context, c registry.Call) (registry.Preview, error) {
	if c.Tool.ToolID != PostToolID || c.Inputs["confirmed"] != true {
		return registry.Preview{Capability: registry.CapabilityRead}, nil
	}
	r, err := newPost(c.Inputs)
	if err != nil {
		return registry.Preview{}, err
	}
	return registry.Preview{Capability: registry.CapabilityWrite, Message: r.question().String(), Said: r.question()}, nil
}

package fal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/fal/faltest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func provider(t *testing.T, server *faltest.Server, client *http.Client, models ...string) *fal.Provider {
	t.Helper()
	p, err := fal.New(fal.Config{
		Key: faltest.Key, QueueURL: server.QueueURL(), DocsURL: server.DocsURL(), RestURL: server.RestURL(), Models: models, USDPerSecond: "0.001",
		HTTP: client, Guard: outbound.NewClient([]string{"127.0.0.1"}),
		MediaURL: func(context.Context, registry.Media) (string, error) { return "https://bot.example/files/large", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func house(t *testing.T) (*fal.Provider, *faltest.Server) {
	t.Helper()
	server := faltest.New(t)
	return provider(t, server, nil, faltest.Model), server
}

type files struct{}

func (files) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	size := map[string]int{"asset:small": 10, "asset:large": 4<<20 + 1}[ref]
	return io.NopCloser(bytes.NewReader(make([]byte, size))), registry.MediaInfo{MIMEType: "image/png"}, nil
}

func call(t *testing.T, p *fal.Provider, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := p.Load(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	c := registry.Call{RunID: "run", Handle: "handle", Tool: tools[0], Inputs: map[string]any{}, Media: files{}, CallbackURL: "https://bot.example/webhooks/fal/1?token=a&b=c"}
	for _, f := range tools[0].InputSchema {
		if f.Default != nil {
			c.Inputs[f.Name] = f.Default
		}
	}
	maps.Copy(c.Inputs, inputs)
	return c
}

func submit(t *testing.T, p *fal.Provider, inputs map[string]any) registry.Ticket {
	t.Helper()
	ticket, err := p.Submit(t.Context(), call(t, p, inputs))
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		server, line := faltest.New(t), registrytest.NewLine(t, nil)
		return registrytest.LoaderSetup{
			Loader: provider(t, server, line.Client(), faltest.Model), Break: func() { line.Next(registrytest.Unreachable) }, Mend: func() { line.Clear() },
		}
	})
	registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
		server, line := faltest.New(t), registrytest.NewLine(t, nil)
		p := provider(t, server, line.Client(), faltest.Model)
		return registrytest.SubmitterSetup{
			Submitter: p, Line: line, Secret: faltest.Key, Restart: func() registry.Submitter { return provider(t, server, line.Client(), faltest.Model) },
			Fail: func(ticket registry.Ticket) { server.Refuse(ticket.ProviderID) },
		}.Of(server, call(t, p, map[string]any{"prompt": "a cat"}))
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	t.Run("A1 A2 a model is a tool by its own schema, in its order", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		tool := call(t, p, nil).Tool
		want := registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Multiline: true, DisplayName: "Prompt"},
			{Name: "image_size", Type: registry.TypeString, DisplayName: "Image Size", Default: "square", Choices: []registry.Choice{{Value: "square"}, {Value: "landscape_4_3"}}},
			{Name: "image_urls", Type: registry.TypeImage, Multiple: true, DisplayName: "Image URLs"},
			{Name: "num_images", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "4", Default: json.Number("1"), DisplayName: "Num Images"},
			{Name: "loras", Type: registry.TypeString, DisplayName: "Loras", Default: []any{}, Schema: json.RawMessage(`{"type": ["object", "array"]}`)},
			{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true, Advanced: true, DisplayName: "Seed"},
		}
		if !reflect.DeepEqual(tool.InputSchema, want) {
			t.Errorf("got %+v\nwant %+v", tool.InputSchema, want)
		}
		if tool.ToolID != "fal.fal-ai.sketch.fast" || tool.CommandName != "/sketch_fast" || tool.Description != "Draws fast. Runs at fal.ai: fal-ai/sketch/fast." {
			t.Errorf("got %+v", tool)
		}
	})
	t.Run("A40 a model that is not there is told beside the others", func(t *testing.T) {
		t.Parallel()
		p := provider(t, faltest.New(t), nil, "fal-ai/none", "fal-ai/blank", faltest.Model)
		tools, err := p.Load(t.Context())
		var partial *registry.PartialError
		if !errors.As(err, &partial) || len(partial.Problems) != 2 || len(tools) != 1 {
			t.Errorf("got %d tools, %v", len(tools), err)
		}
	})
	t.Run("names of models", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]bool{"fal-ai/flux/dev": true, "workflows/ann/poster": true, "flux": false, "/flux": false, "a/../b": false, "a//b": false, "": false} {
			if fal.IsModel(name) != want {
				t.Errorf("%q: %v", name, !want)
			}
		}
	})
}

func TestRuns(t *testing.T) {
	t.Parallel()
	t.Run("A24 values as the schema has them, files in lists, the result with its size and the time of work", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, map[string]any{"prompt": "a cat", "image_urls": []any{"asset:small", "asset:large"}, "loras": []any{map[string]any{"path": "x"}}})
		made := server.Requests()[0]
		want := map[string]any{
			"prompt": "a cat", "image_size": "square", "num_images": 1.0, "loras": []any{map[string]any{"path": "x"}},
			"image_urls": []any{"data:image/png;base64,AAAAAAAAAAAAAA==", "https://bot.example/files/large"},
		}
		if !reflect.DeepEqual(made.Input, want) || made.Webhook != "https://bot.example/webhooks/fal/1?token=a&b=c" || ticket.Endpoint != "fal-ai/sketch" {
			t.Errorf("sent %+v, ticket %+v", made, ticket)
		}
		server.Finish(ticket.ProviderID)
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || got.Result == nil || len(got.Result.Outputs) != 1 || got.Result.Usage.RunTime != 2*time.Second {
			t.Fatalf("got %+v, %v", got, err)
		}
		if out := got.Result.Outputs[0]; out.Type != "image" || out.Info != (registry.MediaInfo{Name: "output", MIMEType: "image/jpeg", Width: 1024, Height: 768}) {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("a model that writes gives a text", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, map[string]any{"prompt": "a cat"})
		server.Change(ticket.ProviderID, func(r *faltest.Request) { r.Status, r.Result = "COMPLETED", map[string]any{"output": "a & b"} })
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || got.Result == nil || got.Result.Outputs[0].Text != `{"output":"a & b"}` {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("the place in the queue begins with one", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		submit(t, p, map[string]any{"prompt": "a"})
		if got, err := p.Poll(t.Context(), submit(t, p, map[string]any{"prompt": "b"})); err != nil || got.State != registry.RunQueued || got.QueuePosition != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a completed request that failed says why", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, map[string]any{"prompt": "a"})
		server.Refuse(ticket.ProviderID)
		if got, err := p.Poll(t.Context(), ticket); err != nil || got.State != registry.RunFailed || got.Err.Code != registry.CodeRefused {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a refused value is named", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		_, err := p.Submit(t.Context(), call(t, p, map[string]any{"prompt": "a", "num_images": json.Number("9")}))
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Message != `the model did not accept the value of "prompt"` {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, map[string]any{"prompt": "a"})
		if err := p.Cancel(t.Context(), ticket); err != nil || server.Requests()[0].Status != "COMPLETED" {
			t.Errorf("%v, %+v", err, server.Requests()[0])
		}
	})
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	body := []byte(`{"request_id":"r1","gateway_request_id":"r1","status":"OK","payload":null}`)
	p, server := house(t)
	request := func(at time.Time) registry.CallbackRequest {
		return registry.CallbackRequest{Method: "POST", Path: "/webhooks/fal/1", Header: server.Sign("r1", at, body), Body: body, At: now}
	}
	if got, err := p.VerifyCallback(t.Context(), request(now)); err != nil || got != (registry.Callback{ProviderID: "r1", EventID: "r1", State: registry.RunSucceeded}) {
		t.Errorf("got %+v, %v", got, err)
	}
	bad := []byte(`{"request_id":"r1","status":"ERROR","error":"x"}`)
	failed := registry.CallbackRequest{Header: server.Sign("r1", now, bad), Body: bad, At: now}
	if got, err := p.VerifyCallback(t.Context(), failed); err != nil || got.State != registry.RunFailed {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, change := range map[string]func(*registry.CallbackRequest){
		"another body":    func(r *registry.CallbackRequest) { r.Body = bad },
		"another request": func(r *registry.CallbackRequest) { r.Header.Set("X-Fal-Webhook-Request-Id", "r2") },
		"no signature":    func(r *registry.CallbackRequest) { r.Header = http.Header{} },
		"301 s late":      func(r *registry.CallbackRequest) { r.At = now.Add(301 * time.Second) },
		"301 s early":     func(r *registry.CallbackRequest) { r.At = now.Add(-301 * time.Second) },
		"another's key":   func(r *registry.CallbackRequest) { r.Header.Set("X-Fal-Webhook-Signature", "00ff") },
	} {
		r := request(now)
		change(&r)
		if got, err := p.VerifyCallback(t.Context(), r); err == nil {
			t.Errorf("%s: accepted: %+v", name, got)
		}
	}
}

// TestPrices asks the service what its model costs.
func TestPrices(t *testing.T) {
	t.Parallel()
	open := func(unit string, prices modelhub.Prices) (*fal.Provider, *faltest.Server, registry.Tool) {
		server := faltest.New(t)
		server.Unit = unit
		p, err := fal.New(fal.Config{
			Key: faltest.Key, QueueURL: server.QueueURL(), DocsURL: server.DocsURL(), RestURL: server.RestURL(), PricesURL: server.QueueURL(), Models: []string{faltest.Model},
			USDPerSecond: "0.001", Prices: prices, Guard: outbound.NewClient([]string{"127.0.0.1"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		tools, err := p.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p, server, tools[0]
	}
	t.Run("by the service's price and the units that it counts", func(t *testing.T) {
		p, server, tool := open("images", modelhub.Prices{})
		c := call(t, p, map[string]any{"prompt": "a cat"})
		if price, err := p.Price(t.Context(), c); err != nil || price.CostUSD != "0.500000000" || tool.CostingModel.RateSource != registry.RateAPI {
			t.Errorf("got %+v, %v, %+v", price, err, tool.CostingModel)
		}
		ticket, err := p.Submit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		server.Finish(ticket.ProviderID)
		server.Change(ticket.ProviderID, func(r *faltest.Request) { r.Units = "1.5" })
		if now, err := p.Poll(t.Context(), ticket); err != nil || now.Result == nil || now.Result.Usage.CostUSD != "0.750000000" {
			t.Errorf("got %+v, %v", now, err)
		}
	})
	t.Run("the operator's list comes first", func(t *testing.T) {
		p, _, _ := open("images", modelhub.Prices{Services: map[string]map[string]modelhub.Price{fal.Service: {faltest.Model: {USD: "0.25", Per: modelhub.PerRun}}}})
		if price, err := p.Price(t.Context(), call(t, p, nil)); err != nil || price.CostUSD != "0.250000000" {
			t.Errorf("got %+v, %v", price, err)
		}
	})
	t.Run("a unit that nobody knows makes the model unavailable, and none one of seconds", func(t *testing.T) {
		if _, _, tool := open("credits", modelhub.Prices{}); tool.Status == nil || tool.Status.State != registry.StateUnavailable {
			t.Errorf("its state is %+v", tool.Status)
		}
		if _, _, tool := open("", modelhub.Prices{}); tool.Status != nil || tool.CostingModel.Unit != registry.UnitSecond {
			t.Errorf("got %+v, %+v", tool.Status, tool.CostingModel)
		}
	})
}

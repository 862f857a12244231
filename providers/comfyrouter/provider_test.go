package comfyrouter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/comfyrouter"
	"github.com/signalbox/signalbox/providers/comfyrouter/comfyroutertest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func provider(t *testing.T, server *comfyroutertest.Server, client *http.Client, models ...string) *comfyrouter.Provider {
	t.Helper()
	p, err := comfyrouter.New(comfyrouter.Config{
		Key: comfyroutertest.Key, BaseURL: server.BaseURL(), Models: models, USDPerRun: "0.25", HTTP: client, Guard: outbound.NewClient([]string{"127.0.0.1"}),
		MediaURL: func(context.Context, registry.Media) (string, error) { return "https://bot.example/files/large", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func house(t *testing.T) (*comfyrouter.Provider, *comfyroutertest.Server) {
	t.Helper()
	server := comfyroutertest.New(t)
	return provider(t, server, nil, comfyroutertest.Model), server
}

type files struct{}

func (files) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	size := map[string]int{"asset:small": 10, "asset:large": 4<<20 + 1}[ref]
	return io.NopCloser(bytes.NewReader(make([]byte, size))), registry.MediaInfo{MIMEType: "image/png"}, nil
}

func call(t *testing.T, p *comfyrouter.Provider, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := p.Load(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	return registry.Call{RunID: "run", Handle: "handle", Tool: tools[0], Inputs: inputs, Media: files{}}
}

func submit(t *testing.T, p *comfyrouter.Provider, inputs map[string]any) registry.Ticket {
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
		server, line := comfyroutertest.New(t), registrytest.NewLine(t, nil)
		return registrytest.LoaderSetup{
			Loader: provider(t, server, line.Client(), comfyroutertest.Model), Break: func() { line.Next(registrytest.Unreachable) }, Mend: func() { line.Clear() },
		}
	})
	registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
		server, line := comfyroutertest.New(t), registrytest.NewLine(t, nil)
		p := provider(t, server, line.Client(), comfyroutertest.Model)
		return registrytest.SubmitterSetup{
			Submitter: p, Line: line, Secret: comfyroutertest.Key, Restart: func() registry.Submitter { return provider(t, server, line.Client(), comfyroutertest.Model) },
			Fail: func(ticket registry.Ticket) { server.Refuse(ticket.ProviderID) },
		}.Of(server, call(t, p, map[string]any{"prompt": "a cat"}))
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	t.Run("A1 A2 a model is a tool by its own schema", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		tool := call(t, p, nil).Tool
		want := registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Multiline: true, DisplayName: "prompt", Description: "What to draw"},
			{Name: "input_image", Type: registry.TypeImage, DisplayName: "input image", Description: "A picture to begin with"},
			{Name: "n", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "4", Default: json.Number("1"), DisplayName: "n"},
		}
		got := slices.Clone(tool.InputSchema)
		slices.SortFunc(got, func(a, b registry.InputField) int {
			return slices.IndexFunc(want, named(a)) - slices.IndexFunc(want, named(b))
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		if tool.ToolID != "comfyrouter.painter.sketch-2" || tool.CommandName != "/sketch_2" || tool.Description != "Draws fast. Runs at Comfy Router: painter/sketch-2." {
			t.Errorf("got %+v", tool)
		}
	})
	t.Run("A40 those of the catalogue that are wanted, over its pages; one without a description, or that is not there, is told", func(t *testing.T) {
		t.Parallel()
		server := comfyroutertest.New(t)
		for name, c := range map[string]struct {
			models          []string
			tools, problems int
		}{
			"all": {[]string{"*"}, 2, 1}, "of one owner": {[]string{"singer/*"}, 1, 0}, "by the beginning of a name": {[]string{"painter/sketch-2*"}, 1, 1},
			"none": {nil, 0, 0}, "unknown": {[]string{"painter/none", comfyroutertest.Model}, 1, 1},
		} {
			tools, err := provider(t, server, nil, c.models...).Load(t.Context())
			problems := new(registry.PartialError)
			if err != nil && !errors.As(err, &problems) || len(tools) != c.tools || len(problems.Problems) != c.problems {
				t.Errorf("%s: %d tools, %v", name, len(tools), err)
			}
		}
	})
	t.Run("names of models", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]bool{"bfl/flux-2-pro": true, "bfl/*": true, "*": true, "bfl/flux-*": true, "luma_2/uni-1": true, "flux": false, "/flux": false, "a/../b": false, "BFL/x": false, "": false} {
			if comfyrouter.IsPattern(name) != want {
				t.Errorf("%q: %v", name, !want)
			}
		}
	})
}

func named(a registry.InputField) func(registry.InputField) bool {
	return func(b registry.InputField) bool { return a.Name == b.Name }
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		estimate map[string]any
		want     registry.Price
	}{
		"exact":                           {map[string]any{"source": "exact", "amount": 0.08}, registry.Price{CostUSD: "0.08"}},
		"a range":                         {map[string]any{"source": "estimated", "min_amount": "0.02", "max_amount": "0.1"}, registry.Price{CostUSD: "0.1", LowUSD: "0.02"}},
		"unknown to the service":          {map[string]any{"source": "unknown", "reason": "usage"}, registry.Price{CostUSD: "0.250000000"}},
		"an account that is told nothing": {nil, registry.Price{CostUSD: "0.250000000"}},
	} {
		p, server := house(t)
		server.Estimate = c.estimate
		if got, err := p.Price(t.Context(), call(t, p, map[string]any{"prompt": "a cat"})); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if got, err := p.Price(t.Context(), call(t, p, nil)); err != nil || got.CostUSD != "0.250000000" {
			t.Errorf("%s, without a prompt yet: %+v, %v", name, got, err)
		}
	}
	t.Run("the operator's list comes first", func(t *testing.T) {
		server := comfyroutertest.New(t)
		server.Estimate = map[string]any{"source": "exact", "amount": 0.08}
		prices := modelhub.Prices{Services: map[string]map[string]modelhub.Price{comfyrouter.Service: {comfyroutertest.Model: {USD: "0.03", Per: modelhub.PerImage}}}}
		p, err := comfyrouter.New(comfyrouter.Config{Key: comfyroutertest.Key, BaseURL: server.BaseURL(), Models: []string{comfyroutertest.Model}, Prices: prices})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Price(t.Context(), call(t, p, map[string]any{"prompt": "a", "n": json.Number("2")})); err != nil || got.CostUSD != "0.060000000" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("what a run took is told in credits, and where it is not, by the price", func(t *testing.T) {
		p, server := house(t)
		for end, want := range map[string]string{"4.22": "0.020000000", "": "0.250000000", "0": "0.000000000"} {
			c := call(t, p, map[string]any{"prompt": "a"})
			c.Handle += end
			ticket, err := p.Submit(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			server.Finish(ticket.ProviderID)
			server.Change(ticket.ProviderID, func(r *comfyroutertest.Request) { r.Credits = end })
			if now, err := p.Poll(t.Context(), ticket); err != nil || now.Result == nil || now.Result.Usage.CostUSD != want {
				t.Errorf("%q: %+v, %v", end, now, err)
			}
		}
	})
}

func TestRuns(t *testing.T) {
	t.Parallel()
	t.Run("files go within the request or by their address, and the result is a file", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(t, p, map[string]any{"prompt": "a cat", "input_image": "asset:large", "n": json.Number("2")})
		ticket, err := p.Submit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]any{"prompt": "a cat", "input_image": "https://bot.example/files/large", "n": 2.0}; !reflect.DeepEqual(server.Requests()[0].Input, want) {
			t.Errorf("sent %+v", server.Requests()[0].Input)
		}
		server.Finish(ticket.ProviderID)
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || got.Result == nil || len(got.Result.Outputs) != 1 || got.Result.Outputs[0].Type != "image" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a request that is sent again is the same one; with other values it is lost", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		first, again := submit(t, p, map[string]any{"prompt": "a"}), submit(t, p, map[string]any{"prompt": "a"})
		if first.ProviderID != again.ProviderID || len(server.Requests()) != 1 {
			t.Errorf("%+v, %+v", first, again)
		}
		if _, err := p.Submit(t.Context(), call(t, p, map[string]any{"prompt": "b"})); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeLost {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a completed request that failed says why", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, map[string]any{"prompt": "a"})
		for kind, want := range map[string]registry.Code{
			"content_policy_violation": registry.CodeRefused, "insufficient_credits": registry.CodeUnavailable, "provider_timeout": registry.CodeUnavailable, "something_new": registry.CodeProvider,
		} {
			server.Change(ticket.ProviderID, func(r *comfyroutertest.Request) { r.Status, r.Error = "COMPLETED", kind })
			if got, err := p.Poll(t.Context(), ticket); err != nil || got.State != registry.RunFailed || got.Err.Code != want {
				t.Errorf("%s: %+v, %v", kind, got, err)
			}
		}
	})
	t.Run("a refused value is named", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		_, err := p.Submit(t.Context(), call(t, p, map[string]any{"n": json.Number("9")}))
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Message != `the model did not accept the value of "prompt"` {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the place in the queue begins with one, and a request is stopped, once", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, map[string]any{"prompt": "a"})
		if got, err := p.Poll(t.Context(), ticket); err != nil || got.State != registry.RunQueued || got.QueuePosition != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
		for range 2 {
			if err := p.Cancel(t.Context(), ticket); err != nil || !server.Stopped(ticket.ProviderID) {
				t.Error(err)
			}
		}
	})
}

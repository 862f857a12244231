package replicate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/replicate"
	"github.com/signalbox/signalbox/providers/replicate/replicatetest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func provider(t *testing.T, server *replicatetest.Server, client *http.Client, models ...string) *replicate.Provider {
	t.Helper()
	p, err := replicate.New(replicate.Config{
		Token: replicatetest.Token, BaseURL: server.BaseURL(), Models: models, USDPerSecond: "0.001", HTTP: client, Guard: outbound.NewClient([]string{"127.0.0.1"}),
		MediaURL: func(_ context.Context, ref registry.Media) (string, error) {
			if ref == "asset:huge" {
				return "", errors.New("there is no PUBLIC_URL")
			}
			return "https://bot.example/files/" + strings.TrimPrefix(ref, "asset:"), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func house(t *testing.T) (*replicate.Provider, *replicatetest.Server) {
	t.Helper()
	server := replicatetest.New(t)
	return provider(t, server, nil, "painter/sketch", "writer/prose"), server
}

// files are of the sizes that their names say.
type files struct{}

func (files) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	size := map[string]int{"asset:small": 1000, "asset:large": 256<<10 + 1, "asset:huge": 1 << 20}[ref]
	if size == 0 {
		return nil, registry.MediaInfo{}, io.ErrUnexpectedEOF
	}
	return io.NopCloser(bytes.NewReader(make([]byte, size))), registry.MediaInfo{MIMEType: "image/png"}, nil
}

func call(t *testing.T, p *replicate.Provider, tool string, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := p.Load(t.Context())
	i := slices.IndexFunc(tools, func(one registry.Tool) bool { return one.ToolID == "replicate."+tool })
	if err != nil || i < 0 {
		t.Fatalf("there is no tool %s: %v", tool, err)
	}
	c := registry.Call{RunID: "run-" + t.Name(), Handle: "handle-" + t.Name(), Tool: tools[i], Inputs: map[string]any{}, Media: files{}, CallbackURL: "https://bot.example/webhooks/replicate/1"}
	for _, f := range tools[i].InputSchema {
		if f.Default != nil {
			c.Inputs[f.Name] = f.Default
		}
	}
	maps.Copy(c.Inputs, inputs)
	return c
}

func submit(t *testing.T, p *replicate.Provider, c registry.Call) registry.Ticket {
	t.Helper()
	ticket, err := p.Submit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		server, line := replicatetest.New(t), registrytest.NewLine(t, nil)
		return registrytest.LoaderSetup{
			Loader: provider(t, server, line.Client(), "painter/sketch", "writer/prose"),
			Break:  func() { line.Next(registrytest.Unreachable, registrytest.Unreachable) }, Mend: func() { line.Clear() },
		}
	})
	registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
		server, line := replicatetest.New(t), registrytest.NewLine(t, nil)
		p := provider(t, server, line.Client(), "painter/sketch")
		return registrytest.SubmitterSetup{
			Submitter: p, Line: line, Secret: replicatetest.Token, Restart: func() registry.Submitter { return provider(t, server, line.Client(), "painter/sketch") },
			Fail: func(ticket registry.Ticket) {
				server.Change(ticket.ProviderID, func(p *replicatetest.Prediction) { p.Status, p.Error = "failed", "CUDA out of memory <trace>" })
			},
		}.Of(server, call(t, p, "painter.sketch", map[string]any{"prompt": "a cat"}))
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	t.Run("A1 A2 a model is a tool by its own schema, in its order", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		tool := call(t, p, "painter.sketch", nil).Tool
		want := registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Multiline: true, DisplayName: "Prompt", Description: "What to draw"},
			{Name: "image", Type: registry.TypeImage, DisplayName: "Image"},
			{Name: "aspect_ratio", Type: registry.TypeString, DisplayName: "aspect_ratio", Description: "Shape", Default: "1:1", Choices: []registry.Choice{{Value: "1:1"}, {Value: "16:9"}, {Value: "9:16"}}},
			{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true, Advanced: true, DisplayName: "Seed", Description: "Random seed"},
			{Name: "steps", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "4", Default: json.Number("4"), DisplayName: "steps"},
			{Name: "go_fast", Type: registry.TypeBoolean, Default: true, Advanced: true, DisplayName: "go fast"},
			{Name: "guidance", Type: registry.TypeNumber, Min: "0", Max: "10", Default: json.Number("3.5"), Advanced: true, DisplayName: "guidance"},
		}
		if !reflect.DeepEqual(tool.InputSchema, want) {
			t.Errorf("got %+v\nwant %+v", tool.InputSchema, want)
		}
		if tool.CommandName != "/sketch" || tool.Description != "Draws quickly. Runs at Replicate: painter/sketch." || tool.CostingModel.Unit != registry.UnitSecond {
			t.Errorf("got %+v", tool)
		}
	})
	t.Run("a version can be pinned", func(t *testing.T) {
		t.Parallel()
		p := provider(t, replicatetest.New(t), nil, "painter/sketch:"+replicatetest.SketchVersion)
		if got := call(t, p, "painter.sketch", nil).Tool.Metadata["version"]; got != replicatetest.SketchVersion {
			t.Errorf("got %v", got)
		}
	})
	t.Run("A40 a model that is not there is told beside the others", func(t *testing.T) {
		t.Parallel()
		p := provider(t, replicatetest.New(t), nil, "painter/none", "writer/prose", "painter/empty")
		tools, err := p.Load(t.Context())
		var partial *registry.PartialError
		if !errors.As(err, &partial) || len(partial.Problems) != 2 || partial.Problems[0].ToolID != "painter/none" || len(tools) != 1 {
			t.Errorf("got %d tools, %v", len(tools), err)
		}
	})
	t.Run("names of models", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]bool{
			"a/b": true, "black-forest-labs/flux-1.1-pro": true, "a/b:" + replicatetest.SketchVersion: true, "a": false, "a/b/c": false, "../b": false, "a/b:latest": false, "": false,
		} {
			if replicate.IsModel(name) != want {
				t.Errorf("%q: %v", name, !want)
			}
		}
	})
}

func TestRuns(t *testing.T) {
	t.Parallel()
	t.Run("A24 values as the schema has them, files in the request, the time of work", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(t, p, "painter.sketch", map[string]any{"prompt": "a cat", "image": "asset:small", "seed": json.Number("7")})
		ticket := submit(t, p, c)
		made := server.Predictions()[0]
		image, _ := made.Input["image"].(string)
		delete(made.Input, "image")
		want := map[string]any{"prompt": "a cat", "seed": 7.0, "steps": 4.0, "aspect_ratio": "1:1", "go_fast": true, "guidance": 3.5}
		if !reflect.DeepEqual(made.Input, want) || !strings.HasPrefix(image, "data:image/png;base64,AAAA") || made.Version != replicatetest.SketchVersion || made.Webhook != c.CallbackURL {
			t.Errorf("sent %+v with %.40s", made, image)
		}
		server.Finish(ticket.ProviderID)
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || got.Result == nil || len(got.Result.Outputs) != 1 || got.Result.Usage.RunTime != 2500*time.Millisecond {
			t.Fatalf("got %+v, %v", got, err)
		}
		if out := got.Result.Outputs[0]; out.Type != "image" || out.Info.MIMEType != "image/webp" || out.Info.Name != "out-0.webp" {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("a large file goes by its address, where there is one", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		submit(t, p, call(t, p, "painter.sketch", map[string]any{"prompt": "x", "image": "asset:large"}))
		if got := server.Predictions()[0].Input["image"]; got != "https://bot.example/files/large" {
			t.Errorf("sent %v", got)
		}
		for _, ref := range []string{"asset:huge", "asset:gone"} {
			_, err := p.Submit(t.Context(), call(t, p, "painter.sketch", map[string]any{"prompt": "x", "image": ref}))
			if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Field != "image" {
				t.Errorf("%s: got %v", ref, err)
			}
		}
	})
	t.Run("a model that writes gives a text, also where it writes an address", func(t *testing.T) {
		t.Parallel()
		for want, output := range map[string]any{"once upon a time": []string{"once", " upon", " a time"}, "https://example.org/a.png": []string{"https://example.org/a.png"}} {
			p, server := house(t)
			ticket := submit(t, p, call(t, p, "writer.prose", map[string]any{"prompt": "x"}))
			server.Change(ticket.ProviderID, func(p *replicatetest.Prediction) { p.Status, p.Output = "succeeded", output })
			got, err := p.Poll(t.Context(), ticket)
			if err != nil || len(got.Result.Outputs) != 1 || got.Result.Outputs[0].Text != want {
				t.Errorf("got %+v, %v", got.Result, err)
			}
		}
	})
	t.Run("files in an object, and the time between where no other is told", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, call(t, p, "painter.sketch", map[string]any{"prompt": "x"}))
		at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		server.Change(ticket.ProviderID, func(p *replicatetest.Prediction) {
			p.Status, p.Started, p.Completed = "succeeded", at, at.Add(3*time.Second)
			p.Output = map[string]any{"video": server.URL + "/files/b.mp4", "mesh": server.URL + "/files/a.glb", "seed": 3}
		})
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || len(got.Result.Outputs) != 2 || got.Result.Outputs[0].Type != "file" || got.Result.Outputs[1].Type != "video" || got.Result.Usage.RunTime != 3*time.Second {
			t.Errorf("got %+v, %v", got.Result, err)
		}
	})
	for name, c := range map[string]struct {
		status string
		said   any
		state  registry.RunState
		code   registry.Code
	}{
		"canceled": {"canceled", nil, registry.RunCanceled, ""}, "aborted": {"aborted", nil, registry.RunCanceled, ""},
		"refused": {"failed", "NSFW content detected", registry.RunFailed, registry.CodeRefused}, "failed": {"failed", "oops", registry.RunFailed, registry.CodeProvider},
	} {
		t.Run("state "+name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			ticket := submit(t, p, call(t, p, "painter.sketch", map[string]any{"prompt": "x"}))
			server.Change(ticket.ProviderID, func(p *replicatetest.Prediction) { p.Status, p.Error = c.status, c.said })
			got, err := p.Poll(t.Context(), ticket)
			if err != nil || got.State != c.state || (got.Err != nil) != (c.code != "") || got.Err != nil && got.Err.Code != c.code {
				t.Errorf("got %+v (%v), %v", got, got.Err, err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	for status, want := range map[int]registry.Code{402: registry.CodeUnavailable, 422: registry.CodeInvalidInput, 429: registry.CodeRateLimited} {
		c := call(t, p, "painter.sketch", map[string]any{"prompt": "x"})
		server.Fail(replicatetest.Refuse(status))
		if _, err := p.Submit(t.Context(), c); err == nil || registry.AsError(err).Code != want {
			t.Errorf("%d gives %v, want %s", status, err, want)
		}
	}
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	body := []byte(`{"id":"p1","status":"succeeded","output":null}`)
	request := func(secret string, at time.Time) registry.CallbackRequest {
		return registry.CallbackRequest{Method: "POST", Path: "/webhooks/replicate/1", Header: replicatetest.Sign(t, secret, "msg_1", at, body), Body: body, At: now}
	}
	t.Run("an authentic one names the prediction, also under a renewed secret", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		want := registry.Callback{ProviderID: "p1", EventID: "msg_1", State: registry.RunSucceeded}
		if got, err := p.VerifyCallback(t.Context(), request(replicatetest.Secret, now)); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
		server.Renew()
		later := request(replicatetest.NewSecret, now.Add(2*time.Minute))
		if _, err := p.VerifyCallback(t.Context(), later); err == nil {
			t.Error("the secret was fetched twice within a minute")
		}
		later.At = now.Add(2 * time.Minute)
		if got, err := p.VerifyCallback(t.Context(), later); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	for name, change := range map[string]func(*registry.CallbackRequest){
		"another body":      func(r *registry.CallbackRequest) { r.Body = []byte(`{"id":"p2"}`) },
		"another secret":    func(r *registry.CallbackRequest) { *r = request(replicatetest.NewSecret, now) },
		"no signature":      func(r *registry.CallbackRequest) { r.Header = http.Header{} },
		"301 seconds late":  func(r *registry.CallbackRequest) { r.At = now.Add(301 * time.Second) },
		"301 seconds early": func(r *registry.CallbackRequest) { r.At = now.Add(-301 * time.Second) },
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			t.Parallel()
			p, _ := house(t)
			r := request(replicatetest.Secret, now)
			change(&r)
			if got, err := p.VerifyCallback(t.Context(), r); err == nil {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
	t.Run("refused: no secret to be had", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Fail(replicatetest.Refuse(500))
		if got, err := p.VerifyCallback(t.Context(), request(replicatetest.Secret, now)); err == nil {
			t.Errorf("accepted: %+v", got)
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	ticket := submit(t, p, call(t, p, "painter.sketch", map[string]any{"prompt": "x"}))
	if err := p.Cancel(t.Context(), ticket); err != nil || server.Predictions()[0].Status != "canceled" {
		t.Errorf("%v, %+v", err, server.Predictions()[0])
	}
}

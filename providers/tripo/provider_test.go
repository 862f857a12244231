package tripo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/tripo"
	"github.com/signalbox/signalbox/providers/tripo/tripotest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// house is the provider and the service behind it.
func house(t *testing.T) (*tripo.Provider, *tripotest.Server) {
	t.Helper()
	server := tripotest.New(t)
	return provider(t, server, nil), server
}

func provider(t *testing.T, server *tripotest.Server, client *http.Client) *tripo.Provider {
	t.Helper()
	p, err := tripo.New(tripo.Config{
		Key: tripotest.Key, BaseURL: server.BaseURL(), USDPerCredit: "0.01", HTTP: client, Guard: outbound.NewClient([]string{"127.0.0.1"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pictures opens every reference but asset:text and asset:gone as a PNG.
type pictures struct{}

func (pictures) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	switch ref {
	case "asset:text":
		return io.NopCloser(strings.NewReader("no picture")), registry.MediaInfo{}, nil
	case "asset:gone":
		return nil, registry.MediaInfo{}, io.ErrUnexpectedEOF
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		return nil, registry.MediaInfo{}, err
	}
	return io.NopCloser(&b), registry.MediaInfo{}, nil
}

// call binds inputs to a tool as runs does: with its defaults.
func call(t *testing.T, p *tripo.Provider, tool string, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := p.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(one registry.Tool) bool { return one.ToolID == "tripo."+tool })
	if i < 0 {
		t.Fatalf("there is no tool %s", tool)
	}
	c := registry.Call{RunID: "run-" + t.Name(), Handle: "handle-" + t.Name(), Tool: tools[i], Inputs: map[string]any{}, Media: pictures{}}
	for _, f := range tools[i].InputSchema {
		if f.Default != nil {
			c.Inputs[f.Name] = f.Default
		}
	}
	maps.Copy(c.Inputs, inputs)
	return c
}

func submit(t *testing.T, p *tripo.Provider, c registry.Call) registry.Ticket {
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
		p, _ := house(t)
		return registrytest.LoaderSetup{Loader: p}
	})
	registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
		server, line := tripotest.New(t), registrytest.NewLine(t, nil)
		p := provider(t, server, line.Client())
		return registrytest.SubmitterSetup{
			Submitter: p, Line: line, Secret: tripotest.Key, Restart: func() registry.Submitter { return provider(t, server, line.Client()) },
			Fail: func(ticket registry.Ticket) {
				server.Change(ticket.ProviderID, func(task *tripotest.Task) { task.Status, task.ErrorCode = "failed", 2008 })
			},
		}.Of(server, call(t, p, "text_to_model", map[string]any{"prompt": "a chair"}))
	})
}

func TestTasks(t *testing.T) {
	t.Parallel()
	number := func(s string) json.Number { return json.Number(s) }
	for name, c := range map[string]struct {
		tool   string
		source bool // goes on from a model
		inputs map[string]any
		sent   map[string]any // what the service got, beside references
	}{
		"A1 text to model": {"text_to_model", false, map[string]any{"prompt": "a chair", "face_limit": number("5000"), "quad": true, "model_seed": number("7"), "negative_prompt": ""},
			map[string]any{"prompt": "a chair", "model_version": "v3.1-20260211", "texture": true, "face_limit": number("5000"), "quad": true, "model_seed": number("7")}},
		"picture to model": {"image_to_model", false, map[string]any{"file": "asset:a", "texture_alignment": "geometry"},
			map[string]any{"model_version": "v3.1-20260211", "texture": true, "texture_alignment": "geometry"}},
		"views to model": {"multiview_to_model", false, map[string]any{"front": "asset:a", "back": "asset:b"}, map[string]any{"model_version": "v3.1-20260211", "texture": true}},
		"new texture":    {"texture_model", true, map[string]any{"texture_text": "rusty", "texture_image": "asset:a"}, nil},
		"refined":        {"refine_model", true, nil, nil},
		"rigged":         {"animate_rig", true, nil, map[string]any{"rig_type": "biped", "out_format": "glb"}},
		"animated":       {"animate_retarget", true, map[string]any{"animation": "preset:walk"}, map[string]any{"animation": "preset:walk", "out_format": "glb"}},
		"in a style":     {"stylize_model", true, map[string]any{"style": "lego", "block_size": number("80")}, map[string]any{"style": "lego", "block_size": number("80")}},
		"converted":      {"convert_model", true, map[string]any{"format": "STL", "scale_factor": number("0.5")}, map[string]any{"format": "STL", "scale_factor": number("0.5")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			request := call(t, p, c.tool, c.inputs)
			if c.source {
				made := submit(t, p, call(t, p, "text_to_model", map[string]any{"prompt": "a chair"}))
				server.Finish(made.ProviderID)
				request.Inputs[request.Tool.InputSchema[0].Name] = made.ProviderID
			}
			ticket := submit(t, p, request)
			tasks := server.Tasks()
			body := tasks[len(tasks)-1].Body
			got := map[string]any{}
			for field, value := range body {
				if !slices.Contains([]string{"type", "file", "files", "texture_prompt", "original_model_task_id", "draft_model_task_id"}, field) {
					got[field] = value
				}
			}
			if c.sent == nil {
				c.sent = map[string]any{}
			}
			if body["type"] != c.tool || !reflect.DeepEqual(got, c.sent) {
				t.Errorf("sent %v: %v\nexpected %v", body["type"], got, c.sent)
			}
			server.Finish(ticket.ProviderID)
			checkModel(t, p, ticket)
		})
	}
}

// checkModel wants a model with its preview and its code, for 25 credits.
func checkModel(t *testing.T, p *tripo.Provider, ticket registry.Ticket) {
	t.Helper()
	progress, err := p.Poll(t.Context(), ticket)
	if err != nil || progress.State != registry.RunSucceeded || len(progress.Result.Outputs) != 3 || progress.Result.Usage.CostUSD != "0.250000000" {
		t.Fatalf("got %+v (%+v), %v", progress, progress.Result, err)
	}
	want := []registry.MediaInfo{{Name: "model.glb", MIMEType: "model/gltf-binary"}, {Name: "preview.webp", MIMEType: "image/webp"}}
	for i, kind := range []string{"file", "image"} {
		out := progress.Result.Outputs[i]
		if out.Type != kind || out.Info != want[i] {
			t.Errorf("output %d is %+v", i, out)
		}
		content, err := out.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if data, err := io.ReadAll(content); err != nil || !strings.HasPrefix(string(data), "made "+ticket.ProviderID) {
			t.Errorf("read %q, %v", data, err)
		}
	}
	if code := progress.Result.Outputs[2]; code.Text != ticket.ProviderID {
		t.Errorf("the code is %+v", code)
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	t.Run("views have their places, an absent one an empty one", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		submit(t, p, call(t, p, "multiview_to_model", map[string]any{"front": "asset:a", "back": "asset:b"}))
		files, _ := server.Tasks()[0].Body["files"].([]any)
		var filled []bool
		for _, file := range files {
			filled = append(filled, len(file.(map[string]any)) == 2)
		}
		if !slices.Equal(filled, []bool{true, false, true, false}) {
			t.Errorf("got %v", files)
		}
	})
	t.Run("a texture takes words and a picture", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		made := submit(t, p, call(t, p, "text_to_model", map[string]any{"prompt": "a chair"}))
		server.Finish(made.ProviderID)
		submit(t, p, call(t, p, "texture_model", map[string]any{"original_model_task_id": made.ProviderID, "texture_text": "rusty", "style_image": "asset:a"}))
		style, _ := server.Tasks()[1].Body["texture_prompt"].(map[string]any)
		if style["text"] != "rusty" || style["style_image"].(map[string]any)["type"] != "png" || style["image"] != nil {
			t.Errorf("got %v", style)
		}
	})
}

func TestRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool   string
		inputs map[string]any
		field  string
	}{
		"a long description":  {"text_to_model", map[string]any{"prompt": strings.Repeat("ž", 1025)}, "prompt"},
		"a long exclusion":    {"text_to_model", map[string]any{"prompt": "x", "negative_prompt": strings.Repeat("x", 256)}, "negative_prompt"},
		"no picture":          {"image_to_model", map[string]any{"file": "asset:text"}, "file"},
		"a picture that left": {"multiview_to_model", map[string]any{"front": "asset:gone"}, "front"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			_, err := p.Submit(t.Context(), call(t, p, c.tool, c.inputs))
			if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Field != c.field || len(server.Tasks()) != 0 {
				t.Errorf("got %v, expected a refusal of %s", err, c.field)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault upstreamtest.Fault
		code  registry.Code
		retry bool
	}{
		"content policy":               {tripotest.Refuse(400, 2008), registry.CodeRefused, false},
		"no credits":                   {tripotest.Refuse(403, 2010), registry.CodeUnavailable, false},
		"too many tasks":               {tripotest.Refuse(429, 2000), registry.CodeRateLimited, true},
		"a parameter":                  {tripotest.Refuse(400, 1004), registry.CodeInvalidInput, false},
		"trouble of its own":           {tripotest.Refuse(500, 1000), registry.CodeProvider, true},
		"the key":                      {tripotest.Refuse(401, 1002), registry.CodeUnauthorized, false},
		"a refusal with status 200":    {tripotest.Refuse(200, 2008), registry.CodeRefused, false},
		"an unknown code":              {tripotest.Refuse(400, 2999), registry.CodeInvalidInput, false},
		"an unknown code, status 200":  {tripotest.Refuse(200, 2999), registry.CodeProvider, false},
		"an answer that is lost":       {upstreamtest.Cut, registry.CodeLost, false},
		"an answer that is not theirs": {upstreamtest.Answer(200, "<html>"), registry.CodeProvider, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			server.Fail(c.fault)
			_, err := p.Submit(t.Context(), call(t, p, "text_to_model", map[string]any{"prompt": "a chair"}))
			if e := registry.AsError(err); e == nil || e.Code != c.code || e.Retryable != c.retry || strings.Contains(fmt.Sprint(e, e.Cause), tripotest.Key) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("going on from a model that is not there", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		_, err := p.Submit(t.Context(), call(t, p, "stylize_model", map[string]any{"original_model_task_id": "x", "style": "lego"}))
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput {
			t.Errorf("got %v", err)
		}
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(*tripotest.Task)
		state    registry.RunState
		unknown  string
		code     registry.Code
		fraction float64
		place    int
	}{
		"queued":      {func(task *tripotest.Task) { task.Queue = 3 }, registry.RunQueued, "", "", 0, 3},
		"running":     {func(task *tripotest.Task) { task.Status, task.Progress, task.Queue = "running", 40, -1 }, registry.RunRunning, "", "", 0.4, 0},
		"failed":      {func(task *tripotest.Task) { task.Status, task.ErrorCode = "failed", 2008 }, registry.RunFailed, "", registry.CodeRefused, 0, 0},
		"failed, mum": {func(task *tripotest.Task) { task.Status = "failed" }, registry.RunFailed, "", registry.CodeProvider, 0, 0},
		"banned":      {func(task *tripotest.Task) { task.Status = "banned" }, registry.RunFailed, "", registry.CodeRefused, 0, 0},
		"expired":     {func(task *tripotest.Task) { task.Status = "expired" }, registry.RunFailed, "", registry.CodeTimeout, 0, 0},
		"cancelled":   {func(task *tripotest.Task) { task.Status = "cancelled" }, registry.RunCanceled, "", "", 0, 0},
		"no model":    {func(task *tripotest.Task) { task.Status = "success" }, registry.RunFailed, "", registry.CodeBadOutput, 0, 0},
		"a new word":  {func(task *tripotest.Task) { task.Status = "polishing" }, registry.RunRunning, "polishing", "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			ticket := submit(t, p, call(t, p, "text_to_model", map[string]any{"prompt": "a chair"}))
			server.Change(ticket.ProviderID, c.change)
			got, err := p.Poll(t.Context(), ticket)
			if err != nil || got.State != c.state || got.Unknown != c.unknown || got.Fraction != c.fraction || got.QueuePosition != c.place {
				t.Errorf("got %+v, %v", got, err)
			}
			if e := got.Err; (e != nil) != (c.code != "") || e != nil && e.Code != c.code {
				t.Errorf("error %v, expected %s", e, c.code)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	for name, c := range map[string]struct {
		inputs map[string]any
		usd    string
	}{
		"as it is":     {nil, "0.400000000"},
		"bare shape":   {map[string]any{"texture": false}, "0.200000000"},
		"with extras":  {map[string]any{"quad": true, "texture_quality": "detailed"}, "0.700000000"},
		"a best model": {map[string]any{"model_version": "P1-20260311"}, "0.700000000"},
	} {
		if got, err := p.Price(t.Context(), call(t, p, "text_to_model", c.inputs)); err != nil || got.CostUSD != c.usd {
			t.Errorf("%s: %q, %v; expected %q", name, got.CostUSD, err, c.usd)
		}
	}
	t.Run("A27 without credits in the answer the list counts", func(t *testing.T) {
		t.Parallel()
		ticket := submit(t, p, call(t, p, "text_to_model", map[string]any{"prompt": "x", "quad": true}))
		server.Finish(ticket.ProviderID)
		server.Change(ticket.ProviderID, func(task *tripotest.Task) { task.Credits = nil })
		if got, err := p.Poll(t.Context(), ticket); err != nil || got.Result.Usage.CostUSD != "0.500000000" {
			t.Errorf("got %+v, %v", got.Result, err)
		}
	})
}

func TestWatch(t *testing.T) {
	t.Parallel()
	t.Run("progress comes as it is made", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket := submit(t, p, call(t, p, "text_to_model", map[string]any{"prompt": "a chair"}))
		var seen []registry.RunState
		err := p.Watch(t.Context(), ticket, func(now registry.Progress) {
			seen = append(seen, now.State)
			switch now.State {
			case registry.RunQueued:
				server.Change(ticket.ProviderID, func(task *tripotest.Task) { task.Status, task.Progress = "running", 10 })
			case registry.RunRunning:
				server.Finish(ticket.ProviderID)
			}
		})
		if want := []registry.RunState{registry.RunQueued, registry.RunRunning, registry.RunSucceeded}; err != nil || !slices.Equal(seen, want) {
			t.Errorf("saw %v, %v", seen, err)
		}
	})
	t.Run("a socket that is refused is an error", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Fail(tripotest.Refuse(404, 2001))
		err := p.Watch(t.Context(), registry.Ticket{ProviderID: "x"}, func(registry.Progress) {})
		if err == nil || strings.Contains(err.Error(), tripotest.Key) {
			t.Errorf("got %v", err)
		}
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]tripo.Config{
		"no address":       {Key: "k", USDPerCredit: "0.01"},
		"no price":         {Key: "k", BaseURL: "https://x"},
		"a negative price": {Key: "k", BaseURL: "https://x", USDPerCredit: "-1"},
	} {
		if _, err := tripo.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

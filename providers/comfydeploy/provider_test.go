package comfydeploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/comfydeploy"
	"github.com/signalbox/signalbox/providers/comfydeploy/comfydeploytest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

// The workflow of the tests: a picture is blended with a colour, by hand of external nodes.
const (
	graph = `{"nodes": [
		{"id": 1, "type": "ComfyUIDeployExternalText", "widgets_values": ["prompt", "a cat", "What to draw", "In a few words"], "outputs": [{"name": "text", "type": "STRING", "links": [1]}], "inputs": [], "pos": [0, 0]},
		{"id": 2, "type": "ComfyUIDeployExternalImage", "widgets_values": ["photo", "Photo", "", ""], "outputs": [{"name": "image", "type": "IMAGE", "links": [2]}], "inputs": [], "pos": [0, 100]},
		{"id": 4, "type": "Painter", "inputs": [{"name": "text", "type": "STRING", "link": 1}, {"name": "image", "type": "IMAGE", "link": 2}], "outputs": [{"name": "image", "type": "IMAGE", "links": [3]}], "widgets_values": [20], "pos": [200, 0]},
		{"id": 9, "type": "SaveImage", "inputs": [{"name": "images", "type": "IMAGE", "link": 3}], "widgets_values": ["out"], "pos": [400, 0]},
		{"id": 10, "type": "Note", "widgets_values": ["Paints over a photo.\n@tool category=image-to-image"], "pos": [0, 300]}
	], "links": [[1, 1, 0, 4, 0, "STRING"], [2, 2, 0, 4, 1, "IMAGE"], [3, 4, 0, 9, 0, "IMAGE"]], "version": 0.4}`
	prompt = `{
		"1": {"class_type": "ComfyUIDeployExternalText", "inputs": {"input_id": "prompt", "default_value": "a cat", "display_name": "What to draw", "description": "In a few words"}},
		"2": {"class_type": "ComfyUIDeployExternalImage", "inputs": {"input_id": "photo", "display_name": "Photo"}},
		"3": {"class_type": "ComfyUIDeployExternalNumberSliderInt", "inputs": {"input_id": "how many steps", "default_value": 20, "min_value": 4, "max_value": 40}},
		"4": {"class_type": "Painter", "inputs": {"text": ["1", 0], "image": ["2", 0], "steps": ["3", 0], "strength": 0.5}},
		"9": {"class_type": "SaveImage", "inputs": {"images": ["4", 0], "filename_prefix": "out"}}
	}`
	deploymentID = "11111111-1111-4111-8111-111111111111"
)

func house(t *testing.T) (*comfydeploy.Provider, *comfydeploytest.Server) {
	t.Helper()
	server := comfydeploytest.New(t)
	server.Deployments = []map[string]any{
		{"id": "22222222-2222-4222-8222-222222222222", "workflow_id": "w1", "workflow_version_id": "v2", "machine_id": "m1", "environment": "staging", "version": map[string]any{"version": 2}},
		{"id": deploymentID, "workflow_id": "w1", "workflow_version_id": "v1", "machine_id": "m1", "environment": "production", "version": map[string]any{"version": 1}},
	}
	server.Workflows = []map[string]any{{"id": "w1", "name": "Paint Over"}}
	server.Machines = []map[string]any{{"id": "m1", "name": "fast", "gpu": "H100", "status": "ready", "run_timeout": 600}}
	server.Versions["w1/1"] = map[string]any{"id": "v1", "workflow": json.RawMessage(graph), "workflow_api": json.RawMessage(prompt)}
	server.Prices = map[string]any{"H100": 0.002338}
	return provider(t, server, nil), server
}

// provider is one that sends by client; nil: its own.
func provider(t *testing.T, server *comfydeploytest.Server, client *http.Client) *comfydeploy.Provider {
	t.Helper()
	p, err := comfydeploy.New(comfydeploy.Config{Key: comfydeploytest.Key, BaseURL: server.BaseURL(), HTTP: client, Guard: outbound.NewClient([]string{"127.0.0.1"})})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func load(t *testing.T, p *comfydeploy.Provider) []registry.Tool {
	t.Helper()
	tools, err := p.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if err := validate.Tool(tool); err != nil {
			t.Errorf("A2 %v", err)
		}
	}
	return tools
}

// files opens every reference as its own text.
type files struct{}

func (files) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return io.NopCloser(strings.NewReader(ref)), registry.MediaInfo{Name: "cat.png", MIMEType: "image/png"}, nil
}

func call(tool registry.Tool, handle string) registry.Call {
	c := registry.Call{RunID: "run-" + handle, Handle: handle, Tool: tool, Media: files{}, Inputs: map[string]any{"prompt": "a red cat", "photo": "asset:1"}}
	for _, f := range tool.InputSchema {
		if f.Type == registry.TypeNumber {
			c.Inputs[f.Name] = json.Number("12")
		}
	}
	return c
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		p, server := house(t)
		return registrytest.LoaderSetup{
			Loader: p, Break: func() { server.Do(func() { server.Down = true }) }, Mend: func() { server.Do(func() { server.Down = false }) },
		}
	})
	registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
		p, server := house(t)
		line, example := registrytest.NewLine(t, nil), call(load(t, p)[0], "")
		delete(example.Inputs, "photo") // it would be sent before the run
		return registrytest.SubmitterSetup{
			Submitter: provider(t, server, line.Client()), Line: line, Secret: comfydeploytest.Key,
			Restart: func() registry.Submitter { return provider(t, server, line.Client()) },
			Fail: func(ticket registry.Ticket) {
				server.Change(ticket.ProviderID, func(r *comfydeploytest.Run) { r.Status = "failed" })
			},
		}.Of(server, example)
	})
}

func picture(node, address string) map[string]any {
	return map[string]any{"node_id": node, "data": map[string]any{"images": []any{map[string]any{"url": address, "type": "output", "filename": "out.png"}}}}
}

func TestTools(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	tools := load(t, p)
	t.Run("A82 what the service answers about its deployments becomes valid definitions", func(t *testing.T) {
		if len(tools) != 1 || validate.Tool(tools[0]) != nil {
			t.Fatalf("%d tools, expected the production deployment of one workflow", len(tools))
		}
	})
	tool := tools[0]
	t.Run("A51 notes from the graph become the description, directives work", func(t *testing.T) {
		t.Parallel()
		if !strings.HasPrefix(tool.Description, "Paints over a photo.") || strings.Contains(tool.Description, "@tool") || tool.Category != "image-to-image" || tool.DisplayName == "" || tool.CommandName != "/paint_over" {
			t.Errorf("got %q, %q, %q, %q", tool.Description, tool.Category, tool.DisplayName, tool.CommandName)
		}
	})
	t.Run("A52 inputs come from the prompt form by name, and only from external nodes", func(t *testing.T) {
		t.Parallel()
		var names []string
		for _, f := range tool.InputSchema {
			names = append(names, f.Name)
		}
		if len(names) != 3 {
			t.Fatalf("inputs %v", names)
		}
		steps := tool.InputSchema[slices.IndexFunc(tool.InputSchema, func(f registry.InputField) bool { return f.Type == registry.TypeNumber })]
		if steps.Min != "4" || steps.Max != "40" || !steps.Integer || fmt.Sprint(steps.Default) != "20" {
			t.Errorf("steps: %+v", steps)
		}
		photo, _ := tool.InputSchema.Get("photo")
		if photo.Type != registry.TypeImage || !photo.Required {
			t.Errorf("photo: %+v", photo)
		}
	})
	t.Run("A90 the id is that of the deployment, not of a name", func(t *testing.T) {
		t.Parallel()
		if tool.ToolID != registry.StableID("comfydeploy", deploymentID) {
			t.Errorf("id %s", tool.ToolID)
		}
	})
	t.Run("A28 seconds of the GPU that runs it, at the service's price", func(t *testing.T) {
		t.Parallel()
		price, err := p.Price(t.Context(), call(tool, "h"))
		if m := tool.CostingModel; err != nil || price.Machine != "H100" || m.Unit != registry.UnitSecond || m.RateSource != registry.RateMachine || m.Rate != "0.002338" {
			t.Errorf("%+v, %+v, %v", price, m, err)
		}
	})
	t.Run("a version is read once, whatever happens to the lists", func(t *testing.T) {
		t.Parallel()
		for range 3 {
			load(t, p)
		}
		if n := server.Reads("/api/workflow/w1/version/1"); n != 1 {
			t.Errorf("read %d times", n)
		}
	})
}

func TestToolsInOtherStates(t *testing.T) {
	t.Parallel()
	t.Run("what is only staged is for insiders", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Do(func() { server.Deployments = server.Deployments[:1] })
		if tools := load(t, p); len(tools) != 1 || tools[0].Visibility != registry.VisibilityInternal {
			t.Errorf("got %+v", tools)
		}
	})
	t.Run("A workflow whose machine is not ready is unavailable, with the reason", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Do(func() { server.Machines[0]["status"] = "error" })
		if tools := load(t, p); tools[0].Status == nil || tools[0].Status.State != registry.StateUnavailable || !strings.Contains(tools[0].Status.Reason, "error") {
			t.Errorf("got %+v", tools[0].Status)
		}
	})
	t.Run("a workflow that can't be read is described by its deployment", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Do(func() {
			delete(server.Versions, "w1/1")
			server.Deployments[1]["input_types"] = []any{
				map[string]any{"input_id": "prompt", "type": "string", "class_type": "ComfyUIDeployExternalText", "default_value": "a cat", "display_name": "What"},
				map[string]any{"input_id": "style", "type": "string", "class_type": "ComfyUIDeployExternalEnum", "enum_options": []any{"ink", "oil"}, "default_value": "oil"},
				map[string]any{"input_id": "photo", "type": "string", "class_type": "ComfyUIDeployExternalImage"},
				map[string]any{"input_id": "steps", "type": "integer", "class_type": "ComfyUIDeployExternalNumberSliderInt", "min_value": 1, "max_value": 9, "default_value": 99},
				map[string]any{"input_id": "loud", "type": "boolean", "class_type": "ComfyUIDeployExternalBoolean", "default_value": true},
			}
		})
		tool := load(t, p)[0]
		want := map[string]struct {
			kind     registry.InputType
			required bool
		}{"prompt": {registry.TypeString, false}, "style": {registry.TypeString, false}, "photo": {registry.TypeImage, true}, "steps": {registry.TypeNumber, true}, "loud": {registry.TypeBoolean, false}}
		for name, w := range want {
			if f, ok := tool.InputSchema.Get(name); !ok || f.Type != w.kind || f.Required != w.required {
				t.Errorf("%s: %+v", name, f)
			}
		}
	})
	t.Run("without prices the rate card counts", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.FailAt("/api/platform/gpu-pricing", comfydeploytest.Refuse(500, "no"))
		if tools := load(t, p); tools[0].CostingModel.Rate != "0.000337" {
			t.Errorf("rate %s", tools[0].CostingModel.Rate)
		}
	})
	t.Run("more than a page of deployments", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Do(func() {
			for i := range 350 {
				d := map[string]any{"id": fmt.Sprint("d", i), "workflow_id": fmt.Sprint("x", i), "environment": "production", "workflow": map[string]any{"name": fmt.Sprint("Tool ", i)}}
				if i%2 == 0 {
					d["modal_image_id"] = fmt.Sprint("im-", i) // on a machine image of its own
				}
				server.Deployments = append(server.Deployments, d)
			}
		})
		if tools := load(t, p); len(tools) != 351 {
			t.Errorf("%d tools", len(tools))
		}
	})
}

func TestRuns(t *testing.T) {
	t.Parallel()
	t.Run("a run: values by the service's ids, files in its own storage, and back", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(load(t, p)[0], "handle")
		webhook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
		t.Cleanup(webhook.Close)
		c.CallbackURL = webhook.URL
		ticket, err := p.Submit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		run := server.Runs()[0]
		if run.DeploymentID != deploymentID || run.Inputs["prompt"] != "a red cat" || run.Inputs["how many steps"] != json.Number("12") || run.Webhook != c.CallbackURL || !run.Intermediate {
			t.Errorf("got %+v", run)
		}
		if address := fmt.Sprint(run.Inputs["photo"]); !strings.HasPrefix(address, server.URL+"/files/") {
			t.Errorf("the photo is at %s", address)
		}
		address := server.File("a.png", []byte("a picture"))
		server.Change(ticket.ProviderID, func(r *comfydeploytest.Run) {
			r.Status, r.Duration, r.GPU = "success", "12.345", "H100"
			r.Outputs = []any{
				picture("9", address),
				map[string]any{"node_id": "7", "data": map[string]any{"text": []any{"a caption"}, "tags": []any{"x"}, "animated": []any{true}, "gifs": []any{map[string]any{"url": address, "filename": "clip.mp4"}}}},
				map[string]any{"node_id": "8", "data": map[string]any{"images": []any{map[string]any{"url": address, "type": "temp", "filename": "preview.png"}}}},
			}
		})
		if n := server.Runs()[0].Attempts; n != 3 {
			t.Errorf("the webhook was tried %d times", n)
		}
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || got.State != registry.RunSucceeded {
			t.Fatalf("%+v, %v", got, err)
		}
		var seen []string
		for _, o := range got.Result.Outputs {
			seen = append(seen, o.Type)
		}
		if strings.Join(seen, " ") != "image video text" || got.Result.Usage.RunTime != 12345*time.Millisecond || got.Result.Usage.Machine != "H100" {
			t.Errorf("outputs %v, usage %+v", seen, got.Result.Usage)
		}
		if name := c.Tool.OutputSchema[0].Name; got.Result.Outputs[0].Name != name {
			t.Errorf("the picture is called %s, expected %s", got.Result.Outputs[0].Name, name)
		}
	})
	t.Run("a run whose seconds the service does not count is priced by its own times", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket, err := p.Submit(t.Context(), call(load(t, p)[0], "handle"))
		if err != nil {
			t.Fatal(err)
		}
		server.Change(ticket.ProviderID, func(r *comfydeploytest.Run) {
			r.Status, r.GPU, r.Began, r.Took = "success", "H100", time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), 7500*time.Millisecond
		})
		if got, err := p.Poll(t.Context(), ticket); err != nil || got.Result == nil || got.Result.Usage.RunTime != 7500*time.Millisecond {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a run whose answer was lost is found again", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(load(t, p)[0], "handle")
		server.FailAt("/api/run/deployment/queue", upstreamtest.LoseAnswer)
		_, err := p.Submit(t.Context(), c)
		if e := registry.AsError(err); e == nil || !e.Retryable {
			t.Fatalf("got %v", err)
		}
		c.Repeated = true
		if ticket, err := p.Submit(t.Context(), c); err != nil || len(server.Runs()) != 1 || ticket.ProviderID != server.Runs()[0].ID {
			t.Errorf("%+v, %v, with %d runs", ticket, err, len(server.Runs()))
		}
	})
	t.Run("a list of pictures goes as JSON text", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(load(t, p)[0], "handle")
		c.Inputs["photo"] = []any{"asset:1", "asset:2"}
		if _, err := p.Submit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var list []string
		if err := json.Unmarshal(fmt.Append(nil, server.Runs()[0].Inputs["photo"]), &list); err != nil || len(list) != 2 {
			t.Errorf("got %v, %v", list, err)
		}
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]struct {
		state   registry.RunState
		unknown string
		code    registry.Code
	}{
		"not-started": {registry.RunQueued, "", ""}, "queued": {registry.RunQueued, "", ""}, "started": {registry.RunRunning, "", ""}, "running": {registry.RunRunning, "", ""},
		"uploading": {registry.RunRunning, "", ""}, "success": {registry.RunSucceeded, "", ""}, "failed": {registry.RunFailed, "", registry.CodeProvider},
		"timeout": {registry.RunFailed, "", registry.CodeTimeout}, "cancelled": {registry.RunCanceled, "", ""},
		"processing": {registry.RunRunning, "", ""}, "completed": {registry.RunSucceeded, "", ""}, "dreaming": {registry.RunRunning, "dreaming", ""},
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			ticket, err := p.Submit(t.Context(), call(load(t, p)[0], "handle"))
			if err != nil {
				t.Fatal(err)
			}
			server.Change(ticket.ProviderID, func(r *comfydeploytest.Run) { r.Status, r.QueuePosition = status, 3 })
			got, err := p.Poll(t.Context(), ticket)
			if err != nil || got.State != want.state || got.Unknown != want.unknown || (got.Err != nil) != (want.code != "") || got.Err != nil && got.Err.Code != want.code {
				t.Errorf("got %+v, %v", got, err)
			}
			if got.State == registry.RunQueued && got.QueuePosition != 3 {
				t.Errorf("queue place %d", got.QueuePosition)
			}
		})
	}
	for progress, want := range map[float64]float64{0.25: 0.25, 25: 0.25, 1: 1, 250: 1} {
		t.Run(fmt.Sprintf("progress %v is %v", progress, want), func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			ticket, err := p.Submit(t.Context(), call(load(t, p)[0], "handle"))
			if err != nil {
				t.Fatal(err)
			}
			server.Change(ticket.ProviderID, func(r *comfydeploytest.Run) { r.Status, r.Progress, r.LiveStatus = "running", progress, "Painter" })
			if got, err := p.Poll(t.Context(), ticket); err != nil || !got.HasFraction || got.Fraction != want || got.Stage != "Painter" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	validation := []any{map[string]any{"loc": []any{"body", "inputs", "steps"}, "msg": "too many", "type": "value_error"}}
	for name, c := range map[string]struct {
		fault upstreamtest.Fault
		code  registry.Code
		retry bool
	}{
		"a value":     {comfydeploytest.Refuse(422, validation), registry.CodeInvalidInput, false},
		"the key":     {comfydeploytest.Refuse(401, "Invalid or expired token "+comfydeploytest.Key), registry.CodeUnauthorized, false},
		"no credit":   {comfydeploytest.Refuse(402, "Insufficient credit"), registry.CodeUnavailable, false},
		"too many":    {comfydeploytest.Refuse(429, "slow down"), registry.CodeRateLimited, true},
		"a breakdown": {comfydeploytest.Refuse(500, "Internal Server Error"), registry.CodeProvider, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			tool := load(t, p)[0]
			server.FailAt("/api/run/deployment/queue", c.fault)
			_, err := p.Submit(t.Context(), call(tool, "handle"))
			if e := registry.AsError(err); e == nil || e.Code != c.code || e.Retryable != c.retry || strings.Contains(fmt.Sprint(e, e.Cause), comfydeploytest.Key) {
				t.Errorf("got %v", err)
			}
		})
	}
}

package services_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/httptools/httptoolstest"
	"github.com/signalbox/signalbox/providers/services"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// run is one run of a bundled tool.
type run struct {
	tool   string
	inputs map[string]any
	path   string // of the request
	sent   string // its fields, as JSON
	usd    string // known before, and charged
	failed string // what people read when the service fails
}

// house is the bundled files with a simulator in a service's place.
type house struct {
	*httptools.Tools
	server *httptoolstest.Server
	store  *registrytest.Specs
	now    time.Time
}

// picture is a PNG of so many pixels.
func picture(t *testing.T, width, height int) string {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func newHouse(t *testing.T, service httptoolstest.Service) *house {
	t.Helper()
	h := &house{server: httptoolstest.New(t, service), store: &registrytest.Specs{}, now: time.Unix(1_800_000_000, 0)}
	text, err := services.Files.ReadFile(service.Name + ".tool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), service.BaseURL, h.server.URL)
	if changed == string(text) {
		t.Fatalf("%s does not name %s", service.Name, service.BaseURL)
	}
	changed = strings.ReplaceAll(changed, `"*.bfl.ai"`, `"`+strings.TrimPrefix(h.server.Region.URL, "http://")+`"`)
	h.Tools = httptools.New(httptools.Config{
		Bundled: fstest.MapFS{service.Name + ".tool.yaml": {Data: []byte(changed)}}, Store: h.store, Guard: outbound.NewClient([]string{"127.0.0.1"}),
		Lookup: func(string) (string, bool) { return httptoolstest.Key, true }, Now: func() time.Time { return h.now },
	})
	return h
}

func (h *house) tool(t *testing.T, id string) registry.Tool {
	t.Helper()
	tools, err := h.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.ToolID == id {
			return tool
		}
	}
	t.Fatalf("there is no %s", id)
	return registry.Tool{}
}

// call is a run with the defaults of its tool.
func (h *house) call(t *testing.T, r run) registry.Call {
	t.Helper()
	tool := h.tool(t, r.tool)
	inputs := map[string]any{}
	for _, f := range tool.InputSchema {
		if f.Default != nil {
			inputs[f.Name] = f.Default
		}
	}
	for name, value := range r.inputs {
		inputs[name] = value
	}
	return registry.Call{RunID: "run", Handle: "handle", Tool: tool, Inputs: inputs, Media: h.store}
}

func read(t *testing.T, o registry.Output) string {
	t.Helper()
	body, err := o.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantSent checks the request that came last.
func (h *house) wantSent(t *testing.T, r run) {
	t.Helper()
	jobs := h.server.Jobs()
	if len(jobs) == 0 {
		t.Fatal("nothing was sent")
	}
	job := jobs[len(jobs)-1]
	var want map[string]any
	d := json.NewDecoder(strings.NewReader(r.sent))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if path := strings.TrimSuffix(job.Path+"?"+job.Query, "?"); path != r.path || !reflect.DeepEqual(job.Body, want) {
		got, _ := json.Marshal(job.Body)
		t.Errorf("sent to %s\n%s\nwant %s\n%s", path, got, r.path, r.sent)
	}
}

func (h *house) wantPrice(t *testing.T, r run, call registry.Call) {
	t.Helper()
	var pricer registry.Pricer = h.Jobs()
	if got, err := pricer.Price(t.Context(), call); err != nil || strings.TrimRight(got.CostUSD, "0") != r.usd {
		t.Errorf("the price is %q, %v; want %s", got.CostUSD, err, r.usd)
	}
}

// testJobs has runs of a service that works for a while go well and badly.
func testJobs(t *testing.T, service httptoolstest.Service, runs ...run) {
	t.Helper()
	for _, r := range runs {
		t.Run(r.tool, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, service)
			for name, value := range r.inputs {
				r.inputs[name] = h.stored(t, value)
			}
			call := h.call(t, r)
			h.wantPrice(t, r, call)
			ends := func(state httptoolstest.State) registry.Progress {
				ticket, err := h.Jobs().Submit(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				h.now = h.now.Add(time.Minute)
				if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State.Terminal() {
					t.Fatalf("at first: %+v, %v", got, err)
				}
				h.now = h.now.Add(time.Minute)
				h.server.Move(state)
				got, err := h.Jobs().Poll(t.Context(), ticket)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			got := ends(httptoolstest.Done)
			h.wantSent(t, r)
			if got.State != registry.RunSucceeded || strings.TrimRight(got.Result.Usage.CostUSD, "0") != r.usd {
				t.Fatalf("done: %+v %+v", got, got.Result)
			}
			if data := read(t, got.Result.Outputs[0]); !strings.HasPrefix(data, "made") {
				t.Errorf("the result is %q", data)
			}
			if got := ends(httptoolstest.Failed); got.State != registry.RunFailed || !strings.Contains(got.Err.Message, r.failed) {
				t.Errorf("failed: %+v", got)
			}
			if got := ends(httptoolstest.Refused); got.State != registry.RunFailed || got.Result != nil {
				t.Errorf("refused: %+v", got)
			}
		})
	}
}

// stored puts what stands for a picture into the store.
func (h *house) stored(t *testing.T, value any) any {
	t.Helper()
	switch v := value.(type) {
	case image.Point:
		data := picture(t, v.X, v.Y)
		h.store.AddFile("picture.png", "image/png", []byte(data))
		return registry.SpecRef([]byte(data))
	case string:
		if name, data, ok := strings.Cut(v, "file:"); ok && name == "" {
			h.store.AddFile("picture.png", "image/png", []byte(data))
			return registry.SpecRef([]byte(data))
		}
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = h.stored(t, one)
		}
		return list
	}
	return value
}

func TestBlackForestLabs(t *testing.T) {
	t.Parallel()
	two := []any{image.Pt(1024, 1024), image.Pt(1200, 1200)}
	testJobs(t, httptoolstest.BFL(),
		run{
			tool: "bfl.flux2", inputs: map[string]any{"prompt": "a bicycle", "ratio": "16:9"}, path: "/v1/flux-2-pro", usd: "0.03", failed: "it took too long",
			sent: `{"prompt": "a bicycle", "width": 1360, "height": 768, "safety_tolerance": 2, "output_format": "png"}`,
		},
		run{
			tool: "bfl.flux2", inputs: map[string]any{"prompt": "both", "size": "large", "model": "flux-2-klein-4b", "images": two}, path: "/v1/flux-2-klein-4b", usd: "0.018", failed: "it took too long",
			sent: `{"prompt": "both", "width": 1440, "height": 1440, "safety_tolerance": 2, "output_format": "png", "input_image": "` + httptoolstest.InBase64(picture(t, 1024, 1024)) + `", "input_image_2": "` + httptoolstest.InBase64(picture(t, 1200, 1200)) + `"}`,
		},
		run{
			tool: "bfl.flux2flex", inputs: map[string]any{"prompt": "a sign", "seed": json.Number("7")}, path: "/v1/flux-2-flex", usd: "0.05", failed: "it took too long",
			sent: `{"prompt": "a sign", "width": 1024, "height": 1024, "seed": 7, "steps": 50, "guidance": 4.5, "safety_tolerance": 2, "output_format": "png"}`,
		},
		run{
			tool: "bfl.flux11pro", inputs: map[string]any{"prompt": "a cat", "ratio": "2:3"}, path: "/v1/flux-pro-1.1", usd: "0.04", failed: "it took too long",
			sent: `{"prompt": "a cat", "width": 832, "height": 1248}`,
		},
	)
	t.Run("more pictures than the model takes are refused before anything is sent", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, httptoolstest.BFL())
		five := []any{"file:a", "file:b", "file:c", "file:d", "file:e"}
		call := h.call(t, run{tool: "bfl.flux2", inputs: map[string]any{"prompt": "x", "model": "flux-2-klein-4b", "images": h.stored(t, five)}})
		_, err := h.Jobs().Submit(t.Context(), call)
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Field != "images" || len(h.server.Jobs()) != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what the rules refuse is told as that", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, httptoolstest.BFL())
		ticket, err := h.Jobs().Submit(t.Context(), h.call(t, run{tool: "bfl.flux11pro", inputs: map[string]any{"prompt": "x"}}))
		if err != nil {
			t.Fatal(err)
		}
		h.server.Move(httptoolstest.Refused)
		if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.Err == nil || got.Err.Code != registry.CodeRefused {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestRunway(t *testing.T) {
	t.Parallel()
	testJobs(t, httptoolstest.Runway(),
		run{
			tool: "runway.video", inputs: map[string]any{"prompt": "waves", "ratio": "9:16", "duration": json.Number("8")}, path: "/v1/text_to_video", usd: "0.96", failed: "INTERNAL.BAD_OUTPUT",
			sent: `{"model": "gen4.5", "promptText": "waves", "ratio": "720:1280", "duration": 8}`,
		},
		run{
			tool: "runway.animate", inputs: map[string]any{"prompt": "it moves", "image": "file:cat", "ratio": "1:1"}, path: "/v1/image_to_video", usd: "0.6", failed: "INTERNAL.BAD_OUTPUT",
			sent: `{"model": "gen4.5", "promptText": "it moves", "promptImage": [{"uri": "data:image/png;base64,Y2F0", "position": "first"}], "ratio": "960:960", "duration": 5}`,
		},
	)
	t.Run("it is not asked more often than every five seconds, and tells how far it is", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, httptoolstest.Runway())
		ticket, err := h.Jobs().Submit(t.Context(), h.call(t, run{tool: "runway.video", inputs: map[string]any{"prompt": "x"}}))
		if err != nil {
			t.Fatal(err)
		}
		poll := func(after time.Duration) registry.Progress {
			h.now = h.now.Add(after)
			got, err := h.Jobs().Poll(t.Context(), ticket)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		poll(0)
		h.server.Move(httptoolstest.Working)
		asked := h.server.Answered()
		if got := poll(4 * time.Second); got.State != registry.RunQueued || h.server.Answered() != asked {
			t.Errorf("too early: %+v", got)
		}
		if got := poll(time.Second); got.State != registry.RunRunning || !got.HasFraction || got.Fraction != 0.25 {
			t.Errorf("after five seconds: %+v", got)
		}
		if err := h.Jobs().Cancel(t.Context(), ticket); err != nil || h.server.Jobs()[0].State != httptoolstest.Stopped {
			t.Errorf("stopping: %v", err)
		}
	})
}

func TestLuma(t *testing.T) {
	t.Parallel()
	testJobs(t, httptoolstest.Luma(),
		run{
			tool: "luma.image", inputs: map[string]any{"prompt": "a fox", "images": []any{"file:a", "file:b"}}, path: "/generations", usd: "0.0464", failed: "it took too long",
			sent: `{"type": "image", "model": "uni-1", "prompt": "a fox", "aspect_ratio": "1:1", "style": "auto", "output_format": "png",
				"image_ref": [{"data": "YQ==", "media_type": "image/png"}, {"data": "Yg==", "media_type": "image/png"}]}`,
		},
		run{
			tool: "luma.edit", inputs: map[string]any{"prompt": "blue", "image": "file:a"}, path: "/generations", usd: "0.0434", failed: "it took too long",
			sent: `{"type": "image_edit", "model": "uni-1", "prompt": "blue", "output_format": "png", "source": {"data": "YQ==", "media_type": "image/png"}}`,
		},
	)
}

// TestFiles holds all files against what people and operators need of them.
func TestFiles(t *testing.T) {
	secrets := map[string]bool{}
	load := func(set bool) []registry.Tool {
		tools, err := httptools.New(httptools.Config{Bundled: services.Files, Store: &registrytest.Specs{}, Lookup: func(name string) (string, bool) {
			secrets[name] = true
			return "secret", set
		}}).Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}
	for _, tool := range load(true) {
		if tool.State() != registry.StateActive || tool.CommandName == "" || tool.Category == "" || tool.Description == "" || tool.PlatformHints == nil || tool.CostingModel == nil {
			t.Errorf("%s lacks a command, a category, a description, hints or a price, or is %s", tool.ToolID, tool.State())
		}
		for _, f := range tool.InputSchema {
			if f.Label() == f.Name && strings.Contains(f.Name, "_") {
				t.Errorf("%s: people read %s", tool.ToolID, f.Name)
			}
		}
	}
	for _, tool := range load(false) {
		if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "must be set by the operator") || tool.ListedFor(registry.Everyone) || !tool.ListedFor(registry.Insiders) {
			t.Errorf("%s without its key is %s (%+v)", tool.ToolID, tool.State(), tool.Status)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !httptools.IsFile(entry.Name()) {
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			for name := range secrets {
				t.Setenv(name, "secret")
			}
			if _, warnings, err := httptools.Check(filepath.Join(".", entry.Name())); err != nil || len(warnings) > 0 {
				t.Errorf("%v, %v", warnings, err)
			}
		})
	}
}

package services_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
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
	billed string // charged, where it is something else
	refuse bool   // the service refuses httptoolstest.Forbidden
	failed string // what people read when the service fails
}

// house is the bundled files with a simulator in a service's place.
type house struct {
	*httptools.Tools
	line    *registrytest.Line
	restart func()
	server  *httptoolstest.Server
	store   *registrytest.Specs
	now     time.Time
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
	h.line = registrytest.NewLine(t, outbound.NewClient([]string{"127.0.0.1"}).Transport)
	cfg := httptools.Config{
		Bundled: fstest.MapFS{service.Name + ".tool.yaml": {Data: []byte(changed)}}, Store: h.store, Guard: h.line.Client(),
		Lookup: func(string) (string, bool) { return httptoolstest.Key, true }, Now: func() time.Time { return h.now },
	}
	h.restart = func() { h.Tools = httptools.New(cfg) }
	h.restart()
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
	maps.Copy(inputs, r.inputs)
	return registry.Call{RunID: "run", Handle: "handle", Tool: tool, Inputs: inputs, Media: h.store}
}

// short is an amount without what says nothing.
func short(usd string) string { return decimal.Plain(json.Number(usd)) }

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
	if got, err := pricer.Price(t.Context(), call); err != nil || short(got.CostUSD) != r.usd {
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
			if got.State != registry.RunSucceeded || short(got.Result.Usage.CostUSD) != cmp.Or(r.billed, r.usd) {
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

// testCalls has runs of a service that answers at once go well and badly.
func testCalls(t *testing.T, service httptoolstest.Service, runs ...run) {
	t.Helper()
	for _, r := range runs {
		t.Run(r.tool, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, service)
			for name, value := range r.inputs {
				r.inputs[name] = h.stored(t, value)
			}
			call := h.call(t, r)
			if got, err := h.Calls().Price(t.Context(), call); err != nil || short(got.CostUSD) != r.usd {
				t.Errorf("the price is %q, %v; want %s", got.CostUSD, err, r.usd)
			}
			got, err := h.Calls().Call(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			h.wantSent(t, r)
			if billed := short(got.Usage.CostUSD); billed != cmp.Or(r.billed, r.usd) {
				t.Errorf("charged are %s", billed)
			}
			if data := read(t, got.Outputs[0]); !strings.HasPrefix(data, "made") {
				t.Errorf("the result is %q", data)
			}
			h.server.Fail(upstreamtest.Answer(http.StatusBadRequest, service.Wrong(http.StatusBadRequest, "odd values")))
			if _, err := h.Calls().Call(t.Context(), call); registry.AsError(err) == nil || !strings.Contains(err.Error(), "odd values") {
				t.Errorf("a refusal is %v", err)
			}
			if !r.refuse {
				return
			}
			call.Inputs["prompt"] = httptoolstest.Forbidden
			if _, err := h.Calls().Call(t.Context(), call); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeRefused {
				t.Errorf("against the rules is %v", err)
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
	t.Run("it is asked to call back where it can", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, httptoolstest.BFL())
		call := h.call(t, run{tool: "bfl.flux11pro", inputs: map[string]any{"prompt": "x"}})
		call.CallbackURL = "https://bot.example/webhooks/http/r/token"
		if _, err := h.Jobs().Submit(t.Context(), call); err != nil || h.server.Jobs()[0].Body["webhook_url"] != call.CallbackURL {
			t.Errorf("sent %v, %v", h.server.Jobs(), err)
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

func TestKling(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	service := httptoolstest.Kling(func() time.Time { return now.Add(2 * time.Minute) }) // which is off by up to two minutes
	testJobs(t, service,
		run{
			tool: "kling.video", inputs: map[string]any{"prompt": "rain", "duration": json.Number("10"), "mode": "pro"}, path: "/v1/videos/text2video", usd: "1.12", failed: "it took too long",
			sent: `{"model_name": "kling-v3", "prompt": "rain", "duration": "10", "mode": "pro", "aspect_ratio": "16:9"}`,
		},
		run{
			tool: "kling.animate", inputs: map[string]any{"image": "file:a", "model": "kling-v2-6"}, path: "/v1/videos/image2video", usd: "0.21", failed: "it took too long",
			sent: `{"model_name": "kling-v2-6", "image": "YQ==", "duration": "5", "mode": "std"}`,
		},
	)
	t.Run("its token is renewed, and a full account is one to try again", func(t *testing.T) {
		t.Parallel()
		var h *house
		h = newHouse(t, httptoolstest.Kling(func() time.Time { return h.now }))
		call := h.call(t, run{tool: "kling.video", inputs: map[string]any{"prompt": "rain"}})
		for range 3 {
			if _, err := h.Jobs().Submit(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			h.now = h.now.Add(20 * time.Minute)
		}
		h.server.Fail(upstreamtest.Answer(http.StatusOK, map[string]any{"code": 1303, "message": "parallel task over resource pack limit"}))
		if _, err := h.Jobs().Submit(t.Context(), call); registry.AsError(err) == nil || !registry.AsError(err).Retryable {
			t.Errorf("a full account: %v", err)
		}
	})
}

func TestArk(t *testing.T) {
	t.Parallel()
	testJobs(t, httptoolstest.Ark(),
		run{
			tool: "ark.seedance", inputs: map[string]any{"prompt": "wind", "first": "file:a", "images": []any{"file:b", "file:c"}}, path: "/contents/generations/tasks", usd: "1.125", billed: "1", failed: "it took too long",
			sent: `{"model": "dreamina-seedance-2-0-260128", "content": [{"type": "text", "text": "wind"}, {"type": "image_url", "role": "first_frame", "image_url": {"url": "data:image/png;base64,YQ=="}},
				{"type": "image_url", "role": "reference_image", "image_url": {"url": "data:image/png;base64,Yg=="}}, {"type": "image_url", "role": "reference_image", "image_url": {"url": "data:image/png;base64,Yw=="}}],
				"ratio": "16:9", "resolution": "720p", "duration": 5, "generate_audio": true, "watermark": false}`,
		},
		run{
			tool: "ark.seedance", inputs: map[string]any{"prompt": "wind", "model": "seedance-1-0-pro-250528"}, path: "/contents/generations/tasks", usd: "0.28125", billed: "0.25", failed: "it took too long",
			sent: `{"model": "seedance-1-0-pro-250528", "content": [{"type": "text", "text": "wind"}], "ratio": "16:9", "resolution": "720p", "duration": 5, "watermark": false}`,
		},
	)
	testCalls(t, httptoolstest.Ark(), run{
		tool: "ark.seedream", inputs: map[string]any{"prompt": "a pond", "images": []any{"file:a"}}, path: "/images/generations", usd: "0.04",
		sent: `{"model": "seedream-4-5-251128", "prompt": "a pond", "image": ["data:image/png;base64,YQ=="], "response_format": "url", "watermark": false}`,
	})
}

func TestVeo(t *testing.T) {
	t.Parallel()
	testJobs(t, httptoolstest.Veo(), run{
		tool: "google.veo", inputs: map[string]any{"prompt": "a song", "image": "file:a"}, path: "/models/veo-3.1-generate-preview:predictLongRunning", usd: "3.2", failed: "it took too long",
		sent: `{"instances": [{"prompt": "a song", "image": {"bytesBase64Encoded": "YQ==", "mimeType": "image/png"}}], "parameters": {"aspectRatio": "16:9", "resolution": "720p", "durationSeconds": 8}}`,
	})
}

func TestMiniMax(t *testing.T) {
	t.Parallel()
	testJobs(t, httptoolstest.MiniMax(), run{
		tool: "minimax.hailuo", inputs: map[string]any{"prompt": "a dog", "kind": "6 1080P"}, path: "/v1/video_generation", usd: "0.49", failed: "Hailuo 02 failed",
		sent: `{"model": "MiniMax-Hailuo-02", "prompt": "a dog", "duration": 6, "resolution": "1080P", "prompt_optimizer": true}`,
	})
	t.Run("a refusal with status 200 begins nothing", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, httptoolstest.MiniMax())
		h.server.Fail(upstreamtest.Answer(http.StatusOK, map[string]any{"task_id": "", "base_resp": map[string]any{"status_code": 1026, "status_msg": "not this"}}))
		_, err := h.Jobs().Submit(t.Context(), h.call(t, run{tool: "minimax.hailuo", inputs: map[string]any{"prompt": "x"}}))
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeRefused || !strings.Contains(e.Message, "not this") {
			t.Errorf("got %v", err)
		}
	})
}

func TestIdeogram(t *testing.T) {
	t.Parallel()
	// Of the two pictures one is refused, and not charged.
	testCalls(t, httptoolstest.Ideogram(), run{
		tool: "ideogram.v3", inputs: map[string]any{"prompt": "a sign", "ratio": "16:9", "speed": "QUALITY", "count": json.Number("2")}, path: "/v1/ideogram-v3/generate", usd: "0.18", billed: "0.09", refuse: true,
		sent: `{"prompt": "a sign", "aspect_ratio": "16x9", "style_type": "AUTO", "rendering_speed": "QUALITY", "num_images": 2, "magic_prompt": "AUTO"}`,
	})
}

func TestRecraft(t *testing.T) {
	t.Parallel()
	part := `{"image": {"file": "a", "type": "image/png"}, "response_format": "url"}`
	testCalls(t, httptoolstest.Recraft(),
		run{
			tool: "recraft.image", inputs: map[string]any{"prompt": "a logo", "count": json.Number("2")}, path: "/v1/images/generations", usd: "0.07",
			sent: `{"prompt": "a logo", "model": "recraftv4_1", "n": 2, "response_format": "url"}`,
		},
		run{
			tool: "recraft.vector", inputs: map[string]any{"prompt": "a logo"}, path: "/v1/images/generations", usd: "0.08", billed: "0.16",
			sent: `{"prompt": "a logo", "model": "recraftv3_vector", "n": 1, "response_format": "url"}`,
		},
		run{tool: "recraft.cutout", inputs: map[string]any{"image": "file:a"}, path: "/v1/images/removeBackground", usd: "0.01", sent: part},
		run{tool: "recraft.vectorize", inputs: map[string]any{"image": "file:a"}, path: "/v1/images/vectorize", usd: "0.01", sent: part},
		run{tool: "recraft.upscale", inputs: map[string]any{"image": "file:a"}, path: "/v1/images/crispUpscale", usd: "0.004", sent: part},
	)
}

func TestStability(t *testing.T) {
	t.Parallel()
	testCalls(t, httptoolstest.Stability(),
		run{
			tool: "stability.ultra", inputs: map[string]any{"prompt": "a hill"}, path: "/v2beta/stable-image/generate/ultra", usd: "0.08", refuse: true,
			sent: `{"prompt": "a hill", "aspect_ratio": "1:1", "output_format": "png"}`,
		},
		run{
			tool: "stability.ultra", inputs: map[string]any{"prompt": "a hill", "image": "file:a"}, path: "/v2beta/stable-image/generate/ultra", usd: "0.08", refuse: true,
			sent: `{"prompt": "a hill", "aspect_ratio": "1:1", "output_format": "png", "image": {"file": "a", "type": "image/png"}, "strength": "0.5"}`,
		},
		run{
			tool: "stability.sd35", inputs: map[string]any{"prompt": "a hill", "model": "sd3.5-medium"}, path: "/v2beta/stable-image/generate/sd3", usd: "0.035", refuse: true,
			sent: `{"mode": "text-to-image", "model": "sd3.5-medium", "prompt": "a hill", "aspect_ratio": "1:1", "output_format": "png"}`,
		},
	)
	testJobs(t, httptoolstest.Stability(), run{
		tool: "stability.creative", inputs: map[string]any{"prompt": "a hill", "image": "file:a"}, path: "/v2beta/stable-image/upscale/creative", usd: "0.25",
		sent: `{"image": {"file": "a", "type": "image/png"}, "prompt": "a hill", "creativity": "0.3", "output_format": "png"}`,
	})
}

func TestElevenLabs(t *testing.T) {
	t.Parallel()
	testCalls(t, httptoolstest.ElevenLabs(),
		run{
			tool: "elevenlabs.speech", inputs: map[string]any{"text": "Grüße", "voice": "v/1"}, path: "/v1/text-to-speech/v/1?output_format=mp3_44100_128", usd: "0.0012",
			sent: `{"text": "Grüße", "model_id": "eleven_multilingual_v2"}`,
		},
		run{
			tool: "elevenlabs.sound", inputs: map[string]any{"text": "rain"}, path: "/v1/sound-generation", usd: "0.011666666667",
			sent: `{"text": "rain", "duration_seconds": 5, "prompt_influence": 0.3}`,
		},
	)
}

// unstoppable is a service that has no way to stop a run.
type unstoppable struct{ registry.Submitter }

// TestContracts holds services of all manners against what every provider promises. BFL is asked by an address and Veo by a path, and
// neither by an id alone.
func TestContracts(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	for tool, service := range map[string]httptoolstest.Service{
		"runway.video": httptoolstest.Runway(), "kling.video": httptoolstest.Kling(func() time.Time { return at }), "minimax.hailuo": httptoolstest.MiniMax(),
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
				h, n := newHouse(t, service), 0
				call := h.call(t, run{tool: tool, inputs: map[string]any{"prompt": "a cat"}})
				move := func(to httptoolstest.State) func(registry.Ticket) {
					return func(ticket registry.Ticket) { h.server.MoveJob(ticket.ProviderID, to) }
				}
				jobs := func() registry.Submitter {
					if service.Stop == "" {
						return unstoppable{h.Jobs()}
					}
					return h.Jobs()
				}
				return registrytest.SubmitterSetup{
					Submitter: jobs(), Line: h.line, Secret: httptoolstest.Key, Restart: func() registry.Submitter { h.restart(); return jobs() },
					Call: func() registry.Call {
						n++
						next := call
						next.RunID, next.Handle = fmt.Sprint("run-", n), fmt.Sprint("handle-", n)
						return next
					},
					Received: func() int { return len(h.server.Jobs()) },
					Finish:   move(httptoolstest.Done), Fail: move(httptoolstest.Failed),
				}
			})
		})
	}
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
			if f.Label() == f.Name {
				t.Errorf("%s: people read %s", tool.ToolID, f.Name)
			}
			if f.Description != "" && !strings.HasSuffix(f.Description, ".") {
				t.Errorf("%s: %s is cut off: %s", tool.ToolID, f.Name, f.Description)
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

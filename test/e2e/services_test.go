//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/comfydeploy/comfydeploytest"
	"github.com/signalbox/signalbox/providers/fal/faltest"
	"github.com/signalbox/signalbox/providers/imagegen/imagegentest"
	"github.com/signalbox/signalbox/providers/photos/photostest"
	"github.com/signalbox/signalbox/providers/replicate/replicatetest"
	"github.com/signalbox/signalbox/providers/tripo/tripotest"
	"github.com/signalbox/signalbox/providers/vidu/vidutest"
)

// clouds describes Vidu's text to video as data.
const clouds = `
tool:
  toolId: clouds
  displayName: Clouds
  commandName: /clouds
  inputSchema:
    prompt: {type: string, required: true}
  outputSchema:
    video: {type: video}
  costingModel: {rate: 0.5, unit: request, rateSource: api}
  webhookStrategy:
    expectedStatusField: state
    successValue: success
    resultPath: [creations, "0", url]
    costPath: [credits]
    idPath: [id]
http:
  baseURL: %s
  headers: {Authorization: "Token ${CLOUDS_KEY}"}
  submit: {path: /text2video, body: {model: viduq3-pro, prompt: "{{prompt}}", payload: "{{run.handle}}"}}
  poll: {path: "/tasks/{{task.id}}/creations"}
  usdPerCost: 0.005
`

func TestServices(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	pictures, videos, deployed := imagegentest.New(t), vidutest.New(t), comfydeploytest.New(t)
	solids, found, hosted, queued := tripotest.New(t), photostest.New(t), replicatetest.New(t), faltest.New(t)
	deployed.Do(func() { // the program that asks is another process: only the lock tells that this comes first
		deployed.Deployments = []map[string]any{{
			"id": "11111111-1111-4111-8111-111111111111", "workflow_id": "w1", "environment": "production", "machine_id": "m1",
			"workflow": map[string]any{"name": "Paint Over"}, "input_types": []any{map[string]any{"input_id": "prompt", "type": "string", "class_type": "ComfyUIDeployExternalText"}},
		}}
		deployed.Machines = []map[string]any{{"id": "m1", "gpu": "H100", "status": "ready"}}
	})
	dir := t.TempDir()
	p := start(t, spec{env: []string{
		"ADMIN_TOKEN=" + adminToken, "OUTBOUND_ALLOW=127.0.0.1", "TOOLS_DIR=" + dir, "SIGNUP_CREDIT_USD=20", "CLOUDS_KEY=" + vidutest.Key,
		"OPENAI_API_KEY=" + imagegentest.OpenAIKey, "OPENAI_BASE_URL=" + pictures.URL + "/v1", "GEMINI_API_KEY=" + imagegentest.GeminiKey, "GEMINI_BASE_URL=" + pictures.URL,
		"VIDU_API_KEY=" + vidutest.Key, "VIDU_API_URL=" + videos.BaseURL(),
		"TRIPO_API_KEY=" + tripotest.Key, "TRIPO_API_URL=" + solids.BaseURL(),
		"FAL_KEY=" + faltest.Key, "FAL_QUEUE_URL=" + queued.QueueURL(), "FAL_DOCS_URL=" + queued.DocsURL(), "FAL_REST_URL=" + queued.RestURL(), "FAL_MODELS=" + faltest.Model, "FAL_USD_PER_SECOND=0.002", "FAL_PRICES_URL=" + queued.QueueURL(),
		"REPLICATE_API_TOKEN=" + replicatetest.Token, "REPLICATE_API_URL=" + hosted.BaseURL(), "REPLICATE_MODELS=painter/sketch,writer/prose", "REPLICATE_USD_PER_SECOND=0.001",
		"UNSPLASH_ACCESS_KEY=" + photostest.UnsplashKey, "UNSPLASH_API_URL=" + found.UnsplashURL(), "PEXELS_API_KEY=" + photostest.PexelsKey, "PEXELS_API_URL=" + found.PexelsURL(),
		"COMFYDEPLOY_API_KEY=" + comfydeploytest.Key, "COMFYDEPLOY_API_URL=" + deployed.BaseURL(),
	}})
	c := newClient(p, "ann")
	// finish lets the newest task of the service succeed once it is there.
	finish := func(before int) {
		await(t, "the task", func() bool { return len(videos.Tasks()) > before }, p.said)
		videos.Finish(videos.Tasks()[before].ID)
	}
	t.Run("A1 B49 B50 pictures", func(t *testing.T) {
		for _, engine := range []string{"openai", "gemini"} {
			r := c.succeed("image.generate", map[string]any{"prompt": "a red bicycle", "engine": engine})
			if len(r.Outputs) != 1 || r.Outputs[0].Width != 1024 || r.Cost <= 0 || r.Cost > 250_000_000 {
				t.Errorf("%s: %+v", engine, r)
			}
		}
	})
	t.Run("A1 A29 videos, at the price that the service reports", func(t *testing.T) {
		before := len(videos.Tasks())
		id := c.run("vidu.text2video", map[string]any{"prompt": "a cat"}).RunID
		finish(before)
		if r := c.finished(id); r.Status != "succeeded" || r.Cost != 300_000_000 || len(r.Outputs) != 1 {
			t.Errorf("got %+v, want one video for 60 credits at $0.005", r)
		}
	})
	t.Run("A1 A29 a 3D model with its preview", func(t *testing.T) {
		id := c.run("tripo.text_to_model", map[string]any{"prompt": "a chair"}).RunID
		await(t, "the task", func() bool { return len(solids.Tasks()) == 1 }, p.said)
		solids.Finish(solids.Tasks()[0].ID)
		if r := c.finished(id); r.Status != "succeeded" || r.Cost != 250_000_000 || len(r.Outputs) != 3 || r.Outputs[0].Type != "file" || r.Outputs[1].Type != "image" {
			t.Errorf("got %+v, want a model, its preview and its code for 25 credits at $0.01", r)
		}
	})
	t.Run("B3 B47 D85 a photo is found and imported, free of charge", func(t *testing.T) {
		c.succeed("unsplash.search", map[string]any{"query": "bicycle"})
		r := c.succeed("importImage", map[string]any{"provider": "unsplash", "photoId": "a0"})
		if len(r.Outputs) != 5 || r.Outputs[0].Width != 16 || r.Cost != 0 || len(found.Downloads()) != 1 {
			t.Errorf("got %+v, counted %v", r, found.Downloads())
		}
		address := r.Outputs[2].Text
		if !strings.HasPrefix(address, "/uploads/") {
			t.Errorf("the picture is at %q, want a relative address under /uploads/", address)
		}
		c.must(http.StatusOK, http.MethodGet, address, nil, nil)
		if again := c.succeed("importImage", map[string]any{"provider": "unsplash", "photoId": "a0"}); again.Outputs[1].Text != r.Outputs[1].Text || again.Outputs[2].Text != address {
			t.Errorf("imported again it is %q at %q", again.Outputs[1].Text, again.Outputs[2].Text)
		}
		if r := c.succeed("importImage", map[string]any{"provider": "pexels", "photoId": 101}); !strings.HasSuffix(r.Outputs[2].Text, "/pexels-101.jpg") {
			t.Errorf("a photo with a number is at %q", r.Outputs[2].Text)
		}
	})
	t.Run("A1 A24 a model at Replicate, by the second", func(t *testing.T) {
		id := c.run("replicate.painter.sketch", map[string]any{"prompt": "a cat"}).RunID
		await(t, "the prediction", func() bool { return len(hosted.Predictions()) == 1 }, p.said)
		hosted.Finish(hosted.Predictions()[0].ID)
		if r := c.finished(id); r.Status != "succeeded" || r.Cost != 2_500_000 || len(r.Outputs) != 1 {
			t.Errorf("got %+v, want a picture for 2.5 seconds at $0.001", r)
		}
	})
	t.Run("A1 A24 a model at fal.ai, by the second", func(t *testing.T) {
		id := c.run("fal.fal-ai.sketch.fast", map[string]any{"prompt": "a cat"}).RunID
		await(t, "the request", func() bool { return len(queued.Requests()) == 1 }, p.said)
		queued.Finish(queued.Requests()[0].ID)
		if r := c.finished(id); r.Status != "succeeded" || r.Cost != 4_000_000 || len(r.Outputs) != 1 {
			t.Errorf("got %+v, want a picture for two seconds at $0.002", r)
		}
	})
	t.Run("A28 a deployed workflow, at the rate of the GPU that ran it", func(t *testing.T) {
		tool := ""
		for id := range c.tools() {
			if strings.HasPrefix(id, "comfydeploy") {
				tool = id
			}
		}
		id := c.run(tool, map[string]any{"prompt": "a cat"}).RunID
		await(t, "the run", func() bool { return len(deployed.Runs()) == 1 }, p.said)
		address := deployed.File("a.png", imagegentest.Picture(64, 64, "png"))
		deployed.Change(deployed.Runs()[0].ID, func(r *comfydeploytest.Run) {
			r.Status, r.Duration, r.GPU = "success", "10", "H100"
			r.Outputs = []any{map[string]any{"node_id": "9", "data": map[string]any{"images": []any{map[string]any{"url": address, "type": "output", "filename": "a.png"}}}}}
		})
		if r := c.finished(id); r.Status != "succeeded" || r.Cost != 23_380_000 {
			t.Errorf("got %+v, want ten seconds at $0.002338", r)
		}
	})
	t.Run("A72 A78 a new service without Go: a file dropped into TOOLS_DIR", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(dir, "clouds.tool.yaml"), fmt.Appendf(nil, clouds, videos.BaseURL()), 0o644); err != nil {
			t.Fatal(err)
		}
		await(t, "the tool", func() bool { return c.tools()["clouds"] != nil }, p.said)
		before := len(videos.Tasks())
		// The service names a task differently when it is made and when it is asked for: the file gives the latter.
		r := c.finished(c.run("clouds", map[string]any{"prompt": "a cat"}).RunID)
		if r.Status != "failed" || len(videos.Tasks()) != before+1 || !strings.Contains(r.Error.Message, "id") {
			t.Errorf("a wrong idPath: %+v", r)
		}
		if err := os.WriteFile(filepath.Join(dir, "clouds.tool.yaml"), []byte(strings.Replace(fmt.Sprintf(clouds, videos.BaseURL()), "idPath: [id]", "idPath: [task_id]", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		await(t, "the mended tool", func() bool { return strings.Contains(string(c.tools()["clouds"]), "task_id") }, p.said)
		before = len(videos.Tasks())
		id := c.run("clouds", map[string]any{"prompt": "a cat"}).RunID
		finish(before)
		if r := c.finished(id); r.Status != "succeeded" || r.Cost != 300_000_000 {
			t.Errorf("got %+v", r)
		}
	})
	p.stop(os.Interrupt)
	for _, key := range []string{imagegentest.OpenAIKey, imagegentest.GeminiKey, vidutest.Key, tripotest.Key, photostest.UnsplashKey, photostest.PexelsKey, replicatetest.Token, faltest.Key, comfydeploytest.Key} {
		if strings.Contains(p.said(), key) {
			t.Errorf("the log shows the key %s", key)
		}
	}
}

func TestInspectOfToolsOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.tool.yaml"), filepath.Join(dir, "bad.tool.yaml")
	text := strings.Replace(fmt.Sprintf(clouds, "https://clouds.example"), "  headers: {Authorization: \"Token ${CLOUDS_KEY}\"}\n", "", 1)
	for path, content := range map[string]string{good: text, bad: strings.Replace(text, "{{prompt}}", "{{promt}}", 1)} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := run(t, spec{dir: newDir(t), args: []string{"inspect", good}}); r.code != 0 || !strings.Contains(r.stdout, "clouds, Clouds") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	r := run(t, spec{dir: newDir(t), args: []string{"inspect", "--json", good, bad}})
	printed := lines(r.stdout)
	if r.code != 1 || len(printed) != 2 || !slices.ContainsFunc(printed, func(l string) bool { return strings.Contains(l, "{{promt}}") && strings.Contains(l, bad) }) {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

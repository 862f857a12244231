//go:build unix

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/comfydeploy/comfydeploytest"
	"github.com/signalbox/signalbox/providers/fal/faltest"
	"github.com/signalbox/signalbox/providers/imagegen/imagegentest"
	"github.com/signalbox/signalbox/providers/openapi/openapitest"
	"github.com/signalbox/signalbox/providers/photos/photostest"
	"github.com/signalbox/signalbox/providers/remote/remotetest"
	"github.com/signalbox/signalbox/providers/replicate/replicatetest"
	"github.com/signalbox/signalbox/providers/tripo/tripotest"
	"github.com/signalbox/signalbox/providers/vidu/vidutest"
)

// postman stands at PUBLIC_URL and brings what comes there to the program. A third of the callbacks he loses, doubles,
// holds back until another has passed, or lets a forgery go before.
type postman struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	target string
	seen   int
	held   []*http.Request
	did    map[string]int // callbacks by what became of them
}

func newPostman(t testing.TB) *postman {
	m := &postman{t: t, did: map[string]int{}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP takes a letter.
func (m *postman) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/webhooks/") {
		m.hand(w, m.letter(r, body))
		return
	}
	m.mu.Lock()
	m.seen++
	mischief := "brought"
	if m.seen%3 == 0 {
		mischief = []string{"lost", "doubled", "held back", "forged"}[m.seen/3%4]
	}
	m.did[mischief]++
	held := m.held
	m.held = nil
	if mischief == "held back" {
		m.held = []*http.Request{m.letter(r, body)}
	}
	m.mu.Unlock()
	switch mischief {
	case "lost", "held back":
		w.WriteHeader(http.StatusOK)
	case "forged":
		m.forge(r, body)
		m.bring(m.letter(r, body), http.StatusOK)
	case "doubled":
		m.bring(m.letter(r, body), http.StatusOK)
		m.bring(m.letter(r, body), http.StatusOK)
	default:
		m.hand(w, m.letter(r, body))
	}
	for _, late := range held {
		m.bring(late, http.StatusOK)
	}
}

// letter is the request as it goes on to the program.
func (m *postman) letter(r *http.Request, body []byte) *http.Request {
	next, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, m.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		m.t.Error(err)
		return r
	}
	next.Header, next.Host = r.Header.Clone(), r.Host
	return next
}

func (m *postman) hand(w http.ResponseWriter, letter *http.Request) {
	res, err := http.DefaultTransport.RoundTrip(letter)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	maps.Copy(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

func (m *postman) bring(letter *http.Request, want int) {
	res, err := http.DefaultTransport.RoundTrip(letter)
	if err != nil {
		m.t.Error(err)
		return
	}
	res.Body.Close()
	if res.StatusCode != want {
		m.t.Errorf("a callback at %s was answered %d, expected %d", letter.URL.Path[:min(len(letter.URL.Path), 20)], res.StatusCode, want)
	}
}

// forge brings what somebody made up who knows everything but the key: a wrong signature, or a wrong token.
func (m *postman) forge(r *http.Request, body []byte) {
	fake := m.letter(r, bytes.ReplaceAll(body, []byte("success"), []byte("failed")))
	if strings.Count(fake.URL.Path, "/") == 4 { // /webhooks/service/run/token
		fake.URL.Path = flip(fake.URL.Path)
	}
	for name := range fake.Header {
		if strings.HasSuffix(strings.ToLower(name), "signature") {
			fake.Header.Set(name, flip(fake.Header.Get(name)))
		}
	}
	m.bring(fake, http.StatusUnauthorized)
}

// flip changes a character in the last third of a text, where no padding is.
func flip(s string) string {
	at, b := len(s)-10, []byte(s)
	if b[at] == 'a' {
		b[at] = 'b'
	} else {
		b[at] = 'a'
	}
	return string(b)
}

// flush brings what was held back.
func (m *postman) flush() {
	m.mu.Lock()
	held := m.held
	m.held = nil
	m.mu.Unlock()
	for _, late := range held {
		m.bring(late, http.StatusOK)
	}
}

// TestMischief has all services at work at once while callbacks meet with every kind of mischief.
func TestMischief(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	w := newWorld(t)
	const each = 9
	runs := map[string]string{} // tool by run
	for range each {
		for tool, inputs := range w.tools {
			runs[w.ann.run(tool, inputs).RunID] = tool
		}
	}
	w.serve(6 * each) // runs of services that work for a while; the others answer at once
	left := int64(100_000_000_000)
	for id, tool := range runs {
		r := w.ann.finished(id)
		want, price := "succeeded", w.prices[tool]
		if w.fails(id) && w.fallible(tool) {
			want, price = "failed", 0
		}
		if r.Status != want || (price >= 0 && r.Cost != price) || r.Cost < 0 || (want == "succeeded") != (len(r.Outputs) > 0) {
			t.Errorf("%s: %+v; expected it %s for %d", tool, r, want, price)
		}
		left -= r.Cost
	}
	w.post.flush()
	if b := w.ann.balance(); b.Available != left || b.Held != 0 {
		t.Errorf("the wallet has %+v, expected %d and nothing held", b, left)
	}
	w.t.Logf("over %s after the start; callbacks: %v", time.Since(w.program.began), w.post.did)
	for service, made := range map[string]int{
		"Vidu, by Go and by data": len(w.videos.Jobs()) / 2, "ComfyUI Deploy": len(w.deployed.Jobs()), "Tripo": len(w.solids.Jobs()), "Replicate": len(w.hosted.Jobs()), "fal": len(w.queued.Jobs()),
		"the image services": len(w.pictures.Calls()), "remote": len(w.endpoint.Calls()), "OpenAPI": len(w.weather.Received()), "MCP": int(w.greeted.Load()),
	} {
		if made != each {
			t.Errorf("%s: %d for %d runs", service, made, each)
		}
	}
	for _, mischief := range []string{"brought", "lost", "doubled", "held back", "forged"} {
		if w.post.did[mischief] == 0 {
			t.Errorf("no callback was %s: %v", mischief, w.post.did)
		}
	}
	w.program.stop(os.Interrupt)
}

// world is a program with an account at every service.
type world struct {
	t        *testing.T
	post     *postman
	pictures *imagegentest.Server
	videos   *vidutest.Server
	deployed *comfydeploytest.Server
	solids   *tripotest.Server
	hosted   *replicatetest.Server
	queued   *faltest.Server
	endpoint *remotetest.Server
	weather  *openapitest.Server
	greeted  atomic.Int64 // calls of the MCP server's tool
	program  *program
	ann      client
	tools    map[string]map[string]any // inputs by tool
	prices   map[string]int64          // by tool; -1: any
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, post: newPostman(t), pictures: imagegentest.New(t), videos: vidutest.New(t), deployed: comfydeploytest.New(t), solids: tripotest.New(t),
		hosted: replicatetest.New(t), queued: faltest.New(t), endpoint: remotetest.New(t), weather: openapitest.New(t, weather, "key-of-the-weather"),
	}
	w.deployed.Do(func() { // the program that asks is another process: only the lock tells that this comes first
		w.deployed.Deployments = []map[string]any{{
			"id": "11111111-1111-4111-8111-111111111111", "workflow_id": "w1", "environment": "production", "machine_id": "m1",
			"workflow": map[string]any{"name": "Paint Over"}, "input_types": []any{map[string]any{"input_id": "prompt", "type": "string", "class_type": "ComfyUIDeployExternalText"}},
		}}
		w.deployed.Machines = []map[string]any{{"id": "m1", "gpu": "H100", "status": "ready"}}
	})
	w.start()
	w.ann = newClient(w.program, "ann")
	prompt := map[string]any{"prompt": "a cat"}
	w.tools = map[string]map[string]any{
		"vidu.text2video": prompt, "clouds": prompt, "image.generate": prompt, "wallpaper": small(64), "tripo.text_to_model": prompt, "unsplash.search": {"query": "bicycle"},
		"pim.getProduct": {"sku": "CH-100"}, "forecast": {"place": "Bad Ems"}, "library.greet": {"name": "Ann"},
	}
	w.prices = map[string]int64{
		"vidu.text2video": 330_000_000, "clouds": 350_000_000, "image.generate": -1, "wallpaper": -1, "tripo.text_to_model": 250_000_000, "unsplash.search": 0,
		"pim.getProduct": 20_000_000, "forecast": 0, "library.greet": 5_000_000,
	}
	for id := range w.ann.tools() { // of services that name their tools themselves
		service, _, _ := strings.Cut(strings.ReplaceAll(id, "-", "."), ".")
		if price, named := map[string]int64{"comfydeploy": 23_380_000, "replicate": 2_500_000, "fal": 4_000_000}[service]; named {
			w.tools[id], w.prices[id] = prompt, price
		}
	}
	if len(w.tools) != 12 {
		t.Fatalf("expected twelve tools: %v", w.prices)
	}
	return w
}

// start starts the program with all of the services.
func (w *world) start() {
	t, dir, photos := w.t, w.t.TempDir(), photostest.New(w.t)
	margins, manifest, servers, listen := filepath.Join(t.TempDir(), "margins.json"), filepath.Join(t.TempDir(), "tools.json"), filepath.Join(t.TempDir(), "mcp.json"), closedPort(t)
	put(t, margins, `{"vidu": {"markup": "0.1"}, "http": {"minimumUsd": "0.35"}}`)
	put(t, manifest, w.endpoint.Manifest(60_000))
	put(t, servers, fmt.Sprintf(`{"mcpServers": {"library": {"url": %q, "usdPerCall": "0.005"}}}`, w.library()))
	file := strings.Replace(fmt.Sprintf(clouds, w.videos.BaseURL()), "idPath: [id]", "idPath: [task_id]", 1)
	put(t, filepath.Join(dir, "clouds.tool.yaml"), strings.Replace(file, `payload: "{{run.handle}}"`, `payload: "{{run.handle}}", callback_url: "{{run.callback}}"`, 1))
	w.post.target = "http://" + listen
	w.program = start(t, spec{env: []string{
		"LISTEN_ADDR=" + listen, "ADMIN_TOKEN=" + adminToken, "RUNS_AT_ONCE=0", "OUTBOUND_ALLOW=127.0.0.1", "TOOLS_DIR=" + dir, "SIGNUP_CREDIT_USD=100", "CLOUDS_KEY=" + vidutest.Key,
		"PUBLIC_URL=" + w.post.URL, "SERVICE_MARGINS_FILE=" + margins,
		"OPENAI_API_KEY=" + imagegentest.OpenAIKey, "OPENAI_BASE_URL=" + w.pictures.URL + "/v1",
		"TRIPO_API_KEY=" + tripotest.Key, "TRIPO_API_URL=" + w.solids.BaseURL(),
		"UNSPLASH_ACCESS_KEY=" + photostest.UnsplashKey, "UNSPLASH_API_URL=" + photos.UnsplashURL(),
		"VIDU_API_KEY=" + vidutest.Key, "VIDU_API_URL=" + w.videos.BaseURL(),
		"COMFYDEPLOY_API_KEY=" + comfydeploytest.Key, "COMFYDEPLOY_API_URL=" + w.deployed.BaseURL(),
		"FAL_KEY=" + faltest.Key, "FAL_QUEUE_URL=" + w.queued.QueueURL(), "FAL_DOCS_URL=" + w.queued.DocsURL(), "FAL_REST_URL=" + w.queued.RestURL(), "FAL_MODELS=" + faltest.Model, "FAL_USD_PER_SECOND=0.002", "FAL_PRICES_URL=" + w.queued.QueueURL(),
		"REPLICATE_API_TOKEN=" + replicatetest.Token, "REPLICATE_API_URL=" + w.hosted.BaseURL(), "REPLICATE_MODELS=painter/sketch", "REPLICATE_USD_PER_SECOND=0.001",
		"ORCHESTRATOR_TOOL_MANIFEST_PATH=" + manifest, "MCP_SERVERS=" + servers,
		"OPENAPI_DOCS=weather=" + w.weather.URL + "/openapi.yaml", "OPENAPI_ALLOW=forecast", "OPENAPI_WEATHER_KEY_KEY=key-of-the-weather",
	}})
}

// library starts an MCP server with one tool and gives its address.
func (w *world) library() string {
	server := sdk.NewServer(&sdk.Implementation{Name: "library"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Greets.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Name string `json:"name"`
		}) (*sdk.CallToolResult, any, error) {
			w.greeted.Add(1)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + in.Name}}}, nil, nil
		})
	site := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	w.t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return site.URL
}

// fallible reports whether the runs of a tool may fail at their service: those that a service can tell apart.
func (w *world) fallible(tool string) bool {
	return tool == "vidu.text2video" || tool == "clouds" || strings.HasPrefix(tool, "comfydeploy") || strings.HasPrefix(tool, "replicate") || strings.HasPrefix(tool, "fal")
}

// fails decides which runs fail at their service: about a quarter.
func (w *world) fails(runID string) bool { return uuid.MustParse(runID)[15]%4 == 0 }

// serve lets the services do their work and report it, run by run as they come.
func (w *world) serve(runs int) {
	w.t.Helper()
	done := map[string]bool{}
	await(w.t, "the services to have all runs", func() bool {
		for _, service := range []struct {
			jobs upstreamtest.Jobs
			fail func(id string) // nil: its runs can't be told apart
		}{
			{w.videos, w.stopFilm},
			{w.deployed, func(id string) {
				w.deployed.Change(id, func(r *comfydeploytest.Run) { r.Status = "failed" })
			}},
			{w.solids, nil},
			{w.hosted, func(id string) {
				w.hosted.Change(id, func(p *replicatetest.Prediction) { p.Status, p.Error = "failed", "out of paper" })
			}},
			{w.queued, w.queued.Refuse},
		} {
			for _, id := range service.jobs.Jobs() {
				if !done[id] {
					done[id] = true
					w.work(service.jobs, id, service.fail)
				}
			}
		}
		return len(done) == runs
	}, w.program.said)
}

// work brings a job to its end and reports it on the way, first by a report that comes too early: it must not be believed.
func (w *world) work(jobs upstreamtest.Jobs, id string, fail func(id string)) {
	w.t.Helper()
	jobs.Work(id)
	report, _ := jobs.Report(id)
	if early, ok := jobs.Report(id); ok && jobs != upstreamtest.Jobs(w.deployed) { // which sends its own
		early.Body = bytes.Replace(early.Body, []byte(`"processing"`), []byte(`"success"`), 1)
		w.send(early)
	}
	if fail != nil && w.fails(runOf(report.Address)) {
		fail(id)
	} else {
		jobs.Finish(id)
	}
	if report, ok := jobs.Report(id); ok && jobs != upstreamtest.Jobs(w.deployed) {
		w.send(report)
	}
}

// runOf is the run that an address for reports is of: /webhooks/service/run.
func runOf(address string) string {
	_, path, _ := strings.Cut(address, "/webhooks/")
	parts := strings.Split(path, "/")
	return parts[1]
}

func (w *world) send(report upstreamtest.Report) {
	w.t.Helper()
	if _, err := report.Send(context.WithoutCancel(w.t.Context())); err != nil {
		w.t.Error(err)
	}
}

func (w *world) stopFilm(id string) {
	w.videos.Change(id, func(t *vidutest.Task) { t.State, t.ErrCode = "failed", "CreationPolicyViolation" })
}

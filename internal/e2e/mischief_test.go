//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/providers/comfydeploy/comfydeploytest"
	"github.com/signalbox/signalbox/providers/imagegen/imagegentest"
	"github.com/signalbox/signalbox/providers/photos/photostest"
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
	for name, values := range res.Header {
		w.Header()[name] = values
	}
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
	if strings.HasPrefix(fake.URL.Path, "/webhooks/vidu/") {
		fake.Header.Set("X-Hmac-Signature", flip(fake.Header.Get("X-Hmac-Signature")))
	} else {
		fake.URL.Path = flip(fake.URL.Path)
	}
	m.bring(fake, http.StatusUnauthorized)
}

// flip changes a character in the last third of a text, where no padding is.
func flip(s string) string {
	at, b := len(s)-10, []byte(s)
	if b[at] == 'A' {
		b[at] = 'B'
	} else {
		b[at] = 'A'
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
	w.serve(4 * each)
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
	w.t.Logf("callbacks: %v", w.post.did)
	if films, deployed, solids := len(w.videos.Tasks()), len(w.deployed.Runs()), len(w.solids.Tasks()); films != 2*each || deployed != each || solids != each {
		t.Errorf("%d videos, %d deployed runs and %d models, expected one for each of %d, %d and %d runs", films, deployed, solids, 2*each, each, each)
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
	program  *program
	ann      client
	tools    map[string]map[string]any // inputs by tool
	prices   map[string]int64          // by tool; -1: any
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, post: newPostman(t), pictures: imagegentest.New(t), videos: vidutest.New(t), deployed: comfydeploytest.New(t), solids: tripotest.New(t)}
	photos := photostest.New(t)
	w.deployed.Deployments = []map[string]any{{
		"id": "11111111-1111-4111-8111-111111111111", "workflow_id": "w1", "environment": "production", "machine_id": "m1",
		"workflow": map[string]any{"name": "Paint Over"}, "input_types": []any{map[string]any{"input_id": "prompt", "type": "string", "class_type": "ComfyUIDeployExternalText"}},
	}}
	w.deployed.Machines = []map[string]any{{"id": "m1", "gpu": "H100", "status": "ready"}}
	dir := t.TempDir()
	margins, listen := filepath.Join(t.TempDir(), "margins.json"), closedPort(t)
	put(t, margins, `{"vidu": {"markup": "0.1"}, "http": {"minimumUsd": "0.35"}}`)
	file := strings.Replace(fmt.Sprintf(clouds, w.videos.BaseURL()), "idPath: [id]", "idPath: [task_id]", 1)
	put(t, filepath.Join(dir, "clouds.tool.yaml"), strings.Replace(file, `payload: "{{run.handle}}"`, `payload: "{{run.handle}}", callback_url: "{{run.callback}}"`, 1))
	w.post.target = "http://" + listen
	w.program = start(t, spec{env: []string{
		"LISTEN_ADDR=" + listen, "ADMIN_TOKEN=" + adminToken, "OUTBOUND_ALLOW=127.0.0.1", "TOOLS_DIR=" + dir, "SIGNUP_CREDIT_USD=100", "CLOUDS_KEY=" + vidutest.Key,
		"PUBLIC_URL=" + w.post.URL, "SERVICE_MARGINS_FILE=" + margins,
		"OPENAI_API_KEY=" + imagegentest.OpenAIKey, "OPENAI_BASE_URL=" + w.pictures.URL + "/v1",
		"TRIPO_API_KEY=" + tripotest.Key, "TRIPO_API_URL=" + w.solids.BaseURL(),
		"UNSPLASH_ACCESS_KEY=" + photostest.UnsplashKey, "UNSPLASH_API_URL=" + photos.UnsplashURL(),
		"VIDU_API_KEY=" + vidutest.Key, "VIDU_API_URL=" + w.videos.BaseURL(),
		"COMFYDEPLOY_API_KEY=" + comfydeploytest.Key, "COMFYDEPLOY_API_URL=" + w.deployed.BaseURL(),
	}})
	w.ann = newClient(w.program, "ann")
	prompt := map[string]any{"prompt": "a cat"}
	w.tools = map[string]map[string]any{"vidu.text2video": prompt, "clouds": prompt, "image.generate": prompt, "wallpaper": {"colors": 5},
		"tripo.text_to_model": prompt, "unsplash.search": {"query": "bicycle"}}
	w.prices = map[string]int64{"vidu.text2video": 330_000_000, "clouds": 350_000_000, "image.generate": -1, "wallpaper": -1, "tripo.text_to_model": 250_000_000, "unsplash.search": 0}
	for id := range w.ann.tools() {
		if strings.HasPrefix(id, "comfydeploy") {
			w.tools[id], w.prices[id] = prompt, 23_380_000
		}
	}
	if len(w.tools) != 7 {
		t.Fatalf("the deployed workflow is not there: %v", w.prices)
	}
	return w
}

// fallible reports whether the runs of a tool may fail at their service: those that a service can tell apart.
func (w *world) fallible(tool string) bool {
	return tool == "vidu.text2video" || tool == "clouds" || strings.HasPrefix(tool, "comfydeploy")
}

// fails decides which runs fail at their service: about a quarter.
func (w *world) fails(runID string) bool { return uuid.MustParse(runID)[15]%4 == 0 }

// serve lets the services do their work and report it, run by run as they come.
func (w *world) serve(runs int) {
	w.t.Helper()
	address := w.deployed.File("a.png", imagegentest.Picture(64, 64, "png"))
	done := map[string]bool{}
	await(w.t, "the services to have all runs", 2*time.Minute, func() bool {
		for _, task := range w.videos.Tasks() {
			if !done[task.ID] {
				done[task.ID] = true
				w.film(task)
			}
		}
		for _, run := range w.deployed.Runs() {
			if !done[run.ID] {
				done[run.ID] = true
				w.paint(run, address)
			}
		}
		for _, task := range w.solids.Tasks() {
			if !done[task.ID] {
				done[task.ID] = true
				w.solids.Finish(task.ID)
			}
		}
		return len(done) == runs
	}, w.program.said)
}

// film ends a task and reports it, after a report that says so too early: it must not be believed.
func (w *world) film(task vidutest.Task) {
	w.report(task, "success")
	if w.fails(task.Body["payload"].(string)) {
		w.videos.Change(task.ID, func(t *vidutest.Task) { t.State, t.ErrCode = "failed", "CreationPolicyViolation" })
		w.report(task, "failed")
		return
	}
	w.videos.Finish(task.ID)
	w.report(task, "success")
}

func (w *world) report(task vidutest.Task, state string) {
	address, _ := task.Body["callback_url"].(string)
	body, err := json.Marshal(map[string]any{"id": task.ID, "state": state, "creations": []any{}})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := vidutest.Callback(vidutest.Key, address, time.Now(), uuid.NewString(), body)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	res.Body.Close()
}

func (w *world) paint(run comfydeploytest.Run, address string) {
	w.deployed.Change(run.ID, func(r *comfydeploytest.Run) { r.Status = "running" })
	fails := w.fails(run.Inputs["signalbox_handle"].(string))
	w.deployed.Change(run.ID, func(r *comfydeploytest.Run) {
		if r.Status, r.Duration, r.GPU = "success", "10", "H100"; fails {
			r.Status = "failed"
			return
		}
		r.Outputs = []any{map[string]any{"node_id": "9", "data": map[string]any{"images": []any{map[string]any{"url": address, "type": "output", "filename": "a.png"}}}}}
	})
}

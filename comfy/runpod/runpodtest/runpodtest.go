// Package runpodtest imitates a serverless endpoint of RunPod with worker-comfyui 5 for tests: strict about what it is sent, with a ComfyUI server of
// comfytest as its worker, jobs that wait until the test lets them go, and faults on demand.
package runpodtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/graph"
)

const (
	// Key is the one that the endpoint takes.
	Key = "rpa_runpodtest_key"
	// Took is what it says that each job worked, in ms.
	Took = 2345.0

	patience = time.Minute
)

// Server is one endpoint. All methods may be called at once from many goroutines.
type Server struct {
	t      testing.TB
	worker *comfytest.Server
	http   *httptest.Server
	jobs   sync.WaitGroup

	mu     sync.Mutex
	known  map[string]*job
	faults map[string][]http.HandlerFunc // by the operation: run, status, cancel, health
	calls  map[string]int
	held   bool
	ending string // status that jobs end with instead of working
	urls   bool   // results by address
}

type job struct {
	status string
	output any
	fault  string
	done   chan struct{}
	files  map[string][]byte // for results by address
	prompt json.RawMessage
}

// New starts an endpoint that ends with the test and whose jobs worker does.
func New(t testing.TB, worker *comfytest.Server) *Server {
	t.Helper()
	s := &Server{t: t, worker: worker, known: map[string]*job{}, faults: map[string][]http.HandlerFunc{}, calls: map[string]int{}}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request){
		"POST /v2/{endpoint}/run": s.run, "GET /v2/{endpoint}/status/{id}": s.status, "POST /v2/{endpoint}/cancel/{id}": s.cancel, "GET /v2/{endpoint}/health": s.health,
	} {
		mux.HandleFunc(pattern, s.checked(handle))
	}
	mux.HandleFunc("GET /files/{id}/{name}", s.file)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("runpodtest: there is no %s %s", r.Method, r.URL.Path)
		http.NotFound(w, r)
	})
	s.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Release()
		s.jobs.Wait()
		s.http.Close()
	})
	return s
}

// URL is the endpoint's address.
func (s *Server) URL() string { return s.http.URL + "/v2/abc123" }

// Fail has the next call of an operation (run, status, cancel, health) answered by do.
func (s *Server) Fail(operation string, do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[operation] = append(s.faults[operation], do)
}

// Answer gives a fixed answer.
func Answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// CutAfterRun takes the job and breaks the connection instead of answering.
func (s *Server) CutAfterRun(_ http.ResponseWriter, r *http.Request) {
	s.run(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Hold keeps jobs in the queue until Release.
func (s *Server) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// Release lets the held jobs go.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	for _, j := range s.known {
		s.begin(j)
	}
}

// EndWith has jobs end with a status such as FAILED or TIMED_OUT, and results given by address instead of base64 where urls is set.
func (s *Server) EndWith(status string, urls bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending, s.urls = status, urls
}

// Forget has the endpoint know none of its jobs any more, as half an hour after their end.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.known)
}

// Calls is how often an operation was called.
func (s *Server) Calls(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

// Statuses are those of all jobs, sorted.
func (s *Server) Statuses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, j := range s.known {
		list = append(list, j.status)
	}
	slices.Sort(list)
	return list
}

// checked counts a call, insists on the key, and lets a scripted fault answer.
func (s *Server) checked(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		operation := strings.Split(r.URL.Path, "/")[3]
		if r.Header.Get("Authorization") != "Bearer "+Key {
			http.Error(w, `{"error": "unauthorized"}`, http.StatusUnauthorized)
			return
		}
		s.mu.Lock()
		s.calls[operation]++
		do := handle
		if waiting := s.faults[operation]; len(waiting) > 0 {
			do, s.faults[operation] = waiting[0], waiting[1:]
		}
		s.mu.Unlock()
		do(w, r)
	}
}

// input is what worker-comfyui takes; anything else it passes over, and nobody should send it.
type input struct {
	Input struct {
		Workflow json.RawMessage `json:"workflow"`
		Images   []struct {
			Name  string `json:"name"`
			Image string `json:"image"`
		} `json:"images"`
		PartnerKey string `json:"comfy_org_api_key"`
	} `json:"input"`
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if len(body) > 10<<20 {
		s.t.Errorf("runpodtest: a body of %d bytes; 10 MB are taken", len(body))
	}
	var in input
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var prompt graph.Prompt
	if err := d.Decode(&in); err != nil {
		s.t.Errorf("runpodtest: POST run: %v", err)
	} else if err := json.Unmarshal(in.Input.Workflow, &prompt); err != nil || len(prompt) == 0 {
		s.t.Errorf("runpodtest: POST run: input.workflow is no prompt: %v", err)
	}
	j := &job{status: "IN_QUEUE", done: make(chan struct{}), files: map[string][]byte{}, prompt: in.Input.Workflow}
	for _, image := range in.Input.Images {
		data, err := base64.StdEncoding.DecodeString(image.Image)
		if err != nil || image.Name == "" || len(data) == 0 {
			s.t.Errorf("runpodtest: the image %q is no file in base64: %v", image.Name, err)
		}
		j.files[image.Name] = data
	}
	id := uuid.NewString() + "-e1"
	s.mu.Lock()
	s.known[id] = j
	if !s.held {
		s.begin(j)
	}
	s.mu.Unlock()
	answer(w, map[string]any{"id": id, "status": "IN_QUEUE"})
}

// begin has the worker do a job that waits. The caller holds the mutex.
func (s *Server) begin(j *job) {
	if j.status != "IN_QUEUE" {
		return
	}
	j.status = "IN_PROGRESS"
	ending, urls := s.ending, s.urls
	s.jobs.Go(func() {
		defer close(j.done)
		status, output, fault := ending, any(nil), "[Errno 2] /comfyui/models/secret.safetensors"
		if ending == "" {
			status, output, fault = s.work(j, urls)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if j.status == "IN_PROGRESS" {
			j.status, j.output, j.fault = status, output, fault
		}
	})
}

// work does what the worker's handler does: it uploads the files, runs the prompt, and gives back the pictures that are no temporary ones.
func (s *Server) work(j *job, urls bool) (status string, output any, fault string) {
	images, err := s.pictures(j)
	if err != nil {
		return "FAILED", nil, err.Error()
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(images)) {
		entry := map[string]any{"filename": name, "type": "base64", "data": base64.StdEncoding.EncodeToString(images[name])}
		if urls {
			entry["type"], entry["data"] = "s3_url", s.http.URL+"/files/x/"+url.PathEscape(name)
			s.mu.Lock()
			j.files["/"+name] = images[name]
			s.mu.Unlock()
		}
		list = append(list, entry)
	}
	return "COMPLETED", map[string]any{"images": list}, ""
}

func (s *Server) pictures(j *job) (map[string][]byte, error) {
	ctx := s.t.Context()
	u := s.worker.URL()
	client := api.New(u, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
	for name, data := range j.files {
		if _, err := client.Upload(ctx, name, bytes.NewReader(data)); err != nil {
			return nil, err
		}
	}
	var prompt graph.Prompt
	if err := json.Unmarshal(j.prompt, &prompt); err != nil {
		return nil, err
	}
	id := uuid.NewString()
	if _, err := client.Submit(ctx, prompt, api.SubmitOptions{PromptID: id, ClientID: id}); err != nil {
		return nil, err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		entry, over, err := client.History(ctx, id)
		if err != nil {
			return nil, err
		}
		if over {
			if o := entry.Outcome(); !o.Success {
				return nil, fmt.Errorf("workflow execution failed: %s", o.Exception)
			}
			return fetch(s, client, prompt, entry)
		}
		select {
		case <-tick.C:
		case <-deadline:
			return nil, fmt.Errorf("the worker is still at work after %s", patience)
		}
	}
}

func fetch(s *Server, client *api.Client, prompt graph.Prompt, entry api.HistoryEntry) (map[string][]byte, error) {
	images := map[string][]byte{}
	for _, n := range prompt {
		for _, r := range entry.Results(n.ID) {
			if r.Kind != "image" || r.File.Type == "temp" {
				continue
			}
			content, err := client.View(s.t.Context(), r.File)
			if err != nil {
				return nil, err
			}
			data, err := io.ReadAll(content)
			content.Close()
			if err != nil {
				return nil, err
			}
			images[r.File.Filename] = data
		}
	}
	return images, nil
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.known[id]
	if j == nil {
		http.Error(w, `{"error": "job not found"}`, http.StatusNotFound)
		return
	}
	body := map[string]any{"id": id, "status": j.status}
	switch j.status {
	case "COMPLETED":
		body["output"], body["executionTime"], body["delayTime"] = j.output, Took, 12
	case "FAILED", "TIMED_OUT":
		body["error"], body["executionTime"] = j.fault, Took
	}
	answer(w, body)
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.known[r.PathValue("id")]
	if j == nil {
		http.Error(w, `{"error": "job not found"}`, http.StatusNotFound)
		return
	}
	if j.status == "IN_QUEUE" || j.status == "IN_PROGRESS" {
		j.status = "CANCELLED"
	}
	answer(w, map[string]any{"id": r.PathValue("id"), "status": j.status})
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := map[string]int{}
	for _, j := range s.known {
		count[j.status]++
	}
	answer(w, map[string]any{
		"jobs":    map[string]any{"inQueue": count["IN_QUEUE"], "inProgress": count["IN_PROGRESS"], "completed": count["COMPLETED"], "failed": count["FAILED"], "retried": 0},
		"workers": map[string]any{"idle": 1, "running": 0},
	})
}

// file gives a result by address, to whoever asks: the key has no business there.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		s.t.Errorf("runpodtest: the key was sent to the store of files")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.known {
		if data, ok := j.files["/"+r.PathValue("name")]; ok {
			_, _ = w.Write(data)
			return
		}
	}
	http.NotFound(w, r)
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// Package comfydeploytest imitates the API of ComfyUI Deploy, strictly: what it would refuse is refused in
// its words, runs go on as the test says, and webhooks are sent, unsigned and up to three times, as the
// service does. Faults make answers go wrong.
package comfydeploytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Key is the account's key.
const Key = "cd-test-key"

// Run is a run as the service keeps it.
type Run struct {
	ID, DeploymentID, WorkflowID string
	Status, LiveStatus           string
	Progress                     float64
	QueuePosition                int
	Inputs                       map[string]any
	Webhook                      string
	Intermediate                 bool
	GPU                          string
	Duration                     json.Number   // run_duration, seconds
	Began                        time.Time     // started_at; zero: the service does not say
	Took                         time.Duration // until ended_at
	Outputs                      []any
	Attempts                     int // of the last webhook
}

var _ upstreamtest.Jobs = (*Server)(nil)

// Server is the service. Deployments, Workflows, Machines, Versions and Prices are what it lists; change
// them before the first request, or with Do.
type Server struct {
	*upstreamtest.Server
	*upstreamtest.Kept[Run]
	Deployments, Workflows, Machines []map[string]any
	Versions                         map[string]map[string]any // by "workflow/number"
	Prices                           map[string]any
	Down                             bool // everything is answered with 503
	Quiet                            bool // no webhook is sent by itself; a test sends what Report gives

	t     testing.TB
	files map[string][]byte
	reads map[string]int // requests by path
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Kept: upstreamtest.NewKept(t, func(job *Run) string { return job.ID }), t: t, Versions: map[string]map[string]any{}, files: map[string][]byte{}, reads: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/deployments", func(w http.ResponseWriter, r *http.Request) {
		fluid := r.URL.Query().Get("is_fluid") == "true" // no without it
		s.list("page_size", func() []map[string]any {
			return slices.DeleteFunc(slices.Clone(s.Deployments), func(d map[string]any) bool { return (d["modal_image_id"] != nil) != fluid })
		})(w, r)
	})
	mux.HandleFunc("GET /api/workflows", s.list("limit", func() []map[string]any { return s.Workflows }))
	mux.HandleFunc("GET /api/machines", s.list("limit", func() []map[string]any { return s.Machines }))
	mux.HandleFunc("GET /api/platform/gpu-pricing", func(w http.ResponseWriter, _ *http.Request) { upstreamtest.WriteJSON(w, http.StatusOK, s.Prices) })
	mux.HandleFunc("GET /api/workflow/{id}/version/{n}", s.version)
	mux.HandleFunc("GET /api/workflow/{id}/runs", s.workflowRuns)
	mux.HandleFunc("POST /api/run/deployment/queue", s.queue)
	mux.HandleFunc("GET /api/run/{id}", s.run)
	mux.HandleFunc("POST /api/run/{id}/cancel", s.cancel)
	mux.HandleFunc("POST /api/assets/upload", s.upload)
	mux.HandleFunc("GET /files/{name}", s.file)
	s.Server = upstreamtest.New(t, mux, 64<<20, s.guard)
	return s
}

// BaseURL is the address of the API.
func (s *Server) BaseURL() string { return s.URL + "/api" }

// Do changes what the server has while nobody reads it.
func (s *Server) Do(change func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	change()
}

// Refuse is a fault that answers with a status and a detail.
func Refuse(status int, text any) upstreamtest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { detail(w, status, text) }
}

// Reads counts the requests of a path.
func (s *Server) Reads(path string) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.reads[path]
}

// File stores a file and gives its address.
func (s *Server) File(name string, content []byte) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.files[name] = content
	return s.URL + "/files/" + name
}

// Runs lists all runs, oldest first.
func (s *Server) Runs() []Run { return s.List() }

// Change moves a run on and reports it by its webhook: any change where the run asked for those, else only
// its end.
func (s *Server) Change(id string, change func(*Run)) {
	var copied Run
	var quiet bool
	s.Kept.Change(id, func(r *Run) {
		change(r)
		copied, quiet = *r, s.Quiet
	})
	if !quiet && copied.Webhook != "" && (copied.Intermediate || over(copied.Status)) {
		s.report(copied)
	}
}

func over(status string) bool {
	return slices.Contains([]string{"success", "failed", "timeout", "cancelled"}, status)
}

// report sends a webhook at once, three times at most.
func (s *Server) report(r Run) {
	body := s.said(r)
	for attempt := 1; attempt <= 3; attempt++ {
		res, err := http.Post(r.Webhook, "application/json", bytes.NewReader(body))
		s.Do(func() { s.Find(r.ID).Attempts = attempt })
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode >= 200 && res.StatusCode < 300 {
			return
		}
	}
}

// guard counts requests and asks for the key.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) bool {
	s.Mu.Lock()
	s.reads[r.URL.Path]++
	down := s.Down
	s.Mu.Unlock()
	switch {
	case down:
		detail(w, http.StatusServiceUnavailable, "Service Unavailable")
	case r.Header.Get("Authorization") != "Bearer "+Key && strings.HasPrefix(r.URL.Path, "/api/"):
		detail(w, http.StatusUnauthorized, "Invalid or expired token")
	default:
		return true
	}
	return false
}

func detail(w http.ResponseWriter, status int, text any) {
	upstreamtest.WriteJSON(w, status, map[string]any{"detail": text})
}

// list gives a page of a list, or all of it where no size is given: a parameter of another name is not looked at.
func (s *Server) list(size string, all func() []map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		list := all()
		if !r.URL.Query().Has(size) {
			upstreamtest.WriteJSON(w, http.StatusOK, append([]map[string]any{}, list...))
			return
		}
		limit, err := strconv.Atoi(r.URL.Query().Get(size))
		offset, err2 := strconv.Atoi(r.URL.Query().Get("offset"))
		if err != nil || err2 != nil || limit < 1 || limit > 100 || offset < 0 {
			detail(w, http.StatusUnprocessableEntity, []any{map[string]any{"loc": []any{"query", size}, "msg": "value is not valid", "type": "int_parsing"}})
			return
		}
		offset = min(offset, len(list))
		upstreamtest.WriteJSON(w, http.StatusOK, append([]map[string]any{}, list[offset:min(offset+limit, len(list))]...))
	}
}

func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if v, known := s.Versions[r.PathValue("id")+"/"+r.PathValue("n")]; known {
		upstreamtest.WriteJSON(w, http.StatusOK, v)
		return
	}
	detail(w, http.StatusNotFound, "Workflow version not found")
}

func (s *Server) queue(w http.ResponseWriter, r *http.Request) {
	var body struct {
		DeploymentID string         `json:"deployment_id"`
		Inputs       map[string]any `json:"inputs"`
		Webhook      string         `json:"webhook"`
		Intermediate bool           `json:"webhook_intermediate_status"`
		GPU          string         `json:"gpu"`
	}
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		detail(w, http.StatusUnprocessableEntity, []any{map[string]any{"loc": []any{"body"}, "msg": err.Error(), "type": "json_invalid"}})
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i := slices.IndexFunc(s.Deployments, func(one map[string]any) bool { return one["id"] == body.DeploymentID })
	if i < 0 {
		detail(w, http.StatusNotFound, "Deployment not found")
		return
	}
	run := &Run{
		ID: uuid.NewString(), DeploymentID: body.DeploymentID, WorkflowID: fmt.Sprint(s.Deployments[i]["workflow_id"]), Status: "not-started",
		Inputs: body.Inputs, Webhook: body.Webhook, Intermediate: body.Intermediate, GPU: "A10G",
	}
	s.All = append(s.All, run)
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"run_id": run.ID})
}

func (r Run) view() map[string]any {
	v := map[string]any{
		"id": r.ID, "workflow_id": r.WorkflowID, "workflow_inputs": r.Inputs, "status": r.Status, "live_status": r.LiveStatus, "progress": r.Progress,
		"queue_position": r.QueuePosition, "gpu": r.GPU, "webhook": r.Webhook, "outputs": r.Outputs, "run_duration": nil,
	}
	if r.Duration != "" {
		v["run_duration"] = r.Duration
	}
	if !r.Began.IsZero() {
		v["started_at"], v["ended_at"] = r.Began.UTC().Format(time.RFC3339Nano), r.Began.Add(r.Took).UTC().Format(time.RFC3339Nano)
	}
	return v
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if run := s.Find(r.PathValue("id")); run != nil {
		upstreamtest.WriteJSON(w, http.StatusOK, run.view())
		return
	}
	detail(w, http.StatusNotFound, "Run not found")
}

// workflowRuns lists the newest first.
func (s *Server) workflowRuns(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	views := []any{}
	for i := len(s.All) - 1; i >= 0; i-- {
		if s.All[i].WorkflowID == r.PathValue("id") {
			views = append(views, s.All[i].view())
		}
	}
	upstreamtest.WriteJSON(w, http.StatusOK, views)
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	run := s.Find(r.PathValue("id"))
	switch {
	case run == nil:
		detail(w, http.StatusNotFound, "Run not found")
	case over(run.Status):
		detail(w, http.StatusBadRequest, "Run is already over")
	default:
		run.Status = "cancelled"
		upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"success": true, "message": "Run cancelled"})
	}
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	f, header, err := r.FormFile("file")
	if err != nil {
		detail(w, http.StatusUnprocessableEntity, []any{map[string]any{"loc": []any{"body", "file"}, "msg": "Field required", "type": "missing"}})
		return
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		s.t.Error(err)
		return
	}
	name := uuid.NewString() + "-" + header.Filename
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"id": uuid.NewString(), "name": header.Filename, "url": s.File(name, content), "file_size": len(content)})
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	content, known := s.files[r.PathValue("name")]
	s.Mu.Unlock()
	if !known {
		w.WriteHeader(http.StatusForbidden) // as addresses that have expired
		return
	}
	w.Write(content)
}

// Work lets a run be worked on.
func (s *Server) Work(id string) {
	s.Change(id, func(r *Run) { r.Status, r.Progress = "running", 0.4 })
}

// Finish lets a run succeed with one picture after ten seconds on an H100.
func (s *Server) Finish(id string) { s.end(id, "10", s.File("a.png", []byte("picture of "+id))) }

// Hollow lets a run succeed without output.
func (s *Server) Hollow(id string) { s.end(id, "10", "") }

// Expire lets a run succeed with a picture whose address has expired.
func (s *Server) Expire(id string) { s.end(id, "10", s.URL+"/files/expired.png") }

// Uncounted lets a run succeed without saying how long it took.
func (s *Server) Uncounted(id string) { s.end(id, "", s.File("a.png", []byte("picture of "+id))) }

// Puzzle lets a run have a status that nobody knows.
func (s *Server) Puzzle(id string) { s.Change(id, func(r *Run) { r.Status = "dreaming" }) }

// Stopped reports whether a run was canceled.
func (s *Server) Stopped(id string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Find(id).Status == "cancelled"
}

// end lets a run succeed after so many seconds, with one picture at an address unless that is empty.
func (s *Server) end(id string, seconds json.Number, address string) {
	s.Change(id, func(r *Run) {
		if r.Status, r.Duration, r.GPU = "success", seconds, "H100"; address != "" {
			r.Outputs = []any{map[string]any{"node_id": "9", "data": map[string]any{"images": []any{map[string]any{"url": address, "type": "output", "filename": "a.png"}}}}}
		}
	})
}

// Report is the webhook about a run as it stands; the service signs none.
func (s *Server) Report(id string) (upstreamtest.Report, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r := *s.Find(id)
	return upstreamtest.Report{Address: r.Webhook, At: time.Now(), Body: s.said(r)}, true
}

// said is the body of a webhook about a run.
func (s *Server) said(r Run) []byte {
	body, err := json.Marshal(map[string]any{
		"event_type": "run.updated", "run_id": r.ID, "status": r.Status, "live_status": r.LiveStatus, "progress": r.Progress, "outputs": r.Outputs,
	})
	if err != nil {
		s.t.Error(err)
	}
	return body
}

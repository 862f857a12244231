// Package tripotest imitates the Tripo API, strictly: requests that it would refuse are refused, in its envelope and with
// its codes, tasks go on as the test says, and anyone who watches one is told. Faults make answers go wrong.
package tripotest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Key is the account's key.
const Key = "tsk_test_account"

// mostAtOnce is how many tasks of an account may be queued or running.
const mostAtOnce = 10

// Task is a task as the service keeps it.
type Task struct {
	ID        string
	Type      string
	Status    string
	Progress  int
	Queue     int // -1: not queued
	ErrorCode int
	Body      map[string]any
	Output    map[string]any
	Credits   any // nil: not reported
}

func (t *Task) over() bool { return t.Status != "queued" && t.Status != "running" }

func (t *Task) view() map[string]any {
	view := map[string]any{
		"task_id": t.ID, "type": t.Type, "status": t.Status, "input": t.Body, "output": t.Output, "progress": t.Progress,
		"create_time": 1_763_600_000, "running_left_time": -1, "queuing_num": t.Queue,
	}
	if t.ErrorCode != 0 {
		view["error_code"], view["error_msg"] = t.ErrorCode, "it went wrong"
	}
	if t.Credits != nil {
		view["consumed_credit"] = t.Credits
	}
	return view
}

var _ upstreamtest.Jobs = (*Server)(nil)

// Server is the service.
type Server struct {
	*upstreamtest.Server
	*upstreamtest.Kept[Task]
	changed  chan struct{}     // closed and replaced at each change
	pictures map[string]string // format by token
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Kept: upstreamtest.NewKept(t, func(job *Task) string { return job.ID }), changed: make(chan struct{}), pictures: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/openapi/task", s.create)
	mux.HandleFunc("GET /v2/openapi/task/{id}", s.get)
	mux.HandleFunc("GET /v2/openapi/task/watch/{id}", s.watch)
	mux.HandleFunc("POST /v2/openapi/upload", s.upload)
	mux.HandleFunc("GET /made/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") == "expired" {
			http.Error(w, "the signature has expired", http.StatusForbidden)
			return
		}
		io.WriteString(w, "made "+r.PathValue("name"))
	})
	s.Server = upstreamtest.New(t, mux, 32<<20, guard)
	return s
}

// BaseURL is the address of the API.
func (s *Server) BaseURL() string { return s.URL + "/v2/openapi" }

// guard asks for the key.
func guard(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("X-Tripo-Trace-ID", uuid.NewString())
	if strings.HasPrefix(r.URL.Path, "/v2/") && r.Header.Get("Authorization") != "Bearer "+Key {
		refuse(w, http.StatusUnauthorized, 1002)
		return false
	}
	return true
}

// Refuse is a fault that answers with a status and a code.
func Refuse(status, code int) upstreamtest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { refuse(w, status, code) }
}

func refuse(w http.ResponseWriter, status, code int) {
	upstreamtest.WriteJSON(w, status, map[string]any{"code": code, "message": fmt.Sprint("refused: ", code), "suggestion": "read the documents"})
}

func good(w http.ResponseWriter, data any) {
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"code": 0, "data": data})
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if task := s.Find(r.PathValue("id")); task != nil {
		good(w, task.view())
		return
	}
	refuse(w, http.StatusNotFound, 2001)
}

// watch sends the task at once and at each change until it is over.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx := conn.CloseRead(r.Context())
	for {
		s.Mu.Lock()
		task, changed := s.Find(r.PathValue("id")), s.changed
		var view map[string]any
		over := task == nil
		if task != nil {
			view, over = task.view(), task.over()
		}
		s.Mu.Unlock()
		if view != nil && wsjson.Write(ctx, conn, view) != nil {
			return
		}
		if over {
			conn.Close(websocket.StatusNormalClosure, "")
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil {
		refuse(w, http.StatusBadRequest, 2003)
		return
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	kind := map[string]string{"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}[http.DetectContentType(data)]
	if err != nil || kind == "" {
		refuse(w, http.StatusBadRequest, 2004)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	token := uuid.NewString()
	s.pictures[token] = kind
	good(w, map[string]any{"image_token": token})
}

// wake tells everybody who watches; the lock is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Tasks lists all tasks, oldest first.
func (s *Server) Tasks() []Task { return s.List() }

// Change moves a task on.
func (s *Server) Change(id string, change func(*Task)) {
	s.Kept.Change(id, func(task *Task) {
		change(task)
		s.wake()
	})
}

// Finish lets a task succeed with a model and its rendered picture.
func (s *Server) Finish(id string) {
	s.Change(id, func(t *Task) {
		t.Status, t.Progress, t.Queue = "success", 100, -1
		t.Output = map[string]any{"pbr_model": s.URL + "/made/" + id + ".glb?sig=x", "rendered_image": s.URL + "/made/" + id + ".webp?sig=x"}
	})
}

// Work lets a task be worked on.
func (s *Server) Work(id string) {
	s.Change(id, func(t *Task) { t.Status, t.Progress, t.Queue = "running", 40, -1 })
}

// Hollow lets a task succeed without a model.
func (s *Server) Hollow(id string) {
	s.Change(id, func(t *Task) { t.Status, t.Progress, t.Queue = "success", 100, -1 })
}

// Expire lets a task succeed with a model whose address has expired.
func (s *Server) Expire(id string) {
	s.Change(id, func(t *Task) { t.Output = map[string]any{"pbr_model": s.URL + "/made/expired?sig=x"} })
	s.Hollow(id)
}

// Uncounted lets a task succeed without saying what it cost.
func (s *Server) Uncounted(id string) {
	s.Change(id, func(t *Task) { t.Credits = nil })
	s.Finish(id)
}

// Puzzle lets a task have a status that nobody knows.
func (s *Server) Puzzle(id string) { s.Change(id, func(t *Task) { t.Status = "dreaming" }) }

// Stopped is false: the service has no way to cancel.
func (s *Server) Stopped(string) bool { return false }

// Report gives nothing: the service sends no webhooks.
func (s *Server) Report(string) (report upstreamtest.Report, ok bool) { return report, false }

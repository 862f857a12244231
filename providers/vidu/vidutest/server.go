// Package vidutest imitates the Vidu API, strictly: requests that it would refuse are refused, tasks go on
// as the test says, and callbacks are signed as the service does. Faults make answers go wrong.
package vidutest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // pictures that are sent along
	_ "image/png"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Key is the account's key.
const Key = "vda_test_token"

// Task is a task as the service keeps it.
type Task struct {
	ID      string
	Path    string
	State   string
	ErrCode string
	Body    map[string]any
	Credits any // of the answer; nil: not reported
	Made    []string
	At      time.Time
}

var _ upstreamtest.Jobs = (*Server)(nil)

// Server is the service.
type Server struct {
	*upstreamtest.Server
	*upstreamtest.Kept[Task]
	t testing.TB
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Kept: upstreamtest.NewKept(t, func(job *Task) string { return job.ID }), t: t}
	mux := http.NewServeMux()
	for path := range kinds {
		mux.HandleFunc("POST /ent/v2/"+path, s.create(path))
	}
	mux.HandleFunc("GET /ent/v2/tasks/{id}/creations", s.creations)
	mux.HandleFunc("GET /ent/v2/tasks", s.list)
	mux.HandleFunc("POST /ent/v2/tasks/{id}/cancel", s.cancel)
	mux.HandleFunc("GET /made/{name}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "video "+r.PathValue("name")) })
	mux.HandleFunc("GET /made/expired", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	s.Server = upstreamtest.New(t, mux, 20<<20, guard)
	return s
}

// BaseURL is the address of the API.
func (s *Server) BaseURL() string { return s.URL + "/ent/v2" }

// guard asks for the key.
func guard(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/ent/") && r.Header.Get("Authorization") != "Token "+Key {
		refuse(w, http.StatusUnauthorized, "Unauthorized")
		return false
	}
	return true
}

// Refuse is a fault that answers with a status and a code.
func Refuse(status int, code string) upstreamtest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { refuse(w, status, code) }
}

func refuse(w http.ResponseWriter, status int, code string) {
	upstreamtest.WriteJSON(w, status, map[string]any{"code": status, "reason": code, "message": "refused: " + code, "metadata": map[string]any{}})
}

// kind is what a task takes.
type kind struct {
	models      []string
	least, most int // pictures
	prompt      bool
	more        []string
}

var common = []string{"model", "prompt", "images", "duration", "resolution", "seed", "movement_amplitude", "bgm", "audio", "payload", "callback_url"}

var kinds = map[string]kind{
	"text2video":      {models: []string{"viduq3-turbo", "viduq3-pro", "viduq2", "viduq1"}, prompt: true, more: []string{"style", "aspect_ratio"}},
	"img2video":       {models: imageModels, least: 1, most: 1},
	"start-end2video": {models: imageModels, least: 2, most: 2},
	"reference2video": {models: []string{"viduq2-pro", "viduq2", "viduq1", "vidu2.0"}, least: 1, most: 7, prompt: true, more: []string{"aspect_ratio"}},
	"template2video":  {least: 1, most: 2, more: []string{"template"}},
	"upscale":         {more: []string{"video_url"}},
}

var imageModels = []string{"viduq3-turbo", "viduq3-pro", "viduq2-pro-fast", "viduq2-pro", "viduq2-turbo", "viduq1", "viduq1-classic", "vidu2.0"}

func (s *Server) create(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		d := json.NewDecoder(r.Body)
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			refuse(w, http.StatusBadRequest, "BadRequest")
			return
		}
		if code := kinds[path].check(body); code != "" {
			refuse(w, http.StatusBadRequest, code)
			return
		}
		s.Mu.Lock()
		defer s.Mu.Unlock()
		task := &Task{ID: strconv.Itoa(800_000_000 + len(s.All)), Path: path, State: "created", Body: body, Credits: 60, At: time.Now()}
		s.All = append(s.All, task)
		upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"task_id": task.ID, "state": task.State, "model": body["model"], "payload": body["payload"], "credits": 60, "created_at": task.At})
	}
}

// check gives the code of a refusal, or "".
func (k kind) check(body map[string]any) string {
	for name := range body {
		if !slices.Contains(common, name) && !slices.Contains(k.more, name) {
			return "FieldUnwanted"
		}
	}
	name, _ := body["model"].(string)
	prompt, _ := body["prompt"].(string)
	switch {
	case len(k.models) > 0 && !slices.Contains(k.models, name):
		return "FieldInvalid"
	case k.prompt && prompt == "":
		return "FieldLacking"
	case len([]rune(prompt)) > 5000, !strings.HasPrefix(name, "viduq3") && len([]rune(prompt)) > 2000:
		return "FieldInvalid"
	case body["audio"] != nil && !strings.HasPrefix(name, "viduq3"), body["bgm"] == true && strings.HasPrefix(name, "viduq3"):
		return "FieldUnwanted"
	case slices.Contains(k.more, "video_url") && body["video_url"] == nil:
		return "FieldLacking"
	}
	if code := checkLength(name, body); code != "" {
		return code
	}
	return k.checkImages(body)
}

func checkLength(model string, body map[string]any) string {
	if body["duration"] == nil {
		return ""
	}
	number, ok := body["duration"].(json.Number)
	if !ok {
		return "FieldInvalid"
	}
	n, err := number.Int64()
	if err != nil || n < 1 || n > 16 || model == "viduq1" && n != 5 || strings.HasPrefix(model, "viduq2") && n > 10 || model == "vidu2.0" && n != 4 && n != 8 {
		return "FieldInvalid"
	}
	return ""
}

func (k kind) checkImages(body map[string]any) string {
	images, _ := body["images"].([]any)
	if len(images) < k.least || len(images) > k.most {
		return "FieldItemCountOutOfRange"
	}
	for _, item := range images {
		head, data, ok := strings.Cut(fmt.Sprint(item), ";base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		if !ok || !strings.HasPrefix(head, "data:image/") || err != nil {
			return "ImageFormatInvalid"
		}
		size, format, err := image.DecodeConfig(bytes.NewReader(raw))
		if err != nil || head != "data:image/"+format {
			return "ImageFormatInvalid"
		}
		if size.Width < 128 || size.Height < 128 || size.Width >= 4*size.Height || size.Height >= 4*size.Width {
			return "PageSizeOutOfRange"
		}
	}
	return ""
}

func (t *Task) view() map[string]any {
	made := []any{}
	for i, address := range t.Made {
		made = append(made, map[string]any{"id": fmt.Sprint(t.ID, "-", i), "url": address, "cover_url": address + ".jpg"})
	}
	view := map[string]any{"id": t.ID, "state": t.State, "err_code": t.ErrCode, "payload": t.Body["payload"], "creations": made, "bgm": false, "off_peak": false}
	if t.Credits != nil {
		view["credits"] = t.Credits
	}
	return view
}

func (s *Server) creations(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if task := s.Find(r.PathValue("id")); task != nil {
		upstreamtest.WriteJSON(w, http.StatusOK, task.view())
		return
	}
	refuse(w, http.StatusNotFound, "TaskNotFound")
}

// list gives the newest first, page by page.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	q := r.URL.Query()
	size, err := strconv.Atoi(q.Get("pager.pagesz"))
	from, err2 := time.Parse(time.RFC3339, q.Get("created_at.from"))
	skip, err3 := strconv.Atoi("0" + q.Get("pager.page_token"))
	if err != nil || err2 != nil || err3 != nil || size < 1 || size > 100 {
		refuse(w, http.StatusBadRequest, "FieldInvalid")
		return
	}
	var views []any
	for i := len(s.All) - 1 - skip; i >= 0 && len(views) < size; i-- {
		if s.All[i].At.After(from) {
			views = append(views, s.All[i].view())
		}
	}
	next := ""
	if skip+size < len(s.All) {
		next = strconv.Itoa(skip + size)
	}
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"tasks": views, "next_page_token": next})
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	task := s.Find(r.PathValue("id"))
	switch {
	case task == nil:
		refuse(w, http.StatusNotFound, "TaskNotFound")
	case task.State == "success" || task.State == "failed" || task.State == "canceled":
		refuse(w, http.StatusBadRequest, "BadRequest")
	default:
		task.State = "canceled"
		upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{})
	}
}

// Tasks lists all tasks, oldest first.
func (s *Server) Tasks() []Task { return s.List() }

// Finish lets a task succeed with one video.
func (s *Server) Finish(id string) {
	s.Change(id, func(t *Task) { t.State, t.Made = "success", []string{s.URL + "/made/" + id + ".mp4"} })
}

// Work lets a task be worked on.
func (s *Server) Work(id string) { s.Change(id, func(t *Task) { t.State = "processing" }) }

// Hollow lets a task succeed without a video.
func (s *Server) Hollow(id string) { s.Change(id, func(t *Task) { t.State = "success" }) }

// Expire lets a task succeed with a video whose address has expired.
func (s *Server) Expire(id string) {
	s.Change(id, func(t *Task) { t.State, t.Made = "success", []string{s.URL + "/made/expired"} })
}

// Uncounted lets a task succeed without saying what it cost.
func (s *Server) Uncounted(id string) {
	s.Change(id, func(t *Task) { t.Credits = nil })
	s.Finish(id)
}

// Puzzle lets a task be in a state that nobody knows.
func (s *Server) Puzzle(id string) { s.Change(id, func(t *Task) { t.State = "dreaming" }) }

// Stopped reports whether a task was canceled.
func (s *Server) Stopped(id string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Find(id).State == "canceled"
}

// Report is the callback about a task as it stands, signed with the account's key.
func (s *Server) Report(id string) (upstreamtest.Report, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	task := s.Find(id)
	address, _ := task.Body["callback_url"].(string)
	body, err := json.Marshal(task.view())
	if err != nil {
		s.t.Error(err)
	}
	return upstreamtest.Report{
		Address: address, ID: "nonce-" + id + "-" + task.State, At: time.Now(), Body: body,
		Sign: func(r *http.Request, nonce string, at time.Time, _ []byte) { sign(r, Key, nonce, at) },
	}, true
}

// Callback makes the request by which the service reports a task, signed at a time.
func Callback(key, address string, at time.Time, nonce string, body []byte) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	sign(r, key, nonce, at)
	return r, nil
}

// sign signs a callback; its body is not signed.
func sign(r *http.Request, key, nonce string, at time.Time) {
	date := at.UTC().Format(http.TimeFormat)
	text := strings.Join([]string{http.MethodPost, r.URL.EscapedPath(), r.URL.RawQuery, "vidu", date, "Date:" + date, "x-request-nonce:" + nonce, ""}, "\n")
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	for name, value := range map[string]string{
		"Date": date, "x-request-nonce": nonce, "X-HMAC-SIGNED-HEADERS": "Date;x-request-nonce", "X-HMAC-ALGORITHM": "hmac-sha256", "X-HMAC-ACCESS-KEY": "vidu",
		"X-HMAC-SIGNATURE": base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	} {
		r.Header.Set(name, value)
	}
}

// Package replicatetest imitates Replicate's API, strictly: requests that it would refuse are refused as problems, inputs
// are judged by the model's schema, predictions go on as the test says, and webhooks are signed by Standard Webhooks. Faults
// make answers go wrong.
package replicatetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// What the account has: its token, and the secret of its webhooks, before and after it was renewed.
const (
	Token     = "r8_test_account_token"
	Secret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	NewSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// The versions of the models painter/sketch, which makes pictures, and writer/prose, which makes texts.
var (
	SketchVersion = strings.Repeat("5c27", 16)
	ProseVersion  = strings.Repeat("a1b2", 16)
)

const sketchSchemas = `{
	"Input": {"type": "object", "required": ["prompt"], "properties": {
		"seed": {"type": "integer", "title": "Seed", "x-order": 3, "description": "Random seed"},
		"prompt": {"type": "string", "title": "Prompt", "x-order": 0, "description": "What to draw"},
		"image": {"type": "string", "format": "uri", "title": "Image", "x-order": 1},
		"aspect_ratio": {"allOf": [{"$ref": "#/components/schemas/aspect_ratio"}], "default": "1:1", "x-order": 2, "description": "Shape"},
		"steps": {"type": "integer", "minimum": 1, "maximum": 4, "default": 4, "x-order": 4},
		"go_fast": {"type": "boolean", "default": true, "x-order": 5},
		"guidance": {"type": "number", "minimum": 0, "maximum": 10, "default": 3.5, "x-order": 6}
	}},
	"aspect_ratio": {"type": "string", "enum": ["1:1", "16:9", "9:16"], "title": "aspect_ratio"},
	"Output": {"type": "array", "items": {"type": "string", "format": "uri"}, "title": "Output"}
}`

const proseSchemas = `{
	"Input": {"type": "object", "required": ["prompt"], "properties": {"prompt": {"type": "string", "x-order": 0}}},
	"Output": {"type": "array", "items": {"type": "string"}, "x-cog-array-type": "iterator", "x-cog-array-display": "concatenate"}
}`

// Prediction is a run as the service keeps it.
type Prediction struct {
	ID, Version, Status string
	Input               map[string]any
	Webhook             string
	Events              []any
	Output              any
	Error               any
	Seconds             float64 // of work; 0: not reported
	Started, Completed  time.Time
}

func (p *Prediction) view() map[string]any {
	view := map[string]any{
		"id": p.ID, "version": p.Version, "status": p.Status, "input": p.Input, "output": p.Output, "error": p.Error, "logs": "", "data_removed": false,
		"created_at": "2026-11-20T12:00:00Z", "metrics": map[string]any{}, "urls": map[string]any{},
	}
	if p.Seconds > 0 {
		view["metrics"] = map[string]any{"predict_time": p.Seconds}
	}
	if !p.Started.IsZero() {
		view["started_at"], view["completed_at"] = p.Started, p.Completed
	}
	return view
}

var _ upstreamtest.Jobs = (*Server)(nil)

// Server is the service.
type Server struct {
	*upstreamtest.Server
	*upstreamtest.Kept[Prediction]
	t      testing.TB
	secret string
	inputs map[string]*jsonschema.Schema // by version
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Kept: upstreamtest.NewKept(t, func(job *Prediction) string { return job.ID }), t: t, secret: Secret, inputs: map[string]*jsonschema.Schema{SketchVersion: compile(t, sketchSchemas), ProseVersion: compile(t, proseSchemas)}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models/{owner}/{name}", s.model)
	mux.HandleFunc("GET /v1/models/painter/sketch/versions/{version}", s.version)
	mux.HandleFunc("POST /v1/predictions", s.create)
	mux.HandleFunc("GET /v1/predictions/{id}", s.get)
	mux.HandleFunc("POST /v1/predictions/{id}/cancel", s.cancel)
	mux.HandleFunc("GET /v1/webhooks/default/secret", s.webhookSecret)
	mux.HandleFunc("GET /files/{name}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "file "+r.PathValue("name")) })
	mux.HandleFunc("GET /expired/{name}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	s.Server = upstreamtest.New(t, mux, 8<<20, guard)
	return s
}

func compile(t testing.TB, schemas string) *jsonschema.Schema {
	return upstreamtest.Schema(t, `{"components": {"schemas": `+schemas+`}}`, "/components/schemas/Input")
}

// BaseURL is the address of the API.
func (s *Server) BaseURL() string { return s.URL + "/v1" }

// guard asks for the token.
func guard(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/v1/") && r.Header.Get("Authorization") != "Bearer "+Token {
		problem(w, http.StatusUnauthorized, "You did not pass a valid authentication token")
		return false
	}
	return true
}

// Refuse is a fault that answers with a status.
func Refuse(status int) upstreamtest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { problem(w, status, "refused") }
}

func problem(w http.ResponseWriter, status int, detail string) {
	upstreamtest.WriteJSON(w, status, map[string]any{"title": http.StatusText(status), "detail": detail, "status": status})
}

func versionView(id, schemas string) map[string]any {
	return map[string]any{"id": id, "openapi_schema": map[string]any{"components": map[string]any{"schemas": json.RawMessage(schemas)}}}
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	view := map[string]any{"owner": r.PathValue("owner"), "name": r.PathValue("name"), "visibility": "public"}
	switch r.PathValue("owner") + "/" + r.PathValue("name") {
	case "painter/sketch":
		view["description"], view["latest_version"] = "Draws quickly.", versionView(SketchVersion, sketchSchemas)
	case "writer/prose":
		view["description"], view["latest_version"] = "Writes", versionView(ProseVersion, proseSchemas)
	case "painter/empty":
		view["description"], view["latest_version"] = nil, nil
	default:
		problem(w, http.StatusNotFound, "The requested resource could not be found.")
		return
	}
	upstreamtest.WriteJSON(w, http.StatusOK, view)
}

func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("version") != SketchVersion {
		problem(w, http.StatusNotFound, "The requested resource could not be found.")
		return
	}
	upstreamtest.WriteJSON(w, http.StatusOK, versionView(SketchVersion, sketchSchemas))
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var body struct {
		Version string         `json:"version"`
		Input   map[string]any `json:"input"`
		Webhook string         `json:"webhook"`
		Events  []any          `json:"webhook_events_filter"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err != nil || d.Decode(&body) != nil {
		problem(w, http.StatusBadRequest, "the body is not valid")
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if wrong := s.check(body.Version, raw, body.Events); wrong != "" {
		problem(w, http.StatusUnprocessableEntity, wrong)
		return
	}
	p := &Prediction{ID: fmt.Sprintf("p%025d", len(s.All)), Version: body.Version, Status: "starting", Input: body.Input, Webhook: body.Webhook, Events: body.Events}
	s.All = append(s.All, p)
	upstreamtest.WriteJSON(w, http.StatusCreated, p.view())
}

// check gives what is wrong with a prediction; the lock is held.
func (s *Server) check(version string, raw []byte, events []any) string {
	schema := s.inputs[version]
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if schema == nil || err != nil {
		return "Invalid version or not permitted"
	}
	input := document.(map[string]any)["input"]
	if err := schema.Validate(input); err != nil {
		return "- input: " + err.Error()
	}
	for name, value := range input.(map[string]any) {
		if text, ok := value.(string); ok && strings.HasPrefix(text, "data:") && len(text) > 256<<10*4/3+64 {
			return "- input." + name + ": larger than 256 KB"
		}
	}
	for _, event := range events {
		if !slices.Contains([]any{"start", "output", "logs", "completed"}, event) {
			return "- webhook_events_filter"
		}
	}
	return ""
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if p := s.Find(r.PathValue("id")); p != nil {
		upstreamtest.WriteJSON(w, http.StatusOK, p.view())
		return
	}
	problem(w, http.StatusNotFound, "The requested resource could not be found.")
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	p := s.Find(r.PathValue("id"))
	if p == nil {
		problem(w, http.StatusNotFound, "The requested resource could not be found.")
		return
	}
	if p.Status == "starting" || p.Status == "processing" {
		p.Status = "canceled"
	}
	upstreamtest.WriteJSON(w, http.StatusOK, p.view())
}

func (s *Server) webhookSecret(w http.ResponseWriter, _ *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"key": s.secret})
}

// Renew changes the secret of webhooks.
func (s *Server) Renew() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.secret = NewSecret
}

// Predictions lists all predictions, oldest first.
func (s *Server) Predictions() []Prediction { return s.List() }

// Finish lets a prediction succeed with one picture after two and a half seconds of work.
func (s *Server) Finish(id string) {
	s.Change(id, func(p *Prediction) {
		p.Status, p.Seconds, p.Output = "succeeded", 2.5, []string{s.URL + "/files/out-0.webp"}
	})
}

// Work lets a prediction be worked on.
func (s *Server) Work(id string) { s.Change(id, func(p *Prediction) { p.Status = "processing" }) }

// Hollow lets a prediction succeed without output.
func (s *Server) Hollow(id string) {
	s.Change(id, func(p *Prediction) { p.Status, p.Seconds = "succeeded", 2.5 })
}

// Expire lets a prediction succeed with a picture whose address has expired.
func (s *Server) Expire(id string) {
	s.Change(id, func(p *Prediction) { p.Output = []string{s.URL + "/expired/out-0.webp"} })
	s.Hollow(id)
}

// Uncounted lets a prediction succeed without saying how long it worked, only when it began and ended.
func (s *Server) Uncounted(id string) {
	s.Change(id, func(p *Prediction) {
		p.Status, p.Completed, p.Output = "succeeded", time.Now(), []string{s.URL + "/files/out-0.webp"}
		p.Started = p.Completed.Add(-2500 * time.Millisecond)
	})
}

// Puzzle lets a prediction have a status that nobody knows.
func (s *Server) Puzzle(id string) { s.Change(id, func(p *Prediction) { p.Status = "dreaming" }) }

// Stopped reports whether a prediction was canceled.
func (s *Server) Stopped(id string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Find(id).Status == "canceled"
}

// Report is the webhook about a prediction as it stands, signed with the account's secret of now.
func (s *Server) Report(id string) (upstreamtest.Report, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	p, secret := s.Find(id), s.secret
	body, err := json.Marshal(p.view())
	if err != nil {
		s.t.Error(err)
	}
	return upstreamtest.Report{
		Address: p.Webhook, ID: "msg_" + id + "_" + p.Status, At: time.Now(), Body: body,
		Sign: func(r *http.Request, id string, at time.Time, body []byte) {
			maps.Copy(r.Header, Sign(s.t, secret, id, at, body))
		},
	}, true
}

// Sign signs the body of a webhook at a time with a secret, and gives its headers.
func Sign(t testing.TB, secret, id string, at time.Time, body []byte) http.Header {
	key, err := signature.ParseSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{"Content-Type": {"application/json"}}
	signature.Sign(h, id, at, body, key)
	return h
}

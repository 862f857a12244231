// Package comfyroutertest imitates Comfy Router, strictly: its catalogue in pages, the description of one model, estimates, and the queue with
// its keys of repeated requests. Requests that it would refuse are refused, go on as the test says, and end as COMPLETED even where they
// fail. Faults make answers go wrong.
package comfyroutertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Key is the account's key.
const Key = "comfyui-0123456789abcdef"

// Model is the one that is described; Others are in the catalogue, too, and take whatever they are given.
const Model = "painter/sketch-2"

// Others are the rest of the catalogue.
var Others = []string{"painter/sketch-2-pro", "singer/song.v1"}

const description = `{
	"openapi": "3.0.2", "info": {"title": "painter/sketch-2", "version": "1", "description": "Draws fast"},
	"paths": {"/v2/models/painter/sketch-2": {"post": {
		"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Input"}}}},
		"responses": {"200": {"description": "OK"}}
	}}},
	"components": {"schemas": {"Input": {"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {
		"prompt": {"type": "string", "minLength": 1, "description": "What to draw"},
		"input_image": {"type": "string", "format": "uri", "description": "A picture to begin with"},
		"n": {"type": "integer", "minimum": 1, "maximum": 4, "default": 1}
	}}}}
}`

// Request is a request as the service keeps it.
type Request struct {
	ID       string
	Status   string
	Position int
	Error    string // the kind of its error, where it failed or was canceled
	Input    map[string]any
	Result   any
	Credits  string // that it took; empty: the service does not say

	key  string
	body []byte
}

var _ upstreamtest.Jobs = (*Server)(nil)

// Server is the service.
type Server struct {
	*upstreamtest.Server
	*upstreamtest.Kept[Request]
	// Estimate is the answer to how much a call costs; nil: this account is not told.
	Estimate map[string]any

	t     testing.TB
	input *jsonschema.Schema
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Kept: upstreamtest.NewKept(t, func(job *Request) string { return job.ID }), t: t, input: upstreamtest.Schema(t, description, "/components/schemas/Input")}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/models", s.catalogue)
	mux.HandleFunc("GET /v2/models/{provider}/{model}/openapi.json", s.describe)
	mux.HandleFunc("POST /v2/models/"+Model+"/estimate", s.estimate)
	mux.HandleFunc("POST /v2/models/"+Model+"/requests", s.create)
	mux.HandleFunc("GET /v2/models/"+Model+"/requests/{id}/status", s.status)
	mux.HandleFunc("GET /v2/models/"+Model+"/requests/{id}", s.result)
	mux.HandleFunc("PUT /v2/models/"+Model+"/requests/{id}/cancel", s.cancel)
	mux.HandleFunc("GET /files/{name}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "file "+r.PathValue("name")) })
	mux.HandleFunc("GET /expired/{name}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	s.Server = upstreamtest.New(t, mux, 16<<20, s.guard)
	return s
}

// BaseURL is the address of the API.
func (s *Server) BaseURL() string { return s.URL }

// guard asks for the key, which only the API may get.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) bool {
	switch sent := r.Header.Get("X-API-Key"); {
	case strings.HasPrefix(r.URL.Path, "/v2/") && sent != Key:
		refuse(w, http.StatusUnauthorized, "unauthorized")
		return false
	case !strings.HasPrefix(r.URL.Path, "/v2/") && sent != "":
		s.t.Errorf("the key went to %s", r.URL.Path)
	}
	return true
}

func refuse(w http.ResponseWriter, status int, kind string) {
	w.Header().Set("X-Comfy-Error-Type", kind)
	w.Header().Set("X-Comfy-Request-Id", "call-1")
	upstreamtest.WriteJSON(w, status, map[string]any{"detail": "it is not possible", "error_type": kind})
}

// catalogue gives two models a page, whatever was asked for: a page may be shorter.
func (s *Server) catalogue(w http.ResponseWriter, r *http.Request) {
	all, from := append([]string{Model}, Others...), 0
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		if _, err := fmt.Sscanf(cursor, "opaque %d", &from); err != nil || from > len(all) {
			refuse(w, http.StatusBadRequest, "invalid_input")
			return
		}
	}
	page := map[string]any{"has_more": false, "limit": 2}
	entries := []any{}
	for i := from; i < min(from+2, len(all)); i++ {
		provider, model, _ := strings.Cut(all[i], "/")
		entries = append(entries, map[string]any{"id": all[i], "provider": provider, "model": model, "billing": map[string]any{"charges_on_policy_rejection": "unknown"}})
	}
	if from+2 < len(all) {
		page["has_more"], page["next_cursor"] = true, fmt.Sprintf("opaque %d", from+2)
	}
	page["data"] = entries
	upstreamtest.WriteJSON(w, http.StatusOK, page)
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	model := r.PathValue("provider") + "/" + r.PathValue("model")
	switch {
	case model == Model:
		upstreamtest.WriteJSON(w, http.StatusOK, json.RawMessage(description))
	case model == Others[0]: // its schema is not authored
		upstreamtest.WriteJSON(w, http.StatusOK, json.RawMessage(strings.ReplaceAll(`{"openapi": "3.0.2", "x-comfy-input-schema-authored": false, "paths": {"/v2/models/MODEL": {"post": {
			"requestBody": {"content": {"application/json": {"schema": {"type": "object", "additionalProperties": true}}}}}}}}`, "MODEL", model)))
	case model == Others[1]:
		upstreamtest.WriteJSON(w, http.StatusOK, json.RawMessage(strings.ReplaceAll(description, Model, model)))
	default:
		refuse(w, http.StatusNotFound, "model_not_found")
	}
}

// read gives the body of a call, where the model takes it.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (raw []byte, ok bool) {
	raw, err := io.ReadAll(r.Body)
	document, err2 := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil && err2 == nil && s.input.Validate(document) == nil {
		return raw, true
	}
	w.Header().Set("X-Comfy-Error-Type", "invalid_input")
	upstreamtest.WriteJSON(w, http.StatusUnprocessableEntity, map[string]any{"detail": []any{map[string]any{"loc": []any{"body", "prompt"}, "msg": "Field required", "type": "missing"}}})
	return nil, false
}

func (s *Server) estimate(w http.ResponseWriter, r *http.Request) {
	if s.Estimate == nil {
		refuse(w, http.StatusForbidden, "not_enabled")
		return
	}
	if _, ok := s.read(w, r); ok {
		upstreamtest.WriteJSON(w, http.StatusOK, s.Estimate)
	}
}

// create takes a request, or finds the one of its key.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || len(key) > 255 {
		s.t.Errorf("a request came with the key %q: if its answer is lost, nobody can send it again", key)
	}
	raw, ok := s.read(w, r)
	if !ok {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, known := range s.All {
		if known.key == key && !bytes.Equal(known.body, raw) {
			refuse(w, http.StatusConflict, "invalid_input")
			return
		}
		if known.key == key {
			w.Header().Set("Idempotent-Replayed", "true")
			s.created(w, known)
			return
		}
	}
	made := &Request{ID: uuid.NewString(), Status: "IN_QUEUE", Position: len(s.All), key: key, body: raw}
	if err := json.Unmarshal(raw, &made.Input); err != nil {
		s.t.Error(err)
	}
	s.All = append(s.All, made)
	s.created(w, made)
}

func (s *Server) created(w http.ResponseWriter, r *Request) {
	address := s.URL + "/v2/models/" + Model + "/requests/" + r.ID
	upstreamtest.WriteJSON(w, http.StatusCreated, map[string]any{
		"request_id": r.ID, "status": "IN_QUEUE", "queue_position": r.Position, "status_url": address + "/status", "response_url": address, "cancel_url": address + "/cancel",
	})
}

// with finds a request and holds the lock while do answers.
func (s *Server) with(w http.ResponseWriter, r *http.Request, do func(*Request)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if found := s.Find(r.PathValue("id")); found != nil {
		do(found)
		return
	}
	refuse(w, http.StatusNotFound, "request_not_found")
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, func(found *Request) { upstreamtest.WriteJSON(w, http.StatusOK, view(found)) })
}

func view(r *Request) map[string]any {
	v := map[string]any{"request_id": r.ID, "status": r.Status}
	switch {
	case r.Status == "IN_QUEUE":
		v["queue_position"] = r.Position
	case r.Status == "COMPLETED" && r.Error != "":
		v["error_type"] = r.Error
	}
	return v
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, func(found *Request) {
		switch {
		case found.Status != "COMPLETED":
			w.Header().Set("Retry-After", "1")
			upstreamtest.WriteJSON(w, http.StatusAccepted, view(found))
		case found.Error != "":
			refuse(w, http.StatusBadRequest, found.Error)
		default:
			if found.Credits != "" {
				w.Header().Set("X-Comfy-Credits-Used", found.Credits)
			}
			upstreamtest.WriteJSON(w, http.StatusOK, found.Result)
		}
	})
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, func(found *Request) {
		if found.Status == "COMPLETED" {
			upstreamtest.WriteJSON(w, http.StatusConflict, map[string]any{"status": "ALREADY_COMPLETED"})
			return
		}
		found.Status, found.Error = "COMPLETED", "cancelled"
		upstreamtest.WriteJSON(w, http.StatusAccepted, map[string]any{"status": "CANCELLATION_REQUESTED"})
	})
}

// Requests lists all requests, oldest first.
func (s *Server) Requests() []Request { return s.List() }

func (s *Server) completed(id, credits string, result any) {
	s.Change(id, func(r *Request) { r.Status, r.Credits, r.Result = "COMPLETED", credits, result })
}

func (s *Server) picture(path string) any {
	return map[string]any{"status": "Ready", "result": map[string]any{"sample": s.URL + path}}
}

// Finish lets a request succeed with one picture, for 4.22 credits: two cents.
func (s *Server) Finish(id string) { s.completed(id, "4.22", s.picture("/files/a.png")) }

// Refuse lets a request fail, for its content.
func (s *Server) Refuse(id string) {
	s.Change(id, func(r *Request) { r.Status, r.Error = "COMPLETED", "content_policy_violation" })
}

// Work lets a request be worked on.
func (s *Server) Work(id string) { s.Change(id, func(r *Request) { r.Status = "IN_PROGRESS" }) }

// Hollow lets a request succeed without output.
func (s *Server) Hollow(id string) { s.completed(id, "4.22", map[string]any{}) }

// Expire lets a request succeed with a picture whose address has expired.
func (s *Server) Expire(id string) { s.completed(id, "4.22", s.picture("/expired/a.png")) }

// Uncounted lets a request succeed without saying what it took.
func (s *Server) Uncounted(id string) { s.completed(id, "", s.picture("/files/a.png")) }

// Puzzle lets a request have a status that nobody knows.
func (s *Server) Puzzle(id string) { s.Change(id, func(r *Request) { r.Status = "DREAMING" }) }

// Stopped reports whether a request was canceled.
func (s *Server) Stopped(id string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Find(id).Error == "cancelled"
}

// Report is none: the service sends no webhooks.
func (s *Server) Report(string) (upstreamtest.Report, bool) { return upstreamtest.Report{}, false }

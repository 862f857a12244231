// Package faltest imitates fal.ai, strictly: its queue, the description of one model, and the keys of its webhooks. Requests
// that it would refuse are refused, go on as the test says, and end as COMPLETED even where they fail. Faults make answers go
// wrong.
package faltest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Key is the account's key.
const Key = "11111111-2222-4333-8444-555555555555:test-secret"

// Model is the one there is; its requests are kept under fal-ai/sketch.
const Model = "fal-ai/sketch/fast"

const description = `{
	"openapi": "3.0.4", "info": {"title": "Queue OpenAPI for fal-ai/sketch/fast", "description": "Draws fast"},
	"components": {"schemas": {
		"QueueStatus": {"type": "object"},
		"ImageSize": {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}},
		"Lora": {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}},
		"SketchFastInput": {"type": "object", "title": "SketchInput", "required": ["prompt"],
			"x-fal-order-properties": ["prompt", "image_size", "image_urls", "num_images", "loras", "seed"],
			"properties": {
				"seed": {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "Seed"},
				"prompt": {"type": "string", "title": "Prompt", "minLength": 1},
				"image_size": {"anyOf": [{"$ref": "#/components/schemas/ImageSize"}, {"enum": ["square", "landscape_4_3"], "type": "string"}], "default": "square", "title": "Image Size"},
				"image_urls": {"type": "array", "items": {"type": "string"}, "title": "Image URLs", "maxItems": 2},
				"num_images": {"type": "integer", "minimum": 1, "maximum": 4, "default": 1, "title": "Num Images"},
				"loras": {"type": "array", "items": {"$ref": "#/components/schemas/Lora"}, "default": [], "title": "Loras"}
			}}
	}},
	"paths": {
		"/fal-ai/sketch/fast/requests/{request_id}/status": {"get": {}},
		"/fal-ai/sketch/fast": {"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SketchFastInput"}}}}}}
	}
}`

// Request is a request as the service keeps it.
type Request struct {
	ID       string
	Status   string
	Position int
	Input    map[string]any
	Webhook  string
	Result   any
	Failure  int     // the status of the result's answer, where it failed
	Seconds  float64 // of work
	Units    string  // that are billed; empty: the service does not say
}

var _ upstreamtest.Jobs = (*Server)(nil)

// Server is the service.
type Server struct {
	*upstreamtest.Server
	*upstreamtest.Kept[Request]
	Unit string // by which the model is priced, at half a dollar; empty: it has no price

	t     testing.TB
	input *jsonschema.Schema
	key   ed25519.PrivateKey // of webhooks
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	seed := sha256.Sum256([]byte(t.Name()))
	s := &Server{Kept: upstreamtest.NewKept(t, func(job *Request) string { return job.ID }), t: t, input: upstreamtest.Schema(t, description, "/components/schemas/SketchFastInput"), key: ed25519.NewKeyFromSeed(seed[:])}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /queue/"+Model, s.create)
	mux.HandleFunc("GET /queue/fal-ai/sketch/requests/{id}/status", s.status)
	mux.HandleFunc("GET /queue/fal-ai/sketch/requests/{id}", s.result)
	mux.HandleFunc("PUT /queue/fal-ai/sketch/requests/{id}/cancel", s.cancel)
	mux.HandleFunc("GET /docs/api/openapi/queue/openapi.json", s.describe)
	mux.HandleFunc("GET /queue/v1/models/pricing", func(w http.ResponseWriter, r *http.Request) {
		prices := []any{}
		if id := r.URL.Query().Get("endpoint_id"); s.Unit != "" {
			prices = append(prices, map[string]any{"endpoint_id": id, "unit_price": json.Number("0.5"), "unit": s.Unit, "currency": "USD"})
		}
		upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"prices": prices, "has_more": false})
	})
	mux.HandleFunc("GET /rest/.well-known/jwks.json", s.jwks)
	mux.HandleFunc("GET /files/{name}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "file "+r.PathValue("name")) })
	mux.HandleFunc("GET /expired/{name}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	s.Server = upstreamtest.New(t, mux, 16<<20, s.guard)
	return s
}

// QueueURL is the address of the queue.
func (s *Server) QueueURL() string { return s.URL + "/queue" }

// DocsURL is where models are described.
func (s *Server) DocsURL() string { return s.URL + "/docs" }

// RestURL is where the keys of webhooks are.
func (s *Server) RestURL() string { return s.URL + "/rest" }

// guard asks for the key, which only the queue may get.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) bool {
	switch sent := r.Header.Get("Authorization"); {
	case strings.HasPrefix(r.URL.Path, "/queue/") && sent != "Key "+Key:
		upstreamtest.WriteJSON(w, http.StatusUnauthorized, map[string]any{"detail": "Cannot access application. Authentication is required."})
		return false
	case !strings.HasPrefix(r.URL.Path, "/queue/") && sent != "":
		s.t.Errorf("the key went to %s", r.URL.Path)
	}
	return true
}

func detail(kind string, location ...any) map[string]any {
	return map[string]any{"detail": []any{map[string]any{"loc": location, "msg": "it is not valid", "type": kind}}}
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Query().Get("endpoint_id") {
	case Model:
		upstreamtest.WriteJSON(w, http.StatusOK, json.RawMessage(description))
	case "fal-ai/blank":
		upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"openapi": "3.0.4", "paths": map[string]any{}})
	default:
		upstreamtest.WriteJSON(w, http.StatusNotFound, map[string]any{"detail": "Not found"})
	}
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	document, err2 := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil || err2 != nil || s.input.Validate(document) != nil {
		upstreamtest.WriteJSON(w, http.StatusUnprocessableEntity, detail("value_error", "body", "prompt"))
		return
	}
	var input map[string]any
	if err := json.Unmarshal(raw, &input); err != nil {
		s.t.Error(err)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	made := &Request{ID: uuid.NewString(), Status: "IN_QUEUE", Position: len(s.All), Input: input, Webhook: r.URL.Query().Get("fal_webhook")}
	s.All = append(s.All, made)
	address := s.QueueURL() + "/fal-ai/sketch/requests/" + made.ID
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{
		"request_id": made.ID, "response_url": address, "status_url": address + "/status", "cancel_url": address + "/cancel", "queue_position": made.Position, "status": "IN_QUEUE",
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
	upstreamtest.WriteJSON(w, http.StatusNotFound, map[string]any{"detail": "Request not found"})
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, func(found *Request) {
		view, code := map[string]any{"status": found.Status, "request_id": found.ID}, http.StatusAccepted
		switch found.Status {
		case "IN_QUEUE":
			view["queue_position"] = found.Position
		case "COMPLETED":
			view["metrics"], code = map[string]any{"inference_time": found.Seconds}, http.StatusOK
		}
		upstreamtest.WriteJSON(w, code, view)
	})
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, func(found *Request) {
		switch {
		case found.Status != "COMPLETED":
			upstreamtest.WriteJSON(w, http.StatusBadRequest, map[string]any{"detail": "Request is still in progress"})
		case found.Failure != 0:
			upstreamtest.WriteJSON(w, found.Failure, found.Result)
		default:
			if found.Units != "" {
				w.Header().Set("X-Fal-Billable-Units", found.Units)
			}
			upstreamtest.WriteJSON(w, http.StatusOK, found.Result)
		}
	})
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, func(found *Request) {
		if found.Status == "COMPLETED" {
			upstreamtest.WriteJSON(w, http.StatusBadRequest, map[string]any{"status": "ALREADY_COMPLETED"})
			return
		}
		found.Status, found.Failure, found.Result = "COMPLETED", http.StatusUnprocessableEntity, detail("request_cancelled", "body")
		upstreamtest.WriteJSON(w, http.StatusAccepted, map[string]any{"status": "CANCELLATION_REQUESTED"})
	})
}

func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) {
	public := s.signing().Public().(ed25519.PublicKey)
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(public)}}})
}

// Requests lists all requests, oldest first.
func (s *Server) Requests() []Request { return s.List() }

// Finish lets a request succeed with one picture after two seconds of work.
func (s *Server) Finish(id string) {
	s.Change(id, func(r *Request) {
		r.Status, r.Seconds = "COMPLETED", 2
		r.Result = map[string]any{"seed": 7, "prompt": "https://example.org", "images": []any{map[string]any{"url": s.URL + "/files/a", "content_type": "image/jpeg", "width": 1024, "height": 768}}}
	})
}

// Refuse lets a request fail, for its content.
func (s *Server) Refuse(id string) {
	s.Change(id, func(r *Request) {
		r.Status, r.Failure, r.Result = "COMPLETED", http.StatusUnprocessableEntity, detail("content_policy_violation", "body", "prompt")
	})
}

// Work lets a request be worked on.
func (s *Server) Work(id string) { s.Change(id, func(r *Request) { r.Status = "IN_PROGRESS" }) }

// Hollow lets a request succeed without output.
func (s *Server) Hollow(id string) {
	s.Change(id, func(r *Request) { r.Status, r.Seconds, r.Result = "COMPLETED", 2, map[string]any{} })
}

// Expire lets a request succeed with a picture whose address has expired.
func (s *Server) Expire(id string) {
	s.Change(id, func(r *Request) {
		r.Status, r.Seconds = "COMPLETED", 2
		r.Result = map[string]any{"images": []any{map[string]any{"url": s.URL + "/expired/a"}}}
	})
}

// Uncounted lets a request succeed without saying how long it was worked on.
func (s *Server) Uncounted(id string) {
	s.Change(id, func(r *Request) {
		r.Status = "COMPLETED"
		r.Result = map[string]any{"images": []any{map[string]any{"url": s.URL + "/files/a", "content_type": "image/jpeg"}}}
	})
}

// Puzzle lets a request have a status that nobody knows.
func (s *Server) Puzzle(id string) { s.Change(id, func(r *Request) { r.Status = "DREAMING" }) }

// Stopped reports whether a request was canceled.
func (s *Server) Stopped(id string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r := s.Find(id)
	return r.Status == "COMPLETED" && r.Failure != 0
}

// Report is the webhook about a request that is over; the service sends no others.
func (s *Server) Report(id string) (upstreamtest.Report, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	found, status, key := s.Find(id), "OK", s.key
	if found.Failure != 0 {
		status = "ERROR"
	}
	body, err := json.Marshal(map[string]any{"request_id": id, "gateway_request_id": id, "status": status, "payload": found.Result})
	if err != nil {
		s.t.Error(err)
	}
	return upstreamtest.Report{
		Address: found.Webhook, ID: id, At: time.Now(), Body: body,
		Sign: func(r *http.Request, id string, at time.Time, body []byte) {
			maps.Copy(r.Header, sign(key, id, at, body))
		},
	}, found.Status == "COMPLETED"
}

// Renew changes the key of webhooks.
func (s *Server) Renew() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	seed := sha256.Sum256([]byte(s.t.Name() + " renewed"))
	s.key = ed25519.NewKeyFromSeed(seed[:])
}

// signing is the key of webhooks.
func (s *Server) signing() ed25519.PrivateKey {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.key
}

// Sign gives the headers of a webhook about a request.
func (s *Server) Sign(id string, at time.Time, body []byte) http.Header {
	return sign(s.signing(), id, at, body)
}

func sign(key ed25519.PrivateKey, id string, at time.Time, body []byte) http.Header {
	sum, stamp := sha256.Sum256(body), strconv.FormatInt(at.Unix(), 10)
	text := fmt.Sprintf("%s\nuser-1\n%s\n%s", id, stamp, hex.EncodeToString(sum[:]))
	h := http.Header{}
	h.Set("X-Fal-Webhook-Request-Id", id)
	h.Set("X-Fal-Webhook-User-Id", "user-1")
	h.Set("X-Fal-Webhook-Timestamp", stamp)
	h.Set("X-Fal-Webhook-Signature", hex.EncodeToString(ed25519.Sign(key, []byte(text))))
	return h
}

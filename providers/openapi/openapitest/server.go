// Package openapitest is a service that is what an OpenAPI document says, for tests: it refuses every request that
// the document does not allow, judged by a library that has nothing to do with ours.
package openapitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Request is one that the document allows.
type Request struct {
	Operation string
	Method    string
	URI       string // path and query as they were sent
	Path      map[string]string
	Header    http.Header
	Body      []byte
}

// Answer is what an operation answers. A Body that is no string is sent as JSON.
type Answer struct {
	Status int
	Type   string
	Body   any
}

// Server is the service. Its document is at /openapi.yaml, tokens at /token.
type Server struct {
	*httptest.Server
	t      testing.TB
	secret string

	mu       sync.Mutex
	document string
	manifest string
	answers  map[string]func(Request) Answer
	received []Request
	tokens   int
	down     bool
	faults   []upstreamtest.Fault
}

// New starts a service that is described by document, in which {{server}} stands for its address. secret is what
// every scheme of the document takes: as key, token, password and client's secret.
func New(t testing.TB, document, secret string) *Server {
	t.Helper()
	s := &Server{t: t, secret: secret, answers: map[string]func(Request) Answer{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.Describe(document)
	return s
}

// Describe changes the document.
func (s *Server) Describe(document string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.document = strings.ReplaceAll(document, "{{server}}", s.URL)
}

// Introduce sets the agent's manifest at /.well-known/agent.json.
func (s *Server) Introduce(manifest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifest = manifest
}

// Answer says what an operation answers; without it gives back what it got.
func (s *Server) Answer(operation string, answer func(Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[operation] = answer
}

// Down makes the document unavailable, or available again.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Fail lets the next requests to operations come to harm, one each.
func (s *Server) Fail(faults ...upstreamtest.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Received lists the requests that were carried out.
func (s *Server) Received() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Tokens counts the tokens that were given out.
func (s *Server) Tokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

// ServeHTTP answers as the document says.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.aside(w, r) {
		return
	}
	s.mu.Lock()
	var fault upstreamtest.Fault
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	if fault != nil {
		fault(w, r, http.HandlerFunc(s.operate))
		return
	}
	s.operate(w, r)
}

// aside serves what is no operation. It reports whether it did.
func (s *Server) aside(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.URL.Path == "/openapi.yaml" && s.down:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case r.URL.Path == "/openapi.yaml":
		io.WriteString(w, s.document)
	case r.URL.Path == "/.well-known/agent.json":
		io.WriteString(w, s.manifest)
	case r.URL.Path == "/token":
		s.giveToken(w, r)
	default:
		return false
	}
	return true
}

// operate carries an operation out, if the document allows the request.
func (s *Server) operate(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, err := s.judge(r)
	if err != nil {
		write(w, Answer{Status: http.StatusUnprocessableEntity, Type: "application/problem+json", Body: map[string]string{"detail": err.Error()}})
		return
	}
	s.received = append(s.received, got)
	answer := Answer{Body: map[string]any{"operation": got.Operation, "uri": got.URI, "body": string(got.Body)}}
	if make := s.answers[got.Operation]; make != nil {
		answer = make(got)
	}
	write(w, answer)
}

func write(w http.ResponseWriter, a Answer) {
	a.Type = cmp.Or(a.Type, "application/json")
	a.Status = cmp.Or(a.Status, http.StatusOK)
	w.Header().Set("Content-Type", a.Type)
	w.WriteHeader(a.Status)
	if text, isText := a.Body.(string); isText {
		io.WriteString(w, text)
	} else if a.Body != nil {
		json.NewEncoder(w).Encode(a.Body)
	}
}

// judge tells whether the document allows a request.
func (s *Server) judge(r *http.Request) (Request, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return Request{}, err
	}
	router, err := s.router()
	if err != nil {
		s.t.Errorf("the document is bad: %v", err)
		return Request{}, err
	}
	r.URL.Scheme, r.URL.Host, r.Body = "http", r.Host, io.NopCloser(bytes.NewReader(raw))
	route, path, err := router.FindRoute(r)
	if err != nil {
		return Request{}, fmt.Errorf("%s %s: %w", r.Method, r.URL, err)
	}
	err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: path, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true},
	})
	if err == nil && !s.opened(r, route) {
		err = fmt.Errorf("the request has no secret")
	}
	return Request{Operation: route.Operation.OperationID, Method: r.Method, URI: r.URL.RequestURI(), Path: path, Header: r.Header.Clone(), Body: raw}, err
}

func (s *Server) router() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(s.document))
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc, openapi3.DisableExamplesValidation())
}

// opened reports whether a request has the secret, where its operation needs one.
func (s *Server) opened(r *http.Request, route *routers.Route) bool {
	needs := route.Spec.Security
	if own := route.Operation.Security; own != nil {
		needs = *own
	}
	if len(needs) == 0 || len(needs[0]) == 0 {
		return true
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password == s.secret
	}
	cookie, err := r.Cookie("session")
	return r.Header.Get("X-Api-Key") == s.secret || r.URL.Query().Get("api_key") == s.secret || err == nil && cookie.Value == s.secret ||
		r.Header.Get("Authorization") == "Bearer "+s.secret || r.Header.Get("Authorization") == "Bearer token-"+s.secret
}

func (s *Server) giveToken(w http.ResponseWriter, r *http.Request) {
	_, secret, _ := r.BasicAuth()
	if r.ParseForm() != nil || secret != s.secret || r.PostForm.Get("grant_type") != "client_credentials" {
		write(w, Answer{Status: http.StatusUnauthorized, Body: map[string]string{"error": "invalid_client"}})
		return
	}
	s.tokens++
	write(w, Answer{Body: map[string]any{"access_token": "token-" + s.secret, "token_type": "Bearer", "expires_in": 3600}})
}

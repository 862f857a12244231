// Package httptoolstest imitates services that providers/httptools is to describe, each as a table of what its public documents
// say: which fields requests may have, how answers look, and where results are. What the real one would refuse is refused.
package httptoolstest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/registry"
)

// Key is the account's key at every service.
const Key = "key-of-the-account"

// State is where a job stands.
type State string

// The states of jobs, which services call by words of their own.
const (
	Queued  State = "queued"
	Working State = "working"
	Done    State = "done"
	Failed  State = "failed"
	Refused State = "refused" // by the service's rules
	Stopped State = "stopped"
)

// Job is what a request began.
type Job struct {
	ID, Path string
	Body     map[string]any // its fields; a file is its bytes, as {"file": text, "type": MIME type}
	Query    string
	State    State
}

// Service is what the documents say.
type Service struct {
	Name string
	// BaseURL is that of the file of package services, for which the simulator stands.
	BaseURL string
	// Header is what every request needs.
	Header map[string]string
	// Takes has the JSON Schema of the fields by method and path of the requests that begin jobs. Those of which the path begins with
	// one of Parts come in parts.
	Takes map[string]string
	Parts []string
	// Accepted answers a request that began a job, or that is answered at once.
	Accepted func(s *Server, j *Job) (int, any)
	// Ask is method and path of what tells of a job, and ID where it has the job's id; Told answers it.
	Ask  string
	ID   func(r *http.Request) string
	Told func(s *Server, j *Job, r *http.Request) (int, any)
	// Stop is method and path of what stops a job; "" where there is nothing.
	Stop string
	// Wrong is the answer to what is refused.
	Wrong func(status int, words string) any
	// More are further addresses.
	More map[string]func(s *Server) http.HandlerFunc
	// Authorized judges a request in place of Header.
	Authorized func(r *http.Request) error
}

// Bytes is an answer that is a file.
type Bytes struct {
	Type string
	Data string
}

// Server is a service.
type Server struct {
	*upstreamtest.Server
	// Region is another host of the service, and Files one that is not the service's, where results are.
	Region, Files *httptest.Server

	t       testing.TB
	service Service
	mu      sync.Mutex
	jobs    []*Job
}

// New starts a service that ends with the test.
func New(t testing.TB, service Service) *Server {
	s := &Server{t: t, service: service}
	mux := http.NewServeMux()
	for pattern, schema := range service.Takes {
		compiled, err := registry.ParseSchema(json.RawMessage(schema))
		if err != nil {
			t.Fatalf("%s: %s: %v", service.Name, pattern, err)
		}
		mux.HandleFunc(pattern, s.begin(compiled))
	}
	if service.Ask != "" {
		mux.HandleFunc(service.Ask, s.tell)
	}
	if service.Stop != "" {
		mux.HandleFunc(service.Stop, s.stop)
	}
	for pattern, handler := range service.More {
		mux.HandleFunc(pattern, handler(s))
	}
	s.Region = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.guard(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Region.Close)
	s.Files = httptest.NewServer(http.HandlerFunc(s.file))
	t.Cleanup(s.Files.Close)
	s.Server = upstreamtest.New(t, mux, 64<<20, s.guard)
	return s
}

// guard asks for the key and the fixed headers.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) bool {
	err := s.authorized(r)
	if err != nil {
		s.refuse(w, http.StatusUnauthorized, err.Error())
	}
	return err == nil
}

func (s *Server) authorized(r *http.Request) error {
	if s.service.Authorized != nil {
		return s.service.Authorized(r)
	}
	for name, value := range s.service.Header {
		if r.Header.Get(name) != value {
			return fmt.Errorf("the header %s is missing or wrong", name)
		}
	}
	return nil
}

// file serves what was made at a host that must not see the key.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, " "), Key) {
			s.t.Errorf("the key went to another host, in %s", name)
		}
	}
	if r.URL.RawQuery != "" && strings.Contains(r.URL.RawQuery, Key) {
		s.t.Error("the key went to another host, in the query")
	}
	_, _ = io.WriteString(w, "made"+r.URL.Path)
}

// Made is the address of what a job made.
func (s *Server) Made(j *Job) string { return s.Files.URL + "/" + j.ID }

func (s *Server) refuse(w http.ResponseWriter, status int, words string) {
	upstreamtest.WriteJSON(w, status, s.service.Wrong(status, words))
}

func (s *Server) begin(schema *registry.Schema) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fields, err := s.fields(r)
		if err == nil {
			err = schema.Check(fields)
		}
		if err != nil {
			s.refuse(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		job := &Job{ID: fmt.Sprintf("job-%d", len(s.jobs)+1), Path: r.URL.Path, Query: r.URL.RawQuery, Body: fields, State: Queued}
		s.jobs = append(s.jobs, job)
		status, body := s.service.Accepted(s, job)
		s.answer(w, status, body)
	}
}

func (s *Server) answer(w http.ResponseWriter, status int, body any) {
	if file, ok := body.(Bytes); ok {
		w.Header().Set("Content-Type", file.Type)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, file.Data)
		return
	}
	upstreamtest.WriteJSON(w, status, body)
}

// fields are those of a body, in JSON or in parts.
func (s *Server) fields(r *http.Request) (map[string]any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	kind := r.Header.Get("Content-Type")
	inParts := slices.ContainsFunc(s.service.Parts, func(begin string) bool { return strings.HasPrefix(r.URL.Path, begin) })
	if inParts != strings.HasPrefix(kind, "multipart/form-data") {
		return nil, fmt.Errorf("the body is %q", kind)
	}
	if !inParts {
		return decode(body)
	}
	_, boundary, _ := strings.Cut(kind, "boundary=")
	return readParts(multipart.NewReader(bytes.NewReader(body), boundary))
}

func decode(body []byte) (map[string]any, error) {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	err := d.Decode(&fields)
	return fields, err
}

// readParts reads the parts of a body; several of a name become a list, and what comes after a file is an error.
func readParts(parts *multipart.Reader) (map[string]any, error) {
	fields := map[string]any{}
	afterFile := false
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		var value any = string(content)
		switch {
		case part.FileName() != "":
			value, afterFile = map[string]any{"file": string(content), "type": part.Header.Get("Content-Type")}, true
		case afterFile:
			return nil, fmt.Errorf("the field %s comes after a file", part.FormName())
		case part.Header.Get("Content-Type") == "application/json":
			if value, err = decode(content); err != nil {
				return nil, err
			}
		}
		name := part.FormName()
		switch known := fields[name].(type) {
		case nil:
			fields[name] = value
		case []any:
			fields[name] = append(known, value)
		default:
			fields[name] = []any{known, value}
		}
	}
}

func (s *Server) tell(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job := s.find(s.service.ID(r)); job != nil {
		status, body := s.service.Told(s, job, r)
		s.answer(w, status, body)
		return
	}
	s.refuse(w, http.StatusNotFound, "there is no such job")
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := s.find(s.service.ID(r))
	if job == nil {
		s.refuse(w, http.StatusNotFound, "there is no such job")
		return
	}
	job.State = Stopped
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) find(id string) *Job {
	for _, job := range s.jobs {
		if job.ID == id {
			return job
		}
	}
	return nil
}

// Jobs are all that was begun, oldest first, as they are now.
func (s *Server) Jobs() []Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Job, len(s.jobs))
	for i, job := range s.jobs {
		list[i] = *job
	}
	return list
}

// Move brings the job that was begun last to a state.
func (s *Server) Move(to State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[len(s.jobs)-1].State = to
}

// MoveJob brings a job to a state by its id.
func (s *Server) MoveJob(id string, to State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job := s.find(id); job != nil {
		job.State = to
	}
}

// InBase64 is a file as services put it into JSON.
func InBase64(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

// byPath finds a job's id in the path.
func byPath(r *http.Request) string { return r.PathValue("id") }

package upstreamtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is a service over HTTP whose answers go wrong as a test says. It is safe for concurrent use.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	faults   []waiting
	answered int
}

// waiting is a fault that the next request meets, of a path where one is named.
type waiting struct {
	path  string
	fault Fault
}

// New starts a server that ends with the test. It answers by mux; an address that the service does not have is an error of
// the test. Requests have at most limit bytes, and pass guard first, which answers those that it refuses and reports whether
// to go on; what is refused meets no fault.
func New(t testing.TB, mux *http.ServeMux, limit int64, guard func(w http.ResponseWriter, r *http.Request) bool) *Server {
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unknown address: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		defer s.count()
		if !guard(w, r) {
			return
		}
		if fault := s.take(r.URL.Path); fault != nil {
			fault(w, r, mux)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Fail lets the next requests meet these faults, one each, after any given before.
func (s *Server) Fail(faults ...Fault) { s.FailAt("", faults...) }

// FailAt is Fail for the requests of one path.
func (s *Server) FailAt(path string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range faults {
		s.faults = append(s.faults, waiting{path, fault})
	}
}

// Waiting counts the faults that no request has met.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults)
}

// Answered counts the requests that are over.
func (s *Server) Answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

func (s *Server) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
}

// take gives the fault that a request of a path meets, or nil.
func (s *Server) take(path string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.faults {
		if w.path == "" || w.path == path {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			return w.fault
		}
	}
	return nil
}

// Direct asks the server without any network, so that tests in a bubble of testing/synctest can wait for hours.
func (s *Server) Direct() *http.Client { return &http.Client{Transport: direct{s.Config.Handler}} }

// WriteJSON answers with a status and a value as JSON.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the one who asked has gone away
}

// direct is a transport that calls a handler.
type direct struct{ handler http.Handler }

// RoundTrip waits for the handler's answer, or for the end of the request.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	served.RequestURI = r.URL.RequestURI()
	answer, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		d.handler.ServeHTTP(answer, served)
	}()
	select {
	case <-done:
		res := answer.Result()
		res.Request = r
		return res, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

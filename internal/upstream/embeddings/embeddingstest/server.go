// Package embeddingstest is a strict imitation of a service with OpenAI's POST /v1/embeddings.
package embeddingstest

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Key and Model are those of the account.
const (
	Key   = "sk-of-the-imitation"
	Model = "imitation-small"
)

// maxInputs is how many texts the service takes at once.
const maxInputs = 2048

// Server has vectors in which each word counts in one dimension, so that texts of the same words are near to each other.
type Server struct {
	URL       string // with its version
	Dimension int
	asked     atomic.Int64
	broken    atomic.Pointer[string]
}

// New starts a server that ends with the test.
func New(t testing.TB, dimension int) *Server {
	t.Helper()
	s := &Server{Dimension: dimension}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.embed)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Texts counts the texts that were embedded so far.
func (s *Server) Texts() int64 { return s.asked.Load() }

// Break lets all further requests be answered with a body; an empty one mends the server.
func (s *Server) Break(body string) {
	if s.broken.Store(&body); body == "" {
		s.broken.Store(nil)
	}
}

type vector struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float64 `json:"embedding"`
}

func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+Key {
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	}
	if body := s.broken.Load(); body != nil {
		w.Write([]byte(*body))
		return
	}
	var asked struct {
		Model          string   `json:"model"`
		Input          []string `json:"input"`
		EncodingFormat string   `json:"encoding_format"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	switch err := d.Decode(&asked); {
	case err != nil:
		refuse(w, http.StatusBadRequest, "body: "+err.Error())
		return
	case asked.Model != Model:
		refuse(w, http.StatusNotFound, "The model does not exist")
		return
	case len(asked.Input) == 0 || len(asked.Input) > maxInputs:
		refuse(w, http.StatusBadRequest, "'$.input' is invalid")
		return
	}
	data := make([]vector, len(asked.Input))
	for i, text := range asked.Input {
		if text == "" {
			refuse(w, http.StatusBadRequest, "input cannot be an empty string")
			return
		}
		// The last comes first: the order of the answer is nobody's promise, the index is.
		data[len(data)-1-i] = vector{"embedding", i, s.vector(text)}
	}
	s.asked.Add(int64(len(data)))
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}

func (s *Server) vector(text string) []float64 {
	v := make([]float64, s.Dimension)
	v[0] = 0.1
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		h.Write([]byte(strings.Trim(word, ".,?!")))
		v[1+int(h.Sum32())%(s.Dimension-1)]++
	}
	return v
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
}

// Package checkstest is a strict imitation of a service with OpenAI's POST /v1/moderations and pictures.
package checkstest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Key and Model are those of the account.
const (
	Key   = "sk-of-the-imitation"
	Model = "omni-moderation-latest"
)

// categories are all that the service tells of; those without a score of the test's have one of 0.001.
var categories = []string{
	"harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm", "self-harm/instructions", "self-harm/intent",
	"sexual", "sexual/minors", "violence", "violence/graphic",
}

// Server answers for all pictures alike.
type Server struct {
	URL string // with its version

	mu     sync.Mutex
	scores map[string]float64
	broken string
	asked  int
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/moderations", s.moderate)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Score sets the scores of all further pictures.
func (s *Server) Score(scores map[string]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scores = scores
}

// Break has all further requests answered with a body; an empty one mends the server, and "503" has it be down.
func (s *Server) Break(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = body
}

// Asked counts the pictures that were looked at.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) moderate(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+Key:
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	case s.broken == "503":
		refuse(w, http.StatusServiceUnavailable, "The server is overloaded")
		return
	case s.broken != "":
		_, _ = w.Write([]byte(s.broken))
		return
	}
	var asked struct {
		Model string `json:"model"`
		Input []struct {
			Type     string `json:"type"`
			ImageURL struct {
				URL string `json:"url"`
			} `json:"image_url"`
		} `json:"input"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, "body: "+err.Error())
		return
	}
	if asked.Model != Model {
		refuse(w, http.StatusNotFound, "The model does not exist")
		return
	}
	if len(asked.Input) != 1 || asked.Input[0].Type != "image_url" || !isPicture(asked.Input[0].ImageURL.URL) {
		refuse(w, http.StatusBadRequest, "'$.input' is invalid: one image_url is expected, a data: address of a picture")
		return
	}
	s.asked++
	scores, flags, flagged := map[string]float64{}, map[string]bool{}, false
	for _, c := range categories {
		scores[c] = 0.001
	}
	maps.Copy(scores, s.scores)
	for c, score := range scores {
		flags[c] = score > 0.5
		flagged = flagged || flags[c]
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "modr-1", "model": Model, "results": []any{map[string]any{
		"flagged": flagged, "categories": flags, "category_scores": scores, "category_applied_input_types": map[string][]string{"sexual": {"image"}, "violence": {"image"}},
	}}})
}

// isPicture takes the types that the service takes, by what the content is.
func isPicture(address string) bool {
	head, data, ok := strings.Cut(strings.TrimPrefix(address, "data:"), ";base64,")
	content, err := base64.StdEncoding.DecodeString(data)
	return ok && err == nil && strings.HasPrefix(address, "data:image/") && http.DetectContentType(content) == head
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
}

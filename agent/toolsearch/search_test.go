package toolsearch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/agent/toolsearch"
	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// server knows three things and which words speak of them, and gives its answers in another order than asked.
type server struct {
	texts  atomic.Int32 // that vectors were made of
	broken atomic.Bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model string
		Input []string
	}
	if s.broken.Load() || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer k" || json.NewDecoder(r.Body).Decode(&body) != nil || body.Model != "m" {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	}
	var data []map[string]any
	for i := len(body.Input) - 1; i >= 0; i-- {
		s.texts.Add(1)
		v := []float32{0.01, 0.01, 0.01}
		for place, words := range []string{"feline kitten", "canine puppy", "avian sparrow"} {
			for word := range strings.FieldsSeq(words) {
				if strings.Contains(strings.ToLower(body.Input[i]), word) {
					v[place] = 2
				}
			}
		}
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func about(id, text string) registry.Tool {
	return registrytest.Tool(id, func(t *registry.Tool) { t.Description, t.CommandName, t.DisplayName = text, "", id })
}

func newSearch(t *testing.T, h http.Handler, tools *registrytest.Loader) (*toolsearch.Search, *catalog.Registry) {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	client, err := embeddings.New(embeddings.Config{URL: web.URL + "/v1", Model: "m", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	reg := registrytest.Registry(t, tools)
	return toolsearch.New(client, reg, slog.New(slog.DiscardHandler)), reg
}

func first(matches []catalog.Match) string {
	if len(matches) == 0 {
		return ""
	}
	return matches[0].Tool.ToolID
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := &server{}
	tools := registrytest.NewLoader("tools", about("one", "Feline things."), about("two", "Canine things."), about("three", "Avian things."))
	search, reg := newSearch(t, s, tools)
	if err := search.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("D8 what no word tells is found by vectors", func(t *testing.T) {
		for query, want := range map[string]string{"a kitten": "one", "my puppy": "two", "the sparrow": "three"} {
			if got := first(search.Find(t.Context(), query, catalog.SearchOptions{})); got != want {
				t.Errorf("%s: got %q, want %s", query, got, want)
			}
		}
	})
	t.Run("only what changed is made anew", func(t *testing.T) {
		before := s.texts.Load()
		tools.Set(about("one", "Feline things."), about("two", "Canine things."), about("three", "Sparrow things."))
		if _, err := reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := search.Refresh(t.Context()); err != nil || s.texts.Load() != before+1 {
			t.Errorf("%d texts were sent, %v", s.texts.Load()-before, err)
		}
	})
	t.Run("D8 while the server is in trouble words alone find", func(t *testing.T) {
		s.broken.Store(true)
		if got := first(search.Find(context.Background(), "canine", catalog.SearchOptions{})); got != "two" {
			t.Errorf("got %q", got)
		}
	})
}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSearchWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs, s := false, &server{}
		client, err := embeddings.New(embeddings.Config{URL: "http://vectors.example/v1", Model: "m", Key: "k", HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if hangs {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, r)
			return answer.Result(), nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		reg := registrytest.Registry(t, registrytest.NewLoader("tools", about("one", "Feline things."), about("two", "Canine things.")))
		search := toolsearch.New(client, reg, slog.New(slog.DiscardHandler))
		if err := search.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		hangs = true
		began := time.Now()
		for range 50 {
			if got := first(search.Find(t.Context(), "canine", catalog.SearchOptions{})); got != "two" {
				t.Errorf("got %q", got)
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("50 searches waited for it for %v", took)
		}
	})
}

// around has a vector for each number, all of them around a circle, and the same one for every text without: as near to the tools
// as a model puts what it does not understand, which is to none in particular.
func around(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var data []map[string]any
	for i, text := range body.Input {
		number := 0
		fmt.Sscanf(text, "number%d", &number)
		angle := 2 * math.Pi * float64(number) / 50
		data = append(data, map[string]any{"index": i, "embedding": []float64{math.Cos(angle), math.Sin(angle)}})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func TestSearchOfWhatTheModelDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	var tools []registry.Tool
	for i := range 50 {
		tools = append(tools, about(fmt.Sprintf("number%d", i), "Some "+strings.Repeat("thing ", i+1)))
	}
	tools[25] = about("number25", "Übersetzer")
	search, reg := newSearch(t, http.HandlerFunc(around), registrytest.NewLoader("tools", tools...))
	if err := search.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("D8 words decide", func(t *testing.T) {
		const query = "Übersetzer bitte"
		words := reg.Snapshot().Search(query, catalog.SearchOptions{})
		if got := search.Find(t.Context(), query, catalog.SearchOptions{}); first(words) != "number25" || first(got) != "number25" || len(got) != len(words) {
			t.Errorf("got %s first of %d, by words alone %s first of %d", first(got), len(got), first(words), len(words))
		}
	})
}

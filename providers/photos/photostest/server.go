// Package photostest imitates the APIs of Unsplash and Pexels, strictly: requests that they would refuse are refused as they do
// it, and each use that is counted at Unsplash is on record. Faults make answers go wrong.
package photostest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The keys the services accept.
const (
	UnsplashKey = "unsplash-access-key"
	PexelsKey   = "pexels-api-key"
)

// Server is both services, and their hosts of pictures, at one address. There are twelve photos for every query: a0 to a11 at
// Unsplash, 100 to 111 at Pexels.
type Server struct {
	*httptest.Server
	t         testing.TB
	mu        sync.Mutex
	searches  []url.Values
	downloads []string
	faults    map[string][]http.HandlerFunc
}

const total = 12

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{t: t, faults: map[string][]http.HandlerFunc{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /unsplash/search/photos", s.unsplash(s.searchUnsplash))
	mux.HandleFunc("GET /unsplash/photos/{id}", s.unsplash(s.unsplashPhoto))
	mux.HandleFunc("GET /unsplash/photos/{id}/download", s.unsplash(s.download))
	mux.HandleFunc("GET /pexels/v1/search", s.pexels(s.searchPexels))
	mux.HandleFunc("GET /pexels/v1/photos/{id}", s.pexels(s.pexelsPhoto))
	mux.HandleFunc("GET /images/{name}", s.image)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unknown address: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// UnsplashURL is the address of Unsplash's API.
func (s *Server) UnsplashURL() string { return s.URL + "/unsplash" }

// PexelsURL is the address of Pexels' API.
func (s *Server) PexelsURL() string { return s.URL + "/pexels/v1" }

// Fail lets the next requests to a service, "unsplash", "pexels" or "images", be answered by these handlers instead.
func (s *Server) Fail(service string, faults ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[service] = append(s.faults[service], faults...)
}

// Answer is a fault that answers with a status and a body.
func Answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, status) }
}

// OverQuota is Unsplash's refusal of too many requests.
func OverQuota(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Ratelimit-Remaining", "0")
	http.Error(w, "Rate Limit Exceeded", http.StatusForbidden)
}

// Searches lists the searches that were carried out.
func (s *Server) Searches() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.searches)
}

// Downloads lists the photos whose use was counted at Unsplash.
func (s *Server) Downloads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.downloads)
}

func (s *Server) failed(service string, w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	var fault http.HandlerFunc
	if waiting := s.faults[service]; len(waiting) > 0 {
		fault, s.faults[service] = waiting[0], waiting[1:]
	}
	s.mu.Unlock()
	if fault != nil {
		fault(w, r)
	}
	return fault != nil
}

func (s *Server) unsplash(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Client-ID "+UnsplashKey || r.Header.Get("Accept-Version") != "v1" {
			write(w, http.StatusUnauthorized, map[string]any{"errors": []string{"OAuth error: The access token is invalid"}})
			return
		}
		if !s.failed("unsplash", w, r) {
			next(w, r)
		}
	}
}

func (s *Server) pexels(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != PexelsKey {
			write(w, http.StatusUnauthorized, map[string]any{"status": 401, "code": "Unauthorized"})
			return
		}
		if !s.failed("pexels", w, r) {
			next(w, r)
		}
	}
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

// parameters are those of a search, with the words that each takes; nil: any.
type parameters map[string][]string

var (
	unsplashParameters = parameters{
		"query": nil, "page": nil, "per_page": nil, "collections": nil, "order_by": {"relevant", "latest"}, "content_filter": {"low", "high"},
		"color":       {"black_and_white", "black", "white", "yellow", "orange", "red", "purple", "magenta", "green", "teal", "blue"},
		"orientation": {"landscape", "portrait", "squarish"},
	}
	pexelsParameters = parameters{
		"query": nil, "page": nil, "per_page": nil, "locale": nil, "size": {"large", "medium", "small"}, "orientation": {"landscape", "portrait", "square"},
		"color": {"red", "orange", "yellow", "green", "turquoise", "blue", "violet", "pink", "brown", "black", "gray", "white"},
	}
)

// check gives what is wrong with a search, and how many photos it wants.
func (p parameters) check(q url.Values, most int) (n int, wrong string) {
	for name, given := range q {
		words, known := p[name]
		if !known || len(given) != 1 || words != nil && !slices.Contains(words, given[0]) {
			return 0, name + " is invalid"
		}
	}
	n, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || n < 1 || n > most || q.Get("query") == "" {
		return 0, "query or per_page is invalid"
	}
	return min(n, total), ""
}

func (s *Server) note(q url.Values) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches = append(s.searches, q)
}

func (s *Server) searchUnsplash(w http.ResponseWriter, r *http.Request) {
	n, wrong := unsplashParameters.check(r.URL.Query(), 30)
	if wrong != "" {
		write(w, http.StatusBadRequest, map[string]any{"errors": []string{wrong}})
		return
	}
	s.note(r.URL.Query())
	photos := []any{}
	for i := 0; i < n && r.URL.Query().Get("query") != "nothing"; i++ {
		photos = append(photos, s.unsplashView(i))
	}
	write(w, http.StatusOK, map[string]any{"total": len(photos), "total_pages": 1, "results": photos})
}

// unsplashView: the second photo has no description, the third a photographer whose name has markup, the fourth none.
func (s *Server) unsplashView(i int) map[string]any {
	id := fmt.Sprint("a", i)
	image := s.URL + "/images/" + id + ".jpg?ixid=" + id + "track&w="
	view := map[string]any{
		"id": id, "width": 4000, "height": 3000, "description": nil, "alt_description": "a bicycle at a wall",
		"urls":  map[string]any{"raw": image + "4000", "regular": image + "1080", "small": image + "400", "thumb": image + "200"},
		"links": map[string]any{"html": "https://unsplash.com/photos/" + id, "download_location": s.UnsplashURL() + "/photos/" + id + "/download?ixid=" + id + "track"},
		"user":  map[string]any{"name": "Ann Lens", "links": map[string]any{"html": "https://unsplash.com/@ann"}},
	}
	switch i {
	case 1:
		view["alt_description"] = nil
	case 2:
		view["user"].(map[string]any)["name"] = `<b>"Bo" & Co</b>`
	case 3:
		view["user"].(map[string]any)["name"] = ""
	}
	return view
}

func (s *Server) unsplashPhoto(w http.ResponseWriter, r *http.Request) {
	i, ok := index(r.PathValue("id"), "a")
	if !ok {
		write(w, http.StatusNotFound, map[string]any{"errors": []string{"Couldn't find Photo"}})
		return
	}
	write(w, http.StatusOK, s.unsplashView(i))
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if r.URL.Query().Get("ixid") != id+"track" {
		write(w, http.StatusBadRequest, map[string]any{"errors": []string{"ixid is missing"}})
		return
	}
	s.mu.Lock()
	s.downloads = append(s.downloads, id)
	s.mu.Unlock()
	write(w, http.StatusOK, map[string]any{"url": s.URL + "/images/" + id + ".jpg"})
}

func index(id, prefix string) (int, bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil && n >= 0 && n < total
}

func (s *Server) searchPexels(w http.ResponseWriter, r *http.Request) {
	n, wrong := pexelsParameters.check(r.URL.Query(), 80)
	if wrong != "" {
		write(w, http.StatusBadRequest, map[string]any{"status": 400, "code": wrong})
		return
	}
	s.note(r.URL.Query())
	photos := []any{}
	for i := range n {
		photos = append(photos, s.pexelsView(i))
	}
	w.Header().Set("X-Ratelimit-Remaining", "199")
	write(w, http.StatusOK, map[string]any{"page": 1, "per_page": n, "total_results": total, "photos": photos})
}

func (s *Server) pexelsView(i int) map[string]any {
	id := 100 + i
	image := fmt.Sprint(s.URL, "/images/", id, ".jpeg?w=")
	return map[string]any{
		"id": id, "width": 6000, "height": 4000, "url": fmt.Sprint("https://www.pexels.com/photo/", id, "/"), "photographer": "Cy Flash",
		"photographer_url": "https://www.pexels.com/@cy", "photographer_id": 7, "avg_color": "#808080", "alt": "", "liked": false,
		"src": map[string]any{"original": image + "6000", "large2x": image + "1880", "large": image + "940", "medium": image + "350", "small": image + "130"},
	}
}

func (s *Server) pexelsPhoto(w http.ResponseWriter, r *http.Request) {
	i, ok := index(r.PathValue("id"), "1")
	if !ok || len(r.PathValue("id")) != 3 {
		write(w, http.StatusNotFound, map[string]any{"status": 404, "code": "Not Found"})
		return
	}
	write(w, http.StatusOK, s.pexelsView(i))
}

func (s *Server) image(w http.ResponseWriter, r *http.Request) {
	if s.failed("images", w, r) {
		return
	}
	img := image.NewGray(image.Rect(0, 0, 16, 12))
	img.SetGray(0, 0, color.Gray{Y: uint8(len(r.PathValue("name")))})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		s.t.Error(err)
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Write(b.Bytes())
}

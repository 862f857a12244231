package comfytest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// serveMetadata answers GET /view_metadata/{folder}?filename= as a real server does: 404 for whatever has no metadata. The embedded engine has no models.
func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) {
	folder := strings.TrimPrefix(bare(r.URL.Path), "/view_metadata/")
	name := r.URL.Query().Get("filename")
	if r.Method != http.MethodGet || !slices.Equal(slices.Collect(maps.Keys(r.URL.Query())), []string{"filename"}) {
		s.t.Errorf("comfytest: %s %s: a real server knows GET with filename only", r.Method, r.URL)
	}
	meta, ok := s.opts.Metadata[folder+"/"+name]
	if !ok || !strings.HasSuffix(name, ".safetensors") || !slices.Contains(s.models(folder), name) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err := json.NewEncoder(w).Encode(meta); err != nil {
		s.t.Logf("comfytest: answering %s: %v", r.URL, err)
	}
}

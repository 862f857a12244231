// Package remotetest is an endpoint of remote tools, strict: it takes what the contract of remote tools says, to the letter,
// and refuses everything else.
package remotetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// Key is what callers send in X-Api-Key.
const Key = "remote-test-key"

// Call is a call that was carried out.
type Call struct {
	ToolName  string         `json:"toolName"`
	Arguments map[string]any `json:"arguments"`
	Context   Context        `json:"context"`
}

// Context is whose call it is.
type Context struct {
	SiteID          string `json:"siteId"`
	SessionID       string `json:"sessionId"`
	UserID          string `json:"userId"`
	TraceID         string `json:"traceId"`
	PlannerProvider string `json:"plannerProvider"`
}

// Server has one tool, pim.getProduct, which answers with {"sku", "title", "picture"}.
type Server struct {
	*upstreamtest.Server

	mu    sync.Mutex
	calls []Call
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tools/pim.getProduct", s.product)
	mux.HandleFunc("GET /pictures/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") == "expired.png" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "picture of "+r.PathValue("name"))
	})
	s.Server = upstreamtest.New(t, mux, 1<<20, guard)
	return s
}

// guard asks for the key.
func guard(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/tools/") && r.Header.Get("X-Api-Key") != Key {
		upstreamtest.WriteJSON(w, http.StatusUnauthorized, map[string]any{"error": "the key is missing or wrong"})
		return false
	}
	return true
}

// product looks a product up. The one with the SKU "expired" has a picture whose address has expired.
func (s *Server) product(w http.ResponseWriter, r *http.Request) {
	var c Call
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	sku := ""
	err := d.Decode(&c)
	if err == nil {
		sku, _ = c.Arguments["sku"].(string)
	}
	if err != nil || c.ToolName != "pim.getProduct" || sku == "" || len(c.Arguments) != 1 || c.Context.SiteID == "" || c.Context.SessionID == "" || c.Context.TraceID == "" || c.Context.PlannerProvider == "" {
		upstreamtest.WriteJSON(w, http.StatusBadRequest, map[string]any{"error": fmt.Sprintf("this is no call by the contract: %+v, %v", c, err)})
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"data": map[string]any{"sku": sku, "title": "Chair " + sku, "picture": s.URL + "/pictures/" + sku + ".png"}})
}

// Calls lists what was carried out.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Manifest is the text of a manifest file with the tool, which costs two cents a call.
func (s *Server) Manifest(timeoutMs int) string {
	return fmt.Sprintf(`{"tools": [{
		"manifest": {
			"name": "pim.getProduct", "description": "A product by its SKU.", "capability": "read", "timeoutMs": %d, "idempotent": true, "retryPolicy": {"maxAttempts": 1},
			"inputSchema": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"], "additionalProperties": false},
			"outputSchema": {"type": "object", "properties": {"sku": {"type": "string"}, "title": {"type": "string"}, "picture": {"type": "string"}}, "required": ["sku", "title"]}
		},
		"endpoint": %q, "staticHeaders": {"X-Api-Key": %q},
		"tool": {
			"costingModel": {"rate": 0.02, "unit": "request", "rateSource": "static"},
			"outputSchema": {"title": {"type": "text"}, "picture": {"type": "image"}}
		}
	}]}`, timeoutMs, s.URL+"/tools/pim.getProduct", Key)
}

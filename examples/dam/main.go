// Command dam is a skeleton of a media library that Signalbox calls as the remote tool dam.searchAssets.
// Copy it and replace assets by your own system:
//
//	go run ./examples/dam
//	ORCHESTRATOR_TOOL_MANIFEST_PATH=examples/tools.json go run ./cmd/signalbox up
package main

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"strings"
	"time"
)

// Asset is one item that dam.searchAssets gives, as its outputSchema says.
type Asset struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Alt      string `json:"alt,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

var assets = []Asset{
	{ID: "1001", URL: "https://images.example.com/oak-chair.jpg", Alt: "An oak chair by a window", MIMEType: "image/jpeg"},
	{ID: "1002", URL: "https://images.example.com/ash-table.jpg", Alt: "An ash table laid for four", MIMEType: "image/jpeg"},
	{ID: "1003", URL: "https://images.example.com/oak-shelf.png", Alt: "An oak shelf with books", MIMEType: "image/png"},
}

const defaultLimit = 10

// request is what Signalbox sends; its context is of no use here.
type request struct {
	Arguments struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	} `json:"arguments"`
}

// search finds the assets whose description has all words of the query.
func search(query string, limit int) []Asset {
	limit = cmp.Or(limit, defaultLimit)
	found := []Asset{}
	for _, a := range assets {
		hit := true
		for word := range strings.FieldsSeq(strings.ToLower(query)) {
			hit = hit && strings.Contains(strings.ToLower(a.Alt), word)
		}
		if hit && len(found) < limit {
			found = append(found, a)
		}
	}
	return found
}

// handler answers calls that carry the key.
func handler(key string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tools/dam.searchAssets", func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(key)) != 1 {
			http.Error(w, "the X-Api-Key is wrong", http.StatusUnauthorized)
			return
		}
		var call request
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&call); err != nil {
			http.Error(w, "the body is no call of a tool", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"items": search(call.Arguments.Query, call.Arguments.Limit)}})
	})
	return mux
}

func main() {
	listen := flag.String("listen", "127.0.0.1:9102", "address to listen on")
	key := flag.String("key", "dam-demo", "the X-Api-Key that calls carry")
	flag.Parse()
	server := &http.Server{Addr: *listen, Handler: handler(*key), ReadHeaderTimeout: 10 * time.Second}
	log.Printf("dam.searchAssets is at http://%s/tools/dam.searchAssets", *listen)
	log.Fatal(server.ListenAndServe())
}

// Command pim is a skeleton of a product catalogue that Signalbox calls as the remote tool pim.getProduct.
// Copy it and replace products by your own system:
//
//	go run ./examples/pim
//	ORCHESTRATOR_TOOL_MANIFEST_PATH=examples/tools.json go run ./cmd/signalbox up
package main

import (
	"crypto/subtle"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"
)

// Product is what pim.getProduct gives, as its outputSchema says. The price is text: amount and currency.
type Product struct {
	SKU         string `json:"sku"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	ImageURL    string `json:"imageUrl,omitempty"`
	Price       string `json:"price,omitempty"`
}

var products = map[string]Product{
	"CH-100": {SKU: "CH-100", Title: "Oak chair", Description: "A chair of solid oak with a woven seat.", ImageURL: "https://images.example.com/ch-100.jpg", Price: "149.00 EUR"},
	"TB-200": {SKU: "TB-200", Title: "Ash table", Price: "389.00 EUR"},
}

// request is what Signalbox sends. Its context names site, session, user, trace and planner; this tool needs
// none of them but the trace, for its log.
type request struct {
	ToolName  string `json:"toolName"`
	Arguments struct {
		SKU string `json:"sku"`
	} `json:"arguments"`
	Context struct {
		TraceID string `json:"traceId"`
	} `json:"context"`
}

// handler answers calls that carry the key.
func handler(key string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tools/pim.getProduct", func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(key)) != 1 {
			http.Error(w, "the X-Api-Key is wrong", http.StatusUnauthorized)
			return
		}
		var call request
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&call); err != nil {
			http.Error(w, "the body is no call of a tool", http.StatusBadRequest)
			return
		}
		product, known := products[call.Arguments.SKU]
		if !known {
			http.Error(w, fmt.Sprintf("no product has the SKU %q", call.Arguments.SKU), http.StatusNotFound)
			return
		}
		log.Printf("trace %s: %s", call.Context.TraceID, product.SKU)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"data": product})
	})
	return mux
}

func main() {
	listen := flag.String("listen", "127.0.0.1:9101", "address to listen on")
	key := flag.String("key", "pim-demo", "the X-Api-Key that calls carry")
	flag.Parse()
	server := &http.Server{Addr: *listen, Handler: handler(*key), ReadHeaderTimeout: 10 * time.Second}
	log.Printf("pim.getProduct is at http://%s/tools/pim.getProduct", *listen)
	log.Fatal(server.ListenAndServe())
}

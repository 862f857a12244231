package web

import "net/http"

// Mount is a handler of another package under a path of ours. Caller names its account.
type Mount struct {
	Path    string // a pattern of http.ServeMux with its method, e.g. "GET /operator/"
	Use     Use    // what it does, which decides who may come
	Page    bool   // for people: who is signed out is led to the sign-in page, and errors are pages; else they are problem+json
	Handler http.Handler
	// AtOnce is how many requests of one account are answered at the same time; 0: any number.
	AtOnce int
	// Streams tells the requests whose answer stays open for as long as the client wants: each counts as an event stream of its
	// account. nil: none does.
	Streams func(r *http.Request) bool
	// Describe holds the paths that the handler adds to the API's OpenAPI document; its operations may name our
	// components.
	Describe map[string]any
}

package api

import (
	"maps"
	"net/http"
	"net/url"
)

// WithHeaders makes a transport that sends headers along with each request to the server at base, such as the key to a door in front of it,
// and with no other: where a server answers with an address elsewhere, as of a store of files, they stay here.
func WithHeaders(base *url.URL, headers http.Header, next http.RoundTripper) http.RoundTripper {
	return access{base, headers, next}
}

type access struct {
	base    *url.URL
	headers http.Header
	next    http.RoundTripper
}

// RoundTrip adds the headers where they belong.
func (a access) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == a.base.Host && r.URL.Scheme == a.base.Scheme {
		r = r.Clone(r.Context())
		maps.Copy(r.Header, a.headers)
	}
	return a.next.RoundTrip(r)
}

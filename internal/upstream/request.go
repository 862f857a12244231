package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Request is one request. Path is appended to the base address; it may have a query of its own.
type Request struct {
	Method string // empty: GET
	Path   string
	Query  url.Values
	Header http.Header
	// Body is sent as it is, with ContentType; JSON is sent as JSON instead. At most one is set.
	Body        io.Reader
	ContentType string
	JSON        any
	// Repeatable says that the service carries the request out once however often it comes, so that it
	// may be sent again when nobody knows what became of it. GET and HEAD are.
	Repeatable bool
	// Begins says that the request begins work that goes on by itself: once sent, its answer is waited for although the
	// context has ended, see registry.Beginning.
	Begins bool
	// Within is how long this request may take with its answer; zero: Config.Timeout.
	Within time.Duration
	// Events is told the events of an answer that is a stream of them, whose Response then has no Body. A service may
	// answer with a whole body all the same. Nil: the answer is not read as a stream.
	Events func(Event) error
	// Words reads the service's own words for why it refuses, which are added where Config.Failure has nothing to say.
	Words func(body []byte) string
}

func (r Request) repeatable() bool {
	return r.Repeatable || r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead
}

// Response is an answer of status 200 to 299; in Config.Failure it is any other.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

func (c *Client) patience(r Request) time.Duration { return cmp.Or(r.Within, c.cfg.Timeout) }

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	body, contentType := r.Body, r.ContentType
	if r.JSON != nil {
		raw, err := json.Marshal(r.JSON)
		if err != nil {
			return nil, fmt.Errorf("encode the request to %s: %w", c.name, err)
		}
		body, contentType = bytes.NewReader(raw), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.address(r), body)
	if err != nil {
		return nil, fmt.Errorf("make the request to %s: %w", c.name, c.redacted(err))
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if r.Events != nil {
		req.Header.Set("Accept", "text/event-stream")
	} else if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if c.cfg.Authorize != nil {
		c.cfg.Authorize(req)
	}
	return req, nil
}

func (c *Client) address(r Request) string {
	path, query, _ := strings.Cut(r.Path, "?")
	address := strings.TrimSuffix(c.base.String(), "/") + "/" + strings.TrimPrefix(path, "/")
	if more := r.Query.Encode(); more != "" && query != "" {
		query += "&" + more
	} else if more != "" {
		query = more
	}
	if query != "" {
		address += "?" + query
	}
	return address
}

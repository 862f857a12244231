package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// maxRequest is how large a request may be, files included.
const maxRequest = 25 << 20

// request is one REST call being answered.
type request struct {
	http   *http.Request
	method string
	route  string // the path's template
	vars   map[string]string
	query  url.Values
	body   any // decoded JSON with json.Number, nil without a body
	files  map[string]File
	used   map[string]bool // parts that the body refers to
	at     time.Time
}

// object is the body as an object; other bodies give an empty one.
func (r *request) object() map[string]any {
	o, _ := r.body.(map[string]any)
	return o
}

var (
	errTooLarge = errors.New("the request is too large")
	errCut      = errors.New("the sender went away in the middle of the request")
)

// decode reads the body in any of the forms that the API takes.
func (r *request) decode() error {
	data, err := io.ReadAll(io.LimitReader(r.http.Body, maxRequest+1))
	if err != nil {
		return errCut
	}
	if len(data) > maxRequest {
		return errTooLarge
	}
	if len(data) == 0 {
		return nil
	}
	kind, params, err := mime.ParseMediaType(r.http.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	return r.decodeAs(kind, params["boundary"], data)
}

func (r *request) decodeAs(kind, boundary string, data []byte) error {
	switch kind {
	case "application/json":
		return r.decodeJSON(data)
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(data))
		body := map[string]any{}
		for name := range values {
			body[name] = values.Get(name)
		}
		r.body = body
		return err
	case "multipart/form-data":
		return r.decodeMultipart(multipart.NewReader(bytes.NewReader(data), boundary))
	}
	return fmt.Errorf("content type %q", kind)
}

func (r *request) decodeJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&r.body); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}

func (r *request) decodeMultipart(reader *multipart.Reader) error {
	fields := map[string]any{}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		switch name := part.FormName(); {
		case part.FileName() != "":
			r.files[name] = File{Name: part.FileName(), Bytes: data, ContentType: part.Header.Get("Content-Type")}
		case name == "payload_json":
			if err := r.decodeJSON(data); err != nil {
				return err
			}
		default:
			fields[name] = string(data)
		}
	}
	if r.body == nil {
		r.body = fields
	}
	return nil
}

// route is one operation of the API.
type route struct {
	method   string
	template string
	parts    []string
	open     bool // no Authorization is needed
	schema   string
	handle   handler
}

// handler answers one operation; it runs with the server's lock held. A nil result gives 204.
type handler func(*request) (any, *apiError)

// find picks the route of a path, literal parts going before variables.
func (s *Server) find(method, path string) (*route, map[string]string) {
	parts := segments(path)
	var best *route
	for i := range s.routes {
		if r := &s.routes[i]; r.method == method && r.fits(parts) && (best == nil || r.literals() > best.literals()) {
			best = r
		}
	}
	if best == nil {
		return nil, nil
	}
	vars := map[string]string{}
	for i, p := range best.parts {
		if hasPrefix(p, "{") {
			vars[strings.Trim(p, "{}")] = parts[i]
		}
	}
	return best, vars
}

// segments are the parts of an escaped path, each unescaped: clients may escape the @ of "@original".
func segments(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	return parts
}

func (r *route) fits(parts []string) bool {
	return slices.EqualFunc(r.parts, parts, func(mine, theirs string) bool {
		return hasPrefix(mine, "{") && theirs != "" || mine == theirs
	})
}

func (r *route) literals() int {
	n := 0
	for _, p := range r.parts {
		if !hasPrefix(p, "{") {
			n++
		}
	}
	return n
}

func hasPrefix(s, prefix string) bool { return strings.HasPrefix(s, prefix) }

package telegramtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxUpload  = 50 << 20
	maxRequest = maxUpload + 1<<20
)

// Upload is a file that arrived as a part of a request.
type Upload struct {
	Name  string
	Bytes []byte
}

// request is one call, decoded from whichever encoding it came in. Nested values are JSON texts.
type request struct {
	method string
	params map[string]string
	files  map[string]Upload
	used   map[string]bool // files that some parameter referred to
	at     time.Time
}

var errTooLarge = errors.New("request entity too large")

// decodeRequest reads query, form, JSON or multipart parameters.
func decodeRequest(r *http.Request) (*request, error) {
	req := &request{params: map[string]string{}, files: map[string]Upload{}, used: map[string]bool{}}
	for k, v := range r.URL.Query() {
		req.params[k] = v[0]
	}
	kind, options, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, fmt.Errorf("content type %q: %w", r.Header.Get("Content-Type"), err)
	}
	whole := r.Body
	r.Body = http.MaxBytesReader(nil, whole, maxRequest)
	switch kind {
	case "application/json":
		err = req.readJSON(r.Body)
	case "multipart/form-data":
		err = req.readMultipart(r, options["boundary"])
	default:
		if err = r.ParseForm(); err == nil {
			for k, v := range r.PostForm {
				req.params[k] = v[0]
			}
		}
	}
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		err = errTooLarge
	}
	if errors.Is(err, errTooLarge) {
		// Read the rest, so that the client gets to see the refusal instead of a broken connection.
		_, _ = io.Copy(io.Discard, io.LimitReader(whole, 4*maxRequest))
	}
	return req, err
}

func (req *request) readJSON(body io.Reader) error {
	var values map[string]json.RawMessage
	if err := json.NewDecoder(body).Decode(&values); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for k, raw := range values {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		req.params[k] = text
	}
	return nil
}

func (req *request) readMultipart(r *http.Request, boundary string) error {
	if boundary == "" {
		return errors.New("multipart without boundary")
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FileName() == "" {
			req.params[part.FormName()] = string(data)
			continue
		}
		if len(data) > maxUpload {
			return errTooLarge
		}
		req.files[part.FormName()] = Upload{Name: part.FileName(), Bytes: data}
	}
}

// has tells whether the parameter is there with a value; null counts as absent.
func (req *request) has(name string) bool {
	v, ok := req.params[name]
	return ok && v != "" && v != "null"
}

func (req *request) bool(name string) bool {
	switch strings.ToLower(req.params[name]) {
	case "true", "yes", "1":
		return true
	}
	return false
}

func (req *request) int(name string) int { return int(req.int64(name)) }

func (req *request) int64(name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(req.params[name]), 10, 64)
	return n
}

// decode reads a nested JSON parameter; absent leaves into as it is. The table check has already
// refused what is not JSON.
func (req *request) decode(name string, into any) *apiError {
	if !req.has(name) {
		return nil
	}
	if err := json.Unmarshal([]byte(req.params[name]), into); err != nil {
		return badRequest("can't parse %s JSON object", strings.ReplaceAll(name, "_", " "))
	}
	return nil
}

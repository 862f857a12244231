package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Limits of what one request may bring.
const (
	maxBody       = 64 << 20 // all files of a request together
	maxFormText   = 1 << 20
	maxDataURI    = 32 << 20
	maxFormMemory = 8 << 20        // beyond it a form's files are kept on disk
	formIDSuffix  = "__id"         // name of the hidden field that makes a double submit one run
	quoteField    = "quote__shown" // name of the hidden field with the sealed price beside the form
	parentField   = "parent__run"  // name of the hidden field with the run whose inputs the form began with
)

// values are the raw inputs of a request by where they came from, as runs.Bind wants them.
type values map[runs.Source]map[string]any

func (v values) set(from runs.Source, name string, value any) {
	if v[from] == nil {
		v[from] = map[string]any{}
	}
	v[from][name] = value
}

// readInputs reads the inputs of a request for tool t: a JSON body {"inputs": {...}}, a form, or a form
// with files. Media may be references, https addresses, data URIs or files.
func (s *Server) readInputs(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool) (values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, registry.Errorf(registry.CodeInvalidInput, "the Content-Type can't be read")
	}
	switch kind {
	case "multipart/form-data":
		return s.readMultipart(r, a, t)
	case "application/x-www-form-urlencoded":
		if opensJSON(r) { // curl -d '{"inputs": ...}' says that it sends a form
			return s.readJSON(r, a, t)
		}
		if err := r.ParseForm(); err != nil {
			return nil, tooLargeOr(err, "the form can't be read")
		}
		return formValues(r.PostForm, t), nil
	case "application/json", "":
		return s.readJSON(r, a, t)
	}
	return nil, registry.Errorf(registry.CodeInvalidInput, "send inputs as application/json or multipart/form-data, not %s", kind)
}

// opensJSON reports whether the body begins as a JSON object. Nothing of it is lost.
func opensJSON(r *http.Request) bool {
	body := bufio.NewReader(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	first, err := body.Peek(1)
	return err == nil && first[0] == '{'
}

func (s *Server) readJSON(r *http.Request, a users.Account, t registry.Tool) (values, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, tooLargeOr(err, "the body can't be read")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return values{}, nil
	}
	var body struct {
		Inputs map[string]any `json:"inputs"`
	}
	if err := decodeStrictly(data, &body); err != nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, `the body is not of the form {"inputs": {...}}: %s`, jsonFault(err))
	}
	v := values{}
	return v, s.addInputs(r.Context(), a, v, t, body.Inputs)
}

// addInputs adds the values of JSON; media in data URIs are stored.
func (s *Server) addInputs(ctx context.Context, a users.Account, v values, t registry.Tool, inputs map[string]any) error {
	for name, value := range inputs {
		f, known := t.InputSchema.Get(name)
		if known && f.Type.IsMedia() {
			var err error
			if value, err = s.storeDataURIs(ctx, a, f, value); err != nil {
				return err
			}
		}
		v.set(runs.FromArgument, name, value)
	}
	return nil
}

// decodeStrictly takes one JSON value with known members only, each once, and nothing after it. Numbers stay exact.
func decodeStrictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something after it")
	}
	dec = json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return refuseRepeated(dec)
}

// refuseRepeated reads one JSON value and fails at a key that an object has twice: one of the two values would silently be lost,
// and a run be made and charged with the other.
func refuseRepeated(dec *json.Decoder) error {
	opening, err := dec.Token()
	if err != nil || opening != json.Delim('{') && opening != json.Delim('[') {
		return err
	}
	seen := map[json.Token]bool{}
	for dec.More() {
		if opening == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return fmt.Errorf("the key %q appears twice", key)
			}
			seen[key] = true
		}
		if err := refuseRepeated(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// jsonFault keeps of a decoder's error what tells where the fault is, never the body.
func jsonFault(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("a syntax error at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is of the wrong type (%s)", cmp.Or(kind.Field, "the whole"), kind.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func (s *Server) storeDataURIs(ctx context.Context, a users.Account, f registry.InputField, value any) (any, error) {
	switch v := value.(type) {
	case string:
		if !strings.HasPrefix(v, "data:") {
			return v, nil
		}
		return s.storeDataURI(ctx, a, f, v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			stored, err := s.storeDataURIs(ctx, a, f, item)
			if err != nil {
				return nil, err
			}
			out[i] = stored
		}
		return out, nil
	}
	return value, nil
}

// storeDataURI stores the content of an RFC 2397 URI and gives its reference.
func (s *Server) storeDataURI(ctx context.Context, a users.Account, f registry.InputField, uri string) (registry.Media, error) {
	bad := func(why string) error {
		e := registry.Errorf(registry.CodeInvalidInput, "the data URI %s", why)
		e.Field = f.Name
		return e
	}
	head, payload, ok := strings.Cut(strings.TrimPrefix(uri, "data:"), ",")
	if !ok {
		return "", bad("has no comma before its content")
	}
	if len(payload) > maxDataURI {
		return "", bad("is too large; upload the file instead")
	}
	var content []byte
	var err error
	if mediaType, isBase64 := strings.CutSuffix(head, ";base64"); isBase64 {
		head = mediaType
		content, err = base64.StdEncoding.DecodeString(payload)
	} else {
		var text string
		text, err = url.PathUnescape(payload)
		content = []byte(text)
	}
	if err != nil {
		return "", bad("can't be decoded")
	}
	return s.storeFile(ctx, a, f, bytes.NewReader(content), f.Name+assets.Extension(head))
}

// storeFile stores what was sent for a field, unless it is plainly not what the field takes.
func (s *Server) storeFile(ctx context.Context, a users.Account, f registry.InputField, content io.Reader, name string) (registry.Media, error) {
	ref, info, err := s.cfg.Runs.PutMedia(ctx, a.ID, content, name)
	if err != nil {
		return "", err
	}
	if info.Bytes == 0 || !fits(f.Type, info.MIMEType) {
		found := info.MIMEType
		if info.Bytes == 0 {
			found = "an empty file"
		}
		e := registry.Errorf(registry.CodeInvalidInput, "%s: found %s, expected a file of type %s", f.Label(), found, f.Type)
		e.Field = f.Name
		return "", e
	}
	return ref, nil
}

// fits reports whether a file of this MIME type may be of type t. What can't be told by a file's first bytes
// is left to the engine; sound comes in containers of video, and short films as animated pictures.
func fits(t registry.InputType, mimeType string) bool {
	kind, _, _ := strings.Cut(mimeType, "/")
	switch t {
	case registry.TypeImage:
		return kind != "text" && kind != "audio" && kind != "video" && mimeType != "application/pdf"
	case registry.TypeVideo:
		return kind != "text" && kind != "audio" && (kind != "image" || mimeType == "image/gif" || mimeType == "image/webp")
	case registry.TypeAudio:
		return kind != "text" && kind != "image"
	}
	return true
}

func (s *Server) readMultipart(r *http.Request, a users.Account, t registry.Tool) (values, error) {
	if err := r.ParseMultipartForm(maxFormMemory); err != nil {
		return nil, tooLargeOr(err, "the form can't be read")
	}
	defer r.MultipartForm.RemoveAll()
	v, err := s.multipartValues(r, a, t)
	if err != nil {
		return nil, err
	}
	for name, files := range r.MultipartForm.File {
		for _, file := range files {
			if file.Size == 0 && file.Filename == "" {
				continue // a file field that was left empty
			}
			f, _ := t.InputSchema.Get(name)
			ref, err := s.storeUpload(r.Context(), a, f, file)
			if err != nil {
				return nil, err
			}
			addFile(v, t, name, ref)
		}
	}
	return v, nil
}

// multipartValues are the parts that are no files: the fields, or all of them as JSON in a part "inputs".
func (s *Server) multipartValues(r *http.Request, a users.Account, t registry.Tool) (values, error) {
	form := maps.Clone(url.Values(r.MultipartForm.Value))
	text := form.Get("inputs")
	if _, own := t.InputSchema.Get("inputs"); own || text == "" {
		return formValues(form, t), nil
	}
	delete(form, "inputs")
	v := formValues(form, t)
	var inputs map[string]any
	if err := decodeStrictly([]byte(text), &inputs); err != nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, `the part "inputs" is not a JSON object: %s`, jsonFault(err))
	}
	return v, s.addInputs(r.Context(), a, v, t, inputs)
}

// addFile binds an uploaded file to its field; several of one field make a list.
func addFile(v values, t registry.Tool, name string, ref registry.Media) {
	f, _ := t.InputSchema.Get(name)
	if !f.Multiple {
		v.set(runs.FromAttachment, name, ref)
		return
	}
	list, _ := v[runs.FromAttachment][name].([]any)
	v.set(runs.FromAttachment, name, append(list, ref))
}

func (s *Server) storeUpload(ctx context.Context, a users.Account, f registry.InputField, file *multipart.FileHeader) (registry.Media, error) {
	content, err := file.Open()
	if err != nil {
		return "", err
	}
	defer content.Close()
	return s.storeFile(ctx, a, f, content, file.Filename)
}

// formValues takes the fields of a form. An empty field counts as not given, so that preferences and
// defaults apply; a checkbox that is off sends nothing, so the form carries a marker for each.
func formValues(form url.Values, t registry.Tool) values {
	v := values{}
	for _, f := range t.InputSchema {
		given := form[f.Name]
		if f.Type == registry.TypeBoolean {
			if _, shown := form[f.Name+"__shown"]; shown || len(given) > 0 {
				v.set(runs.FromArgument, f.Name, len(given) > 0 && given[0] != "false")
			}
			continue
		}
		for _, text := range given {
			if strings.TrimSpace(text) == "" {
				continue
			}
			if f.Type.IsMedia() { // a file that stands in the form already; one that is sent takes its place
				addFile(v, t, f.Name, text)
				continue
			}
			v.set(runs.FromArgument, f.Name, text)
			break
		}
	}
	for name, given := range form {
		if _, known := t.InputSchema.Get(name); !known && !strings.Contains(name, "__") && len(given) > 0 {
			v.set(runs.FromArgument, name, given[0]) // Bind names it as unknown
		}
	}
	return v
}

func tooLargeOr(err error, otherwise string) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return registry.Errorf(registry.CodeInvalidInput, "the request is larger than %d MiB", large.Limit>>20)
	}
	var said *registry.Error
	if errors.As(err, &said) {
		return said
	}
	e := registry.Errorf(registry.CodeInvalidInput, "%s", otherwise)
	e.Cause = err
	return e
}

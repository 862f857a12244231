// Package request is what a request asks of runs: the inputs that it brings, for whom it is made, and which run of the
// caller's it is about. Pages and API read them alike.
package request

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// maxDataURI bounds the files that stand in a request as text.
const maxDataURI = 32 << 20

// Values are the raw inputs of a request by where they came from, as runs.Bind wants them.
type Values map[runs.Source]map[string]any

// Set adds a value.
func (v Values) Set(from runs.Source, name string, value any) {
	if v[from] == nil {
		v[from] = map[string]any{}
	}
	v[from][name] = value
}

// Media keeps the files that requests bring, and tells whose they are: runner.Service.
type Media interface {
	OwnFiles(ctx context.Context, accountID string, t registry.Tool, f registry.InputField, value any) error
	OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error)
	PutMedia(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, registry.MediaInfo, error)
}

// Reader reads inputs.
type Reader struct {
	Media Media
}

// Inputs reads the inputs of a request for tool t: a JSON body {"inputs": {...}}, a form, or a form
// with files. Media may be references, https addresses, data URIs or files.
func (d Reader) Inputs(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool) (Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, door.MaxBody)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, registry.Errorf(registry.CodeInvalidInput, "the Content-Type can't be read")
	}
	switch kind {
	case "multipart/form-data":
		return d.readMultipart(r, a, t)
	case "application/x-www-form-urlencoded":
		if opensJSON(r) { // curl -d '{"inputs": ...}' says that it sends a form
			return d.readJSON(r, a, t)
		}
		if err := r.ParseForm(); err != nil {
			return nil, door.TooLargeOr(err, "the form can't be read")
		}
		return formValues(r.PostForm, t), nil
	case "application/json", "":
		return d.readJSON(r, a, t)
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

func (d Reader) readJSON(r *http.Request, a users.Account, t registry.Tool) (Values, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, door.TooLargeOr(err, "the body can't be read")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Values{}, nil
	}
	var body struct {
		Inputs map[string]any `json:"inputs"`
	}
	if err := door.DecodeStrictly(data, &body); err != nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, `the body is not of the form {"inputs": {...}}: %s`, door.JSONFault(err))
	}
	v := Values{}
	return v, d.addInputs(r.Context(), a, v, t, body.Inputs)
}

// addInputs adds the values of JSON; media in data URIs are stored.
func (d Reader) addInputs(ctx context.Context, a users.Account, v Values, t registry.Tool, inputs map[string]any) error {
	for name, value := range inputs {
		f, known := t.InputSchema.Get(name)
		if known && f.Type.IsMedia() {
			var err error
			if value, err = d.storeDataURIs(ctx, a, f, value); err != nil {
				return err
			}
		}
		v.Set(runs.FromArgument, name, value)
	}
	return nil
}

func (d Reader) storeDataURIs(ctx context.Context, a users.Account, f registry.InputField, value any) (any, error) {
	switch v := value.(type) {
	case string:
		if !strings.HasPrefix(v, "data:") {
			return v, nil
		}
		return d.storeDataURI(ctx, a, f, v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			stored, err := d.storeDataURIs(ctx, a, f, item)
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
func (d Reader) storeDataURI(ctx context.Context, a users.Account, f registry.InputField, uri string) (registry.Media, error) {
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
	return d.storeFile(ctx, a, f, bytes.NewReader(content), f.Name+assets.Extension(head))
}

// storeFile stores what was sent for a field, unless it is plainly not what the field takes.
func (d Reader) storeFile(ctx context.Context, a users.Account, f registry.InputField, content io.Reader, name string) (registry.Media, error) {
	ref, info, err := d.Media.PutMedia(ctx, a.ID, content, name)
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

func (d Reader) readMultipart(r *http.Request, a users.Account, t registry.Tool) (Values, error) {
	if err := r.ParseMultipartForm(door.MaxFormMemory); err != nil {
		return nil, door.TooLargeOr(err, "the form can't be read")
	}
	defer r.MultipartForm.RemoveAll()
	v, err := d.multipartValues(r, a, t)
	if err != nil {
		return nil, err
	}
	for name, files := range r.MultipartForm.File {
		for _, file := range files {
			if file.Size == 0 && file.Filename == "" {
				continue // a file field that was left empty
			}
			f, _ := t.InputSchema.Get(name)
			ref, err := d.storeUpload(r.Context(), a, f, file)
			if err != nil {
				return nil, err
			}
			addFile(v, t, name, ref)
		}
	}
	return v, nil
}

// multipartValues are the parts that are no files: the fields, or all of them as JSON in a part "inputs".
func (d Reader) multipartValues(r *http.Request, a users.Account, t registry.Tool) (Values, error) {
	form := maps.Clone(url.Values(r.MultipartForm.Value))
	text := form.Get("inputs")
	if _, own := t.InputSchema.Get("inputs"); own || text == "" {
		return formValues(form, t), nil
	}
	delete(form, "inputs")
	v := formValues(form, t)
	var inputs map[string]any
	if err := door.DecodeStrictly([]byte(text), &inputs); err != nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, `the part "inputs" is not a JSON object: %s`, door.JSONFault(err))
	}
	return v, d.addInputs(r.Context(), a, v, t, inputs)
}

// addFile binds an uploaded file to its field; several of one field make a list.
func addFile(v Values, t registry.Tool, name string, ref registry.Media) {
	f, _ := t.InputSchema.Get(name)
	if !f.Multiple {
		v.Set(runs.FromAttachment, name, ref)
		return
	}
	list, _ := v[runs.FromAttachment][name].([]any)
	v.Set(runs.FromAttachment, name, append(list, ref))
}

func (d Reader) storeUpload(ctx context.Context, a users.Account, f registry.InputField, file *multipart.FileHeader) (registry.Media, error) {
	content, err := file.Open()
	if err != nil {
		return "", err
	}
	defer content.Close()
	return d.storeFile(ctx, a, f, content, file.Filename)
}

// formValues takes the fields of a form. An empty field counts as not given, so that preferences and
// defaults apply; a checkbox that is off sends nothing, so the form carries a marker for each.
func formValues(form url.Values, t registry.Tool) Values {
	v := Values{}
	for _, f := range t.InputSchema {
		given := form[f.Name]
		if f.Type == registry.TypeBoolean {
			if _, shown := form[f.Name+"__shown"]; shown || len(given) > 0 {
				v.Set(runs.FromArgument, f.Name, len(given) > 0 && given[0] != "false")
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
			v.Set(runs.FromArgument, f.Name, text)
			break
		}
	}
	for name, given := range form {
		if _, known := t.InputSchema.Get(name); !known && !strings.Contains(name, "__") && len(given) > 0 {
			v.Set(runs.FromArgument, name, given[0]) // Bind names it as unknown
		}
	}
	return v
}

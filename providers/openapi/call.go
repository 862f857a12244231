package openapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service of tools from documents.
const Service = "openapi"

const (
	formMultipart = "multipart/form-data"
	formEncoded   = "application/x-www-form-urlencoded"
	maxMedia      = 20 << 20 // bytes of a file that is sent
)

// spec is how an operation is called.
type spec struct {
	Name        string   `json:"name"` // of the service, for messages
	BaseURL     string   `json:"baseURL"`
	Method      string   `json:"method"`
	Path        string   `json:"path"`
	Params      []param  `json:"params,omitempty"`
	Body        *body    `json:"body,omitempty"`
	Auth        []auth   `json:"auth,omitempty"`
	Idempotency string   `json:"idempotency,omitempty"` // the header that takes the run's handle
	Context     []string `json:"context,omitempty"`     // headers that take where the call comes from
	Accept      string   `json:"accept,omitempty"`      // the media types of answers, as the document has them
	Stream      bool     `json:"stream,omitempty"`      // answers are server-sent events
	Pages       bool     `json:"pages,omitempty"`       // the document announces answers in HTML or other text
}

// param is a parameter outside the body.
type param struct {
	Name  string `json:"name"`
	In    string `json:"in"` // path, query, header, cookie
	Input string `json:"input"`
	JSON  bool   `json:"json,omitempty"` // sent as JSON text
	style
}

// body is a request's body.
type body struct {
	Type     string      `json:"type"` // media type
	Required bool        `json:"required,omitempty"`
	Whole    string      `json:"whole,omitempty"` // the input that is all of it
	Fields   []bodyField `json:"fields,omitempty"`
}

// bodyField is a member of a body.
type bodyField struct {
	Name  string `json:"name"`
	Input string `json:"input"`
	Type  string `json:"type,omitempty"`  // media type in a multipart body
	Style *style `json:"style,omitempty"` // in an encoded form; nil: lists item by item, objects as JSON
}

var _ registry.Caller = (*Tools)(nil)

// Call makes the operation's request; its answer is the result.
func (t *Tools) Call(ctx context.Context, call registry.Call) (registry.Result, error) {
	ref, _ := call.Tool.Metadata[specKey].(string)
	s, err := t.specs.Of(ctx, ref)
	if err != nil {
		return registry.Result{}, err
	}
	began := t.cfg.Now()
	answer, err := t.ask(ctx, s, call)
	if err != nil {
		return registry.Result{}, err
	}
	if !s.Pages && isPage(answer) {
		return registry.Result{}, registry.Say(registry.CodeProvider, said.AnswerPage, "service", s.Name)
	}
	return registry.Result{Outputs: []registry.Output{output(call.Tool, answer)}, Usage: registry.Usage{RunTime: t.cfg.Now().Sub(began)}}, nil
}

// isPage reports whether an answer is a page for browsers, such as that of a gateway in between.
func isPage(answer upstream.Response) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") || bytes.HasPrefix(bytes.TrimSpace(answer.Body), []byte("<html"))
}

// request puts a call's inputs where they belong.
func (s spec) request(ctx context.Context, call registry.Call) (upstream.Request, error) {
	out := upstream.Request{Method: s.Method, Path: s.Path, Query: url.Values{}, Header: http.Header{}, Repeatable: call.Tool.Idempotent}
	if s.Idempotency != "" {
		out.Header.Set(s.Idempotency, call.Handle)
	}
	if s.Accept != "" {
		out.Header.Set("Accept", s.Accept)
	}
	s.putContext(out.Header, call)
	for _, p := range s.Params {
		value, given := call.Inputs[p.Input]
		if !given || value == nil {
			continue
		}
		if err := p.put(&out, value); err != nil {
			return out, err
		}
	}
	if s.Body == nil {
		return out, nil
	}
	return out, s.Body.put(ctx, &out, call)
}

// putContext says where a call comes from, in the headers that the document has for that. It is never a model's
// or a person's word.
func (s spec) putContext(header http.Header, call registry.Call) {
	known := map[string]string{
		"User-Id": call.UserID, "Session-Id": cmp.Or(call.Context.SessionID, call.RunID), "Turn-Id": cmp.Or(call.Context.TraceID, call.RunID),
		"Idempotency-Key": call.Handle, "Pii-Grant": strings.Join(call.Tool.PIIRequired, ","),
		"Region": call.Context.Region, "Device-Kind": call.Context.DeviceKind,
	}
	for _, name := range s.Context {
		if value := known[strings.TrimPrefix(name, http.CanonicalHeaderKey(extPrefix))]; value != "" {
			header.Set(name, value)
		}
	}
}

// put puts a parameter's value into a request in the style that the document asks for.
func (p param) put(out *upstream.Request, value any) error {
	if p.JSON {
		value = asJSON(value)
	}
	switch p.In {
	case "path":
		written := p.inPath(p.Name, value)
		if written == "" || written == "." || written == ".." {
			return registry.Say(registry.CodeInvalidInput, said.InputValue).At(p.Input)
		}
		out.Path = strings.ReplaceAll(out.Path, "{"+p.Name+"}", written)
	case "query":
		for _, pair := range p.pairs(p.Name, value) {
			out.Path += map[bool]string{true: "&", false: "?"}[strings.Contains(out.Path, "?")] + pair
		}
	case "header":
		out.Header.Set(p.Name, oneLine(strings.Join(inRow(value, p.Explode), ",")))
	case "cookie":
		for _, pair := range p.pairs(p.Name, value) {
			addCookie(out.Header, pair)
		}
	}
	return nil
}

// addCookie adds one to the only header that a request may have for them (RFC 6265, 5.4).
func addCookie(header http.Header, pair string) {
	if before := header.Get("Cookie"); before != "" {
		pair = before + "; " + pair
	}
	header.Set("Cookie", pair)
}

// oneLine keeps a value from starting a header of its own.
func oneLine(s string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(s) }

// put makes the request's body of the inputs. Optional ones without a value are left out, and so is a body of
// nothing that need not be there.
func (b *body) put(ctx context.Context, out *upstream.Request, call registry.Call) error {
	if b.Whole != "" {
		return b.putWhole(ctx, out, call)
	}
	given := slices.DeleteFunc(slices.Clone(b.Fields), func(f bodyField) bool { return call.Inputs[f.Input] == nil })
	if len(given) == 0 && !b.Required {
		return nil
	}
	if b.Type == formMultipart {
		return putMultipart(ctx, out, call, given)
	}
	members := make(map[string]any, len(given))
	var form []string
	for _, f := range given {
		value, err := inJSON(ctx, call, f.Input)
		if err != nil {
			return err
		}
		members[f.Name] = value
		form = append(form, f.inForm(value)...)
	}
	if b.Type == formEncoded {
		out.Body, out.ContentType = strings.NewReader(strings.ReplaceAll(strings.Join(form, "&"), "%20", "+")), formEncoded
		return nil
	}
	return b.putJSON(out, members)
}

// inForm writes a member of an encoded form.
func (f bodyField) inForm(value any) []string {
	_, isObject := value.(map[string]any)
	switch {
	case f.Style != nil:
		return f.Style.pairs(f.Name, value)
	case isObject:
		value = asJSON(value)
	}
	return style{Explode: true}.pairs(f.Name, value)
}

func (b *body) putJSON(out *upstream.Request, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the body: %w", err)
	}
	out.Body, out.ContentType = bytes.NewReader(raw), b.Type
	return nil
}

func (b *body) putWhole(ctx context.Context, out *upstream.Request, call registry.Call) error {
	value := call.Inputs[b.Whole]
	if value == nil {
		return nil
	}
	if preference(b.Type) < 2 {
		return b.putJSON(out, value)
	}
	f, _ := call.Tool.InputSchema.Get(b.Whole)
	out.ContentType, out.Body = b.Type, strings.NewReader(text(value))
	if f.Type.IsMedia() {
		data, info, err := file(ctx, call, b.Whole, value)
		if err != nil {
			return err
		}
		out.Body = bytes.NewReader(data)
		if strings.Contains(b.Type, "*") {
			out.ContentType = cmp.Or(info.MIMEType, http.DetectContentType(data))
		}
	}
	return nil
}

// inJSON gives an input's value as it goes into JSON: files in base64.
func inJSON(ctx context.Context, call registry.Call, input string) (any, error) {
	value := call.Inputs[input]
	if f, _ := call.Tool.InputSchema.Get(input); !f.Type.IsMedia() {
		return value, nil
	}
	encode := func(ref any) (string, error) {
		data, _, err := file(ctx, call, input, ref)
		return base64.StdEncoding.EncodeToString(data), err
	}
	refs, several := value.([]any)
	if !several {
		return encode(value)
	}
	list := make([]any, len(refs))
	for i, ref := range refs {
		encoded, err := encode(ref)
		if err != nil {
			return nil, err
		}
		list[i] = encoded
	}
	return list, nil
}

// file reads an input's file.
func file(ctx context.Context, call registry.Call, input string, ref any) ([]byte, registry.MediaInfo, error) {
	unusable := func(cause error, why said.Sentence, pairs ...any) error {
		return registry.Say(registry.CodeInvalidInput, why, pairs...).At(input).Because(cause)
	}
	content, info, err := call.Media.OpenMedia(ctx, text(ref))
	if err != nil {
		return nil, info, unusable(err, said.FileUnopened)
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, maxMedia+1))
	if err != nil {
		return nil, info, unusable(err, said.FileUnread)
	}
	if len(data) > maxMedia {
		return nil, info, unusable(nil, said.FileMB, "n", maxMedia>>20)
	}
	return data, info, nil
}

func putMultipart(ctx context.Context, out *upstream.Request, call registry.Call, fields []bodyField) error {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, f := range fields {
		values, several := call.Inputs[f.Input].([]any)
		if !several {
			values = []any{call.Inputs[f.Input]}
		}
		for _, value := range values {
			if err := putPart(ctx, form, call, f, value); err != nil {
				return err
			}
		}
	}
	if err := form.Close(); err != nil {
		return err
	}
	out.Body, out.ContentType = &b, form.FormDataContentType()
	return nil
}

func putPart(ctx context.Context, form *multipart.Writer, call registry.Call, f bodyField, value any) error {
	data, kind := []byte(text(value)), f.Type
	if _, isObject := value.(map[string]any); isObject && kind == "" {
		kind = "application/json"
	}
	// What Go offers for fields is not for use with a type of one's own.
	disposition := strings.TrimSuffix(multipart.FileContentDisposition(f.Name, ""), `; filename=""`)
	if input, _ := call.Tool.InputSchema.Get(f.Input); input.Type.IsMedia() {
		content, info, err := file(ctx, call, f.Input, value)
		if err != nil {
			return err
		}
		data, kind = content, cmp.Or(info.MIMEType, http.DetectContentType(content))
		disposition = multipart.FileContentDisposition(f.Name, cmp.Or(info.Name, f.Name))
	}
	header := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	if kind != "" {
		header.Set("Content-Type", kind)
	}
	part, err := form.CreatePart(header)
	if err == nil {
		_, err = part.Write(data)
	}
	return err
}

package tripo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// maxPicture bounds an uploaded picture, in bytes.
const maxPicture = 20 << 20

// fileRef is a file in a request; an empty one is a view that is not given.
type fileRef struct {
	Type  string `json:"type,omitempty"`
	Token string `json:"file_token,omitempty"`
}

// body is the request of a task. Pictures are uploaded first.
func (p *Provider) body(ctx context.Context, t task, c registry.Call) (map[string]any, error) {
	body := map[string]any{"type": t.Type}
	views := map[string]fileRef{}
	for _, f := range t.Inputs {
		value, given := c.Inputs[f.Name]
		if !given || value == "" {
			continue
		}
		if f.Type.IsMedia() {
			ref, err := p.upload(ctx, c, f.Name, fmt.Sprint(value))
			if err != nil {
				return nil, err
			}
			value, views[f.Name] = ref, ref
		}
		if len(t.Views) == 0 || !f.Type.IsMedia() {
			put(body, t.Paths[f.Name], f.Name, value)
		}
	}
	if len(t.Views) > 0 {
		files := make([]fileRef, len(t.Views))
		for i, side := range t.Views {
			files[i] = views[side]
		}
		body["files"] = files
	}
	return body, nil
}

// put sets a member at a path of steps separated by dots, or by its name where there is none.
func put(body map[string]any, path, name string, value any) {
	outer, inner, nested := strings.Cut(path, ".")
	if !nested {
		body[name] = value
		return
	}
	object, there := body[outer].(map[string]any)
	if !there {
		object = map[string]any{}
		body[outer] = object
	}
	object[inner] = value
}

// upload stores a picture at the service, so that it never fetches an address that came from a person.
func (p *Provider) upload(ctx context.Context, c registry.Call, field, ref string) (fileRef, error) {
	data, kind, err := readPicture(ctx, c, field, ref)
	if err != nil {
		return fileRef{}, err
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("file", "picture."+kind)
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return fileRef{}, fmt.Errorf("encode a picture: %w", err)
	}
	var stored struct {
		Token string `json:"image_token"`
	}
	err = p.ask(ctx, upstream.Request{
		Method: http.MethodPost, Path: "upload", Body: &form, ContentType: writer.FormDataContentType(), Repeatable: true, // a second copy does no harm
	}, &stored)
	if err == nil && stored.Token == "" {
		err = registry.Say(registry.CodeProvider, said.PictureUnstored, "service", "Tripo")
	}
	return fileRef{Type: kind, Token: stored.Token}, err
}

// readPicture gives a picture and the service's word for its format.
func readPicture(ctx context.Context, c registry.Call, field, ref string) (data []byte, kind string, err error) {
	wrong := func(code registry.Code, cause error, why said.Sentence, pairs ...any) error {
		return registry.Say(code, why, pairs...).At(field).Because(cause)
	}
	body, _, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		return nil, "", wrong(registry.CodeInvalidInput, err, said.PictureUnopened)
	}
	defer body.Close()
	data, err = io.ReadAll(io.LimitReader(body, maxPicture+1))
	if err != nil {
		return nil, "", wrong(registry.CodeInternal, err, said.PictureUnread)
	}
	kind = map[string]string{"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}[http.DetectContentType(data)]
	switch {
	case len(data) > maxPicture:
		return nil, "", wrong(registry.CodeInvalidInput, nil, said.PictureMB, "n", maxPicture>>20)
	case kind == "":
		return nil, "", wrong(registry.CodeInvalidInput, nil, said.PictureKind)
	}
	return data, kind, nil
}

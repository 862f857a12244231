package httptools

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"

	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// maxMedia is how many bytes a file may have that is sent along.
const maxMedia = 20 << 20

// file is an input that is a file. It is opened when a request has a place for it.
type file struct {
	field   string
	open    func() (io.ReadCloser, registry.MediaInfo, error)
	address func() (string, error)

	data []byte
	info registry.MediaInfo
}

// unusable is the error of a file that can't be sent.
func (f *file) unusable(cause error, why said.Sentence, pairs ...any) error {
	return registry.Say(registry.CodeInvalidInput, why, pairs...).At(f.field).Because(cause)
}

// read reads the file, once.
func (f *file) read() error {
	if f.data != nil {
		return nil
	}
	body, info, err := f.open()
	if err != nil {
		return f.unusable(err, said.FileUnopened)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxMedia+1))
	if err != nil {
		return f.unusable(err, said.FileUnread)
	}
	if len(data) > maxMedia {
		return f.unusable(nil, said.FileMB, "n", maxMedia>>20)
	}
	info.MIMEType = cmp.Or(info.MIMEType, http.DetectContentType(data))
	f.data, f.info = data, info
	return nil
}

// formed gives the file as a request has it, see scope.formed.
func (f *file) formed(form string) (any, error) {
	if form == "url" {
		address, err := f.address()
		if err != nil {
			return nil, f.unusable(err, said.FileHand)
		}
		return address, nil
	}
	if err := f.read(); err != nil {
		return nil, err
	}
	switch form {
	case "file":
		return f, nil
	case "mime":
		return f.info.MIMEType, nil
	case "base64":
		return base64.StdEncoding.EncodeToString(f.data), nil
	}
	return "data:" + f.info.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(f.data), nil
}

// pixels counts those of a picture.
func (f *file) pixels() (int64, error) {
	body, info, err := f.open()
	if err != nil {
		return 0, f.unusable(err, said.FileUnopened)
	}
	defer body.Close()
	if info.Width > 0 && info.Height > 0 {
		return int64(info.Width) * int64(info.Height), nil
	}
	size, _, err := image.DecodeConfig(io.LimitReader(body, maxMedia))
	if err != nil {
		return 0, f.unusable(err, said.FileUnread)
	}
	return int64(size.Width) * int64(size.Height), nil
}

// values are what placeholders stand for.
func (t *Tools) values(ctx context.Context, call registry.Call) map[string]any {
	values := map[string]any{"run.id": call.RunID, "run.handle": call.Handle}
	if call.CallbackURL != "" {
		values["run.callback"] = call.CallbackURL
	}
	for _, f := range call.Tool.InputSchema {
		value, given := call.Inputs[f.Name]
		if !given {
			continue
		}
		if f.Type.IsMedia() {
			value = t.files(ctx, call, f.Name, value)
		}
		values[f.Name] = value
	}
	return values
}

// files are the files of an input: one, or a list.
func (t *Tools) files(ctx context.Context, call registry.Call, field string, value any) any {
	if several, ok := value.([]any); ok {
		list := make([]any, len(several))
		for i, one := range several {
			list[i] = t.files(ctx, call, field, one)
		}
		return list
	}
	ref := fmt.Sprint(value)
	return &file{
		field: field,
		open: func() (io.ReadCloser, registry.MediaInfo, error) {
			return call.Media.OpenMedia(ctx, ref)
		},
		address: func() (string, error) {
			if t.cfg.MediaURL == nil {
				return "", errors.New("no public address")
			}
			return t.cfg.MediaURL(ctx, ref)
		},
	}
}

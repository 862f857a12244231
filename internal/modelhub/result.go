package modelhub

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// outputName is the name of what a hosted model makes: each of its files, or its text.
const outputName = "output"

// Files hands a call's files on to a service.
type Files struct {
	// Inline is the largest file that goes within the request, as a data URI, in bytes.
	Inline int64
	// MediaURL gives an address from which the service can fetch a larger one.
	MediaURL func(ctx context.Context, ref registry.Media) (string, error)
}

// Values are a call's inputs as a hosted model takes them: files as addresses, or lists of them.
func (h Files) Values(ctx context.Context, c registry.Call) (map[string]any, error) {
	values := map[string]any{}
	for _, f := range c.Tool.InputSchema {
		value, given := c.Inputs[f.Name]
		if !given || value == nil || value == "" {
			continue
		}
		if f.Type.IsMedia() {
			var err error
			if value, err = h.addresses(ctx, c, f, value); err != nil {
				return nil, err
			}
		} else if list, several := value.([]any); f.Multiple && !several {
			value = append(list, value)
		}
		values[f.Name] = value
	}
	return values, nil
}

func (h Files) addresses(ctx context.Context, c registry.Call, f registry.InputField, value any) (any, error) {
	refs, several := value.([]any)
	if !several {
		refs = []any{value}
	}
	list := make([]any, len(refs))
	for i, ref := range refs {
		address, err := h.address(ctx, c, fmt.Sprint(ref))
		if err != nil {
			return nil, registry.Say(registry.CodeInvalidInput, said.FileTooMuch).At(f.Name).Because(err)
		}
		list[i] = address
	}
	if f.Multiple {
		return list, nil
	}
	return list[0], nil
}

func (h Files) address(ctx context.Context, c registry.Call, ref registry.Media) (string, error) {
	body, info, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("open: %w", err)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, h.Inline+1))
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	if int64(len(data)) > h.Inline {
		return h.MediaURL(ctx, ref)
	}
	kind := info.MIMEType
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// Outputs are what a hosted model made: the files it names, in order, or all of it as a text. A file is an object
// with an address in "url" or, where bare is set, any text that is an address.
func Outputs(guard *http.Client, value any, bare bool) []registry.Output {
	var outputs []registry.Output
	walk(value, bare, func(address string, about map[string]any) {
		outputs = append(outputs, modelFile(guard, address, about))
	})
	if text := modelText(value); len(outputs) == 0 && text != "" {
		outputs = []registry.Output{{Name: outputName, Type: "text", Text: text}}
	}
	return outputs
}

// walk finds the files of a result; members of objects come in the order of their names.
func walk(value any, bare bool, found func(address string, about map[string]any)) {
	switch v := value.(type) {
	case string:
		if bare && isAddress(v) {
			found(v, nil)
		}
	case []any:
		for _, item := range v {
			walk(item, bare, found)
		}
	case map[string]any:
		if address, ok := v["url"].(string); ok && isAddress(address) {
			found(address, v)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], bare, found)
		}
	}
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// extensionTypes are the kinds of files by extension, as media types.
var extensionTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif", ".svg": "image/svg+xml", ".avif": "image/avif",
	".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".flac": "audio/flac", ".ogg": "audio/ogg", ".m4a": "audio/mp4",
	".glb": "model/gltf-binary", ".zip": "application/zip",
}

func modelFile(guard *http.Client, address string, about map[string]any) registry.Output {
	name, kind := outputName, ""
	if u, err := url.Parse(address); err == nil && path.Ext(u.Path) != "" {
		name = path.Base(u.Path)
		kind = extensionTypes[strings.ToLower(path.Ext(u.Path))]
	}
	if said, ok := about["content_type"].(string); ok && strings.Contains(said, "/") {
		kind = said
	}
	info := registry.MediaInfo{Name: name, MIMEType: kind}
	info.Width, info.Height = whole(about["width"]), whole(about["height"])
	family, _, _ := strings.Cut(kind, "/")
	if family != "image" && family != "video" && family != "audio" {
		family = "file"
	}
	return upstream.File(guard, outputName, family, address, info)
}

func whole(v any) int {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return int(max(i, 0))
}

// modelText is a result without files: a text, the pieces of one, or JSON.
func modelText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		if len(v) == 0 {
			return ""
		}
	case []any:
		var text strings.Builder
		for _, item := range v {
			piece, ok := item.(string)
			if !ok {
				return asJSON(v)
			}
			text.WriteString(piece)
		}
		return text.String()
	}
	return asJSON(value)
}

func asJSON(value any) string {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return ""
	}
	return strings.TrimSpace(text.String())
}

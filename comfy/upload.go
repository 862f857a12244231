package comfy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// uploadMedia brings the call's files to the engine and gives the names to use, by input.
func (p *Provider) uploadMedia(ctx context.Context, e *Engine, c registry.Call, tpl *loader.Template) (map[string][]string, error) {
	names := map[string][]string{}
	for _, f := range c.Tool.InputSchema {
		if !f.Type.IsMedia() {
			continue
		}
		for _, ref := range mediaRefs(c.Inputs[f.Name]) {
			give := func() (string, error) { return uploadOne(ctx, e.Client, c.Media, ref) }
			if tpl.TakesURL(f.Name) {
				give = func() (string, error) { return p.mediaURL(ctx, ref) }
			}
			name, err := give()
			if err != nil {
				failure := *registry.AsError(err)
				failure.Field = f.Name
				return nil, &failure
			}
			names[f.Name] = append(names[f.Name], name)
		}
	}
	return names, nil
}

// mediaURL gives an address of our own storage. One that came from a user is never handed to an engine.
func (p *Provider) mediaURL(ctx context.Context, ref registry.Media) (string, error) {
	if p.cfg.MediaURL == nil {
		return "", registry.Say(registry.CodeUnavailable, said.EngineFileAway)
	}
	return p.cfg.MediaURL(ctx, ref)
}

func mediaRefs(v any) []registry.Media {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []registry.Media{v}
		}
	case []any:
		var refs []registry.Media
		for _, item := range v {
			refs = append(refs, mediaRefs(item)...)
		}
		return refs
	}
	return nil
}

func uploadOne(ctx context.Context, client *api.Client, media registry.MediaOpener, ref registry.Media) (string, error) {
	content, info, err := media.OpenMedia(ctx, ref)
	if err != nil {
		e := registry.Say(registry.CodeInvalidInput, said.EngineFileGone)
		e.Cause = err
		return "", e
	}
	defer content.Close()
	f, err := client.Upload(ctx, uploadName(ref, info), content)
	if err != nil {
		return "", uploadError(err)
	}
	return f.InputName(), nil
}

func uploadError(err error) error {
	var status *api.StatusError
	out := registry.Say(registry.CodeUnavailable, said.EngineFile)
	out.Retryable, out.Cause = true, err
	if errors.As(err, &status) && status.Status < http.StatusInternalServerError {
		out.Retryable = false
		if status.Status == http.StatusRequestEntityTooLarge {
			out.Reword(said.EngineFileLarge.With()).Code = registry.CodeInvalidInput
		}
	}
	return out
}

// uploadName never holds text from people: the content's hash and an extension that fits its type.
func uploadName(ref registry.Media, info registry.MediaInfo) string {
	base := strings.Map(func(r rune) rune {
		if isPlain(r) {
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimPrefix(ref, "asset:")))
	return fmt.Sprintf("signalbox_%.32s%s", base, extension(info))
}

func isPlain(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// extension fits the type of a file; loaders choose their decoder by it.
func extension(info registry.MediaInfo) string {
	kind, _, _ := strings.Cut(info.MIMEType, ";")
	switch kind {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/webp", "image/gif", "image/bmp", "image/tiff", "image/avif", "video/mp4", "video/webm", "audio/flac", "audio/wav", "audio/ogg":
		return "." + kind[strings.Index(kind, "/")+1:]
	case "video/quicktime":
		return ".mov"
	case "audio/mpeg":
		return ".mp3"
	case "audio/mp4":
		return ".m4a"
	case "model/gltf-binary":
		return ".glb"
	}
	ext := strings.ToLower(path.Ext(info.Name))
	if len(ext) > 1 && len(ext) <= 6 && !strings.ContainsFunc(ext[1:], func(r rune) bool { return !isPlain(r) }) {
		return ext
	}
	return ".bin"
}

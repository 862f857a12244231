package router

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// accepts reports whether an input takes a file of that kind.
func accepts(f registry.InputField, a chat.Attachment) bool {
	switch f.Type {
	case registry.TypeImage:
		still := a.Kind == chat.KindSticker && (a.MIMEType == "" || strings.HasPrefix(a.MIMEType, "image/"))
		return a.Kind == chat.KindPhoto || still || isType(a, "image/")
	case registry.TypeVideo:
		return a.Kind == chat.KindVideo || a.Kind == chat.KindAnimation || isType(a, "video/")
	case registry.TypeAudio:
		return a.Kind == chat.KindAudio || a.Kind == chat.KindVoice || isType(a, "audio/")
	case registry.TypeFile:
		return true
	}
	return false
}

// isType judges documents by what they say they are.
func isType(a chat.Attachment, prefix string) bool {
	return a.Kind == chat.KindDocument && strings.HasPrefix(a.MIMEType, prefix)
}

// assignFiles gives each file to the first input, in order, that takes its kind and has none yet; an
// input for several takes all that are left. taken tells which inputs have a value already. rest are the
// files no input takes.
func assignFiles(schema registry.InputSchema, files []chat.Attachment, taken func(name string) bool) (values map[string][]chat.Attachment, rest []chat.Attachment) {
	values = map[string][]chat.Attachment{}
	for _, file := range files {
		name := ""
		for _, f := range schema.Ordered() {
			full := len(values[f.Name]) > 0 && !f.Multiple || taken != nil && taken(f.Name)
			if f.Type.IsMedia() && !full && accepts(f, file) {
				name = f.Name
				break
			}
		}
		if name == "" {
			rest = append(rest, file)
			continue
		}
		values[name] = append(values[name], file)
	}
	return values, rest
}

// tooLarge is a file beyond what the platform hands out.
type tooLarge struct{ limit int64 }

func (e *tooLarge) Error() string { return fmt.Sprintf("a file is larger than %d bytes", e.limit) }

// store fetches files and puts them into our own store: a list of references for an input that takes
// several, one reference otherwise.
func (t *turn) store(ctx context.Context, f registry.InputField, files []chat.Attachment) (any, error) {
	var refs []any
	for _, file := range files {
		ref, err := t.storeOne(ctx, file)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	if f.Multiple {
		return refs, nil
	}
	return refs[0], nil
}

func (t *turn) storeOne(ctx context.Context, a chat.Attachment) (string, error) {
	if a.Ref != "" {
		return a.Ref, nil
	}
	limit := t.caps.Download
	if limit > 0 && a.Bytes > limit {
		return "", &tooLarge{limit}
	}
	content, err := t.Fetch(ctx, a)
	if errors.Is(err, chat.ErrTooLarge) {
		return "", &tooLarge{limit}
	}
	if err != nil {
		return "", fmt.Errorf("fetch a file: %w", err)
	}
	defer content.Close()
	bounded := &boundedReader{r: content, left: limit}
	if limit <= 0 {
		bounded.left = 1 << 30
	}
	ref, _, err := t.cfg.Runs.PutMedia(ctx, t.account.ID, bounded, fileName(a))
	if bounded.over {
		return "", &tooLarge{limit}
	}
	if err != nil {
		return "", fmt.Errorf("store a file: %w", err)
	}
	return ref, nil
}

func fileName(a chat.Attachment) string {
	if a.Name != "" {
		return a.Name
	}
	switch a.Kind {
	case chat.KindPhoto:
		return "photo.jpg"
	case chat.KindVideo, chat.KindAnimation:
		return "video.mp4"
	case chat.KindVoice:
		return "voice.ogg"
	case chat.KindAudio:
		return "audio.mp3"
	case chat.KindSticker:
		return "sticker.webp"
	}
	return "file"
}

// boundedReader fails, instead of ending early, when there is more than allowed: half a file must not
// pass for a whole one.
type boundedReader struct {
	r    io.Reader
	left int64
	over bool
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.over = true
		return 0, chat.ErrTooLarge
	}
	return n, err
}

// wantedKey is the text that says what an input takes.
func wantedKey(f registry.InputField) string {
	if f.Type.IsMedia() {
		if f.Multiple {
			return "want." + string(f.Type) + ".many"
		}
		return "want." + string(f.Type)
	}
	switch {
	case len(f.Choices) > 0:
		return "want.choice"
	case f.Type == registry.TypeBoolean:
		return "want.boolean"
	case f.Type == registry.TypeNumber:
		return "want.number"
	}
	return "want.text"
}

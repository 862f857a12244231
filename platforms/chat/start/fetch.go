package start

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// tooLarge is a file beyond what the platform hands out.
type tooLarge struct{ limit int64 }

func (e *tooLarge) Error() string { return fmt.Sprintf("a file is larger than %d bytes", e.limit) }

// keepFiles fetches files and puts them into our own store: a list of references for an input that takes
// several, one reference otherwise.
func keepFiles(ctx context.Context, t *turn.Turn, f registry.InputField, files []chat.Attachment) (any, error) {
	var refs []any
	for _, file := range files {
		ref, err := KeepFile(ctx, t, file)
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

// KeepFile puts a file into our own store, unless it is there, and gives its reference.
func KeepFile(ctx context.Context, t *turn.Turn, a chat.Attachment) (string, error) {
	if a.Ref != "" {
		return a.Ref, nil
	}
	limit := t.Out.Caps.Download
	if limit > 0 && a.Bytes > limit {
		return "", &tooLarge{limit}
	}
	content, err := t.Out.Fetch(ctx, a)
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
	ref, _, err := t.Services.Runs.PutMedia(ctx, t.Account.ID, bounded, fileName(a))
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

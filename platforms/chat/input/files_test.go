package input

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

func TestFilesGoToTheInputsThatTakeThem(t *testing.T) {
	t.Parallel()
	schema := registry.InputSchema{
		{Name: "photo", Type: registry.TypeImage}, {Name: "clip", Type: registry.TypeVideo},
		{Name: "sound", Type: registry.TypeAudio}, {Name: "more", Type: registry.TypeImage, Multiple: true},
	}
	file := func(kind chat.MediaKind, mime string) chat.Attachment {
		return chat.Attachment{Kind: kind, MIMEType: mime, Handle: string(kind) + mime}
	}
	files := []chat.Attachment{
		file(chat.KindDocument, "image/png"), file(chat.KindVoice, "audio/ogg"), file(chat.KindAnimation, "video/mp4"), file(chat.KindPhoto, ""),
		file(chat.KindSticker, "image/webp"), file(chat.KindSticker, "video/webm"), file(chat.KindDocument, "application/pdf"), file(chat.KindAudio, ""),
	}
	values, rest := Assign(schema, files, nil)
	got := map[string]string{}
	for name, list := range values {
		for _, a := range list {
			got[name] += a.Handle + " "
		}
	}
	for _, a := range rest {
		got["rest"] += a.Handle + " "
	}
	want := map[string]string{
		"photo": "documentimage/png ", "sound": "voiceaudio/ogg ", "clip": "animationvideo/mp4 ",
		"more": "photo stickerimage/webp ", "rest": "stickervideo/webm documentapplication/pdf audio ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("assigned (-want +got):\n%s", diff)
	}
	_, rest = Assign(schema[:1], files[:1], func(string) bool { return true })
	if len(rest) != 1 {
		t.Error("an input that has a value took another")
	}
}

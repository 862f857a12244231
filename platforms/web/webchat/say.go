package webchat

import (
	"context"
	"crypto/rand"
	"html/template"
	"io"
	"mime/multipart"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

func newNonce() string { return rand.Text() }

// say keeps what somebody says and passes it on.
func (v *visit) say() (template.HTML, error) {
	text := strings.TrimSpace(strings.ReplaceAll(v.r.PostFormValue("text"), "\r\n", "\n"))
	if utf8.RuneCountInString(text) > maxSaid {
		return "", registry.Say(registry.CodeInvalidInput, said.MessageLong, "n", maxSaid)
	}
	files, err := v.uploads()
	if err != nil {
		return "", err
	}
	if text == "" && len(files) == 0 {
		return "", registry.Say(registry.CodeInvalidInput, said.MessageNothing)
	}
	m := message{Mine: true, Body: body{Text: chat.Plain(text)}, Media: files}
	var quoted *chat.Quoted
	if reply, err := v.about("reply"); err == nil {
		m.ReplyTo, quoted = reply.ID, v.quoted(reply)
	}
	nonce := v.nonce()
	if err := v.log.hear(v.r.Context(), v.chat, nonce, &m); err != nil {
		return "", err
	}
	in, err := v.update("m"+strconv.FormatInt(m.ID, 10), chat.KindMessage)
	if err != nil {
		return "", err
	}
	in.Message, in.ReplyTo, in.Attachments = m.ref(v.chat, 0), quoted, m.attachments()
	in.Command, in.Text, _ = chat.ParseCommand(text, "")
	if err := v.receive(in); err != nil {
		return "", err
	}
	return v.done(chat.PressAnswer{}, m.ID)
}

// uploads keeps the files of a form.
func (v *visit) uploads() ([]media, error) {
	if v.r.MultipartForm == nil {
		return nil, nil
	}
	headers := v.r.MultipartForm.File["files"]
	if most := v.Capabilities().AlbumMax; len(headers) > most {
		return nil, registry.Say(registry.CodeInvalidInput, said.MessageFiles, "n", len(headers), "most", most)
	}
	var files []media
	for _, h := range headers {
		if h.Size == 0 {
			continue // a form without a file has one that is empty
		}
		m := media{Name: h.Filename}
		put := func(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
			return v.cfg.Upload(ctx, v.chat, r, name)
		}
		if err := v.store(v.r.Context(), &m, func(context.Context) (io.ReadCloser, error) { return openUpload(h) }, put); err != nil {
			return nil, err
		}
		m.Kind = chat.KindOf(m.MIMEType)
		files = append(files, m)
	}
	return files, nil
}

func openUpload(h *multipart.FileHeader) (io.ReadCloser, error) { return h.Open() }

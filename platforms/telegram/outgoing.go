package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// outgoing is a message on its way. What the service refuses about it is repaired piece by piece, each at
// most once.
type outgoing struct {
	to     botapi.Target
	reply  *botapi.ReplyTo
	text   chat.Text
	plain  bool // without markup
	items  []item
	markup botapi.Markup
	silent bool

	// Of an edit only.
	message  int
	inline   string // id of a message of inline mode; to is then its sender's own chat
	keyboard *botapi.InlineKeyboard
	media    bool // the message to edit carries media
}

// item is one file of a message.
type item struct {
	botapi.Media
	ref    string // under which its file_id is remembered; "" where it is not
	upload botapi.InputFile
}

// target finds a place. moved tells that its chat has another id by now.
func (a *Adapter) target(p chat.Place) (to botapi.Target, moved bool, err error) {
	id, err := strconv.ParseInt(p.Chat, 10, 64)
	if err != nil {
		return to, false, fmt.Errorf("telegram: %q is no id of a chat: %w", p.Chat, chat.ErrUnreachable)
	}
	if to.ChatID = a.now(id); to.ChatID != id {
		return to, true, nil
	}
	if p.Topic != "" {
		if to.ThreadID, err = strconv.Atoi(p.Topic); err != nil {
			return to, false, fmt.Errorf("telegram: %q is no id of a topic", p.Topic)
		}
	}
	return to, false, nil
}

// compose prepares a new message.
func (a *Adapter) compose(ctx context.Context, m chat.Message) (*outgoing, error) {
	to, moved, err := a.target(m.To)
	if err != nil {
		return nil, err
	}
	o := &outgoing{to: to, text: m.Text, silent: m.Silent}
	if id, err := strconv.Atoi(m.ReplyTo.ID); err == nil && !moved && m.ReplyTo.Chat == m.To.Chat {
		o.reply = &botapi.ReplyTo{MessageID: id, Optional: true}
	}
	if keyboard := keyboardOf(m.Buttons); keyboard != nil {
		o.markup = *keyboard
	}
	if m.Ask != nil && o.markup == nil {
		o.markup, o.text = asking(m)
	}
	if o.items, err = a.itemsOf(ctx, m.Media); err != nil {
		return nil, err
	}
	if !mix(o.items) {
		o.asDocuments()
	}
	return o, nil
}

// composeEdit prepares what a message becomes. A message of a chat that has moved is gone: the new chat
// counts its messages anew.
func (a *Adapter) composeEdit(ctx context.Context, ref chat.MessageRef, m chat.Message) (*outgoing, error) {
	if own, id, ok := inlineOf(ref.Place); ok {
		return a.composeInline(ctx, own, id, m, ref.Media)
	}
	to, moved, err := a.target(ref.Place)
	id, idErr := strconv.Atoi(ref.ID)
	switch {
	case err != nil:
		return nil, err
	case idErr != nil || moved:
		return nil, fmt.Errorf("telegram: message %q of chat %s: %w", ref.ID, ref.Chat, chat.ErrGone)
	case len(m.Media) > 1:
		return nil, errors.New("telegram: a message can't be edited into an album")
	}
	o := &outgoing{to: to, text: m.Text, message: id, keyboard: keyboardOf(m.Buttons), media: ref.Media}
	o.items, err = a.itemsOf(ctx, m.Media)
	return o, err
}

// itemsOf prepares files: those that Telegram has already go by their id.
func (a *Adapter) itemsOf(ctx context.Context, media []chat.Media) ([]item, error) {
	items := make([]item, 0, len(media))
	for _, m := range media {
		kind := fittingKind(m)
		if m.Bytes > botapi.MaxUpload {
			return nil, fmt.Errorf("telegram: %s has %d bytes, at most %d can be sent: %w", m.FileName, m.Bytes, int64(botapi.MaxUpload), chat.ErrTooLarge)
		}
		i := item{
			Media:  botapi.Media{Kind: kind, Spoiler: m.Spoiler, Width: m.Width, Height: m.Height, Untouched: true},
			ref:    m.Ref,
			upload: uploadOf(ctx, m),
		}
		i.File = i.upload
		if m.Ref != "" {
			id, err := a.storage.file(ctx, m.Ref, kind)
			if err != nil {
				return nil, err
			}
			if id != "" {
				i.File = botapi.FileRef(id)
			}
		}
		items = append(items, i)
	}
	return items, nil
}

// formats are the types that Telegram shows as each kind; all others can only be documents.
func formats(kind chat.MediaKind) []string {
	switch kind {
	case chat.KindPhoto:
		return []string{"image/jpeg", "image/png", "image/webp", "image/bmp"}
	case chat.KindVideo:
		return []string{"video/mp4"}
	case chat.KindAnimation:
		return []string{"image/gif", "video/mp4"}
	case chat.KindAudio:
		return []string{"audio/mpeg", "audio/mp3", "audio/mp4", "audio/m4a", "audio/x-m4a"}
	case chat.KindVoice:
		return []string{"audio/ogg", "audio/opus", "audio/mpeg", "audio/mp3", "audio/mp4", "audio/m4a", "audio/x-m4a"}
	}
	return nil
}

// fittingKind is the kind as which Telegram takes a file: what can't be what it is goes as a document.
func fittingKind(m chat.Media) botapi.MediaKind {
	format, _, _ := strings.Cut(m.MIMEType, ";")
	if format != "" && !slices.Contains(formats(m.Kind), strings.ToLower(strings.TrimSpace(format))) {
		return botapi.KindDocument
	}
	long, short := max(m.Width, m.Height), min(m.Width, m.Height)
	tooLong := short > 0 && (long+short > botapi.MaxPhotoSides || long > botapi.MaxPhotoRatio*short)
	if m.Kind == chat.KindPhoto && (m.Bytes > botapi.MaxPhoto || tooLong) {
		return botapi.KindDocument
	}
	return botapi.MediaKind(m.Kind)
}

// mix tells whether files can be in one album: pictures with films, documents and sounds by themselves.
func mix(items []item) bool {
	group := func(k botapi.MediaKind) botapi.MediaKind {
		if k == botapi.KindVideo {
			return botapi.KindPhoto
		}
		return k
	}
	for _, it := range items {
		if group(it.Kind) != group(items[0].Kind) {
			return false
		}
	}
	return true
}

func uploadOf(ctx context.Context, m chat.Media) botapi.InputFile {
	name := m.FileName
	if name == "" {
		name = string(m.Kind)
	}
	return botapi.InputFile{Name: name, Open: func() (io.ReadCloser, error) {
		r, err := m.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &boundedUpload{r, botapi.MaxUpload}, nil
	}}
}

// boundedUpload stops a file that is larger than was said.
type boundedUpload struct {
	io.ReadCloser
	left int64
}

func (b *boundedUpload) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &sourceError{fmt.Errorf("telegram: the file has over %d bytes: %w", int64(botapi.MaxUpload), chat.ErrTooLarge)}
	}
	if err != nil && err != io.EOF {
		err = &sourceError{err}
	}
	return n, err
}

// body gives the text as it is sent.
func (o *outgoing) body() (text, mode string) {
	if o.plain {
		return o.text.String(), ""
	}
	return htmlOf(o.text), botapi.HTML
}

// send posts the message.
func (o *outgoing) send(ctx context.Context, c *botapi.Client) ([]botapi.Message, error) {
	options := botapi.SendOptions{Target: o.to, ReplyTo: o.reply, Markup: o.markup, Silent: o.silent}
	text, mode := o.body()
	if len(o.items) > 1 {
		return c.SendAlbum(ctx, options, o.files(text, mode))
	}
	var m botapi.Message
	var err error
	if len(o.items) == 1 {
		m, err = c.SendMedia(ctx, options, o.files(text, mode)[0])
	} else {
		m, err = c.SendText(ctx, botapi.Text{SendOptions: options, Text: text, ParseMode: mode, LinkPreview: &botapi.LinkPreviewOptions{Disabled: true}})
	}
	return []botapi.Message{m}, err
}

// edited names the message that is changed.
func (o *outgoing) edited() botapi.MessageRef {
	if o.inline != "" {
		return botapi.MessageRef{InlineID: o.inline}
	}
	return botapi.MessageRef{ChatID: o.to.ChatID, MessageID: o.message}
}

// edit changes a message.
func (o *outgoing) edit(ctx context.Context, c *botapi.Client) ([]botapi.Message, error) {
	e := botapi.Edit{MessageRef: o.edited(), Keyboard: o.keyboard}
	text, mode := o.body()
	var m botapi.Message
	var err error
	switch {
	case len(o.items) == 1:
		m, err = c.EditMedia(ctx, e, o.files(text, mode)[0])
	case o.media:
		m, err = c.EditCaption(ctx, e, text, mode)
	default:
		m, err = c.EditText(ctx, e, botapi.Text{Text: text, ParseMode: mode, LinkPreview: &botapi.LinkPreviewOptions{Disabled: true}})
	}
	return []botapi.Message{m}, err
}

// files gives the files with the text as caption of the first.
func (o *outgoing) files(caption, mode string) []botapi.Media {
	files := make([]botapi.Media, len(o.items))
	for i, it := range o.items {
		files[i] = it.Media
	}
	files[0].Caption, files[0].ParseMode = caption, mode
	return files
}

// repaired makes a call until it succeeds or nothing about it can be repaired.
func (a *Adapter) repaired(ctx context.Context, o *outgoing, call func(context.Context, *botapi.Client) ([]botapi.Message, error)) ([]botapi.Message, error) {
	for {
		sent, err := call(ctx, a.client)
		if err == nil {
			return sent, nil
		}
		if err = atSource(err); !a.repair(ctx, o, err) {
			return nil, err
		}
		a.log.InfoContext(ctx, "a message is sent in another way", "chat", o.to.ChatID, "because", err)
	}
}

// repair changes what the service has refused; false where that is impossible.
func (a *Adapter) repair(ctx context.Context, o *outgoing, err error) bool {
	switch botapi.ReasonOf(err) {
	case botapi.ParseError:
		return set(&o.plain)
	case botapi.HasMedia:
		return set(&o.media)
	case botapi.ReplyGone:
		had := o.reply != nil
		o.reply = nil
		return had
	case botapi.ThreadNotFound:
		had := o.to.ThreadID != 0
		o.to.ThreadID = 0
		return had
	case botapi.BadFile:
		return a.uploadAnew(ctx, o)
	case botapi.BadPhoto:
		return o.asDocuments()
	case botapi.Migrated:
		return a.followMove(ctx, o, err)
	}
	return false
}

// set makes a flag true and tells whether that is news.
func set(flag *bool) bool {
	news := !*flag
	*flag = true
	return news
}

// uploadAnew replaces ids that don't work by the files themselves.
func (a *Adapter) uploadAnew(ctx context.Context, o *outgoing) bool {
	changed := false
	for i := range o.items {
		it := &o.items[i]
		if it.File.FileID == "" {
			continue
		}
		it.File, changed = it.upload, true
		if err := a.storage.forgetFile(ctx, it.ref, it.Kind); err != nil {
			a.log.WarnContext(ctx, "a file_id that does not work is still remembered", "error", err)
		}
	}
	return changed
}

// asDocuments turns photos into documents, and what is in an album with them, since documents don't mix.
func (o *outgoing) asDocuments() bool {
	changed := false
	for i := range o.items {
		it := &o.items[i]
		if it.Kind == botapi.KindDocument {
			continue
		}
		it.Kind, it.File, it.Spoiler = botapi.KindDocument, it.upload, false
		changed = true
	}
	return changed
}

// followMove sends to the chat that a group has become. What is in the old one can't be changed or answered.
func (a *Adapter) followMove(ctx context.Context, o *outgoing, err error) bool {
	var e *botapi.Error
	if !errors.As(err, &e) {
		return false
	}
	from := o.to.ChatID
	if err := a.move(ctx, from, e.MigrateTo); err != nil {
		a.log.WarnContext(ctx, "what is kept of a group that has a new id is moved later", "chat", from, "error", err)
	}
	o.to, o.reply = botapi.Target{ChatID: e.MigrateTo}, nil
	return from != e.MigrateTo && o.message == 0
}

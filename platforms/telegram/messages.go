package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// Send posts a new message.
func (a *Adapter) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	if own, id, ok := inlineOf(m.To); ok {
		ref, err := a.Edit(ctx, chat.MessageRef{Place: inlinePlace(own, id), ID: id}, m)
		return []chat.MessageRef{ref}, err
	}
	o, err := a.compose(ctx, m)
	if err != nil {
		return nil, err
	}
	if len(o.items) > 1 && o.markup != nil {
		return nil, fmt.Errorf("telegram: an album of %d carries no buttons: they go into a message after it", len(o.items))
	}
	sent, err := a.dispatch(ctx, o, botapi.Job{Class: classOf(m), Count: len(o.items)}, o.send)
	if err != nil {
		return nil, err
	}
	refs := make([]chat.MessageRef, len(sent))
	for i := range sent {
		refs[i] = o.ref(sent[i].MessageID)
	}
	return refs, nil
}

// Edit replaces text, media and buttons of an own message. A voice message can't be edited in: for one the
// old message is removed, and so ErrGone.
func (a *Adapter) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	if own, id, ok := inlineOf(ref.Place); ok {
		o, err := a.composeInline(ctx, own, id, m, ref.Media)
		if err != nil {
			return ref, err
		}
		return a.editInline(ctx, o, botapi.Job{Class: classOf(m), Repeatable: true}, o.edit)
	}
	if len(m.Media) == 1 && fittingKind(m.Media[0]) == botapi.KindVoice {
		if err := a.Delete(ctx, ref); err != nil && !errors.Is(err, chat.ErrKept) {
			return ref, err
		}
		return ref, fmt.Errorf("telegram: a voice message can't be edited in: %w", chat.ErrGone)
	}
	o, err := a.composeEdit(ctx, ref, m)
	if err != nil {
		return ref, err
	}
	if _, err := a.dispatch(ctx, o, botapi.Job{Class: classOf(m), Repeatable: true}, o.edit); err != nil {
		return ref, err
	}
	return o.ref(o.message), nil
}

// EditButtons replaces only the buttons.
func (a *Adapter) EditButtons(ctx context.Context, ref chat.MessageRef, rows [][]chat.Button) error {
	o, err := a.composeEdit(ctx, ref, chat.Message{Buttons: rows})
	if err != nil {
		return err
	}
	_, err = a.dispatch(ctx, o, botapi.Job{Repeatable: true}, func(ctx context.Context, c *botapi.Client) ([]botapi.Message, error) {
		m, err := c.EditKeyboard(ctx, botapi.Edit{MessageRef: o.edited(), Keyboard: o.keyboard})
		return []botapi.Message{m}, err
	})
	return err
}

// dispatch makes a call when its turn comes, and remembers the files that Telegram has from then on.
func (a *Adapter) dispatch(ctx context.Context, o *outgoing, job botapi.Job, call func(context.Context, *botapi.Client) ([]botapi.Message, error)) ([]botapi.Message, error) {
	var sent []botapi.Message
	job.ChatID = o.to.ChatID
	if o.message != 0 || o.inline != "" {
		job.Key = strconv.Itoa(o.message) + o.inline
	}
	job.Run = func(ctx context.Context) (err error) {
		sent, err = a.repaired(ctx, o, call)
		return err
	}
	if err := a.sender.Do(ctx, job); err != nil {
		return nil, contract(err)
	}
	a.remember(ctx, o, sent)
	return sent, nil
}

// remember keeps the file_ids of what was uploaded.
func (a *Adapter) remember(ctx context.Context, o *outgoing, sent []botapi.Message) {
	for i, it := range o.items {
		if i >= len(sent) || it.ref == "" || it.File.FileID != "" {
			continue
		}
		kind, file, ok := sent[i].Media()
		if !ok || kind != it.Kind || file.FileID == "" {
			continue // shown as another kind than it was sent as: its id would not work
		}
		if err := a.storage.setFile(context.WithoutCancel(ctx), it.ref, kind, file.FileID); err != nil {
			a.log.WarnContext(ctx, "a file will be uploaded again the next time", "error", err)
		}
	}
}

func (o *outgoing) ref(id int) chat.MessageRef {
	p := chat.Place{Chat: idText(o.to.ChatID)}
	if o.to.ThreadID != 0 {
		p.Topic = strconv.Itoa(o.to.ThreadID)
	}
	return chat.MessageRef{Place: p, ID: strconv.Itoa(id), Media: len(o.items) > 0 || o.media}
}

func classOf(m chat.Message) botapi.Class {
	if m.Droppable {
		return botapi.Progress
	}
	return botapi.Answer
}

// Delete removes an own message; Telegram keeps those older than two days where the bot does not run the chat. One that is gone is no error; nor is one of inline mode:
// it is its sender's, who alone can delete it.
func (a *Adapter) Delete(ctx context.Context, ref chat.MessageRef) error {
	if _, _, ok := inlineOf(ref.Place); ok {
		return nil
	}
	to, moved, err := a.target(ref.Place)
	id, idErr := strconv.Atoi(ref.ID)
	if err != nil || idErr != nil || moved {
		return err
	}
	err = a.patiently(ctx, func(ctx context.Context) error {
		return a.client.Delete(ctx, botapi.MessageRef{ChatID: to.ChatID, MessageID: id})
	})
	switch botapi.ReasonOf(err) {
	case botapi.DeleteGone, botapi.EditGone, botapi.Migrated:
		return nil
	}
	return contract(err)
}

// AnswerPress answers the press of a button.
func (a *Adapter) AnswerPress(ctx context.Context, p chat.Press, answer chat.PressAnswer) error {
	err := a.patiently(ctx, func(ctx context.Context) error {
		return a.client.AnswerCallback(ctx, botapi.CallbackAnswer{ID: p.ID, Text: answer.Text, Alert: answer.Alert})
	})
	if botapi.ReasonOf(err) == botapi.TooOld {
		return nil
	}
	return contract(err)
}

// Working shows a chat action. While the chat is to be left alone it does not even ask: that would prolong
// the wait.
func (a *Adapter) Working(ctx context.Context, place chat.Place, what chat.Activity) error {
	if _, _, ok := inlineOf(place); ok {
		return nil
	}
	to, _, err := a.target(place)
	if err != nil {
		return err
	}
	if wait := a.sender.BlockedFor(to.ChatID); wait > 0 {
		return contract(botapi.TooSoon(wait))
	}
	return contract(a.client.SendAction(ctx, to, actionOf(what)))
}

func actionOf(what chat.Activity) botapi.ChatAction {
	switch what {
	case chat.ActivityPhoto:
		return botapi.UploadPhoto
	case chat.ActivityVideo:
		return botapi.UploadVideo
	case chat.ActivityAudio:
		return botapi.UploadVoice
	case chat.ActivityDocument:
		return botapi.UploadDocument
	}
	return botapi.Typing
}

// Fetch opens a file that came in. It is read into memory, which Telegram's limit bounds.
func (a *Adapter) Fetch(ctx context.Context, f chat.Attachment) (io.ReadCloser, error) {
	var data []byte
	err := a.patiently(ctx, func(ctx context.Context) (err error) {
		data, _, err = a.client.Download(ctx, f.Handle, botapi.MaxDownload)
		return err
	})
	if err != nil {
		return nil, contract(err)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

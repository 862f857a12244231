package telegram

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

const (
	inlineWait    = 8 * time.Second // an answer that comes later is refused
	inlineAtOnce  = 16              // questions answered at the same time; who types on asks again
	inlineSeconds = 10              // prices and results change
)

// inlinePrefix begins the chat of a message of inline mode. Whose message it is and its id follow.
const inlinePrefix = "inline:"

func inlinePlace(user int64, id string) chat.Place {
	return chat.Place{Chat: inlinePrefix + idText(user) + ":" + id}
}

// inlineOf gives the id of a message of inline mode, and its sender's own chat; ok is false for other places.
func inlineOf(p chat.Place) (own int64, id string, ok bool) {
	rest, ok := strings.CutPrefix(p.Chat, inlinePrefix)
	user, id, _ := strings.Cut(rest, ":")
	own, err := strconv.ParseInt(user, 10, 64)
	return own, id, ok && err == nil && id != ""
}

// answerInline answers what somebody types after the bot's name, without holding up the updates that are to be stored. When
// too many ask at once, some get no answer: their next letter asks again.
func (a *Adapter) answerInline(ctx context.Context, to chat.Receiver, q *botapi.InlineQuery) {
	inliner, can := to.(chat.Inliner)
	if !can {
		return
	}
	select {
	case a.inlining <- struct{}{}:
	default:
		return
	}
	a.aside.Go(func() {
		defer func() { <-a.inlining }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), inlineWait)
		defer cancel()
		if err := a.inline(ctx, inliner, q); err != nil && botapi.ReasonOf(err) != botapi.TooOld {
			a.log.WarnContext(ctx, "a question of inline mode got no answer", "error", err)
		}
	})
}

func (a *Adapter) inline(ctx context.Context, to chat.Inliner, q *botapi.InlineQuery) error {
	answer, err := to.Inline(ctx, Platform, chat.InlineQuery{
		From: person(q.From), Private: idText(q.From.ID), Words: clean(q.Query), Offset: clean(q.Offset), Limit: botapi.MaxInlineResults,
	})
	if err != nil {
		return err
	}
	results := make([]botapi.InlineResult, 0, len(answer.Offers))
	for _, o := range answer.Offers {
		r, ok, err := a.inlineResult(ctx, o)
		if err != nil {
			return err
		}
		if ok {
			results = append(results, r)
		}
	}
	return a.client.AnswerInline(ctx, botapi.InlineAnswer{
		QueryID: q.ID, Results: results, CacheTime: inlineSeconds, Personal: true, NextOffset: answer.Next,
		Button: &botapi.InlineButton{Text: answer.Start, Parameter: answer.Parameter},
	})
}

// inlineResult writes an offer as Telegram takes it; false for a file that Telegram neither has nor takes by its address.
func (a *Adapter) inlineResult(ctx context.Context, o chat.InlineOffer) (botapi.InlineResult, bool, error) {
	r := botapi.InlineResult{Type: "article", ID: o.ID, Title: o.Title, Description: o.Description, Keyboard: keyboardOf(o.Message.Buttons)}
	if len(o.Message.Media) == 0 {
		r.Content = &botapi.InlineText{Text: htmlOf(o.Message.Text), ParseMode: botapi.HTML, LinkPreview: &botapi.LinkPreviewOptions{Disabled: true}}
		return r, true, nil
	}
	file := o.Message.Media[0]
	kind, id, err := a.storage.anyFile(ctx, file.Ref)
	switch {
	case err != nil:
		return r, false, err
	case id != "":
		return cachedResult(r, kind, id)
	case file.MIMEType == "image/jpeg" && file.Bytes <= botapi.MaxPhotoByURL && strings.HasPrefix(o.URL, "https://"):
		r.Type, r.PhotoURL, r.ThumbnailURL = "photo", o.URL, o.URL
		return r, true, nil
	}
	return r, false, nil
}

// cachedResult is a file by its id, as each kind names it.
func cachedResult(r botapi.InlineResult, kind botapi.MediaKind, id string) (botapi.InlineResult, bool, error) {
	r.Type = string(kind)
	switch kind {
	case botapi.KindPhoto:
		r.PhotoID = id
	case botapi.KindVideo:
		r.VideoID = id
	case botapi.KindDocument:
		r.DocumentID = id
	case botapi.KindAudio: // has neither
		r.AudioID, r.Title, r.Description = id, "", ""
	case botapi.KindVoice:
		r.VoiceID, r.Description = id, ""
	case botapi.KindAnimation: // kept as a film without sound, whatever it came as
		r.Type, r.MPEG4ID, r.Description = "mpeg4_gif", id, ""
	default:
		return r, false, nil
	}
	return r, true, nil
}

// composeInline prepares what a message of inline mode shows next: sending there and editing there is the same.
func (a *Adapter) composeInline(ctx context.Context, own int64, id string, m chat.Message, media bool) (*outgoing, error) {
	if len(m.Media) > 1 {
		return nil, fmt.Errorf("telegram: a message of inline mode shows one file, not %d", len(m.Media))
	}
	o := &outgoing{to: botapi.Target{ChatID: own}, inline: id, text: m.Text, keyboard: keyboardOf(m.Buttons), media: media}
	var err error
	o.items, err = a.itemsOf(ctx, m.Media)
	for i := range o.items {
		if o.items[i].Kind == botapi.KindVoice { // can't be edited in
			o.asDocuments()
		}
	}
	return o, err
}

// editInline changes a message of inline mode, and gives its reference.
func (a *Adapter) editInline(ctx context.Context, o *outgoing, job botapi.Job, call func(context.Context, *botapi.Client) ([]botapi.Message, error)) (chat.MessageRef, error) {
	ref := chat.MessageRef{Place: inlinePlace(o.to.ChatID, o.inline), ID: o.inline}
	_, err := a.dispatch(ctx, o, job, func(ctx context.Context, c *botapi.Client) ([]botapi.Message, error) {
		if err := a.lodge(ctx, o); err != nil {
			return nil, err
		}
		return call(ctx, c)
	})
	ref.Media = len(o.items) > 0 || o.media
	return ref, err
}

// lodge gives Telegram the files that it has not got yet. Into a message of inline mode they come by their ids alone, so each
// is sent to the person's own chat, silently, and taken back there: the id stays good.
func (a *Adapter) lodge(ctx context.Context, o *outgoing) error {
	for i := range o.items {
		it := &o.items[i]
		if it.File.FileID != "" {
			continue
		}
		sent, err := a.client.SendMedia(ctx, botapi.SendOptions{Target: o.to, Silent: true}, it.Media)
		if err != nil {
			return err
		}
		if kind, file, ok := sent.Media(); ok && file.FileID != "" {
			a.remember(ctx, &outgoing{items: o.items[i : i+1]}, []botapi.Message{sent})
			it.Kind, it.File = kind, botapi.FileRef(file.FileID)
		}
		if err := a.client.Delete(ctx, botapi.MessageRef{ChatID: o.to.ChatID, MessageID: sent.MessageID}); err != nil {
			a.log.DebugContext(ctx, "a file stays in its owner's chat", "error", err)
		}
	}
	return nil
}

// placed tells in which chat a message of inline mode stands: one that was sent by way of this bot.
func (r reader) placed(m *botapi.Message) (chat.Incoming, bool) {
	from, ok := r.sender(m)
	if !ok || m.ReplyMarkup == nil || len(m.ReplyMarkup.Rows) == 0 || len(m.ReplyMarkup.Rows[0]) == 0 {
		return chat.Incoming{}, false
	}
	return chat.Incoming{
		Kind: chat.KindPlaced, Chat: chatOf(m), From: from, At: m.Time(), Message: refOf(m),
		Press: &chat.Press{Data: clean(m.ReplyMarkup.Rows[0][0].Data)},
	}, true
}

// inlinePress is a press under a message of inline mode.
func (r reader) inlinePress(q *botapi.CallbackQuery) chat.Incoming {
	place := inlinePlace(q.From.ID, q.InlineID)
	return chat.Incoming{
		Kind: chat.KindPress, From: person(q.From), At: r.now, Message: chat.MessageRef{Place: place, ID: q.InlineID}, Addressed: true,
		Chat:  chat.Chat{Place: place, Kind: chat.ChatGroup, Inline: &chat.Inline{Private: idText(q.From.ID)}},
		Press: &chat.Press{ID: q.ID, Data: clean(q.Data)},
	}
}

package turn

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Reply answers the update's message.
func (t *Turn) Reply(ctx context.Context, text chat.Text, rows ...[]chat.Button) (chat.MessageRef, error) {
	return t.Post(ctx, t.Answering(text, rows...))
}

// Post sends a message that answers the update.
func (t *Turn) Post(ctx context.Context, m chat.Message) (chat.MessageRef, error) {
	m.Trigger = &t.In.Incoming
	ref, err := t.Out.Post(ctx, m)
	return ref, t.acknowledged(err)
}

// Answer answers the press, within the platform's limit.
func (t *Turn) Answer(ctx context.Context, text string, alert bool) error {
	return t.acknowledged(t.Out.Answer(ctx, *t.In.Press, text, alert))
}

// acknowledged notes that the sender has heard of the update unless err says otherwise, and gives err back.
func (t *Turn) acknowledged(err error) error {
	if err == nil && !t.In.heard && t.Services.Acknowledged != nil && !t.In.Received.IsZero() {
		t.Services.Acknowledged(t.In.Platform, time.Since(t.In.Received))
	}
	t.In.heard = t.In.heard || err == nil
	return err
}

// Repeatable reports whether the update can be handled once more and nobody is told anything twice: nothing was said, or only where a run is
// shown, which is used again.
func (t *Turn) Repeatable() bool { return !t.In.heard || !t.In.Answer.IsZero() }

// Change edits a message, because of the update.
func (t *Turn) Change(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	m.Trigger = &t.In.Incoming
	ref, err := t.Out.Change(ctx, ref, m)
	return ref, t.acknowledged(err)
}

// Only gives the person that an answer is for alone, or "" where all in the chat see it.
func (t *Turn) Only() string {
	if t.aside && t.In.Chat.Kind != chat.ChatPrivate {
		return t.In.From.ExternalID
	}
	return ""
}

// Respond sends a message that was drawn before as the answer to the update's message.
func (t *Turn) Respond(ctx context.Context, m chat.Message) error {
	m.ReplyTo, m.OnlyFor = t.Answering(nil).ReplyTo, t.Only()
	_, err := t.Post(ctx, m)
	return err
}

// Answering is a message that answers the update's message; in private chats, where it is clear what is
// answered, it quotes nothing.
func (t *Turn) Answering(text chat.Text, rows ...[]chat.Button) chat.Message {
	m := chat.Message{To: t.In.Chat.Place, Text: text, Buttons: rows, OnlyFor: t.Only()}
	if t.In.Chat.Kind != chat.ChatPrivate && t.In.Kind == chat.KindMessage {
		m.ReplyTo = t.In.Message
	}
	return m
}

// Tell is reply for when the message's reference does not matter.
func (t *Turn) Tell(ctx context.Context, key string, pairs ...any) error {
	_, err := t.Reply(ctx, t.Say.Text(key, pairs...))
	return err
}

// Acknowledge ends the button's waiting state. It comes before anything slow.
func (t *Turn) Acknowledge(ctx context.Context) error { return t.Answer(ctx, "", false) }

// Alert answers a press with a text that only this person sees.
func (t *Turn) Alert(ctx context.Context, key string, pairs ...any) error {
	return t.Answer(ctx, t.Say.Line(key, pairs...), true)
}

// Note answers a press with a short notice.
func (t *Turn) Note(ctx context.Context, key string, pairs ...any) error {
	return t.Answer(ctx, t.Say.Line(key, pairs...), false)
}

// Offer adds options to a message, see show.Platform.Offer.
func (t *Turn) Offer(m *chat.Message, k store.Keyboard, action, placeholder string, options []chat.MenuOption) {
	t.Out.Offer(t.Say, m, k, action, placeholder, options)
}

// OpenForm answers a press with a dialog.
func (t *Turn) OpenForm(ctx context.Context, form chat.Form) error {
	form = t.Out.FitForm(form)
	return t.acknowledged(t.Out.AnswerPress(ctx, *t.In.Press, chat.PressAnswer{Form: &form}))
}

// Apology says that something failed on our side, and under which code support finds it.
func (t *Turn) Apology(code string) chat.Text {
	return chat.Lines(t.Say.Text("error.internal"), t.Say.Text("support.code", "code", code))
}

// ErrorCode makes the code under which a failure of ours is found in the log.
func ErrorCode() string { return store.NewID()[:6] }

// NothingFound says that no tool goes by these words, and more. In groups it does not repeat them.
func (t *Turn) NothingFound(ctx context.Context, words string, more ...chat.Text) error {
	t = t.Aside()
	text := t.Say.Text("help.nothing", "words", chat.Brief(words, 60))
	if t.In.Chat.Kind != chat.ChatPrivate {
		text = t.Say.Text("help.nothingHere")
	}
	_, err := t.Reply(ctx, chat.Lines(append([]chat.Text{text}, more...)...))
	return err
}

// Refused tells why something is refused that a person can mend; other errors stay errors.
func (t *Turn) Refused(ctx context.Context, cause error) error {
	var said *registry.Error
	switch {
	case errors.Is(cause, users.ErrNoCode):
		return t.Tell(ctx, "link.wrong")
	case errors.Is(cause, users.ErrLastIdentity):
		return t.Tell(ctx, "link.last")
	case errors.Is(cause, users.ErrNoPreset):
		return t.Tell(ctx, "preset.unknown")
	case errors.As(cause, &said) && said.Code == registry.CodeRateLimited:
		return t.Tell(ctx, "link.tooOften")
	case errors.As(cause, &said) && said.Code != registry.CodeInternal:
		_, err := t.Reply(ctx, chat.Plain(words.Told(t.Say.Voice, said.Code, said.Text())))
		return err
	}
	return cause
}

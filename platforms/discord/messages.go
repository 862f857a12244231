package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
)

// Send posts a new message. As an answer to an interaction it goes with the interaction's token as long as that is
// good, and with the bot's own rights after that.
func (a *Adapter) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	if err := tooLargeHere(m.Media); err != nil {
		return nil, err
	}
	var refs []chat.MessageRef
	for _, part := range compose(m).parts() {
		id, place, err := a.sendPart(ctx, m, part)
		if err != nil {
			return nil, contract(err)
		}
		ref := chat.MessageRef{Place: place, ID: id, Media: len(part.media) > 0}
		for range max(1, len(part.media)) {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// sendPart sends one of a message's parts and tells where it went.
func (a *Adapter) sendPart(ctx context.Context, m chat.Message, o *outgoing) (string, chat.Place, error) {
	if id := request(m); id != "" {
		s, err := a.answering(ctx, id)
		if err != nil {
			return "", m.To, err
		}
		if s != nil && o.meant != "" {
			if sent, err := a.answerMeant(ctx, s, m.To, o); err == nil || !errors.Is(contract(err), chat.ErrUnreachable) && !errors.Is(contract(err), chat.ErrNoRight) {
				return sent, m.To, err
			}
		}
		if s != nil {
			sent, err := a.respond(ctx, s, o)
			if reasonOf(err) != tokenOver {
				return sent, m.To, err
			}
		}
	}
	to := m.To
	if o.ephemeral && aside(m) {
		// Only interactions have answers for one person: what can't be one goes into their own chat.
		dm, err := a.direct(ctx, m.OnlyFor)
		if err != nil {
			return "", to, err
		}
		to = chat.Place{Chat: dm}
		o.reply = ""
	}
	sent, err := a.post(ctx, channelOf(to), o)
	return sent, to, err
}

// aside tells whether a message for one person would be seen by others in the chat it is for, where they don't expect
// that: who asked there in a message of their own is answered there.
func aside(m chat.Message) bool {
	if m.Trigger == nil {
		return true
	}
	asked := m.Trigger.Kind == chat.KindMessage && isID(m.Trigger.Message.ID)
	return m.Trigger.Chat.Kind != chat.ChatPrivate && !asked
}

// respond sends a message as the answer to an interaction. The first one takes the place of the waiting sign; one
// for a single person can't, where the sign is shown to all.
func (a *Adapter) respond(ctx context.Context, s *answering, o *outgoing) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := a.acknowledge(ctx, s); err != nil {
		return "", err
	}
	if s.kind != discordgo.InteractionApplicationCommand || s.used {
		return a.followUp(ctx, s, o)
	}
	if !o.ephemeral || s.ephemeral {
		sent, err := a.fill(ctx, s, o)
		if reasonOf(err) != gone {
			return sent, err
		}
		// Somebody has removed the waiting sign.
		s.used = true
		return a.followUp(ctx, s, o)
	}
	if err := a.removePlaceholder(ctx, s); err != nil {
		return "", err
	}
	return a.followUp(ctx, s, o)
}

// errForeign: in a place where the bot can't write by itself only the interaction is answered.
var errForeign = fmt.Errorf("discord: the bot is not in this place: %w", chat.ErrUnreachable)

// answerMeant answers the message whose menu a command was picked from, instead of the interaction, whose answers can't refer
// to a message. The interaction's waiting sign goes.
func (a *Adapter) answerMeant(ctx context.Context, s *answering, to chat.Place, o *outgoing) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign {
		return "", errForeign
	}
	if err := a.acknowledge(ctx, s); err != nil {
		return "", err
	}
	sent, err := a.post(ctx, channelOf(to), o)
	if err == nil && s.kind == discordgo.InteractionApplicationCommand && !s.used && !s.ephemeral {
		if err := a.removePlaceholder(ctx, s); err != nil {
			a.log.DebugContext(ctx, "a waiting sign stays", "error", err)
		}
	}
	return sent, err
}

// removePlaceholder takes the waiting sign away. It needs s.mu.
func (a *Adapter) removePlaceholder(ctx context.Context, s *answering) error {
	err := s.noted(a.client.do(ctx, a.webhookCall(s, http.MethodDelete, "@original", nil, nil), nil))
	if err != nil && reasonOf(err) != gone {
		return err
	}
	s.used = true
	return a.storage.update(context.WithoutCancel(ctx), s.ticket)
}

// direct gives the private chat with a person.
func (a *Adapter) direct(ctx context.Context, person string) (string, error) {
	return a.sent(ctx, call{
		method: http.MethodPost, path: "/users/@me/channels", route: "/users/@me/channels", repeatable: true,
		body: map[string]string{"recipient_id": person},
	})
}

// Edit replaces text, media, menus and buttons of an own message.
func (a *Adapter) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	if err := tooLargeHere(m.Media); err != nil {
		return ref, err
	}
	o := compose(m)
	b, files, err := o.encode(ctx)
	if err != nil {
		return ref, err
	}
	edited := func(s *answering) { s.noteProgress(o, b) }
	if err := a.change(ctx, ref, alteration{http.MethodPatch, b, files, m.Droppable, edited}); err != nil {
		return ref, contract(err)
	}
	ref.Media = ref.Media || len(m.Media) > 0
	return ref, nil
}

// EditButtons replaces only the buttons.
func (a *Adapter) EditButtons(ctx context.Context, ref chat.MessageRef, rows [][]chat.Button) error {
	b := map[string]any{"components": components(nil, rows)}
	return contract(a.change(ctx, ref, alteration{method: http.MethodPatch, body: b}))
}

// Delete removes an own message.
func (a *Adapter) Delete(ctx context.Context, ref chat.MessageRef) error {
	err := a.change(ctx, ref, alteration{method: http.MethodDelete, done: func(s *answering) { s.progress = nil }})
	if reasonOf(err) == gone {
		return nil
	}
	return contract(err)
}

// alteration is what is to become of a message.
type alteration struct {
	method    string
	body      any
	files     []file
	droppable bool
	// done is called when it was made to an interaction's first message.
	done func(*answering)
}

// change edits or deletes a message: with the token of the latest interaction about it, and, when that is over,
// with the bot's own rights. What only one person sees has no other way than the token.
func (a *Adapter) change(ctx context.Context, ref chat.MessageRef, to alteration) error {
	if !isID(ref.ID) {
		return &Error{Call: to.method + " message", Code: discordgo.ErrCodeUnknownMessage, Message: "no message has the id " + ref.ID}
	}
	done, err := a.changeByToken(ctx, ref, to)
	if done {
		return err
	}
	channelID := channelOf(ref.Place)
	return a.client.do(ctx, call{
		method: to.method, path: "/channels/" + channelID + "/messages/" + ref.ID, route: "/channels/{}/messages/{}", resource: channelID,
		body: to.body, files: to.files, droppable: to.droppable, repeatable: true,
	}, nil)
}

// changeByToken reports whether a message's interaction has settled the change.
func (a *Adapter) changeByToken(ctx context.Context, ref chat.MessageRef, to alteration) (bool, error) {
	id, original, err := a.storage.interactionOf(ctx, ref.ID)
	if err != nil || id == "" {
		return err != nil, err
	}
	s, err := a.answering(ctx, id)
	if err != nil || s == nil {
		return err != nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = a.acknowledge(ctx, s); err == nil {
		name := ref.ID
		if original {
			name = "@original"
		}
		q := a.webhookCall(s, to.method, name, to.body, to.files)
		q.droppable = to.droppable
		err = s.noted(a.client.do(ctx, q, nil))
	}
	if err == nil && original && to.done != nil {
		to.done(s)
	}
	return reasonOf(err) != tokenOver, err
}

// Working shows that the bot is typing, unless an interaction in the channel shows that it is waited for.
func (a *Adapter) Working(ctx context.Context, to chat.Place, _ chat.Activity) error {
	channelID := channelOf(to)
	if a.answers.fresh(channelID, a.clock.Now()) {
		return nil
	}
	return contract(a.client.do(ctx, call{
		method: http.MethodPost, path: "/channels/" + channelID + "/typing", route: "/channels/{}/typing", resource: channelID, droppable: true,
	}, nil))
}

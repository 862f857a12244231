package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
)

// receiveLimit bounds the taking of one event, beyond the waits for rate limits.
const receiveLimit = time.Minute

// reader gives what is needed to understand events now.
func (a *Adapter) reader() reader {
	return reader{bot: *a.bot.Load(), commands: *a.commands.Load(), cdn: a.client.cdn()}
}

// takeInteraction takes an interaction as it came in, aside: none waits for another. It gives false while Run does not
// run.
func (a *Adapter) takeInteraction(ctx context.Context, raw json.RawMessage) bool {
	a.gate.RLock()
	defer a.gate.RUnlock()
	now := a.running
	if now == nil {
		return false
	}
	a.handling.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiveLimit)
		defer cancel()
		a.guarded(ctx, "an interaction", func(ctx context.Context) error { return a.take(ctx, now, raw) })
	})
	return true
}

func (a *Adapter) take(ctx context.Context, now *running, raw json.RawMessage) error {
	var i interaction
	if err := json.Unmarshal(raw, &i); err != nil {
		return fmt.Errorf("read an interaction: %w", err)
	}
	switch i.Type {
	case discordgo.InteractionPing:
		return nil
	case discordgo.InteractionApplicationCommandAutocomplete:
		return a.complete(ctx, now.to, i)
	}
	return a.interact(ctx, now, i)
}

// guarded does something; what fails, or panics, is logged.
func (a *Adapter) guarded(ctx context.Context, what string, do func(context.Context) error) {
	defer func() {
		if p := recover(); p != nil {
			a.log.ErrorContext(ctx, what+" was not handled", "error", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if err := do(ctx); err != nil && ctx.Err() == nil {
		a.log.WarnContext(ctx, what+" was not handled", "error", err)
	}
}

// interact stores an interaction and tells Discord in time that its answer comes later. What can't be stored gets
// no answer: Discord then shows that the bot did not respond, and nothing was done. A press is left to be answered by
// a form for a while, or until the program stops.
func (a *Adapter) interact(ctx context.Context, now *running, i interaction) error {
	in, ok := a.reader().interaction(i)
	if !ok {
		return nil
	}
	isCommand := i.Type == discordgo.InteractionApplicationCommand
	t := ticket{
		id: i.ID, kind: i.Type, token: i.Token, channel: i.ChannelID, created: a.clock.Now(),
		// In a chat with the bot nobody else is there, and what is for one person only can be lost.
		ephemeral: isCommand && in.Chat.Kind != chat.ChatPrivate && a.commands.Load().private(i),
	}
	s := a.answers.put(t, t.created)
	s.mu.Lock()
	s.foreign, s.locale = !i.installed(), i.Locale
	s.mu.Unlock()
	stored := make(chan error, 1)
	a.handling.Go(func() { stored <- a.keep(ctx, now.to, t, in) })
	late := a.clock.After(deferCommand)
	if !isCommand {
		late = a.clock.After(deferPress)
	}
	select {
	case err := <-stored:
		if err != nil {
			return err
		}
		stored <- nil
		if !isCommand {
			select {
			case <-late:
			case <-now.done:
			}
		}
	case <-late:
	}
	if err := a.inTime(ctx, s); err != nil {
		return err
	}
	if err := <-stored; err != nil {
		return a.takeBack(ctx, s, err)
	}
	return nil
}

// keep stores an interaction: its token with us, what it says with the receiver.
func (a *Adapter) keep(ctx context.Context, to chat.Receiver, t ticket, in chat.Incoming) error {
	messageID := ""
	if in.Press != nil {
		messageID = in.Message.ID
	}
	if _, err := a.storage.add(ctx, t, messageID); err != nil {
		return err
	}
	return to.Receive(ctx, Platform, in)
}

// inTime gives the first answer where nobody has yet.
func (a *Adapter) inTime(ctx context.Context, s *answering) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return a.acknowledge(ctx, s)
}

// takeBack removes the waiting sign of a command that could not be stored.
func (a *Adapter) takeBack(ctx context.Context, s *answering, cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kind == discordgo.InteractionApplicationCommand {
		if err := a.removePlaceholder(ctx, s); err != nil {
			a.log.DebugContext(ctx, "a waiting sign stays", "error", err)
		}
	}
	return cause
}

// complete offers values for an option that is being typed. There is nothing to store.
func (a *Adapter) complete(ctx context.Context, to chat.Receiver, i interaction) error {
	choices := []commandChoice{}
	q, ok := a.reader().completion(i)
	if completer, can := to.(chat.Completer); ok && can {
		choices = choicesOf(focused(i).Type, completer.Complete(ctx, Platform, q, maxChoices))
	}
	return a.client.do(ctx, call{
		method: http.MethodPost, path: "/interactions/" + i.ID + "/" + i.Token + "/callback",
		route: "/interactions/{}/{}/callback", resource: i.ID, apart: true,
		body: callback{
			Type: discordgo.InteractionApplicationCommandAutocompleteResult, Data: map[string]any{"choices": choices},
		},
	}, nil)
}

// focused is the option that is being typed.
func focused(i interaction) option {
	for _, o := range i.Data.Options {
		if o.Focused {
			return o
		}
	}
	return option{}
}

// takeInOrder takes an event before the next one is read. While Run does not run it does nothing.
func takeInOrder[E any](ctx context.Context, a *Adapter, what string, raw json.RawMessage, take func(ctx context.Context, now *running, event E) error) {
	a.gate.RLock()
	now := a.running
	a.gate.RUnlock()
	if now == nil {
		return
	}
	a.guarded(ctx, what, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, receiveLimit)
		defer cancel()
		var event E
		if err := json.Unmarshal(raw, &event); err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
		return take(ctx, now, event)
	})
}

// takeMessage takes a message.
func (a *Adapter) takeMessage(ctx context.Context, raw json.RawMessage) {
	takeInOrder(ctx, a, "a message", raw, func(ctx context.Context, now *running, m message) error {
		if in, ok := a.reader().message(m, func() *channel { return a.channel(ctx, m.ChannelID) }); ok {
			if in.ReplyTo == nil && m.Reference != nil {
				in.ReplyTo = a.lookUp(ctx, m.Reference.ChannelID, m.Reference.MessageID, in.Chat.Place)
			}
			return now.to.Receive(ctx, Platform, in)
		}
		return nil
	})
}

// channelsRemembered is how long is believed what Discord said of a channel.
const channelsRemembered = 10 * time.Minute

// channel asks for the channel of a message, which does not tell whether it is a thread, and of which channel; nil where it can't be had.
func (a *Adapter) channel(ctx context.Context, id string) *channel {
	c, known := a.channels.Get(id)
	if known || !isID(id) {
		return &c
	}
	if err := a.client.do(ctx, call{method: http.MethodGet, path: "/channels/" + id, route: "/channels/{}", resource: id, repeatable: true}, &c); err != nil {
		a.log.WarnContext(ctx, "the channel of a message is not known: the rules of a thread's channel don't hold for it", "error", err)
		return nil
	}
	a.channels.Set(id, c)
	return &c
}

// takeLeave takes that the bot is in a guild no more. One that is only out of reach for a while is unavailable.
func (a *Adapter) takeLeave(ctx context.Context, raw json.RawMessage) {
	type guild struct {
		ID          string `json:"id"`
		Unavailable bool   `json:"unavailable"`
	}
	takeInOrder(ctx, a, "the end of a guild", raw, func(ctx context.Context, now *running, left guild) error {
		if left.Unavailable || !isID(left.ID) {
			return nil
		}
		at := a.clock.Now()
		return now.to.Receive(ctx, Platform, chat.Incoming{
			ID: fmt.Sprintf("left:%s:%d", left.ID, at.UnixNano()), Kind: chat.KindMembership, Membership: chat.MemberRemoved, At: at,
			Chat: chat.Chat{Place: chat.Place{Chat: left.ID}, Kind: chat.ChatGroup, Space: left.ID},
		})
	})
}

// lookUp asks for a message replied to that did not come with the reply; nil where it can't be had.
func (a *Adapter) lookUp(ctx context.Context, channelID, messageID string, p chat.Place) *chat.Quoted {
	if !isID(channelID) || !isID(messageID) {
		return nil
	}
	m, err := a.client.message(ctx, channelID, messageID)
	if err != nil {
		a.log.DebugContext(ctx, "the message replied to is not known", "error", err)
		return nil
	}
	return a.reader().quoted(&m, p)
}

// isPing tells whether an interaction only asks if we are there.
func isPing(raw []byte) bool {
	var i interaction
	return json.Unmarshal(raw, &i) == nil && i.Type == discordgo.InteractionPing
}

package router

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/settings"
	"github.com/signalbox/signalbox/platforms/chat/sitemenu"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// answerPrompt takes a message as the answer to an open question, if it is one.
func answerPrompt(ctx context.Context, t *turn.Turn) (bool, error) {
	p, err := t.Services.Store.Prompts.Pending(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	open := err == nil
	if err != nil && !errors.Is(err, store.ErrNoPrompt) {
		return false, err
	}
	if t.In.Chat.Kind != chat.ChatPrivate && (!open || t.In.ReplyTo == nil || t.In.ReplyTo.Ref.ID != p.MessageID) {
		return answeredLate(ctx, t)
	}
	if !open {
		return false, nil
	}
	if p.State.Card != "" {
		if t.Services.Agent == nil {
			return false, nil
		}
		return t.Services.Agent.Affirmed(ctx, t, p)
	}
	if p.State.View != nil {
		return true, settings.Answered(ctx, t, p)
	}
	if p.State.Site != nil {
		if stopped, err := mutedAtAll(ctx, t); stopped || err != nil {
			return true, err
		}
		return true, sitemenu.Answered(ctx, t, p)
	}
	if p.State.Draft == nil {
		return false, nil
	}
	return true, start.InputAnswered(ctx, t, p, *p.State.Draft)
}

// answeredLate tells who replies in a group to what they were asked before that the question is over. What is said
// otherwise is not said to us.
func answeredLate(ctx context.Context, t *turn.Turn) (bool, error) {
	if t.In.ReplyTo == nil || !t.In.ReplyTo.Own {
		return false, nil
	}
	whom, _, err := t.Services.Store.Marks.Of(ctx, store.MarkAsked, t.In.Platform, t.In.Chat.Chat, t.In.ReplyTo.Ref.ID)
	if err != nil || whom != t.Account.ID {
		return false, err
	}
	t = t.Aside()
	return true, t.Tell(ctx, "ask.over")
}

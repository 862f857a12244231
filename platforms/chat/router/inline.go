package router

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

var _ chat.Inliner = (*Router)(nil)

// inlinePage is how many runs one answer of inline mode looks for results in.
const inlinePage = 20

// Inline offers the tools that the words may be meant for, then the person's own results, newest first. Nobody knows who
// reads the chat where one of them is sent: it counts as a group.
func (r *Router) Inline(ctx context.Context, platform string, q chat.InlineQuery) (chat.InlineAnswer, error) {
	if r.services.Deliverer.Platform(platform) == nil {
		return chat.InlineAnswer{}, fmt.Errorf("a question from %q, which is no platform here", platform)
	}
	t := r.turn(&turn.Update{Platform: platform, Incoming: chat.Incoming{
		From: q.From, Chat: chat.Chat{Kind: chat.ChatGroup, Inline: &chat.Inline{Private: q.Private}},
	}}, r.services.Tools.Snapshot())
	account, err := r.services.Accounts.Identify(ctx, q.From)
	if err != nil {
		return chat.InlineAnswer{}, fmt.Errorf("identify who types: %w", err)
	}
	t.Account = account
	t.Speak(t.Language())
	answer := chat.InlineAnswer{Start: t.Say.Line("inline.start"), Parameter: "inline"}
	if q.Offset == "" {
		if answer.Offers, err = start.OfferInline(ctx, t, q.Words); err != nil {
			return answer, err
		}
	}
	list, err := r.services.Runs.List(ctx, runs.Filter{AccountID: account.ID, Status: runs.StatusSucceeded, Before: q.Offset, Limit: inlinePage})
	if err != nil {
		return answer, fmt.Errorf("list the results of who types: %w", err)
	}
	for i, run := range list {
		found := r.services.Deliverer.Shareable(t.Out, t.Say, run, q.Words)
		full := len(answer.Offers)+len(found) > q.Limit
		if full && i > 0 {
			answer.Next = list[i-1].ID
			return answer, nil
		}
		answer.Offers = append(answer.Offers, found[:min(len(found), q.Limit-len(answer.Offers))]...)
	}
	if len(list) == inlinePage {
		answer.Next = list[len(list)-1].ID
	}
	return answer, nil
}

// notePlace remembers in which chat a message of inline mode stands, so that the rules of that chat hold for it.
func notePlace(ctx context.Context, t *turn.Turn) error {
	id, _, ok := store.ParseData(t.In.Press.Data)
	if !ok {
		return nil
	}
	k, err := t.Services.Store.Keyboards.Find(ctx, t.In.Platform, id)
	if errors.Is(err, store.ErrTooOld) || err == nil && !t.Owns(ctx, k) {
		return nil
	}
	if err != nil {
		return err
	}
	k.State.Stands = t.In.Chat.Chat
	return t.Services.Store.Keyboards.Save(ctx, k)
}

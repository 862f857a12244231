// Package places moves all that the rooms keep of a chat when its platform goes on with it under another id.
package places

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/dialogue"
	"github.com/signalbox/signalbox/platforms/chat/start"
	chatstore "github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/providers/canvas"
	sitestore "github.com/signalbox/signalbox/providers/content/store"
	runstore "github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
)

// MoveChat moves all of a chat, in one transaction. It may be repeated: then it moves what was written under the former id meanwhile. Wallets come
// first, since their rows are locked before what runs lock.
func MoveChat(ctx context.Context, tx pgx.Tx, wallets *groups.Store, platform, from, to string) error {
	for _, move := range []func(ctx context.Context, tx pgx.Tx, platform, from, to string) error{
		wallets.MoveChat, runstore.MoveChat, missions.MoveChat, users.MoveChat, sitestore.MoveChat, chatstore.MoveChat, moderation.MoveChat, moveConversations,
	} {
		if err := move(ctx, tx, platform, from, to); err != nil {
			return err
		}
	}
	return nil
}

// moveConversations lets what was said and drawn in a chat go on. A chat that gets another id has no topics.
func moveConversations(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	before, now := chat.Place{Chat: from}, chat.Place{Chat: to}
	if err := agent.MoveConversation(ctx, tx, dialogue.ConversationIn(platform, before), dialogue.ConversationIn(platform, now)); err != nil {
		return err
	}
	for _, move := range []func(ctx context.Context, tx pgx.Tx, from, to string) error{runstore.MoveSession, canvas.MoveSession} {
		if err := move(ctx, tx, start.ConversationIn(platform, before), start.ConversationIn(platform, now)); err != nil {
			return err
		}
	}
	return nil
}

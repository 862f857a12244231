package router

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
)

// eraseCommand asks whether all that is known of the person is to be deleted.
func eraseCommand(ctx context.Context, t *turn) error {
	k := t.keyboard(store.KeyboardState{})
	if err := t.svc.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err := t.reply(ctx, t.say.Text("erase.ask"), []chat.Button{
		{Label: t.say.Line("button.erase"), Data: k.Data("erase"), Style: chat.ButtonDanger},
		{Label: t.say.Line("button.cancel"), Data: k.Data("close")},
	})
	return err
}

// pressErase deletes what is known of the person.
func pressErase(ctx context.Context, t *turn, _ store.Keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	if err := t.svc.Store.Prompts.Abandon(ctx, t.in.platform, t.in.Chat.Chat, t.account.ID); err != nil {
		return err
	}
	if err := t.svc.Accounts.Erase(ctx, t.account.ID, t.account.ID); err != nil {
		return fmt.Errorf("delete somebody's data: %w", err)
	}
	t.svc.Recents.Forget(t.in.From)
	_, err := t.change(ctx, t.in.Message, chat.Message{To: t.in.Chat.Place, Text: t.say.Text("erase.done")})
	return err
}

package menus

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// EraseCommand asks whether all that is known of the person is to be deleted.
func EraseCommand(ctx context.Context, t *turn.Turn) error {
	k := t.Keyboard(store.KeyboardState{})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err := t.Reply(ctx, t.Say.Text("erase.ask"), []chat.Button{
		{Label: t.Say.Line("button.erase"), Data: k.Data("erase"), Style: chat.ButtonDanger},
		{Label: t.Say.Line("button.cancel"), Data: k.Data("close")},
	})
	return err
}

// PressErase deletes what is known of the person.
func PressErase(ctx context.Context, t *turn.Turn, _ store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if err := t.Services.Store.Prompts.Abandon(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID); err != nil {
		return err
	}
	if t.Services.Agent != nil {
		if err := t.Services.Agent.Forget(ctx, t); err != nil {
			return err
		}
	}
	if err := t.Services.Accounts.Erase(ctx, t.Account.ID, t.Account.ID); err != nil {
		return fmt.Errorf("delete somebody's data: %w", err)
	}
	t.Services.Recents.Forget(t.In.From)
	_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("erase.done")})
	return err
}

package menus

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
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

// ExportCommand has an archive made of everything that the person has. Where that was done lately it says where that one is.
func ExportCommand(ctx context.Context, t *turn.Turn) error {
	if t.In.Chat.Kind != chat.ChatPrivate {
		return t.Tell(ctx, "export.private")
	}
	e, err := t.Services.Exports.Request(ctx, t.Account.ID)
	var tooSoon *registry.Error
	if err != nil && !(errors.As(err, &tooSoon) && e.State == exports.Ready) {
		return err
	}
	if e.State != exports.Ready {
		return t.Tell(ctx, "export.making")
	}
	return t.Tell(ctx, "export.ready", "size", assets.Words(e.Bytes), "link", e.Address, "until", t.Say.Moment(*e.ExpiresAt))
}

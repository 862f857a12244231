package menus

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

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

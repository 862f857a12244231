package menus

import (
	"context"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// PressReceipt tells anyone who pressed exactly what a run cost, how that comes about, and the code under which support finds it.
func PressReceipt(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		text := chat.Lines(chat.Plain(run.Tool.DisplayName), t.Say.Receipt(run), t.Say.Text("support.code", "code", show.SupportCode(run.ID)))
		return t.Answer(ctx, text.String(), true)
	})
}

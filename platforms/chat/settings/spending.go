package settings

import (
	"context"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/users"
)

// PressAsk shows from which price on the person is asked before a run, and what else there is to choose.
func PressAsk(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return showAsking(ctx, t, k)
}

// PressAskFrom chooses the share of the credit, in percent, above which the person is asked.
func PressAskFrom(ctx context.Context, t *turn.Turn, k store.Keyboard, percent int) error {
	if !slices.Contains(users.ConfirmChoices(), percent) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if err := t.Services.Accounts.SetConfirmPercent(ctx, t.Account.ID, percent); err != nil {
		return fmt.Errorf("set from which price on to ask: %w", err)
	}
	return showAsking(ctx, t, k)
}

// showAsking draws the choices in place of the settings, the current one marked.
func showAsking(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	settings, err := t.Services.Accounts.LimitSettings(ctx, t.Account.ID)
	if err != nil {
		return err
	}
	current := settings.Own.ConfirmShare()
	text := t.Say.Text("money.above", "percent", current)
	if current == users.NeverConfirm {
		text = t.Say.Text("money.never")
	}
	var buttons []chat.Button
	for _, percent := range users.ConfirmChoices() {
		label := t.Say.Line("money.percent", "percent", percent)
		if percent == users.NeverConfirm {
			label = t.Say.Line("money.button.never")
		}
		if percent == current {
			label = "✓ " + label
		}
		buttons = append(buttons, chat.Button{Label: label, Data: k.Data(fmt.Sprintf("askfrom%d", percent))})
	}
	m := chat.Message{To: t.In.Chat.Place, Text: chat.Lines(text, t.Say.Text("money.choose")), Buttons: show.RowsOf(buttons, 3)}
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.close"), Data: k.Data("close")}})
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

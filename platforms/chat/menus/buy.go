package menus

import (
	"context"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// BuyCommand tells what there is to spend, and how to get more: what the operator says, with a button for each way, else whom to ask.
func BuyCommand(ctx context.Context, t *turn.Turn) error {
	var credit chat.Text
	if !t.ReadByOthers() {
		b, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
		if err != nil {
			return err
		}
		credit = start.Credit(t, b)
	}
	buying := t.Services.Operator.Buying
	if !buying.Offered() {
		_, err := t.Reply(ctx, chat.Lines(credit, t.Say.Text("buy.nothing"), whomToAsk(t)))
		return err
	}
	text := chat.Plain(buying.Text)
	if buying.Text == "" {
		text = t.Say.Text("buy.ways")
	}
	var rows [][]chat.Button
	for _, way := range buying.Ways {
		rows = append(rows, []chat.Button{{Label: way.Name(), URL: way.URL}})
		if t.Out.Caps.Buttons.Rows == 0 {
			text = chat.Lines(text, chat.Plain(way.URL))
		}
	}
	_, err := t.Reply(ctx, chat.Join("\n\n", credit, text), rows...)
	return err
}

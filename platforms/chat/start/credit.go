package start

import (
	"context"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// Credit tells what somebody has to spend, and what is set aside.
func Credit(t *turn.Turn, b billing.Balance) chat.Text {
	text := t.Say.Text("balance.available", "amount", t.Say.AtLeast(b.Available))
	if b.Held > 0 {
		text = chat.Lines(text, t.Say.Text("balance.held", "amount", b.Held))
	}
	return text
}

// PriceAndCredit tells a price and, where nobody else reads it, what the person has to spend.
func PriceAndCredit(ctx context.Context, t *turn.Turn, tool *registry.Tool, quote billing.Quote) chat.Text {
	price := t.Say.Price(*tool, quote)
	if quote.High == 0 || t.ReadByOthers() {
		return price
	}
	b, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	if err != nil {
		t.Services.Log.WarnContext(ctx, "a price without the balance", "tool", tool.ToolID, "error", err)
		return price
	}
	return chat.Lines(price, Credit(t, b))
}

package start

import (
	"context"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Credit tells what somebody has to spend, and what is set aside.
func Credit(t *turn.Turn, b billing.Balance) chat.Text {
	text := t.Say.Text("balance.available", "amount", t.Say.AtLeast(b.Available))
	if b.Held > 0 {
		text = chat.Lines(text, t.Say.Text("balance.held", "amount", b.Held))
	}
	if b.Owed > 0 {
		text = chat.Lines(text, t.Say.Text("pay.owed", "amount", b.Owed))
	}
	return text
}

// PriceAndCredit tells a price and, where nobody else reads it, what the person has to spend.
func PriceAndCredit(ctx context.Context, t *turn.Turn, tool *registry.Tool, quote billing.Quote) chat.Text {
	price := t.Say.Price(*tool, quote)
	if wallet, ok, err := t.GroupWallet(ctx); ok && quote.High > 0 {
		price = chat.Lines(price, t.Say.Payer(wallet.ID, payerOf(ctx, t, wallet.ID, quote)))
	} else if err != nil {
		t.Services.Log.WarnContext(ctx, "a price without who pays", "tool", tool.ToolID, "error", err)
	}
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

// payerOf is the fund of a group that would pay for a run now; "" where the person does, or nobody can.
func payerOf(ctx context.Context, t *turn.Turn, group string, quote billing.Quote) string {
	if group == "" || quote.Parts {
		return ""
	}
	payer, err := t.Services.Runs.Payer(ctx, group, t.Account.ID, quote.Held())
	if err != nil || payer == t.Account.ID {
		return "" // what is in the way is told when the run is asked for
	}
	return payer
}

// asking is which prices the person wants to be asked about, of those that they pay. A price that nobody is asked about needs no look at the wallet.
func asking(ctx context.Context, t *turn.Turn, payer string, quote billing.Quote) (runs.Asking, error) {
	if payer != "" {
		return runs.Asking{}, nil
	}
	settings, err := t.Services.Accounts.LimitSettings(ctx, t.Account.ID)
	if least := settings.Own.AskAbove(0); err != nil || least == 0 || int64(quote.High) <= least {
		return runs.Asking{}, err
	}
	b, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	return runs.Asking{Above: billing.NanoUSD(settings.Own.AskAbove(int64(b.Available))), Available: b.Available}, err
}

// whyAsked tells somebody who is asked about a price why, and what there is; nil where the tool asks anyway. Where others read along
// it says nothing.
func whyAsked(ctx context.Context, t *turn.Turn, bound runs.Bound, quote billing.Quote) chat.Text {
	if !bound.Request.Asking.About(quote) || t.ReadByOthers() {
		return nil
	}
	settings, err := t.Services.Accounts.LimitSettings(ctx, t.Account.ID)
	if err != nil {
		return nil
	}
	there := t.Say.Text("balance.available", "amount", t.Say.AtLeast(bound.Request.Asking.Available))
	return chat.Lines(there, t.Say.Text("money.asked", "percent", settings.Own.ConfirmShare()))
}

package menus

import (
	"context"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
)

// BuyCommand tells what there is to spend, and how to get more: what is sold here, what the operator says, with a button for each way, else
// whom to ask.
func BuyCommand(ctx context.Context, t *turn.Turn) error {
	var credit chat.Text
	if !t.ReadByOthers() {
		b, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
		if err != nil {
			return err
		}
		credit = start.Credit(t, b)
	}
	buying := t.Services.Operator.ToBuy()
	offers := offersOf(t)
	if !buying.Offered() && len(offers) == 0 {
		where := chat.Lines(t.Say.Text("buy.nothing"), whomToAsk(t))
		if names := buying.Elsewhere(t.In.Platform); names != "" {
			where = t.Say.Text("buy.elsewhere", "names", names)
		}
		_, err := t.Reply(ctx, chat.Lines(credit, where))
		return err
	}
	text := chat.Plain(buying.Text)
	if buying.Text == "" {
		text = t.Say.Text("buy.ways")
	}
	rows, err := offerButtons(ctx, t, offers)
	if err != nil {
		return err
	}
	for _, o := range offers {
		gives := "• " + o.Name + ": " + t.Say.Line("pay.gives", "amount", o.Credit)
		if o.Text != "" {
			gives += " – " + o.Text
		}
		text = chat.Lines(text, chat.Plain(gives))
	}
	for _, way := range buying.Ways {
		rows = append(rows, []chat.Button{{Label: way.Name(), URL: way.URL}})
		if t.Out.Caps.Buttons.Rows == 0 {
			text = chat.Lines(text, chat.Plain(way.URL))
		}
	}
	_, err = t.Reply(ctx, chat.Join("\n\n", credit, text), rows...)
	return err
}

func offersOf(t *turn.Turn) []words.Offer {
	return t.Services.Operator.ToBuy().Offers(t.In.Platform, t.Say.Language())
}

// offerButtons has a button for each offer; k keeps what each is, where the platform's own store does not sell it.
func offerButtons(ctx context.Context, t *turn.Turn, offers []words.Offer) (rows [][]chat.Button, err error) {
	k := t.Keyboard(store.KeyboardState{})
	var inStore []chat.Button
	for _, o := range offers {
		if o.SKU != "" {
			inStore = append(inStore, chat.Button{Label: o.Label(), SKU: o.SKU})
			continue
		}
		rows = append(rows, []chat.Button{{Label: o.Label(), Data: k.Data("buy" + strconv.Itoa(len(k.State.Fields)))}})
		k.State.Fields = append(k.State.Fields, o.ID())
	}
	if len(k.State.Fields) > 0 {
		err = t.Services.Store.Keyboards.Save(ctx, k)
	}
	if len(inStore) > 0 {
		rows = append(rows, inStore)
	}
	return rows, err
}

// PressBuy orders what the button says, and gives the address where it is paid.
func PressBuy(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Fields) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	for _, o := range offersOf(t) {
		if o.ID() != k.State.Fields[n] {
			continue
		}
		address, err := t.Services.Operator.ToBuy().Seller.Checkout(ctx, t.Account.ID, t.In.Platform, t.Say.Language(), o)
		if err != nil {
			return buyingRefused(ctx, t, err)
		}
		text := t.Say.Text("pay.order", "product", o.Name)
		if o.Monthly {
			text = t.Say.Text("pay.orderMonthly", "product", o.Name)
		}
		_, err = t.Reply(ctx, text, []chat.Button{{Label: t.Say.Line("pay.button", "price", o.Price), URL: address, Style: chat.ButtonPrimary}})
		return err
	}
	return t.Tell(ctx, "pay.noProduct")
}

// RedeemCommand gives the credit of a voucher.
func RedeemCommand(ctx context.Context, t *turn.Turn) error {
	seller, code := t.Services.Operator.ToBuy().Seller, strings.TrimSpace(t.In.Text)
	if seller == nil {
		return t.Tell(ctx, "buy.nothing")
	}
	if code == "" {
		return t.Tell(ctx, "pay.redeemHow")
	}
	credit, err := seller.Redeem(ctx, t.Account.ID, code)
	if err != nil {
		return buyingRefused(ctx, t, err)
	}
	b, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	if err != nil {
		return err
	}
	_, err = t.Reply(ctx, t.Say.Text("pay.redeemed", "amount", t.Say.AtLeast(credit), "balance", t.Say.AtLeast(b.Available)))
	return err
}

// buyingRefused says why something was not bought or redeemed.
func buyingRefused(ctx context.Context, t *turn.Turn, err error) error {
	if key := words.BuyingProblem(err); key != "" {
		return t.Tell(ctx, key)
	}
	return err
}

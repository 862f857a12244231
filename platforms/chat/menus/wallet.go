package menus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/users"
)

const (
	sponsorsShown = 10
	shortestParty = 5 * time.Minute
	longestParty  = 7 * 24 * time.Hour
	usualParty    = 2 * time.Hour
	mostGuestRuns = 1000
)

// paysChoices are who may pay in a group, in the order of the buttons.
var paysChoices = [...]groups.Pays{groups.MemberFirst, groups.GroupFirst, groups.OnlyGroup}

// WalletBudgets are what follows /wallet to set what the wallet may spend.
func WalletBudgets() []string { return []string{"day", "month", "member", "guests"} }

// WalletCommand shows the wallet of the group: what is in it, its budgets and its sponsors. With the name of a budget and an amount behind it, those
// who run the group set that.
func WalletCommand(ctx context.Context, t *turn.Turn) error {
	place, ok := t.GroupPlace()
	if !ok {
		return t.Tell(ctx, "wallet.groupsOnly")
	}
	if fields := strings.Fields(t.In.Text); len(fields) > 0 {
		return setBudget(ctx, t, place, fields)
	}
	k := t.Keyboard(store.KeyboardState{})
	m, err := walletMessage(ctx, t, place, k, t.RunsHere(ctx))
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

// walletMessage draws a group's wallet, with the buttons of those who run the group.
func walletMessage(ctx context.Context, t *turn.Turn, place users.Place, k store.Keyboard, admin bool) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place}
	terms, err := t.Services.Groups.At(ctx, place)
	none := errors.Is(err, groups.ErrNoWallet)
	if err != nil && !none {
		return m, err
	}
	if none {
		terms.Pays = groups.MemberFirst
		m.Text = t.Say.Text("wallet.none")
	} else if m.Text, err = walletText(ctx, t, terms); err != nil {
		return m, err
	}
	m.Text = chat.Lines(m.Text, t.Say.Text("wallet.how"))
	if !admin {
		return m, nil
	}
	m.Text = chat.Lines(m.Text, t.Say.Text("wallet.adminHow"))
	for i, pays := range paysChoices {
		label := t.Say.Line("wallet.button." + string(pays))
		if pays == terms.Pays {
			label = "✓ " + label
		}
		m.Buttons = append(m.Buttons, []chat.Button{{Label: label, Data: k.Data("wpays" + strconv.Itoa(i))}})
	}
	if !none {
		m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("wallet.button.close"), Data: k.Data("wclose"), Style: chat.ButtonDanger}})
	}
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

func walletText(ctx context.Context, t *turn.Turn, terms groups.Terms) (chat.Text, error) {
	b, err := t.Services.Wallets.Balance(ctx, terms.ID)
	if err != nil {
		return nil, fmt.Errorf("read the balance of a group: %w", err)
	}
	spent, err := t.Services.Runs.GroupSpent(ctx, terms.ID, t.Account.ID)
	if err != nil {
		return nil, fmt.Errorf("read what a group spent: %w", err)
	}
	text := chat.Lines(t.Say.Text("wallet.title"), t.Say.Text("wallet.balance", "amount", t.Say.AtLeast(b.Available)))
	if b.Held > 0 {
		text = chat.Lines(text, t.Say.Text("balance.held", "amount", b.Held))
	}
	text = chat.Lines(text, t.Say.Text("wallet.pays."+string(terms.Pays)),
		spentLine(t, "day", spent.Day, terms.Day), spentLine(t, "month", spent.Month, terms.Month))
	if terms.Member > 0 {
		text = chat.Lines(text, t.Say.Text("wallet.member", "limit", terms.Member, "used", t.Say.AtLeast(spent.MemberMonth)))
	}
	if terms.GuestRuns > 0 {
		text = chat.Lines(text, t.Say.Text("wallet.guests", "limit", terms.GuestRuns))
	}
	if terms.Party != "" {
		fund, err := t.Services.Wallets.Balance(ctx, terms.Party)
		if err != nil {
			return nil, fmt.Errorf("read the fund of a party: %w", err)
		}
		text = chat.Lines(text, t.Say.Text("wallet.party", "amount", t.Say.AtLeast(fund.Available), "time", terms.PartyEnds))
	}
	given, err := sponsorLines(ctx, t, terms.ID)
	return chat.Lines(text, given), err
}

// spentLine tells what the wallet spent in a period, and of how much where there is a budget.
func spentLine(t *turn.Turn, period string, used, limit billing.NanoUSD) chat.Text {
	if limit == 0 {
		return t.Say.Text("wallet.spent."+period, "used", t.Say.AtLeast(used))
	}
	return t.Say.Text("limit.group_"+period, "used", t.Say.AtLeast(used), "limit", limit)
}

func sponsorLines(ctx context.Context, t *turn.Turn, fund string) (chat.Text, error) {
	given, err := t.Services.Groups.Sponsors(ctx, fund)
	if err != nil || len(given) == 0 {
		return nil, err
	}
	text := t.Say.Text("wallet.sponsors")
	for _, one := range given[:min(len(given), sponsorsShown)] {
		name := t.Say.Line("wallet.someone")
		if one.AccountID != "" {
			account, err := t.Services.Accounts.ByID(ctx, one.AccountID)
			if err != nil {
				return nil, fmt.Errorf("find out who gave to a group: %w", err)
			}
			name = chat.FirstNonEmpty(account.DisplayName, name)
		}
		text = chat.Lines(text, chat.Plain("• "+name+": "+t.Say.Amount(one.Given)))
	}
	if more := len(given) - sponsorsShown; more > 0 {
		text = chat.Lines(text, t.Say.Text("wallet.moreSponsors", "n", more))
	}
	return text, nil
}

// setBudget sets what the wallet may spend; 0 lifts the bound.
func setBudget(ctx context.Context, t *turn.Turn, place users.Place, fields []string) error {
	if ok, err := t.RunsChat(ctx); !ok {
		return err
	}
	what := strings.ToLower(fields[0])
	if len(fields) != 2 || !slices.Contains(WalletBudgets(), what) {
		return t.Tell(ctx, "wallet.adminHow")
	}
	change, ok := budgetChange(what, fields[1])
	if !ok {
		return t.Tell(ctx, "wallet.adminHow")
	}
	if err := t.Services.Groups.Set(ctx, place, t.GroupChat(), t.Account.ID, change); err != nil {
		return err
	}
	m, err := walletMessage(ctx, t, place, t.Keyboard(store.KeyboardState{}), true)
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

func budgetChange(what, value string) (func(*groups.Terms), bool) {
	if what == "guests" {
		runs, err := strconv.Atoi(value)
		return func(t *groups.Terms) { t.GuestRuns = runs }, err == nil && runs >= 0 && runs <= mostGuestRuns
	}
	amount, err := billing.ParseUSD(value)
	return func(t *groups.Terms) {
		switch what {
		case "day":
			t.Day = amount
		case "month":
			t.Month = amount
		case "member":
			t.Member = amount
		}
	}, err == nil && amount >= 0 && amount <= billing.MaxAmount
}

// onWallet does something with a group's wallet for those who run the group, and draws it anew.
func onWallet(ctx context.Context, t *turn.Turn, k store.Keyboard, do func(users.Place) error) error {
	place, ok := t.GroupPlace()
	if !ok || !t.RunsHere(ctx) {
		return t.Alert(ctx, "place.adminsOnly")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if err := do(place); err != nil {
		return err
	}
	m, err := walletMessage(ctx, t, place, k, true)
	if err != nil {
		return err
	}
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

// PressWallet shows the wallet in place of the chat's settings.
func PressWallet(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onWallet(ctx, t, k, func(users.Place) error { return nil })
}

// PressPays sets who pays in the group.
func PressPays(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(paysChoices) {
		return t.Alert(ctx, "press.tooOld")
	}
	return onWallet(ctx, t, k, func(place users.Place) error {
		return t.Services.Groups.Set(ctx, place, t.GroupChat(), t.Account.ID, func(terms *groups.Terms) { terms.Pays = paysChoices[n] })
	})
}

// PressCloseWallet asks whether to close the wallet.
func PressCloseWallet(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if !t.RunsHere(ctx) {
		return t.Alert(ctx, "place.adminsOnly")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("wallet.closeAsk"), Buttons: [][]chat.Button{{
		{Label: t.Say.Line("wallet.button.close"), Data: k.Data("wclosed"), Style: chat.ButtonDanger}, {Label: t.Say.Line("button.cancel"), Data: k.Data("wallet")},
	}}})
	return err
}

// PressWalletClosed closes the wallet.
func PressWalletClosed(ctx context.Context, t *turn.Turn, _ store.Keyboard) error {
	place, ok := t.GroupPlace()
	if !ok || !t.RunsHere(ctx) {
		return errors.Join(t.Alert(ctx, "place.adminsOnly"), turn.ErrNotDone)
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	text := t.Say.Text("wallet.none")
	left, err := t.Services.Groups.Close(ctx, place, t.Account.ID)
	if err == nil {
		text = t.Say.Text("wallet.closed", "amount", left)
	} else if !errors.Is(err, groups.ErrNoWallet) {
		return err
	}
	_, err = t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: text})
	return err
}

// GroupLeft closes the wallet of a group that the bot was removed from: what is left goes back.
func GroupLeft(ctx context.Context, t *turn.Turn) error {
	place, ok := t.GroupPlace()
	if !ok {
		return nil
	}
	if _, err := t.Services.Groups.Close(ctx, place, users.BySystem); err != nil && !errors.Is(err, groups.ErrNoWallet) {
		return err
	}
	return nil
}

// SponsorCommand asks whether to give of one's own credit to the group's wallet.
func SponsorCommand(ctx context.Context, t *turn.Turn) error {
	return askToGive(ctx, t, "sponsor", t.In.Text, 0)
}

// PartyCommand asks whether to give of one's own credit to a fund that pays for everybody here for a while.
func PartyCommand(ctx context.Context, t *turn.Turn) error {
	amount, length, given := strings.Cut(strings.TrimSpace(t.In.Text), " ")
	last := usualParty
	if given {
		var err error
		if last, err = time.ParseDuration(strings.ReplaceAll(length, " ", "")); err != nil || last < shortestParty || last > longestParty {
			return t.Tell(ctx, "party.how")
		}
	}
	return askToGive(ctx, t, "party", amount, last)
}

// askToGive asks whether to give the amount that was typed; last is how long a party goes on.
func askToGive(ctx context.Context, t *turn.Turn, what, typed string, last time.Duration) error {
	if _, ok := t.GroupPlace(); !ok {
		return t.Tell(ctx, "wallet.groupsOnly")
	}
	amount, err := billing.ParseUSD(typed)
	if err != nil || amount < billing.Dollar/100 || amount > billing.MaxAmount {
		return t.Tell(ctx, what+".how")
	}
	k := t.Keyboard(store.KeyboardState{Fields: []string{strconv.FormatInt(int64(amount), 10), last.String()}})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err = t.Reply(ctx, t.Say.Text(what+".ask", "amount", amount, "minutes", int(last.Minutes())), []chat.Button{
		{Label: t.Say.Line("sponsor.button", "amount", amount), Data: k.Data("w" + what), Style: chat.ButtonPrimary},
		{Label: t.Say.Line("button.cancel"), Data: k.Data("close")},
	})
	return err
}

// PressSponsor gives what was asked about to the group's wallet.
func PressSponsor(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return giveTo(ctx, t, k, func(c groups.Contribution, _ time.Duration) (chat.Text, error) {
		err := t.Services.Groups.Sponsor(ctx, c)
		return t.Say.Text("sponsor.done", "name", t.In.From.Name, "amount", c.Amount), err
	})
}

// PressParty gives what was asked about to a party.
func PressParty(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return giveTo(ctx, t, k, func(c groups.Contribution, last time.Duration) (chat.Text, error) {
		until := time.Now().Add(last)
		err := t.Services.Groups.StartParty(ctx, c, until)
		return t.Say.Text("party.done", "name", t.In.From.Name, "amount", c.Amount, "time", until), err
	})
}

func giveTo(ctx context.Context, t *turn.Turn, k store.Keyboard, give func(groups.Contribution, time.Duration) (chat.Text, error)) error {
	place, ok := t.GroupPlace()
	if !ok || len(k.State.Fields) != 2 {
		return t.Alert(ctx, "press.tooOld")
	}
	amount, err := strconv.ParseInt(k.State.Fields[0], 10, 64)
	if err != nil {
		return fmt.Errorf("what a button gives: %w", err)
	}
	last, err := time.ParseDuration(k.State.Fields[1])
	if err != nil {
		return fmt.Errorf("how long the party of a button is: %w", err)
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	text, err := give(groups.Contribution{
		Place: place, Chat: t.GroupChat(), AccountID: t.Account.ID, Amount: billing.NanoUSD(amount), Key: t.In.Platform + ":press:" + t.In.IDs[0],
	}, last)
	var poor billing.ErrInsufficient
	if errors.As(err, &poor) {
		text, err = start.Insufficient(ctx, t, poor, t.ReadByOthers()), nil
	}
	if err != nil {
		return err
	}
	_, err = t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: text})
	return err
}

// PartyOver is what a group is told at the end of a party.
func PartyOver(say show.Voice, e groups.Ended) chat.Text {
	text := say.Text("party.over", "spent", e.Given-e.Left, "given", e.Given)
	if e.Left > 0 {
		text = chat.Lines(text, say.Text("party.left", "amount", e.Left))
	}
	return text
}

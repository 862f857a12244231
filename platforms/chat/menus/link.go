package menus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/users"
)

// linkWord is the deep link's payload that asks for a code.
const linkWord = "link"

// LinkCommand gives a code that joins the person's accounts on two platforms, and shows what is joined; or it asks
// whether to use the code that was given.
func LinkCommand(ctx context.Context, t *turn.Turn) error {
	if code := strings.TrimSpace(t.In.Text); code != "" {
		return askJoin(ctx, t, code)
	}
	if t.In.Chat.Kind != chat.ChatPrivate && !t.Out.Caps.Ephemeral {
		var rows [][]chat.Button
		if t.Out.Caps.DeepLink != "" {
			rows = append(rows, []chat.Button{{Label: t.Say.Line("button.link"), URL: fmt.Sprintf(t.Out.Caps.DeepLink, linkWord)}})
		}
		_, err := t.Reply(ctx, t.Say.Text("link.private"), rows...)
		return err
	}
	made, err := t.Services.Accounts.NewLinkCode(ctx, t.Account.ID)
	if err != nil {
		return t.Refused(ctx, err)
	}
	k := t.Keyboard(store.KeyboardState{})
	m, err := linkedIdentities(ctx, t, &k)
	if err != nil {
		return err
	}
	m.Text = chat.Join("\n\n", t.Say.Text("link.code", "code", made.Code), m.Text)
	return t.Respond(ctx, m)
}

// linkedIdentities shows the person's identities; each but the one they write with can leave.
func linkedIdentities(ctx context.Context, t *turn.Turn, k *store.Keyboard) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place}
	list, err := t.Services.Accounts.Identities(ctx, t.Account.ID)
	if err != nil {
		return m, fmt.Errorf("list linked accounts: %w", err)
	}
	k.State.Identities = nil
	var options []chat.MenuOption
	for _, id := range list {
		m.Text = chat.Lines(m.Text, chat.Plain("• "+identityName(t.Say, id.Identity)))
		if id.Platform == t.In.From.Platform && id.ExternalID == t.In.From.ExternalID {
			continue
		}
		k.State.Identities = append(k.State.Identities, id.Identity)
		options = append(options, chat.MenuOption{Label: t.Say.Line("button.unlink", "name", identityName(t.Say, id.Identity))})
	}
	m.Text = chat.Lines(t.Say.Text("link.linked"), m.Text)
	t.Offer(&m, *k, "unlink", "menu.unlink", options)
	return m, t.Services.Store.Keyboards.Save(ctx, *k)
}

func identityName(v show.Voice, id users.Identity) string {
	platform := strings.ToUpper(id.Platform[:1]) + id.Platform[1:]
	return platform + ": " + chat.FirstNonEmpty(words.PersonName(v.Voice, id.Name), id.ExternalID)
}

// askJoin asks before it joins two accounts.
func askJoin(ctx context.Context, t *turn.Turn, code string) error {
	other, err := t.Services.Accounts.PeekLinkCode(ctx, t.Account.ID, code)
	if err != nil {
		return t.Refused(ctx, err)
	}
	if other.ID == t.Account.ID {
		return t.Tell(ctx, "link.already")
	}
	identities, err := t.Services.Accounts.Identities(ctx, other.ID)
	if err != nil {
		return fmt.Errorf("ask to join: %w", err)
	}
	k := t.Keyboard(store.KeyboardState{Query: code})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	question := t.Say.Text("link.ask")
	for _, id := range identities {
		question = chat.Lines(question, chat.Plain("• "+id.Card()))
	}
	question = chat.Lines(question, t.Say.Text("link.since", "since", other.CreatedAt))
	_, err = t.Reply(ctx, chat.Join("\n\n", question, t.Say.Text("link.handsOver")), []chat.Button{
		{Label: t.Say.Line("button.join"), Data: k.Data("join"), Style: chat.ButtonPrimary},
		{Label: t.Say.Line("button.cancel"), Data: k.Data("close")},
	})
	return err
}

// PressJoin joins the accounts, or asks once more where there is money in one of them.
func PressJoin(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	other, err := t.Services.Accounts.PeekLinkCode(ctx, t.Account.ID, k.State.Query)
	if err != nil {
		t = t.Aside()
		return errors.Join(t.Refused(ctx, err), turn.ErrNotDone)
	}
	mine, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	if err != nil {
		return err
	}
	theirs, err := t.Services.Wallets.Balance(ctx, other.ID)
	if err != nil {
		return err
	}
	if mine.All()+theirs.All() == 0 {
		return joinAccounts(ctx, t, k)
	}
	_, err = t.Change(ctx, t.In.Message, chat.Message{
		To: t.In.Chat.Place, Text: t.Say.Text("link.askMoney", "mine", mine.All(), "theirs", theirs.All()), Buttons: [][]chat.Button{{
			{Label: t.Say.Line("button.joinMoney"), Data: k.Data("merge"), Style: chat.ButtonDanger},
			{Label: t.Say.Line("button.cancel"), Data: k.Data("close")},
		}},
	})
	return err
}

// PressMerge joins accounts with money in them.
func PressMerge(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return joinAccounts(ctx, t, k)
}

func joinAccounts(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	merged, err := t.Services.Accounts.RedeemLinkCode(ctx, t.Account.ID, k.State.Query)
	if err != nil {
		t = t.Aside()
		return errors.Join(t.Refused(ctx, err), turn.ErrNotDone)
	}
	t.Account = merged.Account
	shown := t.Keyboard(store.KeyboardState{})
	m, err := linkedIdentities(ctx, t, &shown)
	if err != nil {
		return err
	}
	m.Text = chat.Join("\n\n", t.Say.Text("link.joined"), m.Text)
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

// PressUnlink lets an identity leave. The menu comes first, then the question whether that is meant.
func PressUnlink(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Identities) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	name := identityName(t.Say, k.State.Identities[n])
	_, err := t.Change(ctx, t.In.Message, chat.Message{
		To: t.In.Chat.Place, Text: t.Say.Text("link.askUnlink", "name", name), Buttons: [][]chat.Button{{
			{Label: t.Say.Line("button.unlink", "name", name), Data: k.Data("leave" + strconv.Itoa(n)), Style: chat.ButtonDanger},
			{Label: t.Say.Line("button.cancel"), Data: k.Data("close")},
		}},
	})
	return err
}

// PressLeave takes an identity off the account, after the question whether that is meant.
func PressLeave(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Identities) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	leaving := k.State.Identities[n]
	if _, err := t.Services.Accounts.Unlink(ctx, t.Account.ID, leaving.Platform, leaving.ExternalID); err != nil {
		t = t.Aside()
		return t.Refused(ctx, err)
	}
	m, err := linkedIdentities(ctx, t, &k)
	if err != nil {
		return err
	}
	m.Text = chat.Join("\n\n", t.Say.Text("link.left", "name", identityName(t.Say, leaving)), m.Text)
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

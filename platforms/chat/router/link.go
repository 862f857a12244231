package router

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// linkWord is the deep link's payload that asks for a code.
const linkWord = "link"

// linkCommand gives a code that joins the person's accounts on two platforms, and shows what is joined; or it asks
// whether to use the code that was given.
func linkCommand(ctx context.Context, t *turn) error {
	if code := strings.TrimSpace(t.in.Text); code != "" {
		return askJoin(ctx, t, code)
	}
	if t.in.Chat.Kind != chat.ChatPrivate && !t.out.Caps.Ephemeral {
		var rows [][]chat.Button
		if t.out.Caps.DeepLink != "" {
			rows = append(rows, []chat.Button{{Label: t.say.Line("button.link"), URL: fmt.Sprintf(t.out.Caps.DeepLink, linkWord)}})
		}
		_, err := t.reply(ctx, t.say.Text("link.private"), rows...)
		return err
	}
	made, err := t.svc.Accounts.NewLinkCode(ctx, t.account.ID)
	if err != nil {
		return t.refusedByHouse(ctx, err)
	}
	k := t.keyboard(store.KeyboardState{})
	m, err := linkedIdentities(ctx, t, &k)
	if err != nil {
		return err
	}
	m.Text = chat.Join("\n\n", t.say.Text("link.code", "code", made.Code), m.Text)
	return t.respond(ctx, m)
}

// linkedIdentities shows the person's identities; each but the one they write with can leave.
func linkedIdentities(ctx context.Context, t *turn, k *store.Keyboard) (chat.Message, error) {
	m := chat.Message{To: t.in.Chat.Place}
	list, err := t.svc.Accounts.Identities(ctx, t.account.ID)
	if err != nil {
		return m, fmt.Errorf("list linked accounts: %w", err)
	}
	k.State.Identities = nil
	var options []chat.MenuOption
	for _, id := range list {
		m.Text = chat.Lines(m.Text, chat.Plain("• "+identityName(id.Identity)))
		if id.Platform == t.in.From.Platform && id.ExternalID == t.in.From.ExternalID {
			continue
		}
		k.State.Identities = append(k.State.Identities, id.Identity)
		options = append(options, chat.MenuOption{Label: t.say.Line("button.unlink", "name", identityName(id.Identity))})
	}
	m.Text = chat.Lines(t.say.Text("link.linked"), m.Text)
	t.offer(&m, *k, "unlink", "menu.unlink", options)
	return m, t.svc.Store.Keyboards.Save(ctx, *k)
}

func identityName(id users.Identity) string {
	platform := strings.ToUpper(id.Platform[:1]) + id.Platform[1:]
	return platform + ": " + chat.FirstNonEmpty(id.Name, id.ExternalID)
}

// askJoin asks before it joins two accounts.
func askJoin(ctx context.Context, t *turn, code string) error {
	other, err := t.svc.Accounts.PeekLinkCode(ctx, t.account.ID, code)
	if err != nil {
		return t.refusedByHouse(ctx, err)
	}
	if other.ID == t.account.ID {
		return t.tell(ctx, "link.already")
	}
	identities, err := t.svc.Accounts.Identities(ctx, other.ID)
	if err != nil {
		return fmt.Errorf("ask to join: %w", err)
	}
	k := t.keyboard(store.KeyboardState{Query: code})
	if err := t.svc.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	question := t.say.Text("link.ask")
	for _, id := range identities {
		question = chat.Lines(question, chat.Plain("• "+id.Card()))
	}
	question = chat.Lines(question, t.say.Text("link.since", "since", t.say.Time(other.CreatedAt.UTC())))
	_, err = t.reply(ctx, chat.Join("\n\n", question, t.say.Text("link.handsOver")), []chat.Button{
		{Label: t.say.Line("button.join"), Data: k.Data("join"), Style: chat.ButtonPrimary},
		{Label: t.say.Line("button.cancel"), Data: k.Data("close")},
	})
	return err
}

// pressJoin joins the accounts, or asks once more where there is money in one of them.
func pressJoin(ctx context.Context, t *turn, k store.Keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	other, err := t.svc.Accounts.PeekLinkCode(ctx, t.account.ID, k.State.Query)
	if err != nil {
		t = t.Aside()
		return errors.Join(t.refusedByHouse(ctx, err), errNotDone)
	}
	mine, err := t.svc.Wallets.Balance(ctx, t.account.ID)
	if err != nil {
		return err
	}
	theirs, err := t.svc.Wallets.Balance(ctx, other.ID)
	if err != nil {
		return err
	}
	if mine.All()+theirs.All() == 0 {
		return joinAccounts(ctx, t, k)
	}
	_, err = t.change(ctx, t.in.Message, chat.Message{
		To: t.in.Chat.Place, Text: t.say.Text("link.askMoney", "mine", mine.All(), "theirs", theirs.All()), Buttons: [][]chat.Button{{
			{Label: t.say.Line("button.joinMoney"), Data: k.Data("merge"), Style: chat.ButtonDanger},
			{Label: t.say.Line("button.cancel"), Data: k.Data("close")},
		}},
	})
	return err
}

// pressMerge joins accounts with money in them.
func pressMerge(ctx context.Context, t *turn, k store.Keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	return joinAccounts(ctx, t, k)
}

func joinAccounts(ctx context.Context, t *turn, k store.Keyboard) error {
	merged, err := t.svc.Accounts.RedeemLinkCode(ctx, t.account.ID, k.State.Query)
	if err != nil {
		t = t.Aside()
		return errors.Join(t.refusedByHouse(ctx, err), errNotDone)
	}
	t.account = merged.Account
	shown := t.keyboard(store.KeyboardState{})
	m, err := linkedIdentities(ctx, t, &shown)
	if err != nil {
		return err
	}
	m.Text = chat.Join("\n\n", t.say.Text("link.joined"), m.Text)
	_, err = t.change(ctx, t.in.Message, m)
	return err
}

// pressUnlink lets an identity leave. The menu comes first, then the question whether that is meant.
func pressUnlink(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Identities) {
		return t.alert(ctx, "press.tooOld")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	name := identityName(k.State.Identities[n])
	_, err := t.change(ctx, t.in.Message, chat.Message{
		To: t.in.Chat.Place, Text: t.say.Text("link.askUnlink", "name", name), Buttons: [][]chat.Button{{
			{Label: t.say.Line("button.unlink", "name", name), Data: k.Data("leave" + strconv.Itoa(n)), Style: chat.ButtonDanger},
			{Label: t.say.Line("button.cancel"), Data: k.Data("close")},
		}},
	})
	return err
}

func pressLeave(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Identities) {
		return t.alert(ctx, "press.tooOld")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	leaving := k.State.Identities[n]
	if _, err := t.svc.Accounts.Unlink(ctx, t.account.ID, leaving.Platform, leaving.ExternalID); err != nil {
		t = t.Aside()
		return t.refusedByHouse(ctx, err)
	}
	m, err := linkedIdentities(ctx, t, &k)
	if err != nil {
		return err
	}
	m.Text = chat.Join("\n\n", t.say.Text("link.left", "name", identityName(leaving)), m.Text)
	_, err = t.change(ctx, t.in.Message, m)
	return err
}

// refusedByHouse tells why the house refuses something that a person can mend; other errors stay errors.
func (t *turn) refusedByHouse(ctx context.Context, cause error) error {
	var said *registry.Error
	switch {
	case errors.Is(cause, users.ErrNoCode):
		return t.tell(ctx, "link.wrong")
	case errors.Is(cause, users.ErrLastIdentity):
		return t.tell(ctx, "link.last")
	case errors.Is(cause, users.ErrNoPreset):
		return t.tell(ctx, "preset.unknown")
	case errors.As(cause, &said) && said.Code == registry.CodeRateLimited:
		return t.tell(ctx, "link.tooOften")
	case errors.As(cause, &said) && said.Code != registry.CodeInternal:
		_, err := t.reply(ctx, chat.Plain(words.Told(t.say.Voice, said.Code, said.Message)))
		return err
	}
	return cause
}

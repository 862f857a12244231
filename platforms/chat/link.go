package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// linkWord is the deep link's payload that asks for a code.
const linkWord = "link"

// linkCommand gives a code that joins the person's accounts on two platforms, and shows what is joined; or it asks
// whether to use the code that was given.
func (t *turn) linkCommand(ctx context.Context) error {
	if code := strings.TrimSpace(t.in.Text); code != "" {
		return t.askJoin(ctx, code)
	}
	if t.in.Chat.Kind != ChatPrivate && !t.caps.Ephemeral {
		var rows [][]Button
		if t.caps.DeepLink != "" {
			rows = append(rows, []Button{{Label: t.line("button.link"), URL: fmt.Sprintf(t.caps.DeepLink, linkWord)}})
		}
		_, err := t.reply(ctx, t.say("link.private"), rows...)
		return err
	}
	made, err := t.cfg.Accounts.NewLinkCode(ctx, t.account.ID)
	if err != nil {
		return t.refusedByHouse(ctx, err)
	}
	k := t.keyboard(keyboardState{})
	m, err := t.linked(ctx, &k)
	if err != nil {
		return err
	}
	m.Text = join("\n\n", t.say("link.code", "code", made.Code), m.Text)
	return t.respond(ctx, m)
}

// linked shows the person's identities; each but the one they write with can leave.
func (t *turn) linked(ctx context.Context, k *keyboard) (Message, error) {
	m := Message{To: t.in.Chat.Place}
	list, err := t.cfg.Accounts.Identities(ctx, t.account.ID)
	if err != nil {
		return m, fmt.Errorf("list linked accounts: %w", err)
	}
	k.state.Identities = nil
	var options []MenuOption
	for _, id := range list {
		m.Text = lines(m.Text, Plain("• "+identityName(id.Identity)))
		if id.Platform == t.in.From.Platform && id.ExternalID == t.in.From.ExternalID {
			continue
		}
		k.state.Identities = append(k.state.Identities, id.Identity)
		options = append(options, MenuOption{Label: t.line("button.unlink", "name", identityName(id.Identity))})
	}
	m.Text = lines(t.say("link.linked"), m.Text)
	t.offer(&m, *k, "unlink", "menu.unlink", options)
	return m, t.keyboards.save(ctx, *k)
}

func identityName(id users.Identity) string {
	platform := strings.ToUpper(id.Platform[:1]) + id.Platform[1:]
	return platform + ": " + firstNonEmpty(id.Name, id.ExternalID)
}

// askJoin asks before it joins two accounts.
func (t *turn) askJoin(ctx context.Context, code string) error {
	other, err := t.cfg.Accounts.PeekLinkCode(ctx, t.account.ID, code)
	if err != nil {
		return t.refusedByHouse(ctx, err)
	}
	if other.ID == t.account.ID {
		return t.tell(ctx, "link.already")
	}
	identities, err := t.cfg.Accounts.Identities(ctx, other.ID)
	if err != nil {
		return fmt.Errorf("ask to join: %w", err)
	}
	k := t.keyboard(keyboardState{Query: code})
	if err := t.keyboards.save(ctx, k); err != nil {
		return err
	}
	question := t.say("link.ask")
	for _, id := range identities {
		question = lines(question, Plain("• "+id.Card()))
	}
	question = lines(question, t.say("link.since", "since", t.Time(other.CreatedAt.UTC())))
	_, err = t.reply(ctx, join("\n\n", question, t.say("link.handsOver")), []Button{
		{Label: t.line("button.join"), Data: k.data("join"), Style: ButtonPrimary},
		{Label: t.line("button.cancel"), Data: k.data("close")},
	})
	return err
}

// pressJoin joins the accounts, or asks once more where there is money in one of them.
func (t *turn) pressJoin(ctx context.Context, k keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	other, err := t.cfg.Accounts.PeekLinkCode(ctx, t.account.ID, k.state.Query)
	if err != nil {
		t.aside = true
		return errors.Join(t.refusedByHouse(ctx, err), errNotDone)
	}
	mine, err := t.cfg.Wallets.Balance(ctx, t.account.ID)
	if err != nil {
		return err
	}
	theirs, err := t.cfg.Wallets.Balance(ctx, other.ID)
	if err != nil {
		return err
	}
	if mine.All()+theirs.All() == 0 {
		return t.joinAccounts(ctx, k)
	}
	_, err = t.change(ctx, t.in.Message, Message{
		To: t.in.Chat.Place, Text: t.say("link.askMoney", "mine", mine.All(), "theirs", theirs.All()), Buttons: [][]Button{{
			{Label: t.line("button.joinMoney"), Data: k.data("merge"), Style: ButtonDanger},
			{Label: t.line("button.cancel"), Data: k.data("close")},
		}},
	})
	return err
}

// pressMerge joins accounts with money in them.
func (t *turn) pressMerge(ctx context.Context, k keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	return t.joinAccounts(ctx, k)
}

func (t *turn) joinAccounts(ctx context.Context, k keyboard) error {
	merged, err := t.cfg.Accounts.RedeemLinkCode(ctx, t.account.ID, k.state.Query)
	if err != nil {
		t.aside = true
		return errors.Join(t.refusedByHouse(ctx, err), errNotDone)
	}
	t.account = merged.Account
	shown := t.keyboard(keyboardState{})
	m, err := t.linked(ctx, &shown)
	if err != nil {
		return err
	}
	m.Text = join("\n\n", t.say("link.joined"), m.Text)
	_, err = t.change(ctx, t.in.Message, m)
	return err
}

// pressUnlink lets an identity leave. The menu comes first, then the question whether that is meant.
func (t *turn) pressUnlink(ctx context.Context, k keyboard, n int) error {
	if n >= len(k.state.Identities) {
		return t.alert(ctx, "press.tooOld")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	name := identityName(k.state.Identities[n])
	_, err := t.change(ctx, t.in.Message, Message{
		To: t.in.Chat.Place, Text: t.say("link.askUnlink", "name", name), Buttons: [][]Button{{
			{Label: t.line("button.unlink", "name", name), Data: k.data("leave" + strconv.Itoa(n)), Style: ButtonDanger},
			{Label: t.line("button.cancel"), Data: k.data("close")},
		}},
	})
	return err
}

func (t *turn) pressLeave(ctx context.Context, k keyboard, n int) error {
	if n >= len(k.state.Identities) {
		return t.alert(ctx, "press.tooOld")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	leaving := k.state.Identities[n]
	if _, err := t.cfg.Accounts.Unlink(ctx, t.account.ID, leaving.Platform, leaving.ExternalID); err != nil {
		t.aside = true
		return t.refusedByHouse(ctx, err)
	}
	m, err := t.linked(ctx, &k)
	if err != nil {
		return err
	}
	m.Text = join("\n\n", t.say("link.left", "name", identityName(leaving)), m.Text)
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
		_, err := t.reply(ctx, Told(t.Voice, said.Code, said.Text()))
		return err
	}
	return cause
}

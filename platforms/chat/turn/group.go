package turn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/users"
)

// Groups keeps the wallets of groups; *groups.Store is one.
type Groups interface {
	At(ctx context.Context, place users.Place) (groups.Terms, error)
	Sponsors(ctx context.Context, fund string) ([]groups.Sponsor, error)
	Sponsor(ctx context.Context, c groups.Contribution) error
	StartParty(ctx context.Context, c groups.Contribution, until time.Time) error
	Set(ctx context.Context, place users.Place, where json.RawMessage, by string, change func(*groups.Terms)) error
	Close(ctx context.Context, place users.Place, by string) (left billing.NanoUSD, err error)
}

// GroupPlace is the group that the update comes from, as it has a wallet: the space that the chat belongs to, or the chat itself.
func (t *Turn) GroupPlace() (users.Place, bool) {
	switch {
	case t.In.Chat.Kind == chat.ChatPrivate || t.In.Chat.Inline != nil:
		return users.Place{}, false
	case t.In.Chat.Space != "":
		return users.Place{Platform: t.In.Platform, Kind: users.PlaceSpace, ID: t.In.Chat.Space}, true
	}
	return t.ChatPlace(), true
}

// GroupWallet gives the rules of the wallet of the group that the update comes from; false: there is none.
func (t *Turn) GroupWallet(ctx context.Context) (groups.Terms, bool, error) {
	place, ok := t.GroupPlace()
	if !ok {
		return groups.Terms{}, false, nil
	}
	terms, err := t.Services.Groups.At(ctx, place)
	if errors.Is(err, groups.ErrNoWallet) {
		return groups.Terms{}, false, nil
	}
	return terms, err == nil, err
}

// GroupChat is where a group is told of its money: this chat, in this person's language.
func (t *Turn) GroupChat() json.RawMessage {
	return store.Target{Chat: t.In.Chat, Language: t.Language()}.Encode()
}

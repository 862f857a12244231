package billing

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Gift moves credit from one wallet to another, such as a person's into that of a group, or back. Without To it goes back to the house.
type Gift struct {
	From, To  string
	Amount    NanoUSD
	Key, Note string // the key is the caller's and stands for one gift
}

// Give makes gifts, each once. A wallet that does not cover them is ErrInsufficient, and nothing has changed then once the transaction is
// undone.
func (l *Ledger) Give(ctx context.Context, tx pgx.Tx, gifts ...Gift) error {
	var owners, keys []string
	for _, g := range gifts {
		if g.Amount <= 0 || g.Amount > MaxAmount || g.Key == "" || g.From == g.To {
			return fmt.Errorf("give %s of %s to %s: the amount must be positive and within what one transfer may move, between two wallets, with a key", g.Amount, g.From, g.To)
		}
		owners, keys = append(owners, g.From), append(keys, g.outKey())
		if g.To != "" {
			owners = append(owners, g.To)
		}
	}
	b, err := open(ctx, tx, owners, nil, keys)
	if err != nil {
		return fmt.Errorf("give: %w", err)
	}
	var all []transfer
	for _, g := range gifts {
		made, err := b.give(g)
		if err != nil {
			return fmt.Errorf("give %s of %s to %s: %w", g.Amount, g.From, g.To, err)
		}
		all = append(all, made...)
	}
	return post(ctx, tx, all)
}

func (g Gift) outKey() string { return kindGiftOut + ":" + g.Key }

// give makes the transfers of a gift; none where it was made before.
func (b books) give(g Gift) ([]transfer, error) {
	from, err := b.user(g.From)
	if err != nil {
		return nil, err
	}
	out := transfer{key: g.outKey(), kind: kindGiftOut, owner: g.From, amount: g.Amount, note: g.Note,
		legs: []leg{{from.wallet, -g.Amount}, {systemTransit, g.Amount}}}
	if first, made := b.posted[out.key]; made {
		if first.owner != out.owner || first.amount != out.amount {
			return nil, ErrKeyReused
		}
		return nil, nil
	}
	if err := from.spend(g.Amount); err != nil {
		return nil, err
	}
	b.posted[out.key] = out
	if g.To == "" {
		out.kind, out.legs[1].account = kindTakeback, systemCredit
		return []transfer{out}, nil
	}
	to, err := b.user(g.To)
	if err != nil {
		return nil, err
	}
	to.available += g.Amount
	in := transfer{key: kindGiftIn + ":" + g.Key, kind: kindGiftIn, owner: g.To, amount: g.Amount, note: g.Note,
		legs: []leg{{to.wallet, g.Amount}, {systemTransit, -g.Amount}}}
	return []transfer{out, in}, nil
}

// LockBalance gives what is in a wallet, which stays so until tx ends. The other owners' accounts are locked with it, all in one order.
func (l *Ledger) LockBalance(ctx context.Context, tx pgx.Tx, owner string, others ...string) (Balance, error) {
	b, err := open(ctx, tx, append([]string{owner}, others...), nil, nil)
	if err != nil {
		return Balance{}, err
	}
	user, err := b.user(owner)
	if err != nil {
		return Balance{}, err
	}
	return Balance{Available: user.available, Held: user.aside, Owed: user.owed}, nil
}

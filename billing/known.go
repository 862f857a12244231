package billing

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
)

// maxKnown bounds the users whose accounts are remembered; when there are more it starts anew.
const maxKnown = 1 << 14

// plenty is what a wallet is taken to hold where the database decides: more than all holds of a transaction.
const plenty NanoUSD = 1 << 62

// knownPurses remembers the ids of users' accounts, which never change.
type knownPurses struct {
	mu      sync.Mutex
	byOwner map[string]purse
}

// open adds the accounts of the owners, and gives those owners whose accounts are not known.
func (k *knownPurses) open(b books, owners []string) (unknown []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, owner := range owners {
		if b.users[owner] != nil {
			continue
		}
		p, ok := k.byOwner[owner]
		if !ok {
			unknown = append(unknown, owner)
			continue
		}
		p.available = plenty
		b.users[owner] = &p
	}
	return unknown
}

func (k *knownPurses) learn(b books) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byOwner == nil || len(k.byOwner) >= maxKnown {
		k.byOwner = make(map[string]purse)
	}
	for owner, p := range b.users {
		if p.wallet != 0 && p.held != 0 {
			k.byOwner[owner] = purse{wallet: p.wallet, held: p.held}
		}
	}
}

// insistKnown locks accounts in the order of all writers and makes sure that they are nobody's tombstones and that the
// holds are there as they are taken to be.
const insistKnown = `
	SELECT ledger_insist(
		(SELECT count(*) FROM (SELECT FROM ledger_accounts WHERE id = ANY ($1::bigint[]) AND merged_into IS NULL ORDER BY owner, id FOR UPDATE) a) = cardinality($1)
		AND (SELECT count(*) FROM unnest($2::text[], $3::text[], $4::bigint[]) AS h (key, owner, amount) CROSS JOIN LATERAL
			(SELECT FROM ledger_transfers t WHERE t.key = h.key AND t.owner = h.owner::uuid AND t.amount = h.amount LIMIT 1) t) = cardinality($2))`

// PostUnseen queues the moves without a look at the books, for a transaction of one round trip. What it takes for
// granted the database makes sure of: that the accounts are those of their users, that each Settlement's hold
// is there with the amount of Held, and that the wallets cover the holds. Where that is not so the transaction fails
// with an error of Postgres, and Lock and Post, in another, tell why. false: they have to at once; nothing is queued.
// Accounts that are not known yet are asked for, and change nothing.
func (l *Ledger) PostUnseen(ctx context.Context, m *Moves, batch *pgx.Batch) (bool, error) {
	b, promised, err := l.assume(ctx, m)
	if err != nil {
		return false, err
	}
	all, refused, err := b.transfers(m)
	if err != nil || slices.ContainsFunc(refused, func(err error) bool { return err != nil }) {
		return false, nil //nolint:nilerr // Post says what is wrong
	}
	if len(all) > 0 {
		b.queueInsist(batch, promised)
		queuePost(batch, all)
	}
	return true, nil
}

// assume gives the books as they should be, and the holds that should be in them.
func (l *Ledger) assume(ctx context.Context, m *Moves) (b books, promised []transfer, err error) {
	b = newBooks()
	var owners []string
	for _, s := range m.Settlements {
		owners = append(owners, s.AccountID)
		if s.Held > 0 {
			t := transfer{key: holdKey(s.RunID), owner: s.AccountID, amount: s.Held}
			b.posted[t.key], promised = t, append(promised, t)
		}
	}
	for _, h := range m.Holds {
		if h.Amount > 0 {
			owners = append(owners, h.AccountID)
		}
	}
	if unknown := l.known.open(b, owners); len(unknown) > 0 {
		if err := l.meet(ctx, unknown); err != nil {
			return books{}, nil, err
		}
		l.known.open(b, unknown)
	}
	return b, promised, nil
}

// meet reads the ids of users' accounts.
func (l *Ledger) meet(ctx context.Context, owners []string) error {
	b := newBooks()
	rows, err := l.pool.Query(ctx, `SELECT owner::text, kind, id, 0::bigint, false FROM ledger_accounts WHERE owner = ANY ($1::uuid[])`, owners)
	if err == nil {
		err = b.readAccounts(rows)
	}
	if err != nil {
		return fmt.Errorf("find the accounts of %d users: %w", len(owners), err)
	}
	l.known.learn(b)
	return nil
}

// queueInsist adds to batch what makes sure of the books.
func (b books) queueInsist(batch *pgx.Batch, promised []transfer) {
	accounts := make([]int64, 0, 2*len(b.users))
	for _, p := range b.users {
		accounts = append(accounts, p.wallet, p.held)
	}
	keys, owners, amounts := make([]string, len(promised)), make([]string, len(promised)), make([]int64, len(promised))
	for i, t := range promised {
		keys[i], owners[i], amounts[i] = t.key, t.owner, int64(t.amount)
	}
	batch.Queue(insistKnown, accounts, keys, owners, amounts)
}

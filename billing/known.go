package billing

import (
	"context"
	"fmt"
	"maps"
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

// postKnown writes transfers, the users' balances and what gathers for the house where nothing was looked at before. It
// insists that the users' accounts are nobody's tombstones and owe nothing, and that the holds to be settled are there as they are taken to
// be; that no transfer was posted before and no wallet goes below zero the tables insist on. Accounts are found key by key,
// for which the planner is told by the limit that there are few, and in the order in which all writers lock them. postHolds does the same
// where nothing is settled.
const (
	postKnown = postMoved + `,
	gathered AS (
		INSERT INTO ledger_pending (account_id, amount) SELECT unnest($17::bigint[]), unnest($18::bigint[]))
	SELECT ledger_insist((SELECT count(*) FROM moved) = cardinality($15)
		AND (SELECT count(*) FROM (SELECT unnest($19::text[]) AS key, unnest($20::text[]) AS owner, unnest($21::bigint[]) AS amount) h CROSS JOIN LATERAL
			(SELECT FROM ledger_transfers t WHERE t.key = h.key AND t.owner::text = h.owner AND t.amount = h.amount LIMIT 1) t) = cardinality($19))`

	postHolds = postMoved + `
	SELECT ledger_insist((SELECT count(*) FROM moved) = cardinality($15))`

	postMoved = `
	WITH posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, accounts, amounts)` + selectTransfers + `),
	moved AS (
		UPDATE ledger_accounts a SET balance = a.balance + s.amount
		FROM (SELECT unnest($15::bigint[]) AS account, unnest($16::bigint[]) AS amount LIMIT cardinality($15)) s
		WHERE a.id = s.account AND a.merged_into IS NULL AND NOT a.owes RETURNING a.id)`
)

// PostUnseen queues the moves without a look at the books, for a transaction of one round trip. What it takes for
// granted the database makes sure of: that no move was made before, that the accounts are those of their users, that each
// Settlement's hold is there with the amount of Held, and that the wallets cover the holds. Where that is not so the transaction fails
// with an error of Postgres, and Lock and Post, in another, tell why. false: they have to at once; nothing is queued.
// Accounts that are not known yet are asked for, and change nothing.
func (l *Ledger) PostUnseen(ctx context.Context, m *Moves, batch *pgx.Batch) (bool, error) {
	b, promised, err := l.assume(ctx, m)
	if err != nil {
		return false, err
	}
	all, refused, err := b.transfers(m)
	if err != nil || slices.ContainsFunc(refused, func(err error) bool { return err != nil }) {
		return false, nil // Post says what is wrong
	}
	if len(all) > 0 {
		b.queueKnown(batch, all, promised)
	}
	return true, nil
}

// assume gives the books as they should be, and the holds that should be in them.
func (l *Ledger) assume(ctx context.Context, m *Moves) (b books, promised []transfer, err error) {
	b = newBooks()
	var owners []string
	for _, s := range m.Settlements {
		owners = append(owners, s.AccountID)
		if s.Share > 0 {
			owners = append(owners, s.Author)
		}
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

// queueKnown adds to batch the writing of transfers between accounts that are known, and what makes sure of the books.
func (b books) queueKnown(batch *pgx.Batch, transfers, promised []transfer) {
	sums := make(map[int64]int64)
	for _, t := range transfers {
		for _, l := range t.legs {
			sums[l.account] += int64(l.amount)
		}
	}
	var users, house column
	for _, owner := range slices.Sorted(maps.Keys(b.users)) {
		p := b.users[owner]
		for _, account := range []int64{min(p.wallet, p.held), max(p.wallet, p.held)} {
			users.add(account, sums[account])
			delete(sums, account)
		}
	}
	for account, amount := range sums {
		house.add(account, amount)
	}
	args := append(transferColumns(transfers), users.accounts, users.amounts)
	if len(house.accounts)+len(promised) == 0 {
		batch.Queue(postHolds, args...)
		return
	}
	keys, owners, amounts := make([]string, len(promised)), make([]string, len(promised)), make([]int64, len(promised))
	for i, t := range promised {
		keys[i], owners[i], amounts[i] = t.key, t.owner, int64(t.amount)
	}
	batch.Queue(postKnown, append(args, house.accounts, house.amounts, keys, owners, amounts)...)
}

// column is what several accounts get.
type column struct{ accounts, amounts []int64 }

func (c *column) add(account, amount int64) {
	c.accounts, c.amounts = append(c.accounts, account), append(c.amounts, amount)
}

package billing

import (
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

// open adds a user's accounts to b; false: they are not known.
func (k *knownPurses) open(b books, owner string) bool {
	if b.users[owner] != nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.byOwner[owner]
	b.users[owner] = &p
	return ok
}

func (k *knownPurses) learn(b books) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byOwner == nil || len(k.byOwner) >= maxKnown {
		k.byOwner = make(map[string]purse)
	}
	for owner, p := range b.users {
		if p.wallet != 0 && p.held != 0 && !p.merged {
			k.byOwner[owner] = purse{wallet: p.wallet, held: p.held, available: plenty}
		}
	}
}

// insistKnown locks accounts in the order of all writers and makes sure that they are nobody's tombstones and that the
// holds are there as they are taken to be.
const insistKnown = `
	SELECT ledger_insist(
		(SELECT count(*) FROM (SELECT FROM ledger_accounts WHERE id = ANY ($1::bigint[]) AND merged_into IS NULL ORDER BY owner, id FOR UPDATE) a) = cardinality($1)
		AND (SELECT count(*) FROM unnest($2::text[], $3::uuid[], $4::bigint[]) AS h (key, owner, amount) CROSS JOIN LATERAL
			(SELECT FROM ledger_transfers t WHERE t.key = h.key AND t.owner = h.owner AND t.amount = h.amount LIMIT 1) t) = cardinality($2))`

// PostUnseen queues the moves without a look at the books, for a transaction of one round trip. What it takes for
// granted the database makes sure of: that the accounts are those of their users, that each Settlement's hold
// is there with the amount of Held, and that the wallets cover the holds. Where that is not so the transaction fails
// with an error of Postgres, and Lock and Post, in another, tell why. false: too little is known to try; nothing is queued.
func (l *Ledger) PostUnseen(m *Moves, batch *pgx.Batch) bool {
	b, promised, ok := l.assume(m)
	if !ok {
		return false
	}
	all, refused, err := b.transfers(m)
	if err != nil || slices.ContainsFunc(refused, func(err error) bool { return err != nil }) {
		return false
	}
	if len(all) > 0 {
		b.queueInsist(batch, promised)
		queuePost(batch, all)
	}
	return true
}

// Remember takes note of the accounts that m has locked, for PostUnseen.
func (l *Ledger) Remember(m *Moves) { l.known.learn(m.books) }

// assume gives the books as they should be, and the holds that should be in them.
func (l *Ledger) assume(m *Moves) (b books, promised []transfer, ok bool) {
	b = newBooks()
	for _, s := range m.Settlements {
		if s.Held > 0 {
			t := transfer{key: holdKey(s.RunID), owner: s.AccountID, amount: s.Held}
			b.posted[t.key], promised = t, append(promised, t)
		}
		if !l.known.open(b, s.AccountID) {
			return books{}, nil, false
		}
	}
	for _, h := range m.Holds {
		if h.Amount != 0 && !l.known.open(b, h.AccountID) {
			return books{}, nil, false
		}
	}
	return b, promised, true
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

package billing

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// The kinds of transfers.
const (
	kindGrant   = "grant"
	kindHold    = "hold"
	kindCapture = "capture"
	kindRelease = "release"
	kindRefund  = "refund"

	kindPurchase      = "purchase"
	kindReturn        = "return"
	kindReturnUndone  = "return_undone"
	kindDispute       = "dispute"
	kindDisputeUndone = "dispute_undone"

	kindGiftOut  = "gift_out"
	kindGiftIn   = "gift_in"
	kindTakeback = "takeback"

	kindShare     = "share"
	kindShareBack = "share_back"
)

// The ids of the house's own accounts, as the migration made them.
const (
	systemCredit   int64 = 1 // where granted money comes from
	systemRevenue  int64 = 2 // what runs came to
	systemAbsorbed int64 = 3 // what they came to beyond the promised price
	systemTransit  int64 = 4 // between two wallets; always empty in the end
)

// holdKey and settleKey are the idempotency keys of a run's hold and of its end; the database insists on
// them. Capture and release share one, so that only one of the two can ever be.
func holdKey(runID string) string   { return "hold:" + runID }
func settleKey(runID string) string { return "settle:" + runID }

// transfer moves money between accounts. Its legs sum to zero; legs of zero are left out.
type transfer struct {
	key, kind, owner, runID, note string
	amount                        NanoUSD
	legs                          []leg
}

type leg struct {
	account int64
	amount  NanoUSD
}

// purse is a user's two accounts, locked.
type purse struct {
	wallet, held     int64 // the accounts' ids
	available, aside NanoUSD
	debt             int64   // the account's id; 0: there never was a dispute
	owed             NanoUSD // what a dispute took beyond the wallet
	merged           bool    // it is no longer anybody's: what comes in goes on to the survivor
}

// covers says why the wallet can't pay an amount; nil: it can.
func (p *purse) covers(amount NanoUSD) error {
	switch {
	case p.merged:
		return ErrInsufficient{Need: amount}
	case p.owed > 0:
		return ErrInsufficient{Need: amount, Owed: p.owed}
	case p.available < amount:
		return ErrInsufficient{Have: p.available, Need: amount, Held: p.aside}
	}
	return nil
}

// spend takes an amount from what is available, where the wallet covers it.
func (p *purse) spend(amount NanoUSD) error {
	err := p.covers(amount)
	if err == nil {
		p.available -= amount
	}
	return err
}

// books is what must be known, and locked, before posting.
type books struct {
	users  map[string]*purse
	posted map[string]transfer // by key, without legs
}

func (b books) user(owner string) (*purse, error) {
	p := b.users[owner]
	if p == nil || p.wallet == 0 || p.held == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoWallet, owner)
	}
	return p, nil
}

const (
	// Everybody locks rows in this order, so that transfers wait for each other but never in a circle. The owners
	// are those given, those merged into them, whose holds may still be open, and those of the transfers with the keys.
	lockAccounts = `SELECT a.owner::text, a.kind, a.id, a.balance, a.merged_into IS NOT NULL FROM ledger_accounts a
		WHERE a.owner IN (SELECT unnest($1::uuid[]) UNION SELECT owner FROM ledger_accounts WHERE merged_root = ANY ($1::uuid[])
			UNION SELECT t.owner FROM ledger_transfers t WHERE t.key = ANY ($2::text[]))
		ORDER BY a.owner, a.id FOR UPDATE`
	// Key by key, since a plan for all at once that was made while the table was small reads all of it for
	// as long as the connection keeps the plan.
	findPosted = `SELECT t.key, t.kind, t.owner::text, coalesce(t.run_id::text, ''), t.amount, t.note
		FROM unnest($1::text[]) AS k (key) CROSS JOIN LATERAL (SELECT key, kind, owner, run_id, amount, note FROM ledger_transfers WHERE ledger_transfers.key = k.key LIMIT 1) t`
)

// open locks the accounts of the owners, and of the owners of the transfers in of, and then, so that what
// others posted meanwhile is seen, reads the transfers that have any of the keys. One that was posted
// between the lock and the reading has an owner who is not locked yet; since transfers stay, a second
// look finds all.
func open(ctx context.Context, tx pgx.Tx, owners, of, keys []string) (books, error) {
	b, err := openOnce(ctx, tx, owners, of, keys)
	if err == nil && !b.complete() {
		b, err = openOnce(ctx, tx, owners, of, keys)
	}
	return b, err
}

// complete reports whether the owners of all transfers are locked.
func (b books) complete() bool {
	for _, t := range b.posted {
		if b.users[t.owner] == nil {
			return false
		}
	}
	return true
}

func openOnce(ctx context.Context, tx pgx.Tx, owners, of, keys []string) (books, error) {
	b := newBooks()
	batch := &pgx.Batch{}
	b.queueOpen(batch, owners, of, keys)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return books{}, fmt.Errorf("open the books: %w", err)
	}
	return b, nil
}

func newBooks() books {
	return books{users: make(map[string]*purse), posted: make(map[string]transfer)}
}

// queueOpen adds the locking and the reading to batch; b is filled when that is sent.
func (b books) queueOpen(batch *pgx.Batch, owners, of, keys []string) {
	batch.Queue(lockAccounts, owners, of).Query(b.readAccounts)
	batch.Queue(findPosted, keys).Query(b.readPosted)
}

func (b books) readAccounts(rows pgx.Rows) error {
	var owner, kind string
	var id int64
	var balance NanoUSD
	var merged bool
	_, err := pgx.ForEachRow(rows, []any{&owner, &kind, &id, &balance, &merged}, func() error {
		p := b.users[owner]
		if p == nil {
			p = &purse{}
			b.users[owner] = p
		}
		p.merged = merged
		switch kind {
		case "wallet":
			p.wallet, p.available = id, balance
		case "hold":
			p.held, p.aside = id, balance
		case "debt":
			p.debt, p.owed = id, -balance
		}
		return nil
	})
	return err
}

func (b books) readPosted(rows pgx.Rows) error {
	var t transfer
	_, err := pgx.ForEachRow(rows, []any{&t.key, &t.kind, &t.owner, &t.runID, &t.amount, &t.note}, func() error {
		b.posted[t.key] = t
		return nil
	})
	return err
}

// maxLegs is the most legs that a transfer has.
const maxLegs = 4

// selectTransfers makes rows of ledger_transfers of what transferColumns gives.
const selectTransfers = `
		SELECT t.key, t.kind, t.owner::uuid, nullif(t.run, '')::uuid, t.amount, t.note,
			array_remove(ARRAY[t.a1, t.a2, t.a3, t.a4], 0), array_remove(ARRAY[t.m1, t.m2, t.m3, t.m4], 0)
		FROM (SELECT unnest($1::text[]) AS key, unnest($2::text[]) AS kind, unnest($3::text[]) AS owner, unnest($4::text[]) AS run,
			unnest($5::bigint[]) AS amount, unnest($6::text[]) AS note, unnest($7::bigint[]) AS a1, unnest($8::bigint[]) AS a2,
			unnest($9::bigint[]) AS a3, unnest($10::bigint[]) AS a4, unnest($11::bigint[]) AS m1, unnest($12::bigint[]) AS m2,
			unnest($13::bigint[]) AS m3, unnest($14::bigint[]) AS m4) t`

// postSQL writes transfers with their legs, the users' balances and what gathers for the house, all in one
// statement. A transfer whose key exists writes nothing at all. Accounts below 100 are the house's.
const postSQL = `
	WITH posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, accounts, amounts)` + selectTransfers + `
		ON CONFLICT (key) DO NOTHING RETURNING accounts, amounts),
	sums AS (
		SELECT l.account, sum(l.amount)::bigint AS amount FROM posted, unnest(posted.accounts, posted.amounts) AS l (account, amount) GROUP BY l.account),
	balances AS (
		UPDATE ledger_accounts a SET balance = a.balance + s.amount FROM sums s WHERE a.id = s.account AND a.owner IS NOT NULL)
	INSERT INTO ledger_pending (account_id, amount) SELECT account, amount FROM sums WHERE account < 100`

// post writes transfers whose users' accounts are locked.
func post(ctx context.Context, tx pgx.Tx, transfers []transfer) error {
	batch := &pgx.Batch{}
	queuePost(batch, transfers)
	if batch.Len() == 0 {
		return nil
	}
	return errs.Wrap(tx.SendBatch(ctx, batch).Close(), "post")
}

// postAs posts a transfer whose key somebody else chose. Two that race with one key for different people
// wait for different accounts, so only what is there afterwards tells whose transfer the key stands for.
func postAs(ctx context.Context, tx pgx.Tx, t transfer) error {
	if err := post(ctx, tx, []transfer{t}); err != nil {
		return err
	}
	there := newBooks()
	batch := &pgx.Batch{}
	batch.Queue(findPosted, []string{t.key}).Query(there.readPosted)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	if first := there.posted[t.key]; first.kind != t.kind || first.owner != t.owner || first.runID != t.runID || first.amount != t.amount {
		return fmt.Errorf("%w: %q", ErrKeyReused, t.key)
	}
	return nil
}

// queuePost adds the writing of transfers whose users' accounts are locked to batch.
func queuePost(batch *pgx.Batch, transfers []transfer) {
	if len(transfers) > 0 {
		batch.Queue(postSQL, transferColumns(transfers)...)
	}
}

// transferColumns gives the arrays that selectTransfers takes.
func transferColumns(transfers []transfer) []any {
	n := len(transfers)
	keys, kinds, owners, runs, notes := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	amounts := make([]int64, n)
	var accounts, changes [maxLegs][]int64 // the n-th leg of each transfer; 0: there is none
	for i := range maxLegs {
		accounts[i], changes[i] = make([]int64, n), make([]int64, n)
	}
	for i, t := range transfers {
		keys[i], kinds[i], owners[i], runs[i], notes[i], amounts[i] = t.key, t.kind, t.owner, t.runID, t.note, int64(t.amount)
		place := 0
		for _, l := range t.legs {
			if l.amount != 0 {
				accounts[place][i], changes[place][i] = l.account, int64(l.amount)
				place++
			}
		}
	}
	return []any{
		keys, kinds, owners, runs, amounts, notes,
		accounts[0], accounts[1], accounts[2], accounts[3], changes[0], changes[1], changes[2], changes[3],
	}
}

package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
)

// Errors of the ledger.
var (
	// ErrNoWallet is returned for a user whose wallet was never made (Ledger.EnsureWallet).
	ErrNoWallet = errors.New("the user has no wallet")
	// ErrKeyReused is returned by Grant and Refund for a key that stands for another one.
	ErrKeyReused = errors.New("the idempotency key stands for another transfer")
	// ErrNothingCaptured is returned by Refund for a run that cost nothing.
	ErrNothingCaptured = errors.New("nothing was captured for the run")
)

// ErrInsufficient says that a wallet does not cover an amount. It is a value, found with errors.As.
type ErrInsufficient struct {
	Have, Need NanoUSD
	Held       NanoUSD // set aside for running work; what that does not cost comes back
	Owed       NanoUSD // a disputed payment, or an author's share of a refunded run, took this beyond the wallet: nothing runs until it is paid
}

// Error names the amounts.
func (e ErrInsufficient) Error() string {
	if e.Owed > 0 {
		return fmt.Sprintf("a payment was disputed, or a share of a refunded run taken back, and %s of it was spent already: nothing runs until that is paid or the dispute is settled", e.Owed)
	}
	if e.Held > 0 {
		return fmt.Sprintf("not enough credit: this needs %s, there is %s, and %s is set aside for what is running", e.Need, e.Have, e.Held)
	}
	return fmt.Sprintf("not enough credit: this needs %s, there is %s", e.Need, e.Have)
}

// Ledger is the book of all money. Its tables, with the rules that the database itself enforces, are in
// the migrations 0020_ledger.sql and 0172_sound_rows.sql; what composes with other work takes that work's transaction.
//
// A hold moves money from a user's wallet to the same user's hold account; Capture takes the cost from
// there and gives the rest back, Release gives back all. Only one of the two ever happens to a hold.
// Every operation is idempotent by its key (of a hold or its end: the run's id), and a repeat does
// nothing. Money appears only through Grant, Refund and Purchase;
// Give moves it between wallets.
type Ledger struct {
	pool  *pgxpool.Pool
	known knownPurses
}

// NewLedger gives the ledger in pool's database.
func NewLedger(pool *pgxpool.Pool) *Ledger { return &Ledger{pool: pool} }

// EnsureWallet makes the user's wallet where there is none.
func (l *Ledger) EnsureWallet(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO ledger_accounts (owner, kind) VALUES ($1, 'wallet'), ($1, 'hold')
		ON CONFLICT (owner, kind) DO NOTHING`, accountID)
	return errs.Wrap(err, "make the wallet of %s", accountID)
}

// Grant gives amount, which must be positive, to the user's wallet. The key is the caller's; a repeat
// with the same one grants nothing, and is ErrKeyReused when user or amount differ.
func (l *Ledger) Grant(ctx context.Context, tx pgx.Tx, accountID string, amount NanoUSD, key, note string) error {
	if amount <= 0 {
		return fmt.Errorf("grant to %s: the amount %s is not positive", accountID, amount)
	}
	if key == "" {
		return fmt.Errorf("grant to %s: the idempotency key is empty", accountID)
	}
	if amount > MaxAmount {
		return fmt.Errorf("grant to %s: %s is more than one transfer may move (%s)", accountID, amount, MaxAmount)
	}
	t := transfer{key: "grant:" + key, kind: kindGrant, owner: accountID, amount: amount, note: note}
	books, err := open(ctx, tx, []string{accountID}, nil, []string{t.key})
	if err == nil {
		err = books.grant(ctx, tx, t)
	}
	return errs.Wrap(err, "grant to %s", accountID)
}

func (b books) grant(ctx context.Context, tx pgx.Tx, t transfer) error {
	if first, ok := b.posted[t.key]; ok {
		if first.owner != t.owner || first.amount != t.amount {
			return fmt.Errorf("%w: %q", ErrKeyReused, t.key)
		}
		return nil
	}
	user, err := b.user(t.owner)
	if err != nil {
		return err
	}
	t.legs = []leg{{user.wallet, t.amount}, {systemCredit, -t.amount}}
	return postAs(ctx, tx, t)
}

// Hold sets amount aside for the run, once. A wallet that does not cover it is ErrInsufficient, and
// nothing has changed then. A hold of zero is no hold.
func (l *Ledger) Hold(ctx context.Context, tx pgx.Tx, accountID, runID string, amount NanoUSD) error {
	return l.HoldOne(ctx, tx, HoldRequest{AccountID: accountID, RunID: runID, Amount: amount})
}

// HoldOne is Hold, from the wallet that the request chooses.
func (l *Ledger) HoldOne(ctx context.Context, tx pgx.Tx, h HoldRequest) error {
	m := Moves{Holds: []HoldRequest{h}}
	runID, locks, writes := h.RunID, &pgx.Batch{}, &pgx.Batch{}
	m.Lock(locks)
	if err := tx.SendBatch(ctx, locks).Close(); err != nil {
		return fmt.Errorf("hold for run %s: %w", runID, err)
	}
	refused, err := m.Post(writes)
	if err != nil || refused[0] != nil {
		return errors.Join(err, refused[0])
	}
	return errs.Wrap(tx.SendBatch(ctx, writes).Close(), "hold for run %s", runID)
}

// HoldRequest asks for one hold.
type HoldRequest struct {
	AccountID, RunID string
	Amount           NanoUSD
	// Choose says whose wallet it is taken from, of AccountID and Others; nil: that of AccountID. covers says why an owner's wallet can't
	// pay it.
	Choose func(covers func(owner string) error) (payer string, err error)
	Others []string
}

// Settlement is the end of one run's hold: Cost is captured, the rest released. Without a hold, what the run
// came to is booked as the operator's loss, and nobody has a share of it.
type Settlement struct {
	AccountID, RunID string
	Cost             NanoUSD
	Held             NanoUSD // what the hold should be, for PostUnseen
	Share            NanoUSD // of Cost, what goes to Author; the rest is the house's
	Author           string
	ShareNote        string // for the author's statement: of what
	Note             string
}

// Moves are settlements and holds of many runs, with the effort of one, that share the round trips of
// other work in the same transaction. Lock queues what must be locked and read; when that batch was sent,
// Post queues what is written.
type Moves struct {
	Settlements []Settlement
	Holds       []HoldRequest
	books       books
}

// Lock queues the locks of all accounts concerned, and the reading of what was posted for the runs.
func (m *Moves) Lock(batch *pgx.Batch) {
	m.books = newBooks()
	var owners, keys []string
	for _, s := range m.Settlements {
		owners, keys = append(owners, s.AccountID), append(keys, holdKey(s.RunID), settleKey(s.RunID))
		if s.Share > 0 {
			owners = append(owners, s.Author)
		}
	}
	for _, h := range m.Holds {
		if h.Amount > 0 {
			owners, keys = append(append(owners, h.AccountID), h.Others...), append(keys, holdKey(h.RunID))
		}
	}
	if len(keys) > 0 {
		m.books.queueOpen(batch, owners, nil, keys)
	}
}

// Post queues the transfers, each as Capture, Release and Hold say: all settlements, then the holds in
// the order of their requests. Settlements and Holds may have lost members since Lock. The result has for each
// hold nil, or why it is refused; those that are not are held once the batch was sent.
func (m *Moves) Post(batch *pgx.Batch) (refused []error, err error) {
	all, refused, err := m.books.transfers(m)
	if err != nil {
		return nil, err
	}
	queuePost(batch, all)
	return refused, nil
}

// transfers are those of Post.
func (b books) transfers(m *Moves) (all []transfer, refused []error, err error) {
	settled, err := b.settleAll(m.Settlements)
	if err != nil {
		return nil, nil, err
	}
	held, refused := b.holdAll(m.Holds)
	return append(settled, held...), refused, nil
}

func refuseNegative(holds []HoldRequest) []error {
	refused := make([]error, len(holds))
	for i, h := range holds {
		if h.Amount < 0 {
			refused[i] = fmt.Errorf("hold for run %s: the amount %s is negative", h.RunID, h.Amount)
		}
	}
	return refused
}

func (b books) holdAll(holds []HoldRequest) (transfers []transfer, refused []error) {
	refused = refuseNegative(holds)
	for i, h := range holds {
		if h.Amount <= 0 {
			continue
		}
		t, err := b.hold(h)
		if err != nil {
			refused[i] = fmt.Errorf("hold for run %s: %w", h.RunID, err)
		} else if t != nil {
			transfers = append(transfers, *t)
		}
	}
	return transfers, refused
}

func (b books) settleAll(settlements []Settlement) (transfers []transfer, err error) {
	for _, s := range settlements {
		if s.Cost < 0 {
			return nil, fmt.Errorf("settle run %s: the cost %s is negative", s.RunID, s.Cost)
		}
		s.Cost = min(s.Cost, MaxAmount)
		hold, held := b.posted[holdKey(s.RunID)]
		if _, over := b.posted[settleKey(s.RunID)]; over {
			continue
		}
		if !held {
			if t, ok := lossOf(s); ok {
				b.posted[t.key] = t
				transfers = append(transfers, t)
			}
			continue
		}
		ended, err := b.settle(hold, s)
		if err != nil {
			return nil, fmt.Errorf("settle run %s: %w", s.RunID, err)
		}
		b.posted[ended[0].key] = ended[0]
		transfers = append(transfers, ended...)
	}
	return transfers, nil
}

// hold makes the transfer of a hold; nil where it is held already.
func (b books) hold(r HoldRequest) (*transfer, error) {
	key := holdKey(r.RunID)
	if _, repeated := b.posted[key]; repeated {
		return nil, nil
	}
	if r.Choose != nil {
		payer, err := r.Choose(func(owner string) error { return b.covers(owner, r.Amount) })
		if err != nil {
			return nil, err
		}
		r.AccountID = payer
	}
	user, err := b.user(r.AccountID)
	if err != nil {
		return nil, err
	}
	if err := user.spend(r.Amount); err != nil {
		return nil, err
	}
	user.aside += r.Amount
	t := transfer{key: key, kind: kindHold, owner: r.AccountID, runID: r.RunID, amount: r.Amount,
		legs: []leg{{user.wallet, -r.Amount}, {user.held, r.Amount}}}
	b.posted[key] = t
	return &t, nil
}

// covers says why an owner's wallet can't pay an amount; nil: it can.
func (b books) covers(owner string, amount NanoUSD) error {
	user, err := b.user(owner)
	if err != nil {
		return err
	}
	return user.covers(amount)
}

// settle makes the transfers of a hold's end: first the payer's, then the author's where there is a share.
func (b books) settle(hold transfer, s Settlement) ([]transfer, error) {
	user, err := b.user(hold.owner)
	if err != nil {
		return nil, err
	}
	taken := min(s.Cost, hold.amount)
	share := b.share(s, taken)
	user.available += hold.amount - taken
	user.aside -= hold.amount
	t := transfer{key: settleKey(s.RunID), kind: kindCapture, owner: hold.owner, runID: s.RunID, amount: taken, note: s.Note}
	if taken == 0 {
		t.kind, t.amount = kindRelease, hold.amount
	}
	t.legs = []leg{
		{user.wallet, hold.amount - taken}, {user.held, -hold.amount},
		{systemRevenue, s.Cost - share.amount}, {systemAbsorbed, taken - s.Cost}, {systemTransit, share.amount},
	}
	if share.amount == 0 {
		return []transfer{t}, nil
	}
	return []transfer{t, share}, nil
}

// lossOf books what a run came to that was promised to be free: all of it is the operator's loss. Only a
// settlement that names the account can do so, as there is no hold that tells it.
func lossOf(s Settlement) (transfer, bool) {
	return transfer{
		key: settleKey(s.RunID), kind: kindCapture, owner: s.AccountID, runID: s.RunID, note: s.Note,
		legs: []leg{{systemRevenue, s.Cost}, {systemAbsorbed, -s.Cost}},
	}, s.Cost > 0 && s.AccountID != ""
}

// Refund gives back all that the run cost, once whatever the keys, and takes an author's share of it back. Errors: ErrNothingCaptured where it cost
// nothing, ErrKeyReused for a key that refunded another run.
func (l *Ledger) Refund(ctx context.Context, tx pgx.Tx, runID, key, note string) error {
	t := transfer{key: "refund:" + key, kind: kindRefund, runID: runID, note: note}
	if err := openAuthorsDebt(ctx, tx, runID); err != nil {
		return fmt.Errorf("refund of run %s: %w", runID, err)
	}
	keys := []string{settleKey(runID), shareKey(runID)}
	books, err := open(ctx, tx, nil, keys, keys)
	if err == nil {
		err = books.refund(ctx, tx, t)
	}
	return errs.Wrap(err, "refund of run %s", runID)
}

func (b books) refund(ctx context.Context, tx pgx.Tx, t transfer) error {
	captured, ok := b.posted[settleKey(t.runID)]
	if !ok || captured.kind != kindCapture || captured.amount == 0 {
		return ErrNothingCaptured
	}
	user, err := b.user(captured.owner)
	if err != nil {
		return err
	}
	var refunded bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM ledger_transfers WHERE run_id = $1 AND kind = 'refund')`, t.runID).Scan(&refunded)
	if err != nil || refunded {
		return err
	}
	share := b.posted[shareKey(t.runID)]
	t.owner, t.amount = captured.owner, captured.amount
	t.legs = []leg{{user.wallet, t.amount}, {systemRevenue, share.amount - t.amount}, {systemTransit, -share.amount}}
	if err := postAs(ctx, tx, t); err != nil || share.amount == 0 {
		return err
	}
	return b.takeShareBack(ctx, tx, share, t.runID)
}

// Balance of a wallet: what can be spent and what is held for running work.
type Balance struct {
	Available NanoUSD
	Held      NanoUSD
	Owed      NanoUSD // a disputed payment, or a share that was taken back, took this beyond the wallet; what comes in pays it first
}

// All is both together.
func (b Balance) All() NanoUSD { return b.Available + b.Held }

// Balance gives what the user can spend and what is held, also from before accounts were merged into this one.
// A user without a wallet has nothing.
func (l *Ledger) Balance(ctx context.Context, accountID string) (Balance, error) {
	var b Balance
	err := l.pool.QueryRow(ctx, `
		SELECT coalesce(sum(balance) FILTER (WHERE kind = 'wallet'), 0)::bigint,
		       coalesce(sum(balance) FILTER (WHERE kind = 'hold'), 0)::bigint,
		       coalesce(-sum(balance) FILTER (WHERE kind = 'debt'), 0)::bigint
		FROM ledger_accounts WHERE owner = $1 OR merged_root = $1`, accountID).Scan(&b.Available, &b.Held, &b.Owed)
	if err != nil {
		return Balance{}, fmt.Errorf("balance of %s: %w", accountID, err)
	}
	return b, nil
}

// maxEntries bounds one page of a statement.
const maxEntries = 200

// RollUp moves what has gathered for the system accounts into their balances. It may run at any time and
// on any number of machines.
func (l *Ledger) RollUp(ctx context.Context) error {
	_, err := l.pool.Exec(ctx, `
		WITH taken AS (DELETE FROM ledger_pending RETURNING account_id, amount),
		     sums AS (SELECT account_id, sum(amount)::bigint AS amount FROM taken GROUP BY account_id)
		UPDATE ledger_accounts a SET balance = a.balance + s.amount FROM sums s WHERE a.id = s.account_id`)
	return errs.Wrap(err, "roll up the ledger's system accounts")
}

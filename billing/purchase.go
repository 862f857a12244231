package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Source is where bought credit came from. Each has an account of the house, which is negative by what was bought there
// and not given back.
type Source string

// The sources, as the migration 0530_ledger_purchases.sql made their accounts.
const (
	Stars    Source = "stars" // Telegram's
	Stripe   Source = "stripe"
	Discord  Source = "discord"
	Vouchers Source = "voucher"
)

func (s Source) account() (int64, error) {
	switch s {
	case Stars:
		return 5, nil
	case Stripe:
		return 6, nil
	case Discord:
		return 7, nil
	case Vouchers:
		return 8, nil
	}
	return 0, fmt.Errorf("%q is no source of money", s)
}

// Sale is one movement of bought credit, within the transaction that records what the payment's source told. Key is the caller's and
// stands for one movement.
type Sale struct {
	AccountID string
	Source    Source
	Amount    NanoUSD
	Key, Note string
}

// Purchase gives bought credit to the user's wallet. What the user owes is paid from it first.
func (l *Ledger) Purchase(ctx context.Context, tx pgx.Tx, s Sale) error {
	_, err := s.post(ctx, tx, kindPurchase, func(user *purse, source int64) []leg {
		return []leg{{user.wallet, s.Amount}, {source, -s.Amount}}
	})
	return err
}

// Return takes credit back whose payment was refunded, at most what is in the wallet: what was spent is the operator's loss, which
// is what absorbed tells.
func (l *Ledger) Return(ctx context.Context, tx pgx.Tx, s Sale) (absorbed NanoUSD, err error) {
	_, err = s.post(ctx, tx, kindReturn, func(user *purse, source int64) []leg {
		taken := min(s.Amount, user.available)
		absorbed = s.Amount - taken
		return []leg{{user.wallet, -taken}, {systemAbsorbed, -absorbed}, {source, s.Amount}}
	})
	return absorbed, err
}

// UndoReturn gives back what a refund took that came to nothing; of it, absorbed had been the operator's loss.
func (l *Ledger) UndoReturn(ctx context.Context, tx pgx.Tx, s Sale, absorbed NanoUSD) error {
	if absorbed < 0 || absorbed > s.Amount {
		return fmt.Errorf("undo the return of %s to %s: %s of it cannot have been absorbed", s.Amount, s.AccountID, absorbed)
	}
	_, err := s.post(ctx, tx, kindReturnUndone, func(user *purse, source int64) []leg {
		return []leg{{user.wallet, s.Amount - absorbed}, {systemAbsorbed, absorbed}, {source, -s.Amount}}
	})
	return err
}

// Dispute takes credit back whose payment is disputed. What the wallet does not cover the user owes from then on, and Hold refuses
// until that is paid or UndoDispute gives it back.
func (l *Ledger) Dispute(ctx context.Context, tx pgx.Tx, s Sale) error {
	_, err := tx.Exec(ctx, `INSERT INTO ledger_accounts (owner, kind) VALUES ($1, 'debt') ON CONFLICT (owner, kind) DO NOTHING`, s.AccountID)
	if err != nil {
		return fmt.Errorf("open the debt of %s: %w", s.AccountID, err)
	}
	posted, err := s.post(ctx, tx, kindDispute, func(user *purse, source int64) []leg {
		return []leg{{user.debt, -s.Amount}, {source, s.Amount}}
	})
	if err != nil || !posted {
		return err
	}
	_, err = tx.Exec(ctx, `SELECT ledger_pay_debt($1)`, s.AccountID)
	return errs.Wrap(err, "pay the debt of %s", s.AccountID)
}

// UndoDispute gives back what a dispute took that was won.
func (l *Ledger) UndoDispute(ctx context.Context, tx pgx.Tx, s Sale) error {
	_, err := s.post(ctx, tx, kindDisputeUndone, func(user *purse, source int64) []leg {
		return []leg{{user.wallet, s.Amount}, {source, -s.Amount}}
	})
	return err
}

// post writes the transfer whose legs are made of the locked accounts; false: its key was posted before.
func (s Sale) post(ctx context.Context, tx pgx.Tx, kind string, legs func(user *purse, source int64) []leg) (bool, error) {
	fail := func(err error) (bool, error) {
		return false, fmt.Errorf("%s of %s from %s for %s: %w", kind, s.Amount, s.Source, s.AccountID, err)
	}
	source, err := s.Source.account()
	if err != nil {
		return fail(err)
	}
	if s.Amount <= 0 || s.Amount > MaxAmount || s.Key == "" {
		return fail(errors.New("the amount must be positive and within what one transfer may move, and have a key"))
	}
	t := transfer{key: kind + ":" + s.Key, kind: kind, owner: s.AccountID, amount: s.Amount, note: s.Note}
	b, err := open(ctx, tx, []string{s.AccountID}, nil, []string{t.key})
	if err != nil {
		return fail(err)
	}
	if first, ok := b.posted[t.key]; ok {
		if first.owner != t.owner || first.amount != t.amount {
			return fail(ErrKeyReused)
		}
		return false, nil
	}
	user, err := b.user(s.AccountID)
	if err != nil {
		return fail(err)
	}
	t.legs = legs(user, source)
	if err := postAs(ctx, tx, t); err != nil {
		return fail(err)
	}
	return true, nil
}

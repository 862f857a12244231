package payments

import (
	"context"
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
)

// settle brings the ledger to what the payment's facts say. Its row is locked.
func (s *Store) settle(ctx context.Context, tx pgx.Tx, id string) (Payment, error) {
	p, err := readPayment(ctx, tx, id)
	if err != nil || p.AccountID == "" {
		return p, err
	}
	// By the present id, and locked in it: nothing is written to an account that is being merged.
	err = tx.QueryRow(ctx, `SELECT id::text FROM users WHERE id = users_now($1) FOR SHARE`, p.AccountID).Scan(&p.AccountID)
	if err != nil {
		return p, fmt.Errorf("find the account %s: %w", p.AccountID, err)
	}
	b := booking{s.cfg.Ledger, &p}
	if err := b.credit(ctx, tx); err != nil {
		return p, err
	}
	disputed, refunded := p.due()
	// What is given back comes first, so that it can be taken.
	for _, step := range []func() error{
		func() error { return b.dispute(ctx, tx, min(disputed, p.Disputed)) },
		func() error { return b.refund(ctx, tx, min(refunded, p.Returned+p.Absorbed)) },
		func() error { return b.refund(ctx, tx, refunded) },
		func() error { return b.dispute(ctx, tx, disputed) },
	} {
		if err := step(); err != nil {
			return p, err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE payments SET credited = $2, returned = $3, absorbed = $4, disputed = $5, step = $6 WHERE id = $1`,
		p.ID, p.Credited, p.Returned, p.Absorbed, p.Disputed, p.step)
	return p, err
}

// due is what disputes and refunds should have taken. A dispute goes first: the money of both is the same.
func (p Payment) due() (disputed, refunded billing.NanoUSD) {
	disputed = share(p.Credit, p.contested, p.Amount)
	refunded = min(share(p.Credit, p.Refunded, p.Amount), p.Credit-disputed)
	return disputed, refunded
}

// share is part/whole of the credit, rounded down; all of it where nothing was paid.
func share(credit billing.NanoUSD, part, whole int64) billing.NanoUSD {
	if part <= 0 {
		return 0
	}
	if part >= whole {
		return credit
	}
	n := new(big.Int).Mul(big.NewInt(int64(credit)), big.NewInt(part))
	return billing.NanoUSD(n.Quo(n, big.NewInt(whole)).Int64())
}

// booking posts the movements of one payment, and counts them for their keys.
type booking struct {
	ledger *billing.Ledger
	*Payment
}

func (b booking) sale(amount billing.NanoUSD) billing.Sale {
	b.step++
	return billing.Sale{
		AccountID: b.AccountID, Source: b.Source, Amount: amount, Key: fmt.Sprintf("%s:%d", b.ID, b.step), Note: b.Payment.Receipt(),
	}
}

func (b booking) credit(ctx context.Context, tx pgx.Tx) error {
	if b.Credited == b.Credit {
		return nil
	}
	b.Credited = b.Credit
	return b.ledger.Purchase(ctx, tx, b.sale(b.Credit))
}

func (b booking) dispute(ctx context.Context, tx pgx.Tx, want billing.NanoUSD) error {
	change := want - b.Disputed
	b.Disputed = want
	switch {
	case change > 0:
		return b.ledger.Dispute(ctx, tx, b.sale(change))
	case change < 0:
		return b.ledger.UndoDispute(ctx, tx, b.sale(-change))
	}
	return nil
}

// refund takes back up to what refunds should have; where less is refunded than before, the operator's loss is made good first.
func (b booking) refund(ctx context.Context, tx pgx.Tx, want billing.NanoUSD) error {
	switch change := want - b.Returned - b.Absorbed; {
	case change > 0:
		absorbed, err := b.ledger.Return(ctx, tx, b.sale(change))
		b.Absorbed += absorbed
		b.Returned += change - absorbed
		return err
	case change < 0:
		absorbed := min(b.Absorbed, -change)
		b.Absorbed -= absorbed
		b.Returned -= -change - absorbed
		return b.ledger.UndoReturn(ctx, tx, b.sale(-change), absorbed)
	}
	return nil
}

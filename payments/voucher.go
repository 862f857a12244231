package payments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
)

const (
	voucherLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // 32 that nobody takes for one another (Crockford's base 32)
	voucherLength  = 16                                 // 80 bits
	voucherGroup   = 4
	maxVouchers    = 1000 // made at once
	wrongCodes     = 5    // before an account has to wait
	wrongFor       = time.Hour
)

// Errors of vouchers.
var (
	// ErrNoVoucher is returned for a code that is wrong, used or too old; which of them is nobody's to learn.
	ErrNoVoucher = errors.New("there is no such code, or it was used, or it is too old")
	// ErrTooManyCodes is returned to an account that tried too many wrong codes within the hour.
	ErrTooManyCodes = errors.New("too many wrong codes; try again in an hour")
)

// VoucherRequest is what an operator wants made.
type VoucherRequest struct {
	Count  int // 1 to 1000
	Credit billing.NanoUSD
	Note   string
	By     string
	Valid  time.Duration // 0: for ever
}

// Voucher is one as operators see it later: its code is known only to whom it was given.
type Voucher struct {
	Hint      string // the last letters of the code
	Credit    billing.NanoUSD
	Note, By  string
	CreatedAt time.Time
	ExpiresAt *time.Time
	UsedAt    *time.Time
	Receipt   int64 // of the payment; 0: not redeemed
}

// NewVouchers makes codes, such as 7K3M-...; they can't be read again, only their hashes are stored.
func (s *Store) NewVouchers(ctx context.Context, v VoucherRequest) (codes []string, err error) {
	if v.Count < 1 || v.Count > maxVouchers || v.Credit <= 0 || v.Credit > billing.MaxAmount || v.Valid < 0 || v.By == "" {
		return nil, fmt.Errorf("%d vouchers of %s: 1 to %d at once, of a positive amount, by somebody", v.Count, v.Credit, maxVouchers)
	}
	var expires *time.Time
	if v.Valid > 0 {
		at := s.cfg.Now().Add(v.Valid)
		expires = &at
	}
	batch := &pgx.Batch{}
	for range v.Count {
		code, err := s.newCode()
		if err != nil {
			return nil, err
		}
		codes = append(codes, code)
		batch.Queue(`INSERT INTO payment_vouchers (hash, hint, credit, note, by_whom, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			hashOf(code), code[len(code)-voucherGroup:], v.Credit, v.Note, v.By, s.cfg.Now(), expires)
	}
	err = pgx.BeginFunc(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		return nil, fmt.Errorf("make vouchers: %w", err)
	}
	return codes, nil
}

func (s *Store) newCode() (string, error) {
	random := make([]byte, voucherLength)
	if _, err := io.ReadFull(s.cfg.Random, random); err != nil {
		return "", fmt.Errorf("make a voucher: %w", err)
	}
	var code strings.Builder
	for i, b := range random {
		if i > 0 && i%voucherGroup == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(voucherLetters[b%byte(len(voucherLetters))]) // 32 divides 256: all letters are equally likely
	}
	return code.String(), nil
}

// hashOf reads a code as people type it. The code is random and long, so that its hash needs no salt.
func hashOf(code string) []byte {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == 'O':
			return '0'
		case r == 'I' || r == 'L':
			return '1'
		case strings.ContainsRune(voucherLetters, r):
			return r
		}
		return -1
	}, strings.ToUpper(code))
	sum := sha256.Sum256([]byte(plain))
	return sum[:]
}

// Redeem gives a voucher's credit to the account, once. Errors: ErrNoVoucher, ErrTooManyCodes.
func (s *Store) Redeem(ctx context.Context, accountID, code string) (p Payment, err error) {
	var wrong error
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		if err := s.mayGuess(ctx, tx, accountID); err != nil {
			return err
		}
		p, wrong = s.redeem(ctx, tx, accountID, hashOf(code))
		if !errors.Is(wrong, ErrNoVoucher) {
			return wrong
		}
		_, err := tx.Exec(ctx, `UPDATE payment_guesses SET wrong = wrong + 1 WHERE account_id = $1`, accountID) // committed before the next guess is looked at
		return err
	})
	if err == nil && wrong != nil {
		_, err = s.cfg.Pool.Exec(ctx, `DELETE FROM payment_guesses WHERE since <= $1`, s.cfg.Now().Add(-wrongFor))
		err = errors.Join(wrong, err)
	}
	if err != nil {
		return Payment{}, fmt.Errorf("redeem a voucher: %w", err)
	}
	return p, nil
}

func (s *Store) redeem(ctx context.Context, tx pgx.Tx, accountID string, hash []byte) (Payment, error) {
	paid := Paid{Source: billing.Vouchers, Ref: hex.EncodeToString(hash), AccountID: accountID, Currency: "USD"}
	err := tx.QueryRow(ctx, `
		UPDATE payment_vouchers SET redeemed_at = $2 WHERE hash = $1 AND redeemed_at IS NULL AND (expires_at IS NULL OR expires_at > $2) RETURNING credit, note`,
		hash, s.cfg.Now()).Scan(&paid.given, &paid.title)
	if errors.Is(err, pgx.ErrNoRows) {
		return Payment{}, ErrNoVoucher
	}
	if err != nil {
		return Payment{}, err
	}
	p, _, err := s.pay(ctx, tx, paid)
	if err != nil {
		return Payment{}, err
	}
	_, err = tx.Exec(ctx, `UPDATE payment_vouchers SET payment = $2 WHERE hash = $1`, hash, p.ID)
	return p, err
}

// mayGuess has guesses of one account go one after the other, in all processes: the account's row stays locked until the guess has been counted.
func (s *Store) mayGuess(ctx context.Context, tx pgx.Tx, accountID string) error {
	now := s.cfg.Now()
	var wrong int
	err := tx.QueryRow(ctx, `
		INSERT INTO payment_guesses AS g (account_id, since, wrong) VALUES ($1, $2, 0)
		ON CONFLICT (account_id) DO UPDATE SET since = CASE WHEN g.since <= $3 OR g.wrong = 0 THEN $2 ELSE g.since END, wrong = CASE WHEN g.since <= $3 THEN 0 ELSE g.wrong END
		RETURNING wrong`, accountID, now, now.Add(-wrongFor)).Scan(&wrong)
	if err == nil && wrong >= wrongCodes {
		err = ErrTooManyCodes
	}
	return err
}

// Vouchers lists them, newest first.
func (s *Store) Vouchers(ctx context.Context, limit int) ([]Voucher, error) {
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT v.hint, v.credit, v.note, v.by_whom, v.created_at, v.expires_at, v.redeemed_at, coalesce(p.number, 0)
		FROM payment_vouchers v LEFT JOIN payments p ON p.id = v.payment ORDER BY v.created_at DESC, v.hash LIMIT $1`, limit)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Voucher])
	return list, errs.Wrap(err, "list vouchers")
}

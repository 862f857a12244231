package users

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	linkLife    = 10 * time.Minute                   // of a code
	linkLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // those that nobody takes for one another (Crockford's base 32)
	linkLength  = 8
	linkGuesses = 5 // wrong ones before somebody has to wait
	linkPenalty = 10 * time.Minute
)

// LinkCode proves, once and for a short time, that the person who enters it had access to the account.
type LinkCode struct {
	Code      string // eight letters and digits, as in K7QX-M2PD
	ExpiresAt time.Time
}

// NewLinkCode makes a code for the account, in place of an older one. It can't be read again: only its hash
// is stored.
func (s *Store) NewLinkCode(ctx context.Context, accountID string) (LinkCode, error) {
	letters := make([]byte, linkLength)
	for i := range letters {
		n, err := rand.Int(s.config.Random, big.NewInt(int64(len(linkLetters))))
		if err != nil {
			return LinkCode{}, fmt.Errorf("make a link code: %w", err)
		}
		letters[i] = linkLetters[n.Int64()]
	}
	code := LinkCode{Code: string(letters[:4]) + "-" + string(letters[4:]), ExpiresAt: s.config.Now().Add(linkLife)}
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO user_link_codes (user_id, hash, expires_at) SELECT users_now(id), $2, $3 FROM users WHERE id = $1
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, tried_by = NULL`, accountID, hashOf(string(letters)), code.ExpiresAt)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return LinkCode{}, fmt.Errorf("make a link code: %w", err)
	}
	return code, nil
}

// plainCode takes a code as people type it.
func plainCode(code string) string {
	code = strings.ToUpper(strings.TrimSpace(code))
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'O':
			return '0'
		case r == 'I' || r == 'L':
			return '1'
		case strings.ContainsRune(linkLetters, r):
			return r
		}
		return -1
	}, code[:min(len(code), maxText)])
}

// PeekLinkCode tells whose code it is without using it, so that people can be asked before their accounts
// become one. A code is good for one try: from then on it is none for all but the one who tried, unless that was its
// owner. A wrong guess counts for guesser: an account's id, or the address of somebody without one.
// Errors: ErrNoCode; a *registry.Error with CodeRateLimited after too many wrong guesses.
func (s *Store) PeekLinkCode(ctx context.Context, guesser, code string) (Account, error) {
	return s.guess(ctx, guesser, code, func(tx pgx.Tx, owner Account) error {
		_, err := tx.Exec(ctx, `UPDATE user_link_codes SET tried_by = $2 WHERE user_id = $1 AND user_id::text <> $2`, owner.ID, cleanText(guesser))
		return err
	})
}

// TakeLinkCode uses a code and tells whose it was, to sign in somebody without an account. Errors: as of
// PeekLinkCode.
func (s *Store) TakeLinkCode(ctx context.Context, guesser, code string) (Account, error) {
	return s.guess(ctx, guesser, code, func(tx pgx.Tx, owner Account) error { return useCode(ctx, tx, owner.ID) })
}

// RedeemLinkCode uses a code and makes one account of its own and the one that redeems it. The older one survives, and its
// settings win: of the other it takes what it has not set itself. Identities, API keys and presets add up (a preset of the
// same name with other values gets a number), of two limits the stricter one holds, a block of one blocks, and an operator
// stays one. Money, runs and the rest follow in the same transaction, through Config.OnMerge. Errors: as of PeekLinkCode;
// a *registry.Error for the account's own code, which stays good.
func (s *Store) RedeemLinkCode(ctx context.Context, accountID, code string) (Merged, error) {
	var merged Merged
	_, err := s.guess(ctx, accountID, code, func(tx pgx.Tx, owner Account) (err error) {
		if merged, err = s.merge(ctx, tx, owner.ID, accountID, accountID); err != nil {
			return err
		}
		if merged.From == "" {
			return registry.Say(registry.CodeInvalidInput, said.LinkOwn)
		}
		return useCode(ctx, tx, owner.ID)
	})
	if err != nil {
		return Merged{}, err
	}
	s.policy.forget()
	return merged, nil
}

func useCode(ctx context.Context, tx pgx.Tx, ownerID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM user_link_codes WHERE user_id = $1`, ownerID)
	return err
}

// guess finds a code's owner and calls then in the same transaction, with the code locked.
func (s *Store) guess(ctx context.Context, guesser, code string, then func(pgx.Tx, Account) error) (Account, error) {
	guesser, now := cleanText(guesser), s.config.Now()
	var owner Account
	var wrong bool
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if err := mayGuess(ctx, tx, guesser, now); err != nil {
			return err
		}
		owner, err = one(tx.Query(ctx, `
			SELECT `+accountColumns+` FROM user_link_codes c JOIN users u ON u.id = c.user_id
			WHERE c.hash = $1 AND c.expires_at > $2 AND coalesce(c.tried_by, $3) = $3 FOR UPDATE OF c`,
			hashOf(plainCode(code)), now, guesser))
		if wrong = errors.Is(err, ErrNotFound); wrong {
			_, err = tx.Exec(ctx, `UPDATE user_link_guesses SET wrong = wrong + 1 WHERE guesser = $1`, guesser) // committed before the next guess is looked at
			return err
		}
		if err != nil {
			return err
		}
		return then(tx, owner)
	})
	if err == nil && wrong {
		err = errors.Join(ErrNoCode, forgetGuesses(ctx, s.pool, now))
	}
	if err != nil {
		return Account{}, fmt.Errorf("link code: %w", err)
	}
	return owner, nil
}

// mayGuess has guesses of one guesser go one after the other, in all processes: their row stays locked until the guess has been counted.
func mayGuess(ctx context.Context, tx pgx.Tx, guesser string, now time.Time) error {
	var wrong int
	var since time.Time
	err := tx.QueryRow(ctx, `
		INSERT INTO user_link_guesses AS g (guesser, wrong, since) VALUES ($1, 0, $2)
		ON CONFLICT (guesser) DO UPDATE SET since = CASE WHEN g.since <= $3 OR g.wrong = 0 THEN $2 ELSE g.since END, wrong = CASE WHEN g.since <= $3 THEN 0 ELSE g.wrong END
		RETURNING wrong, since`, guesser, now, now.Add(-linkPenalty)).Scan(&wrong, &since)
	if err != nil || wrong < linkGuesses {
		return err
	}
	e := registry.Say(registry.CodeRateLimited, said.LinkWait)
	e.RetryAfter = since.Add(linkPenalty).Sub(now)
	return e
}

// forgetGuesses deletes what no longer matters.
func forgetGuesses(ctx context.Context, pool *pgxpool.Pool, now time.Time) error {
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM user_link_guesses WHERE since <= $1`, now.Add(-linkPenalty))
	batch.Queue(`DELETE FROM user_link_codes WHERE expires_at <= $1`, now)
	return pool.SendBatch(ctx, batch).Close()
}

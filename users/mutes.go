package users

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Mute keeps an account from running anything until a time, in a transaction of the room that has the reason; it may look as ever. Of two
// mutes the longer holds. by is who mutes it. After the transaction Refresh has it count at once, else it does within policyLife.
func (s *Store) Mute(ctx context.Context, tx pgx.Tx, accountID string, until time.Time, by, note string) error {
	account, err := lockAccount(ctx, tx, accountID)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO user_mutes (user_id, until) VALUES ($1, $2)
			ON CONFLICT (user_id) DO UPDATE SET until = greatest(user_mutes.until, excluded.until)`, account.ID, until)
	}
	if err == nil {
		err = audit(ctx, tx, AuditEntry{By: by, AccountID: account.ID, Action: actionMute, Detail: "until " + until.UTC().Format(time.RFC3339), Note: note})
	}
	return errs.Wrap(err, "mute %s", accountID)
}

// Unmute ends a mute, if there is one, in a transaction as Mute does.
func (s *Store) Unmute(ctx context.Context, tx pgx.Tx, accountID, by, note string) error {
	tag, err := tx.Exec(ctx, `DELETE FROM user_mutes WHERE user_id = users_now($1)`, accountID)
	if err == nil && tag.RowsAffected() > 0 {
		err = audit(ctx, tx, AuditEntry{By: by, AccountID: accountID, Action: actionMute, Detail: "ended", Note: note})
	}
	return errs.Wrap(err, "end the mute of %s", accountID)
}

// stillMuted mutes a new account by an identity that was muted when its data was erased.
func stillMuted(ctx context.Context, tx pgx.Tx, account Account, identity Identity, now time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO user_mutes (user_id, until) SELECT $2, muted_until FROM user_former_identities WHERE hash = $1 AND muted_until > $3`,
		formerHash(identity), account.ID, now)
	return err
}

// MutedUntil tells, from memory, until when an account may run nothing; the zero time: it is not muted.
func (s *Store) MutedUntil(ctx context.Context, accountID string) (time.Time, error) {
	p, err := s.policy.get(ctx, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("mute of %s: %w", accountID, err)
	}
	if until := p.mutes[p.today(accountID)]; until.After(s.config.Now()) {
		return until, nil
	}
	return time.Time{}, nil
}

// MayRun refuses, by a *registry.Error, an account that is muted. It answers from memory.
func (s *Store) MayRun(ctx context.Context, accountID string) error {
	until, err := s.MutedUntil(ctx, accountID)
	if err != nil || until.IsZero() {
		return err
	}
	return registry.Say(registry.CodeUnauthorized, said.AccessMuted, "until", until.UTC().Format("2006-01-02 15:04 UTC"))
}

// Muted is an account that may run nothing until a time.
type Muted struct {
	AccountID string
	Until     time.Time
}

// Mutes lists those that hold, the longest first.
func (s *Store) Mutes(ctx context.Context) ([]Muted, error) {
	rows, err := s.pool.Query(ctx, `SELECT user_id::text, until FROM user_mutes WHERE until > $1 ORDER BY until DESC`, s.config.Now())
	if err != nil {
		return nil, fmt.Errorf("list the mutes: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Muted])
}

// Operators lists the accounts that operate the house.
func (s *Store) Operators(ctx context.Context) ([]Account, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+accountColumns+` FROM users u WHERE operator AND merged_into IS NULL ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list the operators: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Account])
}

package moderation

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Strike counts against an account, until it is lifted or too old for the rule.
type Strike struct {
	ID        int64
	AccountID string
	RunID     string
	At        time.Time
}

// strike counts a result against its owner, once, and mutes them where the rule says so. It gives what they are to be told.
func (s *Service) strike(ctx context.Context, tx pgx.Tx, run runs.Run, d Decision) (Notice, error) {
	rule := s.cfg.Rule()
	notice := Notice{run.AccountID, "report.struck", []any{"tool", run.Tool.DisplayName}}
	tag, err := tx.Exec(ctx, `
		INSERT INTO moderation_strikes (at, account_id, run_id, by_whom) VALUES ($1, $2, $3, $4)
		ON CONFLICT (run_id) DO UPDATE SET at = excluded.at, by_whom = excluded.by_whom, lifted_at = NULL WHERE moderation_strikes.lifted_at IS NOT NULL`,
		s.cfg.Now(), run.AccountID, run.ID, d.By)
	if err != nil || tag.RowsAffected() == 0 {
		return notice, err
	}
	if err := users.RecordIn(ctx, tx, users.AuditEntry{By: d.By, AccountID: run.AccountID, Action: "strike", Detail: "run " + run.ID, Note: d.Note}); err != nil {
		return notice, err
	}
	muting, err := s.mutes(ctx, tx, run.AccountID, rule)
	if err != nil || !muting {
		return notice, err
	}
	until := s.cfg.Now().Add(rule.Mute)
	notice = Notice{run.AccountID, "report.struckMuted", []any{"tool", run.Tool.DisplayName, "until", until}}
	return notice, s.cfg.People.Mute(ctx, tx, run.AccountID, until, d.By, "strikes")
}

// mutes reports whether the strikes that count against an account are enough to mute it.
func (s *Service) mutes(ctx context.Context, tx pgx.Tx, accountID string, rule Rule) (bool, error) {
	var n int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM moderation_strikes WHERE account_id = $1 AND lifted_at IS NULL AND at > $2`,
		accountID, s.cfg.Now().Add(-rule.Within)).Scan(&n)
	return rule.Strikes > 0 && n >= rule.Strikes, err
}

// Strikes lists those that count by the rule in force, newest first, at most 500: all, or those of an account.
func (s *Service) Strikes(ctx context.Context, accountID string) ([]Strike, error) {
	rows, err := s.cfg.Pool.Query(ctx, `
		SELECT id, account_id::text, run_id::text, at FROM moderation_strikes
		WHERE lifted_at IS NULL AND at > $1 AND ($2 = '' OR account_id = nullif($2, '')::uuid) ORDER BY id DESC LIMIT 500`, s.cfg.Now().Add(-s.cfg.Rule().Within), accountID)
	if err != nil {
		return nil, fmt.Errorf("list strikes: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Strike])
}

// Lift takes a strike back. Where those that are left would not mute, a mute ends.
func (s *Service) Lift(ctx context.Context, by string, strike int64, note string) error {
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		var accountID string
		err := tx.QueryRow(ctx, `UPDATE moderation_strikes SET lifted_at = $2 WHERE id = $1 AND lifted_at IS NULL RETURNING account_id::text`, strike, s.cfg.Now()).Scan(&accountID)
		if err != nil {
			return decided(err)
		}
		if err := users.RecordIn(ctx, tx, users.AuditEntry{By: by, AccountID: accountID, Action: "strike lifted", Note: note}); err != nil {
			return err
		}
		muting, err := s.mutes(ctx, tx, accountID, s.cfg.Rule())
		if err != nil || muting {
			return err
		}
		return s.cfg.People.Unmute(ctx, tx, accountID, by, "a strike was lifted")
	})
	s.cfg.People.Refresh()
	return wrapped(err, "lift", "a strike")
}

// Mute keeps an account from running anything for a while, and tells it so.
func (s *Service) Mute(ctx context.Context, by, accountID string, howLong time.Duration, note string) error {
	until := s.cfg.Now().Add(howLong)
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return s.cfg.People.Mute(ctx, tx, accountID, until, by, note) })
	if err != nil {
		return err
	}
	s.cfg.People.Refresh()
	s.tell(ctx, Notice{accountID, "report.muted", []any{"until", until}})
	return nil
}

// Mutes lists who is muted.
func (s *Service) Mutes(ctx context.Context) ([]users.Muted, error) { return s.cfg.People.Mutes(ctx) }

// Unmute ends a mute.
func (s *Service) Unmute(ctx context.Context, by, accountID, note string) error {
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return s.cfg.People.Unmute(ctx, tx, accountID, by, note) })
	s.cfg.People.Refresh()
	return err
}

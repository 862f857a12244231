package moderation

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Standing is what counts against an account.
type Standing struct {
	Strikes    int       // that count by the rule
	MutedUntil time.Time // zero: it is not muted
	TakenDown  int       // results
	Waiting    bool      // an appeal waits for its answer
}

// Clean reports whether nothing does.
func (s Standing) Clean() bool { return s.Strikes == 0 && s.MutedUntil.IsZero() && s.TakenDown == 0 }

// Standing tells what counts against an account.
func (s *Service) Standing(ctx context.Context, accountID string) (Standing, error) {
	var st Standing
	var err error
	if st.MutedUntil, err = s.cfg.People.MutedUntil(ctx, accountID); err != nil {
		return st, err
	}
	err = s.cfg.Pool.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM moderation_strikes WHERE account_id = $1 AND lifted_at IS NULL AND at > $2),
			(SELECT count(*) FROM moderation_takedowns WHERE account_id = $1),
			EXISTS (SELECT FROM moderation_appeals WHERE account_id = $1 AND answered_at IS NULL)`,
		accountID, s.cfg.Now().Add(-s.cfg.Rule().Within)).Scan(&st.Strikes, &st.TakenDown, &st.Waiting)
	return st, wrapped(err, "the standing of", accountID)
}

// Appeal is what somebody says against strikes, a mute, or results that were taken down.
type Appeal struct {
	ID        int64
	AccountID string
	Words     string
	At        time.Time
}

// Appeal takes an appeal down and tells the operators. A *registry.Error says why there is none.
func (s *Service) Appeal(ctx context.Context, accountID, words string) error {
	if words = brief(words); words == "" {
		return registry.Say(registry.CodeInvalidInput, said.AppealWords)
	}
	st, err := s.Standing(ctx, accountID)
	if err != nil {
		return err
	}
	if st.Clean() {
		return registry.Say(registry.CodeInvalidInput, said.AppealNothing)
	}
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO moderation_appeals (at, account_id, words) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, s.cfg.Now(), accountID, words)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return registry.Say(registry.CodeInvalidInput, said.AppealWaits)
		}
		return users.RecordIn(ctx, tx, users.AuditEntry{By: accountID, AccountID: accountID, Action: "appeal"})
	})
	if err != nil {
		return wrapped(err, "the appeal of", accountID)
	}
	s.tellOperators(ctx, "appeal.operator")
	return nil
}

// Appeals lists those that wait for an answer, the oldest first, at most 500.
func (s *Service) Appeals(ctx context.Context) ([]Appeal, error) {
	rows, err := s.cfg.Pool.Query(ctx, `SELECT id, account_id::text, words, at FROM moderation_appeals WHERE answered_at IS NULL ORDER BY id LIMIT 500`)
	if err != nil {
		return nil, fmt.Errorf("list appeals: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Appeal])
}

// Answer answers an appeal, in words for who made it. Granted, it lifts all strikes of the account, ends its mute, and has its results that were
// taken down served again; links and messages that are gone stay so.
func (s *Service) Answer(ctx context.Context, by string, appeal int64, grant bool, words string) error {
	words = brief(words)
	notice, action := Notice{Key: "appeal.denied", Pairs: []any{"answer", words}}, "appeal denied"
	if grant {
		notice.Key, action = "appeal.granted", "appeal granted"
	}
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			UPDATE moderation_appeals SET granted = $2, answer = $3, answered_at = $4, answered_by = $5 WHERE id = $1 AND answered_at IS NULL RETURNING account_id::text`,
			appeal, grant, words, s.cfg.Now(), by).Scan(&notice.AccountID)
		if err == nil && grant {
			err = s.pardon(ctx, tx, by, notice.AccountID)
		}
		if err != nil {
			return decided(err)
		}
		return users.RecordIn(ctx, tx, users.AuditEntry{By: by, AccountID: notice.AccountID, Action: action, Detail: words})
	})
	if err != nil {
		return wrapped(err, "answer", "an appeal")
	}
	s.cfg.People.Refresh()
	s.tell(ctx, notice)
	return nil
}

// pardon takes all back that counts against an account.
func (s *Service) pardon(ctx context.Context, tx pgx.Tx, by, accountID string) error {
	if _, err := tx.Exec(ctx, `UPDATE moderation_strikes SET lifted_at = $2 WHERE account_id = $1 AND lifted_at IS NULL`, accountID, s.cfg.Now()); err != nil {
		return err
	}
	if err := s.cfg.People.Unmute(ctx, tx, accountID, by, "an appeal was granted"); err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, `DELETE FROM moderation_takedowns WHERE account_id = $1 RETURNING run_id::text`, accountID)
	restored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	files, err := filesOf(ctx, tx, restored)
	if err != nil {
		return err
	}
	return assets.Show(ctx, tx, accountID, files)
}

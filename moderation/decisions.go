package moderation

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Decision is what is decided about the reports of a result.
type Decision struct {
	RunID string
	By    string // who decides
	Note  string // why, for the audit log
	Here  Place  // admins decide about what was seen in their chat; zero: everywhere, as operators do
}

// Dismiss closes the reports of a result: nothing is wrong with it.
func (s *Service) Dismiss(ctx context.Context, d Decision) error {
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return s.decide(ctx, tx, d, "dismissed", "report dismissed") })
	return wrapped(err, "dismiss the reports of run", d.RunID)
}

// RemoveHere takes a result out of the chat whose admins decide so. Nothing else follows: that is for operators.
func (s *Service) RemoveHere(ctx context.Context, d Decision) error {
	run, err := s.cfg.Runs.Get(ctx, d.RunID)
	if err == nil {
		err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return s.decide(ctx, tx, d, "removed", "result removed from its chat") })
	}
	if err == nil {
		err = s.withdraw(ctx, run, d.Here)
	}
	return wrapped(err, "remove run", d.RunID)
}

// decide closes the reports that a decision is about, and takes that down.
func (s *Service) decide(ctx context.Context, tx pgx.Tx, d Decision, state, action string) error {
	if _, err := uuid.Parse(d.RunID); err != nil {
		return runs.ErrNotFound
	}
	var owner string
	err := tx.QueryRow(ctx, `
		WITH closed AS (
			UPDATE moderation_reports SET state = $2, decided_at = $3, decided_by = $4
			WHERE run_id = $1 AND state = 'open' AND ($5 = '' OR platform = $5 AND chat = $6) RETURNING account_id)
		SELECT coalesce(account_id::text, '') FROM closed LIMIT 1`,
		d.RunID, state, s.cfg.Now(), d.By, d.Here.Platform, d.Here.Chat).Scan(&owner)
	if err != nil {
		return decided(err)
	}
	return users.RecordIn(ctx, tx, users.AuditEntry{By: d.By, AccountID: owner, Action: action, Detail: "run " + d.RunID, Note: d.Note})
}

// TakeDown takes a reported result down: out of the chats that show it, its link is taken back, and its files are served to its owner and
// operators alone. With strike it also counts against its owner, who may be muted for it.
func (s *Service) TakeDown(ctx context.Context, d Decision, strike bool) error {
	run, err := s.cfg.Runs.Get(ctx, d.RunID)
	if err != nil {
		return wrapped(err, "take down run", d.RunID)
	}
	notice := Notice{run.AccountID, "report.removed", []any{"tool", run.Tool.DisplayName}}
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		err := s.decide(ctx, tx, d, "removed", "result taken down")
		if err == nil {
			err = s.hide(ctx, tx, run, d.By)
		}
		if err == nil && strike {
			notice, err = s.strike(ctx, tx, run, d)
		}
		return err
	})
	if err != nil {
		return wrapped(err, "take down run", d.RunID)
	}
	s.cfg.People.Refresh()
	s.tell(ctx, notice)
	return wrapped(s.withdraw(ctx, run, Place{}), "take down run", d.RunID)
}

// hide keeps a result from all but its owner.
func (s *Service) hide(ctx context.Context, tx pgx.Tx, run runs.Run, by string) error {
	files, err := filesOf(ctx, tx, []string{run.ID})
	if err == nil {
		err = assets.Hide(ctx, tx, run.AccountID, files)
	}
	if err == nil {
		err = s.cfg.Unshare(ctx, tx, run.ID)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO moderation_takedowns (run_id, account_id, at, by_whom) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			run.ID, run.AccountID, s.cfg.Now(), by)
	}
	return err
}

// filesOf gives the hashes of the files that runs have made.
func filesOf(ctx context.Context, tx pgx.Tx, runIDs []string) ([]string, error) {
	rows, _ := tx.Query(ctx, `SELECT h FROM runs r, asset_hashes(coalesce(r.outputs::text, '')) h WHERE r.id = ANY ($1::uuid[])`, runIDs)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// withdraw takes a result out of the chats that show it, or out of one. What was decided holds also where a platform keeps a message: who
// decided is told.
func (s *Service) withdraw(ctx context.Context, run runs.Run, from Place) error {
	err := s.cfg.Withdraw(ctx, run, from)
	if err == nil {
		return nil
	}
	s.cfg.Logger.WarnContext(ctx, "messages with a result that was taken down stay", "run", run.ID, "error", err)
	return registry.Say(registry.CodeUnavailable, said.MessagesStay)
}

// TakenDown reports whether a result was taken down.
func (s *Service) TakenDown(ctx context.Context, runID string) (down bool, err error) {
	err = s.cfg.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM moderation_takedowns WHERE run_id = $1)`, runID).Scan(&down)
	return down, wrapped(err, "look at run", runID)
}

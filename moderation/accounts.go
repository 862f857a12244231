package moderation

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
)

// Adopt gives what is known of an account here to the one that it is merged into. Of two open appeals one has the words of both.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	return each(ctx, tx, "give the reports and strikes", []string{
		`DELETE FROM moderation_reports f USING moderation_reports i WHERE f.reporter = $1 AND i.reporter = $2 AND f.run_id = i.run_id AND f.state = 'open' AND i.state = 'open'`,
		`UPDATE moderation_reports SET reporter = $2 WHERE reporter = $1`,
		`UPDATE moderation_reports SET account_id = $2 WHERE account_id = $1`,
		`UPDATE moderation_takedowns SET account_id = $2 WHERE account_id = $1`,
		`UPDATE moderation_strikes SET account_id = $2 WHERE account_id = $1`,
		`WITH gone AS (DELETE FROM moderation_appeals f WHERE f.account_id = $1 AND f.answered_at IS NULL
			AND EXISTS (SELECT FROM moderation_appeals i WHERE i.account_id = $2 AND i.answered_at IS NULL) RETURNING words)
		 UPDATE moderation_appeals i SET words = i.words || E'\n' || gone.words FROM gone WHERE i.account_id = $2 AND i.answered_at IS NULL`,
		`UPDATE moderation_appeals SET account_id = $2 WHERE account_id = $1`,
	}, from, into)
}

// Forget deletes what is known of an account here, in the transaction that deletes its data. What it reported stays, without its name and words.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	return each(ctx, tx, "forget the reports and strikes", []string{
		`UPDATE moderation_reports SET reporter = NULL, words = '' WHERE reporter = $1`,
		`DELETE FROM moderation_reports WHERE account_id = $1`,
		`DELETE FROM moderation_takedowns WHERE account_id = $1`,
		`DELETE FROM moderation_strikes WHERE account_id = $1`,
		`DELETE FROM moderation_appeals WHERE account_id = $1`,
	}, accountID)
}

func each(ctx context.Context, tx pgx.Tx, what string, statements []string, args ...any) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement, args...); err != nil {
			return fmt.Errorf("%s of %s: %w", what, args[0], err)
		}
	}
	return nil
}

// Export writes what a person has reported, what counts against them, and what they have said against it. Who reported them is not told.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"moderation/reports.json", `SELECT at, reason, words, state, decided_at FROM moderation_reports WHERE reporter = $1 ORDER BY id`},
		{"moderation/reported.json", `SELECT run_id, at, reason, state, decided_at FROM moderation_reports WHERE account_id = $1 ORDER BY id`},
		{"moderation/mute.json", `SELECT until FROM user_mutes WHERE user_id = $1`},
		{"moderation/taken-down.json", `SELECT run_id, at FROM moderation_takedowns WHERE account_id = $1 ORDER BY at`},
		{"moderation/strikes.json", `SELECT run_id, at, lifted_at FROM moderation_strikes WHERE account_id = $1 ORDER BY id`},
		{"moderation/appeals.json", `SELECT at, words, granted, answer, answered_at FROM moderation_appeals WHERE account_id = $1 ORDER BY id`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}

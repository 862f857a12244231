package moderation

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Reason is what is wrong with a result.
type Reason string

// The reasons, as they are offered.
const (
	Sexual   Reason = "sexual"
	Violence Reason = "violence"
	Rights   Reason = "rights" // somebody's picture, voice or work
	Spam     Reason = "spam"
	Other    Reason = "other"
)

// Reasons are all of them, in the order in which they are offered.
var Reasons = [...]Reason{Sexual, Violence, Rights, Spam, Other}

// Place is where a result was seen; without a chat it is a shared link.
type Place struct{ Platform, Chat string }

// Report is what somebody says about a result of somebody else.
type Report struct {
	RunID  string
	By     string // an account's id; empty: a visitor
	Where  Place
	Reason Reason
	Words  string // may be empty
}

// mostOpen bounds the reports of one person, and those of visitors about one result, that wait for a decision.
const mostOpen = 20

// Report takes a report down, and tells the operators of the first about a result. The same person's second about it changes nothing. A
// *registry.Error says why there is none; runs.ErrNotFound: there is no such result.
func (s *Service) Report(ctx context.Context, r Report) error {
	run, err := s.cfg.Runs.Get(ctx, r.RunID)
	if err == nil && run.Status != runs.StatusSucceeded {
		err = runs.ErrNotFound
	}
	if err == nil && run.AccountID == r.By {
		err = registry.Say(registry.CodeInvalidInput, said.ReportOwn)
	}
	if err != nil {
		return wrapped(err, "report run", r.RunID)
	}
	var first bool
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) (err error) {
		first, err = s.write(ctx, tx, run, r)
		return err
	})
	if err != nil {
		return wrapped(err, "report run", r.RunID)
	}
	if first {
		s.tellOperators(ctx, "report.operator", "tool", run.Tool.DisplayName)
	}
	return nil
}

// write writes a report, one about a result at a time, and tells whether it is the first that waits.
func (s *Service) write(ctx context.Context, tx pgx.Tx, run runs.Run, r Report) (first bool, err error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+locks.Report+`)`, run.ID); err != nil {
		return false, err
	}
	var others, own int
	err = tx.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE run_id = $1), count(*) FILTER (WHERE coalesce(reporter::text, '') = $2)
		FROM moderation_reports WHERE state = 'open' AND (run_id = $1 OR reporter = nullif($2, '')::uuid)`, run.ID, r.By).Scan(&others, &own)
	if err == nil && own >= mostOpen {
		err = registry.Say(registry.CodeRateLimited, said.ReportsTooMany)
	}
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO moderation_reports (at, run_id, account_id, reporter, platform, chat, reason, words) VALUES ($1, $2, $3, nullif($4, '')::uuid, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`, s.cfg.Now(), run.ID, run.AccountID, r.By, r.Where.Platform, r.Where.Chat, r.Reason, brief(r.Words))
	return others == 0, err
}

// Case is a result with the reports about it that wait for a decision.
type Case struct {
	RunID     string
	AccountID string // whose result it is; empty: they are no longer known
	ToolID    string
	Where     Place // of the first report
	Reports   int
	Reasons   []string
	Words     []string
	First     time.Time
}

// Cases lists what waits for a decision, the oldest first: everywhere for the zero Place, else what was seen in one chat.
func (s *Service) Cases(ctx context.Context, here Place, most int) ([]Case, error) {
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT m.run_id::text, coalesce(min(m.account_id::text), ''), min(r.tool_id), (array_agg(m.platform ORDER BY m.id))[1], (array_agg(m.chat ORDER BY m.id))[1],
			count(*), array_agg(DISTINCT m.reason), coalesce(array_agg(m.words ORDER BY m.id) FILTER (WHERE m.words <> ''), '{}'), min(m.at)
		FROM moderation_reports m JOIN runs r ON r.id = m.run_id
		WHERE m.state = 'open' AND ($1 = '' OR m.platform = $1 AND m.chat = $2)
		GROUP BY m.run_id ORDER BY min(m.id) LIMIT $3`, here.Platform, here.Chat, most)
	cases, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Case, err error) {
		err = row.Scan(&c.RunID, &c.AccountID, &c.ToolID, &c.Where.Platform, &c.Where.Chat, &c.Reports, &c.Reasons, &c.Words, &c.First)
		return c, err
	})
	return cases, errs.Wrap(err, "list reports")
}

// decided makes of what finds no row an error for people: somebody else was faster.
func decided(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.Say(registry.CodeInvalidInput, said.ReportDecided)
	}
	return err
}

// MoveChat lets those who run a chat go on with its reports under the id that its platform gave it.
func MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	_, err := tx.Exec(ctx, `UPDATE moderation_reports SET chat = $3 WHERE platform = $1 AND chat = $2`, platform, from, to)
	return errs.Wrap(err, "move the reports of the %s chat %s to %s", platform, from, to)
}

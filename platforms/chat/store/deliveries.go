package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Deliveries records how far the delivery of each result has come.
type Deliveries struct {
	pool *pgxpool.Pool
}

// Record is one delivery.
type Record struct {
	runID    string
	Parts    map[string]Part
	Finished bool
}

// Part is a message, or album, of a delivery that can't be sent twice.
type Part struct {
	// Sent is false from just before the platform is asked until it has answered: found so after a
	// crash, nobody knows whether people see the message.
	Sent bool              `json:"sent"`
	Refs []chat.MessageRef `json:"refs,omitempty"`
	// On is the platform, where that is not the one on which the run was asked for.
	On string `json:"on,omitempty"`
}

// Begin opens the record of a run's delivery, or finds it.
func (d Deliveries) Begin(ctx context.Context, run runs.Run) (*Record, error) {
	rec := &Record{runID: run.ID}
	var parts []byte
	err := d.pool.QueryRow(ctx, `
		INSERT INTO chat_deliveries (run_id, platform, account_id) VALUES ($1, $2, $3)
		ON CONFLICT (run_id) DO UPDATE SET platform = EXCLUDED.platform
		RETURNING parts, finished_at IS NOT NULL`, run.ID, run.Origin.Platform, run.AccountID).Scan(&parts, &rec.Finished)
	if err == nil {
		err = decimal.Unmarshal(parts, &rec.Parts)
	}
	if err != nil {
		return nil, fmt.Errorf("record the delivery of run %s: %w", run.ID, err)
	}
	if rec.Parts == nil {
		rec.Parts = map[string]Part{}
	}
	return rec, nil
}

// Begun reports whether a run's delivery has begun.
func (d Deliveries) Begun(ctx context.Context, runID string) (begun bool, err error) {
	err = d.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM chat_deliveries WHERE run_id = $1)`, runID).Scan(&begun)
	return begun, err
}

// shows is true of the deliveries that a message with the id $1 in the chat $2 belongs to; an index has them.
const shows = `jsonb_path_query_array(parts, '$.*.refs[*]') @> jsonb_build_array(jsonb_build_object('id', $1::text, 'chat', $2::text))`

// ShownIn gives the latest of some runs that a message shows, or "".
func (d Deliveries) ShownIn(ctx context.Context, runIDs []string, shown chat.MessageRef) (runID string, err error) {
	return d.shownIn(ctx, `SELECT run_id FROM chat_deliveries WHERE run_id = ANY($3::uuid[]) AND `+shows, shown, runIDs)
}

// RunShownIn gives the latest run that a message shows, whoever asked for it, or "": in place of its status, or beside it.
func (d Deliveries) RunShownIn(ctx context.Context, platform string, shown chat.MessageRef) (runID string, err error) {
	return d.shownIn(ctx, `
		SELECT id AS run_id FROM runs WHERE platform = $3 AND target #>> '{status,id}' = $1 AND target #>> '{status,chat}' = $2
		UNION ALL SELECT run_id FROM chat_deliveries WHERE $3 IN (platform, parts #>> '{again,on}') AND `+shows, shown, platform)
}

// shownIn gives the latest run of a query, or "".
func (d Deliveries) shownIn(ctx context.Context, query string, shown chat.MessageRef, arg any) (runID string, err error) {
	err = d.pool.QueryRow(ctx, `SELECT run_id::text FROM (`+query+`) found ORDER BY run_id DESC LIMIT 1`, shown.ID, shown.Chat, arg).Scan(&runID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("look for the run that a message shows: %w", err)
	}
	return runID, nil
}

// Latest gives the message in which an account sees the latest version of a subject in a place, by another run than this one, and that version; the
// zero value where it sees none.
func (d Deliveries) Latest(ctx context.Context, run runs.Run, in chat.Place, subject string) (shown chat.MessageRef, version int64, err error) {
	var raw []byte
	err = d.pool.QueryRow(ctx, `
		SELECT subject_version, parts #> '{main,refs,0}' FROM chat_deliveries
		WHERE account_id = $1 AND subject = $2 AND platform = $3 AND run_id <> $4
			AND parts #>> '{main,refs,0,chat}' = $5 AND coalesce(parts #>> '{main,refs,0,topic}', '') = $6
		ORDER BY subject_version DESC LIMIT 1`, run.AccountID, subject, run.Origin.Platform, run.ID, in.Chat, in.Topic).Scan(&version, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return chat.MessageRef{}, 0, nil
	}
	if err == nil {
		err = decimal.Unmarshal(raw, &shown)
	}
	if err != nil {
		return chat.MessageRef{}, 0, fmt.Errorf("look for the message that shows %s: %w", subject, err)
	}
	return shown, version, nil
}

// NoteVersion records the message that shows a version of a subject.
func (d Deliveries) NoteVersion(ctx context.Context, rec *Record, of registry.Subject, shown chat.MessageRef) error {
	if err := d.Note(ctx, rec, "main", Part{Sent: true, Refs: []chat.MessageRef{shown}}); err != nil {
		return err
	}
	_, err := d.pool.Exec(ctx, `UPDATE chat_deliveries SET subject = $2, subject_version = $3 WHERE run_id = $1`, rec.runID, of.ID, of.Version)
	return errs.Wrap(err, "record what the message of run %s shows", rec.runID)
}

// ShownAgain adds the messages of a platform in which a result was shown once more, so that shownIn finds them. They are no parts of
// the delivery itself, whose record another process may be writing: only the latest are kept.
func (d Deliveries) ShownAgain(ctx context.Context, run runs.Run, on string, sent []chat.MessageRef) error {
	if len(sent) == 0 {
		return nil
	}
	part := Part{Sent: true, Refs: sent}
	if on != run.Origin.Platform {
		part.On = on
	}
	again, err := json.Marshal(map[string]Part{"again": part})
	if err == nil {
		_, err = d.pool.Exec(ctx, `
			INSERT INTO chat_deliveries (run_id, platform, account_id, parts) VALUES ($1, $2, $3, $4)
			ON CONFLICT (run_id) DO UPDATE SET parts = chat_deliveries.parts || EXCLUDED.parts`,
			run.ID, run.Origin.Platform, run.AccountID, again)
	}
	return errs.Wrap(err, "record where run %s was shown again", run.ID)
}

// Note records a part.
func (d Deliveries) Note(ctx context.Context, rec *Record, key string, p Part) error {
	rec.Parts[key] = p
	return d.write(ctx, rec)
}

// Forget takes back that a part was about to be sent: it surely was not.
func (d Deliveries) Forget(ctx context.Context, rec *Record, key string) error {
	delete(rec.Parts, key)
	return d.write(ctx, rec)
}

func (d Deliveries) write(ctx context.Context, rec *Record) error {
	parts, err := json.Marshal(rec.Parts)
	if err == nil {
		_, err = d.pool.Exec(ctx, `UPDATE chat_deliveries SET parts = $2 WHERE run_id = $1`, rec.runID, parts)
	}
	return errs.Wrap(err, "record the delivery of run %s", rec.runID)
}

// Finish closes a record: the result has been shown.
func (d Deliveries) Finish(ctx context.Context, runID string) error {
	_, err := d.pool.Exec(ctx, `
		UPDATE chat_deliveries SET finished_at = coalesce(finished_at, now()), missed_at = NULL WHERE run_id = $1`, runID)
	return errs.Wrap(err, "record that run %s was delivered", runID)
}

// Miss marks a result that can't be delivered, to be offered at the next contact.
func (d Deliveries) Miss(ctx context.Context, runID string) error {
	_, err := d.pool.Exec(ctx, `
		UPDATE chat_deliveries SET missed_at = now(), offered_at = NULL WHERE run_id = $1 AND finished_at IS NULL`, runID)
	return errs.Wrap(err, "record that run %s was not delivered", runID)
}

// Missed claims what a person missed on a platform and was not told about yet, newest last, at most ten.
func (d Deliveries) Missed(ctx context.Context, accountID, platform string) ([]string, error) {
	rows, err := d.pool.Query(ctx, `
		UPDATE chat_deliveries SET offered_at = now()
		WHERE run_id IN (
			SELECT run_id FROM chat_deliveries
			WHERE account_id = $1 AND platform = $2 AND missed_at IS NOT NULL AND offered_at IS NULL
			ORDER BY missed_at DESC LIMIT 10 FOR UPDATE SKIP LOCKED)
		RETURNING run_id::text`, accountID, platform)
	if err != nil {
		return nil, fmt.Errorf("look for missed results: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Unoffer makes results missed again: the offer could not be made.
func (d Deliveries) Unoffer(ctx context.Context, runIDs []string) error {
	_, err := d.pool.Exec(ctx, `UPDATE chat_deliveries SET offered_at = NULL WHERE run_id = ANY($1::uuid[])`, runIDs)
	return err
}

// Parts gives the messages of a run's delivery; none where it has not begun.
func (d Deliveries) Parts(ctx context.Context, runID string) (map[string]Part, error) {
	var raw []byte
	err := d.pool.QueryRow(ctx, `SELECT coalesce((SELECT parts FROM chat_deliveries WHERE run_id = $1), '{}')`, runID).Scan(&raw)
	parts := map[string]Part{}
	if err == nil {
		err = decimal.Unmarshal(raw, &parts)
	}
	if err != nil {
		return nil, fmt.Errorf("find the messages of run %s: %w", runID, err)
	}
	return parts, nil
}

// Remove forgets the delivery of a run.
func (d Deliveries) Remove(ctx context.Context, runID string) error {
	_, err := d.pool.Exec(ctx, `DELETE FROM chat_deliveries WHERE run_id = $1`, runID)
	return errs.Wrap(err, "forget the delivery of run %s", runID)
}

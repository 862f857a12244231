package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/runs"
)

// deliveries records how far the delivery of each result has come.
type deliveries struct {
	pool *pgxpool.Pool
}

// record is one delivery.
type record struct {
	runID    string
	parts    map[string]part
	finished bool
}

// part is a message, or album, of a delivery that can't be sent twice.
type part struct {
	// Sent is false from just before the platform is asked until it has answered: found so after a
	// crash, nobody knows whether people see the message.
	Sent bool              `json:"sent"`
	Refs []chat.MessageRef `json:"refs,omitempty"`
}

// begin opens the record of a run's delivery, or finds it.
func (d deliveries) begin(ctx context.Context, run runs.Run) (*record, error) {
	rec := &record{runID: run.ID}
	var parts []byte
	err := d.pool.QueryRow(ctx, `
		INSERT INTO chat_deliveries (run_id, platform, account_id) VALUES ($1, $2, $3)
		ON CONFLICT (run_id) DO UPDATE SET platform = EXCLUDED.platform
		RETURNING parts, finished_at IS NOT NULL`, run.ID, run.Origin.Platform, run.AccountID).Scan(&parts, &rec.finished)
	if err == nil {
		err = unmarshal(parts, &rec.parts)
	}
	if err != nil {
		return nil, fmt.Errorf("record the delivery of run %s: %w", run.ID, err)
	}
	if rec.parts == nil {
		rec.parts = map[string]part{}
	}
	return rec, nil
}

// begun reports whether a run's delivery has begun.
func (d deliveries) begun(ctx context.Context, runID string) (begun bool, err error) {
	err = d.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM chat_deliveries WHERE run_id = $1)`, runID).Scan(&begun)
	return begun, err
}

// shownIn gives the one of some runs that a message shows, or "".
func (d deliveries) shownIn(ctx context.Context, runIDs []string, shown chat.MessageRef) (runID string, err error) {
	err = d.pool.QueryRow(ctx, `
		SELECT run_id::text FROM chat_deliveries
		WHERE run_id = ANY($1::uuid[]) AND jsonb_path_exists(parts, '$.*.refs[*] ? (@.id == $id && @.chat == $chat)',
			jsonb_build_object('id', $2::text, 'chat', $3::text))
		LIMIT 1`, runIDs, shown.ID, shown.Chat).Scan(&runID)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the run that a message shows: %w", err)
	}
	return runID, nil
}

// shownAgain adds the messages in which a result was shown once more, so that shownIn finds them. They are no parts of
// the delivery itself, whose record another process may be writing: only the latest are kept.
func (d deliveries) shownAgain(ctx context.Context, run runs.Run, sent []chat.MessageRef) error {
	if len(sent) == 0 {
		return nil
	}
	again, err := json.Marshal(map[string]part{"again": {Sent: true, Refs: sent}})
	if err == nil {
		_, err = d.pool.Exec(ctx, `
			INSERT INTO chat_deliveries (run_id, platform, account_id, parts) VALUES ($1, $2, $3, $4)
			ON CONFLICT (run_id) DO UPDATE SET parts = chat_deliveries.parts || EXCLUDED.parts`,
			run.ID, run.Origin.Platform, run.AccountID, again)
	}
	if err != nil {
		return fmt.Errorf("record where run %s was shown again: %w", run.ID, err)
	}
	return nil
}

// note records a part.
func (d deliveries) note(ctx context.Context, rec *record, key string, p part) error {
	rec.parts[key] = p
	return d.write(ctx, rec)
}

// forget takes back that a part was about to be sent: it surely was not.
func (d deliveries) forget(ctx context.Context, rec *record, key string) error {
	delete(rec.parts, key)
	return d.write(ctx, rec)
}

func (d deliveries) write(ctx context.Context, rec *record) error {
	parts, err := json.Marshal(rec.parts)
	if err == nil {
		_, err = d.pool.Exec(ctx, `UPDATE chat_deliveries SET parts = $2 WHERE run_id = $1`, rec.runID, parts)
	}
	if err != nil {
		return fmt.Errorf("record the delivery of run %s: %w", rec.runID, err)
	}
	return nil
}

// finish closes a record: the result has been shown.
func (d deliveries) finish(ctx context.Context, runID string) error {
	_, err := d.pool.Exec(ctx, `
		UPDATE chat_deliveries SET finished_at = coalesce(finished_at, now()), missed_at = NULL WHERE run_id = $1`, runID)
	if err != nil {
		return fmt.Errorf("record that run %s was delivered: %w", runID, err)
	}
	return nil
}

// miss marks a result that can't be delivered, to be offered at the next contact.
func (d deliveries) miss(ctx context.Context, runID string) error {
	_, err := d.pool.Exec(ctx, `
		UPDATE chat_deliveries SET missed_at = now(), offered_at = NULL WHERE run_id = $1 AND finished_at IS NULL`, runID)
	if err != nil {
		return fmt.Errorf("record that run %s was not delivered: %w", runID, err)
	}
	return nil
}

// missed claims what a person missed on a platform and was not told about yet, newest last, at most ten.
func (d deliveries) missed(ctx context.Context, accountID, platform string) ([]string, error) {
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

// unoffer makes results missed again: the offer could not be made.
func (d deliveries) unoffer(ctx context.Context, runIDs []string) error {
	_, err := d.pool.Exec(ctx, `UPDATE chat_deliveries SET offered_at = NULL WHERE run_id = ANY($1::uuid[])`, runIDs)
	return err
}

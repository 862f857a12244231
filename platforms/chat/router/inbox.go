package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// rememberUpdates is how long the ids of handled updates are kept, to know a repeated one. Platforms
// keep unconfirmed updates for a day.
const rememberUpdates = 3 * 24 * time.Hour

// inbox stores incoming updates until they are handled.
type inbox struct {
	pool     *pgxpool.Pool
	writer   *postgres.Writer
	claimant string // the Router that handles what is stored here
	held     *held
}

// store keeps the updates that were not received before and returns those.
func (b inbox) store(ctx context.Context, platform string, updates []chat.Incoming) ([]turn.Update, error) {
	ids, bodies := make([]string, len(updates)), make([]string, len(updates))
	for i, u := range updates {
		raw, err := json.Marshal(u)
		if err != nil {
			return nil, fmt.Errorf("update %s: %w", u.ID, err)
		}
		ids[i], bodies[i] = u.ID, string(raw)
	}
	b.held.claiming.RLock()
	defer b.held.claiming.RUnlock()
	var stored []string
	tries := 0
	err := b.writer.Do(ctx, func(batch *pgx.Batch) {
		tries++
		batch.Queue(`
			INSERT INTO chat_updates (platform, update_id, body, claimed_by)
			SELECT $1, u.id, u.body::jsonb, $4 FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u(id, body, n) ORDER BY n
			ON CONFLICT DO NOTHING
			RETURNING update_id`, platform, ids, bodies, b.claimant).
			Query(func(rows pgx.Rows) (err error) {
				stored, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err
			})
	})
	if err != nil || tries > 1 { // what failed together with others was tried again, and may be no news for that reason
		b.held.failed()
	}
	if err != nil {
		return nil, fmt.Errorf("store updates from %s: %w", platform, err)
	}
	b.held.add(platform, stored...)
	return fresh(platform, updates, stored), nil
}

// fresh picks the updates whose ids were stored, each once, in their order.
func fresh(platform string, updates []chat.Incoming, stored []string) []turn.Update {
	isNew := make(map[string]bool, len(stored))
	for _, id := range stored {
		isNew[id] = true
	}
	var list []turn.Update
	now := time.Now()
	for _, u := range updates {
		if isNew[u.ID] {
			isNew[u.ID] = false
			list = append(list, turn.Update{Platform: platform, IDs: []string{u.ID}, Incoming: u, Received: now})
		}
	}
	return list
}

// take claims up to limit updates of a platform that nobody has, and gives them, oldest first.
func (b inbox) take(ctx context.Context, platform string, limit int) ([]turn.Update, error) {
	b.held.claiming.RLock()
	defer b.held.claiming.RUnlock()
	rows, err := b.pool.Query(ctx, `
		WITH taken AS (
			UPDATE chat_updates SET claimed_by = $2
			WHERE (platform, update_id) IN (
				SELECT platform, update_id FROM chat_updates
				WHERE handled_at IS NULL AND platform = $1 AND claimed_by IS NULL
				ORDER BY position LIMIT $3 FOR UPDATE SKIP LOCKED)
			RETURNING position, platform, update_id, body, coalesce(answer, '{}') AS answer)
		SELECT platform, update_id, body, answer FROM taken ORDER BY position`, platform, b.claimant, limit)
	var list []turn.Update
	if err == nil {
		list, err = pgx.CollectRows(rows, scanReceived)
	}
	if err != nil {
		b.held.failed()
		return nil, fmt.Errorf("take updates left over: %w", err)
	}
	for _, u := range list {
		b.held.add(platform, u.IDs...)
	}
	return list, nil
}

// meet lists the Routers that have claims and are not listed, as those of an older version.
func (b inbox) meet(ctx context.Context) error {
	_, err := b.pool.Exec(ctx, `
		INSERT INTO chat_routers (id) SELECT DISTINCT claimed_by FROM chat_updates WHERE handled_at IS NULL AND claimed_by IS NOT NULL
		ON CONFLICT DO NOTHING`)
	return errs.Wrap(err, "list who has updates")
}

// release gives up the claims of a Router.
func (b inbox) release(ctx context.Context, tx pgx.Tx, claimant string, _ time.Time) (freed int64, err error) {
	tag, err := tx.Exec(ctx, `UPDATE chat_updates SET claimed_by = NULL WHERE handled_at IS NULL AND claimed_by = $1`, claimant)
	return tag.RowsAffected(), err
}

func scanReceived(row pgx.CollectableRow) (turn.Update, error) {
	var (
		r            turn.Update
		id           string
		body, answer []byte
	)
	if err := row.Scan(&r.Platform, &id, &body, &answer); err != nil {
		return r, err
	}
	r.IDs = []string{id}
	if err := errors.Join(decimal.Unmarshal(body, &r.Incoming), decimal.Unmarshal(answer, &r.Answer)); err != nil {
		return r, fmt.Errorf("update %s of %s: %w", id, r.Platform, err)
	}
	return r, nil
}

// answered notes the status message that an update is answered with.
func (b inbox) answered(ctx context.Context, r *turn.Update, ref chat.MessageRef) error {
	raw, err := json.Marshal(ref)
	if err == nil {
		_, err = b.writer.Exec(ctx, `UPDATE chat_updates SET answer = $3 WHERE platform = $1 AND update_id = $2`, r.Platform, r.IDs[0], raw)
	}
	return errs.Wrap(err, "note the answer to an update")
}

// handled marks updates as done and forgets what they said.
func (b inbox) handled(ctx context.Context, r turn.Update) error {
	err := b.writer.Do(ctx, func(batch *pgx.Batch) {
		for _, id := range r.IDs {
			batch.Queue(`UPDATE chat_updates SET handled_at = now(), body = NULL WHERE platform = $1 AND update_id = $2 AND handled_at IS NULL`, r.Platform, id)
		}
	})
	if err != nil {
		return fmt.Errorf("mark updates as handled: %w", err)
	}
	b.held.drop(r.Platform, r.IDs)
	return nil
}

// prune forgets updates handled long ago.
func (b inbox) prune(ctx context.Context) error {
	_, err := b.pool.Exec(ctx, `DELETE FROM chat_updates WHERE handled_at < now() - make_interval(secs => $1)`,
		rememberUpdates.Seconds())
	return errs.Wrap(err, "prune updates")
}

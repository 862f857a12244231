package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

const missionColumns = `m.id::text, m.account_id::text, m.status, convert_to(m.document::text, 'UTF8'), m.hash, m.promised, coalesce(m.run_id::text, ''),
	m.origin_platform, m.origin_target, m.canceled, m.version, m.created_at, m.confirmed_at, m.ended_at, m.untold, m.budget`

func scanMission(row pgx.CollectableRow) (m Mission, err error) {
	var document []byte
	err = row.Scan(&m.ID, &m.AccountID, &m.Status, &document, &m.Hash, &m.Promised, &m.RunID, &m.Origin.Platform, &m.Origin.Target,
		&m.CanceledBy, &m.Version, &m.CreatedAt, &m.ConfirmedAt, &m.EndedAt, &m.untold, &m.Budget)
	if err != nil {
		return m, err
	}
	if err := decimal.Unmarshal(document, &m.Document); err != nil {
		return m, fmt.Errorf("mission %s: stored document: %w", m.ID, err)
	}
	return m, nil
}

// query reads missions with how far their legs are.
func query(ctx context.Context, q querier, where string, args ...any) ([]Mission, error) {
	rows, _ := q.Query(ctx, `SELECT `+missionColumns+` FROM missions m `+where, args...)
	found, err := pgx.CollectRows(rows, scanMission)
	if err == nil && len(found) > 0 {
		err = readLegs(ctx, q, found)
	}
	if err != nil {
		return nil, fmt.Errorf("read missions: %w", err)
	}
	return found, nil
}

func readLegs(ctx context.Context, q querier, missions []Mission) error {
	ids, byID := make([]string, len(missions)), make(map[string]*Mission, len(missions))
	for i := range missions {
		ids[i], byID[missions[i].ID] = missions[i].ID, &missions[i]
	}
	rows, err := q.Query(ctx, `
		SELECT mission_id::text, position, status, coalesce(run_id::text, ''), convert_to(failure::text, 'UTF8'), in_doubt, ended_at, convert_to(undo_inputs::text, 'UTF8'), reference,
			undo, undo_since, undo_tries, undo_error, undone_at
		FROM mission_legs WHERE mission_id = ANY ($1::text[]::uuid[])`, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var order int
		var p LegProgress
		var failure, inputs []byte
		if err := rows.Scan(&id, &order, &p.Status, &p.RunID, &failure, &p.InDoubt, &p.EndedAt, &inputs, &p.Reference, &p.Undo, &p.UndoSince, &p.UndoTries, &p.UndoError, &p.UndoneAt); err != nil {
			return err
		}
		var stored runs.StoredFailure
		for raw, into := range map[*[]byte]any{&failure: &stored, &inputs: &p.UndoInputs} {
			if *raw == nil {
				continue
			}
			if err := decimal.Unmarshal(*raw, into); err != nil {
				return fmt.Errorf("mission %s: leg %d: %w", id, order, err)
			}
		}
		if p.Failure = stored.Failure; p.Failure != nil {
			p.Failure.Said = stored.Said
		}
		if m := byID[id]; m != nil && order <= len(m.Legs) {
			m.leg(order).Progress = p
		}
	}
	return rows.Err()
}

// get reads one mission; "" as its account is anybody's.
func get(ctx context.Context, q querier, missionID, accountID, lock string) (Mission, error) {
	if _, err := uuid.Parse(missionID); err != nil {
		return Mission{}, fmt.Errorf("mission %q: %w", missionID, ErrNotFound)
	}
	found, err := query(ctx, q, `WHERE m.id = $1 AND ($2 = '' OR m.account_id::text = $2 AND NOT m.forgotten) `+lock, missionID, accountID)
	if err != nil {
		return Mission{}, err
	}
	if len(found) == 0 {
		return Mission{}, fmt.Errorf("mission %s: %w", missionID, ErrNotFound)
	}
	return found[0], nil
}

// Get gives a mission of an account. ErrNotFound: it is somebody else's, or there is none.
func (s *Service) Get(ctx context.Context, missionID, accountID string) (Mission, error) {
	return get(ctx, s.cfg.Pool, missionID, accountID, "")
}

// listed bounds how many missions are listed.
const listed = 100

// List gives an account's missions, newest first, at most a hundred: those of a budget, or with "" all. before is the id of the last one that
// was listed, or "".
func (s *Service) List(ctx context.Context, accountID, budget, before string) ([]Mission, error) {
	if _, err := uuid.Parse(before); before != "" && err != nil {
		return nil, refuse("before", "expected the id of a mission")
	}
	return query(ctx, s.cfg.Pool, `WHERE m.account_id = $1 AND NOT m.forgotten AND ($2 = '' OR m.id::text < $2) AND ($4 = '' OR m.budget = $4) ORDER BY m.id DESC LIMIT $3`, accountID, before, listed, budget)
}

// Incomplete gives the missions that could not be taken back whole, of all accounts, newest first: a person has to look after each.
func (s *Service) Incomplete(ctx context.Context) ([]Mission, error) {
	return query(ctx, s.cfg.Pool, `WHERE m.status = 'rollback_incomplete' ORDER BY m.ended_at DESC LIMIT $1`, listed)
}

// insert writes a mission that was planned. One with the same key was there before: its id is given instead.
func insert(ctx context.Context, tx pgx.Tx, m Mission, key string) (id string, err error) {
	document, err := json.Marshal(m.Document)
	if err != nil {
		return "", err
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO missions (id, account_id, status, title, document, hash, promised, idempotency_key, run_id, created_at, confirmed_at, origin_platform, origin_target, budget)
		VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, '')::uuid, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING RETURNING id::text`,
		m.ID, m.AccountID, m.Status, m.Title, document, m.Hash, m.Promised, key, m.RunID, m.CreatedAt, m.ConfirmedAt, m.Origin.Platform, m.Origin.Target, m.Budget).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = tx.QueryRow(ctx, `SELECT id::text FROM missions WHERE id = $1 OR account_id = $2 AND idempotency_key = $3`, m.ID, m.AccountID, key).Scan(&id)
		return id, err
	}
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, `INSERT INTO mission_legs (mission_id, position) SELECT $1, generate_series(1, $2)`, m.ID, len(m.Legs))
	return id, err
}

// change writes where a mission stands, with a new version.
func change(ctx context.Context, q querier, missionID, set string, args ...any) error {
	_, err := q.Exec(ctx, `UPDATE missions SET version = version + 1`+set+` WHERE id = $1`, append([]any{missionID}, args...)...)
	return errs.Wrap(err, "mission %s", missionID)
}

// writeLeg stores how far a leg is.
func writeLeg(ctx context.Context, q querier, missionID string, leg *Leg) error {
	p := leg.Progress
	var failure, inputs []byte
	var err error
	if p.Failure != nil {
		failure, err = json.Marshal(runs.StoredFailure{Failure: p.Failure, Said: p.Failure.Said})
	}
	if err == nil && p.UndoInputs != nil {
		inputs, err = json.Marshal(p.UndoInputs)
	}
	if err == nil {
		_, err = q.Exec(ctx, `
			UPDATE mission_legs SET status = $3, run_id = nullif($4, '')::uuid, failure = $5, in_doubt = $6, ended_at = $7, undo_inputs = $8, reference = $9,
				undo = $10, undo_since = $11, undo_tries = $12, undo_error = $13, undone_at = $14
			WHERE mission_id = $1 AND position = $2`,
			missionID, leg.Order, p.Status, p.RunID, failure, p.InDoubt, p.EndedAt, inputs, store.Storable(p.Reference), p.Undo, p.UndoSince, p.UndoTries, store.Storable(p.UndoError), p.UndoneAt)
	}
	return errs.Wrap(err, "mission %s: leg %d", missionID, leg.Order)
}

// saveLeg stores how far a leg is, and that the mission changed.
func (s *Service) saveLeg(ctx context.Context, m *Mission, leg *Leg) error {
	return postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		if err := writeLeg(ctx, tx, m.ID, leg); err != nil {
			return err
		}
		return change(ctx, tx, m.ID, "")
	})
}

// Adopt moves the missions of an account that becomes part of another.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `UPDATE missions SET idempotency_key = NULL WHERE account_id = $1 AND idempotency_key IN (SELECT idempotency_key FROM missions WHERE account_id = $2)`, from, into)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE missions SET account_id = $2 WHERE account_id = $1`, from, into)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `WITH moved AS (UPDATE chains SET account_id = $2 WHERE account_id = $1 RETURNING id)
			SELECT pg_notify($3, $4) FROM moved LIMIT 1`, from, into, channel, chainsChanged) // their commands are the other account's now
	}
	return errs.Wrap(err, "move missions")
}

// MoveChat gives the missions that were asked for in a chat to the id under which its platform goes on with it: their ends are told there.
func MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	_, err := tx.Exec(ctx, `
		UPDATE missions SET origin_target = jsonb_set(origin_target, '{chat,chat}', to_jsonb($3::text))
		WHERE origin_platform = $1 AND origin_target #>> '{chat,chat}' = $2`, platform, from, to)
	return errs.Wrap(err, "move the missions of the %s chat %s to %s", platform, from, to)
}

// Forget deletes the missions of an account. One that is being taken back is deleted once it is over.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM missions WHERE account_id = $1 AND (ended_at IS NOT NULL OR status = 'awaiting_confirmation')`, accountID)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE missions SET forgotten = true, canceled = true WHERE account_id = $1`, accountID)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM chains WHERE account_id = $1`, accountID)
	}
	return errs.Wrap(err, "forget missions")
}

// Export writes the missions and chains of an account.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"missions.json", `SELECT id, status, title, document, run_id, created_at, confirmed_at, ended_at,
			(SELECT json_agg(l ORDER BY l.position) FROM (SELECT position, status, run_id, failure, reference, undo, undone_at FROM mission_legs WHERE mission_id = m.id) l) AS legs
			FROM missions m WHERE account_id = $1 ORDER BY created_at`},
		{"chains.json", `SELECT id, command, version, definition, changed_at FROM chains WHERE account_id = $1 ORDER BY command`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}

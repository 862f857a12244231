package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// store keeps registrations and remembered results in Postgres. Without a pool it keeps nothing.
type store struct{ pool *pgxpool.Pool }

const selectEntries = `SELECT entry, headers, enabled FROM remote_tools`

// all gives the registered entries in the order of their keys.
func (s store) all(ctx context.Context) ([]Entry, error) {
	if s.pool == nil {
		return nil, nil
	}
	rows, err := s.pool.Query(ctx, selectEntries+` ORDER BY key COLLATE "C"`)
	if err != nil {
		return nil, fmt.Errorf("read the registered tools: %w", err)
	}
	return pgx.CollectRows(rows, scanEntry)
}

// get finds the registration of a key; found says whether there is one.
func (s store) get(ctx context.Context, q querier, key string) (e Entry, found bool, err error) {
	if s.pool == nil {
		return Entry{}, false, nil
	}
	rows, err := q.Query(ctx, selectEntries+` WHERE key = $1`, key)
	if err == nil {
		e, err = pgx.CollectExactlyOneRow(rows, scanEntry)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("read the registered tool %s: %w", key, err)
	}
	return e, true, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func scanEntry(row pgx.CollectableRow) (Entry, error) {
	var e Entry
	var entry, headers string
	var enabled bool
	if err := row.Scan(&entry, &headers, &enabled); err != nil {
		return e, err
	}
	if err := json.Unmarshal([]byte(entry), &e); err != nil {
		return e, fmt.Errorf("a registered tool can't be read: %w", err)
	}
	e.Enabled = &enabled
	return e, json.Unmarshal([]byte(headers), &e.StaticHeaders)
}

// put keeps an entry and gives the one that it replaces, if there is one.
func (s store) put(ctx context.Context, e Entry, by string) (before *Entry, err error) {
	bare := e
	bare.StaticHeaders = nil
	entry, err := json.Marshal(bare)
	if err != nil {
		return nil, err
	}
	headers, err := json.Marshal(e.StaticHeaders)
	if err != nil {
		return nil, err
	}
	key := keyOf(e.Manifest.Name)
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('remote_tools ' || $1, 0))`, key); err != nil {
			return err
		}
		old, found, err := s.get(ctx, tx, key)
		if err != nil {
			return err
		}
		if found {
			before = &old
		}
		_, err = tx.Exec(ctx, `INSERT INTO remote_tools (key, entry, headers, enabled, by_whom) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (key) DO UPDATE SET entry = $2, headers = $3, enabled = $4, by_whom = $5, updated_at = now()`,
			key, string(entry), string(headers), e.enabled(), by)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keep the tool %s: %w", e.Manifest.Name, err)
	}
	return before, nil
}

// remove forgets a registration and reports whether there was one.
func (s store) remove(ctx context.Context, key string) (bool, error) {
	if s.pool == nil {
		return false, nil
	}
	tag, err := s.pool.Exec(ctx, `DELETE FROM remote_tools WHERE key = $1`, key)
	if err != nil {
		return false, fmt.Errorf("remove the tool %s: %w", key, err)
	}
	return tag.RowsAffected() > 0, nil
}

// recall gives a remembered result, or nil.
func (s store) recall(ctx context.Context, key []byte, now time.Time) (json.RawMessage, error) {
	if s.pool == nil {
		return nil, nil
	}
	var data string
	err := s.pool.QueryRow(ctx, `SELECT data FROM remote_results WHERE key = $1 AND expires_at > $2`, key, now).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a remembered result: %w", err)
	}
	return json.RawMessage(data), nil
}

// remember keeps a result until a time, and forgets those whose time is over.
func (s store) remember(ctx context.Context, key []byte, data json.RawMessage, now, until time.Time) error {
	if s.pool == nil {
		return nil
	}
	_, err := s.pool.Exec(ctx, `INSERT INTO remote_results (key, data, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (key) DO UPDATE SET data = $2, expires_at = $3`, key, string(data), until)
	if err == nil {
		_, err = s.pool.Exec(ctx, `DELETE FROM remote_results WHERE expires_at < $1`, now)
	}
	if err != nil {
		return fmt.Errorf("remember a result: %w", err)
	}
	return nil
}

package remote

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/seal"
)

// store keeps registrations and remembered results in Postgres. Without a pool it keeps nothing.
type store struct {
	pool *pgxpool.Pool
	seal seal.Sealer // of headers, each for the tool's key
}

// sealedMark begins headers that are encrypted; base64 follows. Those that were kept before headers were
// encrypted are a JSON object. The next load encrypts them.
const sealedMark = "sealed:"

// kept is a registration as it stands in the database.
type kept struct {
	Entry
	key        string
	plain      string // the headers, where they are not encrypted yet
	unreadable error  // why the headers can't be decrypted
}

const selectEntries = `SELECT key, entry, headers, enabled FROM remote_tools`

// all gives the registrations in the order of their keys, and encrypts headers that are not yet.
func (s store) all(ctx context.Context) ([]kept, error) {
	if s.pool == nil {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, selectEntries+` ORDER BY key COLLATE "C"`)
	list, err := pgx.CollectRows(rows, s.scan)
	if err != nil {
		return nil, fmt.Errorf("read the registered tools: %w", err)
	}
	for _, k := range list {
		if err := s.encrypt(ctx, k); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// encrypt encrypts the headers of a registration, unless it was replaced meanwhile.
func (s store) encrypt(ctx context.Context, k kept) error {
	if k.plain == "" {
		return nil
	}
	_, err := s.pool.Exec(ctx, `UPDATE remote_tools SET headers = $2 WHERE key = $1 AND headers = $3`, k.key, s.close([]byte(k.plain), k.key), k.plain)
	return errs.Wrap(err, "encrypt the headers of the tool %s", k.Manifest.Name)
}

func (s store) close(headers []byte, key string) string {
	return sealedMark + base64.StdEncoding.EncodeToString(s.seal.Close(headers, key))
}

// open gives the headers as JSON.
func (s store) open(sealed, key string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, fmt.Errorf("they are damaged: %w", err)
	}
	return s.seal.Open(raw, key)
}

// get finds the registration of a key; found says whether there is one.
func (s store) get(ctx context.Context, q querier, key string) (k kept, found bool, err error) {
	if s.pool == nil {
		return kept{}, false, nil
	}
	rows, err := q.Query(ctx, selectEntries+` WHERE key = $1`, key)
	if err == nil {
		k, err = pgx.CollectExactlyOneRow(rows, s.scan)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return kept{}, false, nil
	}
	if err != nil {
		return kept{}, false, fmt.Errorf("read the registered tool %s: %w", key, err)
	}
	return k, true, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (s store) scan(row pgx.CollectableRow) (kept, error) {
	var k kept
	var entry, headers string
	var enabled bool
	if err := row.Scan(&k.key, &entry, &headers, &enabled); err != nil {
		return k, err
	}
	if err := json.Unmarshal([]byte(entry), &k.Entry); err != nil {
		return k, fmt.Errorf("a registered tool can't be read: %w", err)
	}
	k.Enabled = &enabled
	raw := []byte(headers)
	if sealed, is := strings.CutPrefix(headers, sealedMark); is {
		if raw, k.unreadable = s.open(sealed, k.key); k.unreadable != nil {
			k.unreadable = fmt.Errorf("its headers can't be read, register it again: %w", k.unreadable)
			return k, nil
		}
	} else {
		k.plain = headers
	}
	return k, json.Unmarshal(raw, &k.StaticHeaders)
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
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+locks.RemoteTool+`)`, key); err != nil {
			return err
		}
		old, found, err := s.get(ctx, tx, key)
		if err != nil {
			return err
		}
		if found { // if its headers can't be read, nothing can bring them back
			before = &old.Entry
		}
		_, err = tx.Exec(ctx, `INSERT INTO remote_tools (key, entry, headers, enabled, by_whom) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (key) DO UPDATE SET entry = $2, headers = $3, enabled = $4, by_whom = $5, updated_at = now()`,
			key, string(entry), s.close(headers, key), e.enabled(), by)
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
	return tag.RowsAffected() > 0, errs.Wrap(err, "remove the tool %s", key)
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
	return errs.Wrap(err, "remember a result")
}

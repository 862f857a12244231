package users

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// SessionLife is how long a browser stays signed in after it was last seen.
const SessionLife = 30 * 24 * time.Hour

// sessionStep is how stale a session's last sight may get, so that reading is not always writing.
const sessionStep = time.Hour

// Session is a browser that is signed in.
type Session struct {
	ID        string // names the session to its owner; it opens nothing
	AccountID string
	Way       string // how the owner signed in
	Agent     string // the browser, in its own words
	Address   string
	CreatedAt time.Time
	SeenAt    time.Time // to the hour
	ExpiresAt time.Time
}

// NewSession signs a browser in to the account that s names and returns the secret for its cookie, which
// can't be read again: only its hash is stored. Of s, the account, way, agent and address count.
func (s *Credentials) NewSession(ctx context.Context, session Session) (secret string, err error) {
	random := make([]byte, 32)
	if _, err := io.ReadFull(s.config.Random, random); err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	id, err := uuid.NewRandomFromReader(s.config.Random)
	if err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	secret = base64.RawURLEncoding.EncodeToString(random)
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM user_sessions WHERE expires_at < now()`)
	batch.Queue(`
		INSERT INTO user_sessions (hash, id, user_id, way, agent, address, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now() + $7)`,
		hashOf(secret), id, session.AccountID, session.Way, cleanText(session.Agent), cleanText(session.Address), SessionLife)
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	return secret, nil
}

const sessionColumns = `id::text AS id, user_id::text AS account_id, way, agent, address, created_at, seen_at, expires_at`

// BySession gives the session behind a cookie's secret and its account, or ErrNotFound. Being seen
// prolongs the session.
func (s *Credentials) BySession(ctx context.Context, secret string) (Account, Session, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+sessionColumns+` FROM user_sessions WHERE hash = $1 AND expires_at > now()`, hashOf(secret))
	session, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Session])
	if err != nil {
		return Account{}, Session{}, fmt.Errorf("session: %w", notFound(err))
	}
	_, err = s.pool.Exec(ctx, `UPDATE user_sessions SET seen_at = now(), expires_at = now() + $2 WHERE id = $1 AND seen_at < now() - $3::interval`,
		session.ID, SessionLife, sessionStep)
	if err != nil {
		return Account{}, Session{}, fmt.Errorf("session: %w", err)
	}
	account, err := s.byID(ctx, session.AccountID)
	return account, session, err
}

// Sessions lists where an account is signed in, the latest seen first.
func (s *Credentials) Sessions(ctx context.Context, accountID string) ([]Session, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+sessionColumns+` FROM user_sessions WHERE user_id = $1 AND expires_at > now() ORDER BY seen_at DESC, created_at DESC`, accountID)
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Session])
}

// EndSession signs one browser of the account out. One that has ended is no error.
func (s *Credentials) EndSession(ctx context.Context, accountID, id string) error {
	if _, err := uuid.Parse(id); err != nil {
		return nil
	}
	_, err := s.pool.Exec(ctx, `DELETE FROM user_sessions WHERE user_id = $1 AND id = $2`, accountID, id)
	return errs.Wrap(err, "end a session")
}

// EndSessions signs all browsers of the account out but the one of session exceptID ("": all) and
// returns how many.
func (s *Credentials) EndSessions(ctx context.Context, accountID, exceptID string) (int, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM user_sessions WHERE user_id = $1 AND id::text <> $2`, accountID, exceptID)
	return int(tag.RowsAffected()), errs.Wrap(err, "end sessions")
}

// IsKey tells API keys from the other secrets that people type in.
func IsKey(secret string) bool { return strings.HasPrefix(secret, keyPrefix) }

// ErrUsed says that a proof has been used before.
var ErrUsed = errors.New("this was used before")

// UseProof notes that a proof of identity, e.g. a signed message, was used, and returns ErrUsed when it
// was before. It is remembered until it expires.
func (s *Credentials) UseProof(ctx context.Context, proof string, expires time.Time) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM user_used_proofs WHERE expires_at < now()`); err != nil {
		return fmt.Errorf("use a proof: %w", err)
	}
	tag, err := s.pool.Exec(ctx, `INSERT INTO user_used_proofs (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, hashOf(proof), expires)
	if err != nil {
		return fmt.Errorf("use a proof: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrUsed
	}
	return nil
}

package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
)

// maxConversations is how many conversations of an account are kept; the one that rested longest goes first.
const maxConversations = 200

// Store keeps conversations and what questions use in Postgres. It is Conversations and a Meter.
type Store struct {
	pool *pgxpool.Pool
	day  int64
}

var (
	_ Conversations = (*Store)(nil)
	_ Meter         = (*Store)(nil)
)

// NewStore makes a Store in which an account may use so many tokens a day (UTC); zero: as many as it likes.
func NewStore(pool *pgxpool.Pool, tokensPerDay int64) *Store { return &Store{pool, tokensPerDay} }

// Recall gives what is remembered of a conversation.
func (s *Store) Recall(ctx context.Context, accountID, conversation string) (r Remembered, err error) {
	err = s.pool.QueryRow(ctx, `SELECT remembered FROM agent_conversations WHERE account_id = $1 AND name = $2`, accountID, conversation).Scan(&r)
	if errors.Is(err, pgx.ErrNoRows) {
		return Remembered{}, nil
	}
	return r, wrap(err, "recall a conversation")
}

// Remember keeps a conversation in place of what was there. Of two questions at once the later answer is kept.
func (s *Store) Remember(ctx context.Context, accountID, conversation string, r Remembered) error {
	data, err := json.Marshal(r)
	if err != nil {
		return wrap(err, "write a conversation")
	}
	_, err = s.pool.Exec(ctx, `
		WITH kept AS (
			INSERT INTO agent_conversations (account_id, name, remembered) VALUES ($1, $2, $3)
			ON CONFLICT (account_id, name) DO UPDATE SET remembered = excluded.remembered, updated_at = now()
		)
		DELETE FROM agent_conversations WHERE account_id = $1 AND name IN (
			SELECT name FROM agent_conversations WHERE account_id = $1 AND name <> $2 ORDER BY updated_at DESC OFFSET $4)`,
		accountID, conversation, data, maxConversations-1)
	return wrap(err, "keep a conversation")
}

// ForgetConversation deletes one, and reports whether it was there.
func (s *Store) ForgetConversation(ctx context.Context, accountID, conversation string) (bool, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM agent_conversations WHERE account_id = $1 AND name = $2`, accountID, conversation)
	return tag.RowsAffected() > 0, wrap(err, "forget a conversation")
}

// Left is what an account may still use today.
func (s *Store) Left(ctx context.Context, accountID string) (int64, error) {
	if s.day == 0 {
		return -1, nil
	}
	var used int64
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(sum(input + cache_read + cache_write + output), 0)::bigint FROM agent_usage
		WHERE account_id = $1 AND day = (now() AT TIME ZONE 'UTC')::date`, accountID).Scan(&used)
	return max(0, s.day-used), wrap(err, "count tokens")
}

// Used notes what a turn has used.
func (s *Store) Used(ctx context.Context, accountID string, u Usage) error {
	if u == (Usage{}) {
		return nil
	}
	_, err := s.pool.Exec(ctx, `
		INSERT INTO agent_usage AS u (account_id, day, input, cache_read, cache_write, output)
		VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2, $3, $4, $5)
		ON CONFLICT (account_id, day) DO UPDATE SET input = u.input + excluded.input, cache_read = u.cache_read + excluded.cache_read,
			cache_write = u.cache_write + excluded.cache_write, output = u.output + excluded.output`,
		accountID, u.Input, u.CacheRead, u.CacheWrite, u.Output)
	return wrap(err, "note tokens")
}

// Forget deletes the conversations of an account. What it has used stays, so that forgetting is no way to more.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM agent_conversations WHERE account_id = $1`, accountID)
	return wrap(err, "forget conversations")
}

// Adopt moves the conversations of an account to the one that it is merged into; of two with one name that one's stays.
// What both have used adds up.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO agent_conversations (account_id, name, remembered, updated_at)
		SELECT $2, name, remembered, updated_at FROM agent_conversations WHERE account_id = $1 ON CONFLICT DO NOTHING`, from, into)
	if err == nil {
		err = Forget(ctx, tx, from)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `
			WITH moved AS (DELETE FROM agent_usage WHERE account_id = $1 RETURNING day, input, cache_read, cache_write, output)
			INSERT INTO agent_usage AS u (account_id, day, input, cache_read, cache_write, output) SELECT $2, moved.* FROM moved
			ON CONFLICT (account_id, day) DO UPDATE SET input = u.input + excluded.input, cache_read = u.cache_read + excluded.cache_read,
				cache_write = u.cache_write + excluded.cache_write, output = u.output + excluded.output`, from, into)
	}
	return wrap(err, "adopt conversations")
}

// MoveConversation lets everybody's conversation of a name go on under another name. Who has begun one under that already goes on with it.
func MoveConversation(ctx context.Context, tx pgx.Tx, from, to string) error {
	_, err := tx.Exec(ctx, `
		UPDATE agent_conversations c SET name = $2
		WHERE name = $1 AND NOT EXISTS (SELECT FROM agent_conversations o WHERE o.account_id = c.account_id AND o.name = $2)`, from, to)
	return wrap(err, "move conversations")
}

func wrap(err error, what string) error {
	return errs.Wrap(err, "agent: %s", what)
}

// Export writes what models remember of their conversations with an account, and the tokens that it used by day.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"conversations/models.json", `SELECT name, remembered, updated_at FROM agent_conversations WHERE account_id = $1 ORDER BY name`},
		{"conversations/tokens.json", `SELECT day, input, cache_read, cache_write, output FROM agent_usage WHERE account_id = $1 ORDER BY day`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
)

// keepMarks is how long people may come back to a message. Telegram lets them edit their own for two days.
const keepMarks = 3 * 24 * time.Hour

// MarkKind says what became of a message.
type MarkKind string

const (
	MarkAsked   MarkKind = "asked"   // the bot's: it asked somebody for something
	MarkRefused MarkKind = "refused" // somebody's: it led to no run and to no question
	MarkPosted  MarkKind = "posted"  // somebody's: it became a post of the site, whose slug was noted with it
)

// Marks remember for a while what became of single messages, so that what people do with them later is understood.
type Marks struct {
	pool *pgxpool.Pool
}

// Set marks a message for an account; said is the hash of its words or, of a post, its slug, or nil.
func (s Marks) Set(ctx context.Context, kind MarkKind, platform, chat, message, accountID string, said []byte) error {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO chat_marks (platform, chat, message_id, account_id, kind, said) VALUES ($1, $2, $3, $4, $5, coalesce($6::bytea, ''))
		ON CONFLICT (platform, chat, message_id) DO UPDATE SET account_id = EXCLUDED.account_id, kind = EXCLUDED.kind, said = EXCLUDED.said, marked_at = now()`,
		platform, chat, message, accountID, kind, said)
	return errs.Wrap(err, "mark a message")
}

// Of gives whose mark of a kind a message has, or "", and what was said with it.
func (s Marks) Of(ctx context.Context, kind MarkKind, platform, chat, message string) (accountID string, said []byte, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT account_id::text, said FROM chat_marks WHERE platform = $1 AND chat = $2 AND message_id = $3 AND kind = $4`,
		platform, chat, message, kind).Scan(&accountID, &said)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("find what became of a message: %w", err)
	}
	return accountID, said, nil
}

// Clear forgets the mark of a message.
func (s Marks) Clear(ctx context.Context, platform, chat, message string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_marks WHERE platform = $1 AND chat = $2 AND message_id = $3`, platform, chat, message)
	return errs.Wrap(err, "forget what became of a message")
}

// prune forgets marks of long ago.
func (s Marks) prune(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_marks WHERE marked_at < now() - make_interval(secs => $1)`, keepMarks.Seconds())
	return errs.Wrap(err, "prune marks of messages")
}

package webchat

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
)

const (
	shown  = 100  // messages that a page shows at first
	kept   = 500  // messages that a conversation keeps
	atOnce = 1000 // changes that are told at once; more than kept, as all that is forgotten has one number
)

// channel is where processes tell each other that a conversation has changed.
const channel = "web_chat"

// log keeps what is said. Anyone who writes takes a number from the conversation's row and holds it until the end
// of the transaction: changes become visible in their order.
type log struct {
	pool   *pgxpool.Pool
	writer *postgres.Writer
}

const columns = `m.id, m.change, m.mine, m.deleted, m.created_at, coalesce(m.reply_to, 0), m.body, m.media, q.body
	FROM web_messages m LEFT JOIN web_messages q ON q.id = m.reply_to AND q.chat = m.chat AND NOT q.deleted`

func scanMessage(row pgx.CollectableRow) (message, error) {
	var m message
	err := row.Scan(&m.ID, &m.Change, &m.Mine, &m.Deleted, &m.At, &m.ReplyTo, &m.Body, &m.Media, &m.Quoted)
	return m, err
}

// say adds a message of the house. A conversation that is paused gives chat.ErrUnreachable.
func (l log) say(ctx context.Context, chatID string, m message) (message, error) {
	var ids []int64
	err := l.writer.Do(ctx, func(batch *pgx.Batch) {
		batch.Queue(`
			WITH place AS (
				INSERT INTO web_chats AS c (chat, changes)
				VALUES (coalesce((SELECT joined FROM web_chats WHERE chat = $1), $1), 1)
				ON CONFLICT (chat) DO UPDATE SET changes = c.changes + 1 WHERE c.paused_at IS NULL
				RETURNING chat, changes),
			told AS (SELECT pg_notify('`+channel+`', chat) FROM place)
			INSERT INTO web_messages (chat, change, mine, reply_to, body, media)
			SELECT chat, changes, false, nullif($2::bigint, 0), $3, $4 FROM place, told
			RETURNING id`, chatID, m.ReplyTo, m.Body, list(m.Media)).
			Query(func(rows pgx.Rows) (err error) {
				ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
				return err
			})
	})
	switch {
	case err != nil:
		return m, wrap(err, "write a message")
	case len(ids) == 0:
		return m, fmt.Errorf("webchat: the conversation is paused: %w", chat.ErrUnreachable)
	}
	m.ID = ids[0]
	return m, nil
}

// list is a list that is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// hear adds a message of the person, once for each nonce, and gives it its id. It ends a pause.
func (l log) hear(ctx context.Context, chatID, nonce string, m *message) error {
	err := l.writer.Do(ctx, func(batch *pgx.Batch) {
		batch.Queue(`
			WITH place AS (
				INSERT INTO web_chats AS c (chat, changes) VALUES ($1, 1)
				ON CONFLICT (chat) DO UPDATE SET changes = c.changes + 1, paused_at = NULL RETURNING changes),
			old AS (
				DELETE FROM web_messages WHERE chat = $1 AND id <=
					(SELECT id FROM web_messages WHERE chat = $1 ORDER BY id DESC OFFSET $6 LIMIT 1)),
			told AS (SELECT pg_notify('`+channel+`', $1) FROM place)
			INSERT INTO web_messages (chat, change, mine, nonce, reply_to, body, media)
			SELECT $1, changes, true, $2, nullif($3::bigint, 0), $4, $5 FROM place, told
			ON CONFLICT (chat, nonce) DO NOTHING`, chatID, nonce, m.ReplyTo, m.Body, list(m.Media), kept-1)
		batch.Queue(`SELECT id FROM web_messages WHERE chat = $1 AND nonce = $2`, chatID, nonce).
			QueryRow(func(row pgx.Row) error { return row.Scan(&m.ID) })
	})
	return wrap(err, "keep a message")
}

// change lets f alter a message, and tells of it. f is given the message as it is now; it is not called for one
// that is deleted or somebody's own, which gives chat.ErrGone.
func (l log) change(ctx context.Context, id int64, f func(*message) error) (m message, err error) {
	err = postgres.InTx(ctx, l.pool, func(tx pgx.Tx) error {
		var paused bool
		err := tx.QueryRow(ctx, `
			UPDATE web_chats c SET changes = changes + 1 FROM web_messages m WHERE m.id = $1 AND c.chat = m.chat
			RETURNING c.changes, c.paused_at IS NOT NULL`, id).Scan(&m.Change, &paused)
		if err != nil {
			return gone(err)
		}
		change := m.Change
		rows, _ := tx.Query(ctx, `SELECT `+columns+` WHERE m.id = $1 AND NOT m.deleted`, id)
		if m, err = pgx.CollectExactlyOneRow(rows, scanMessage); err != nil {
			return gone(err)
		}
		m.Change = change
		if paused && !m.Mine {
			return fmt.Errorf("the conversation is paused: %w", chat.ErrUnreachable)
		}
		if err := f(&m); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			WITH changed AS (
				UPDATE web_messages SET change = $2, body = $3, media = $4, deleted = $5 WHERE id = $1 RETURNING chat)
			SELECT pg_notify('`+channel+`', chat) FROM changed`, id, m.Change, m.Body, list(m.Media), m.Deleted)
		return err
	})
	return m, wrap(err, "change a message")
}

func gone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return chat.ErrGone
	}
	return err
}

// place is the conversation that an account's has become part of, or its own.
func (l log) place(ctx context.Context, accountID string) (chatID string, err error) {
	err = l.pool.QueryRow(ctx, `SELECT coalesce((SELECT joined FROM web_chats WHERE chat = $1), $1)`, accountID).Scan(&chatID)
	return chatID, wrap(err, "find a conversation")
}

// page gives the newest messages of a conversation, oldest first, and the number from which on events follow.
func (l log) page(ctx context.Context, chatID string) (messages []message, after int64, err error) {
	err = l.pool.QueryRow(ctx, `SELECT coalesce((SELECT changes FROM web_chats WHERE chat = $1), 0)`, chatID).Scan(&after)
	if err != nil {
		return nil, 0, wrap(err, "read a conversation")
	}
	rows, _ := l.pool.Query(ctx, `
		SELECT `+columns+` WHERE m.id IN (SELECT id FROM web_messages WHERE chat = $1 AND NOT deleted ORDER BY id DESC LIMIT $2)
		ORDER BY m.id`, chatID, shown)
	messages, err = pgx.CollectRows(rows, scanMessage)
	return messages, after, wrap(err, "read a conversation")
}

// changes gives what happened in a conversation after a number, in order, at most atOnce.
func (l log) changes(ctx context.Context, chatID string, after int64) ([]message, error) {
	rows, _ := l.pool.Query(ctx, `SELECT `+columns+` WHERE m.chat = $1 AND m.change > $2 ORDER BY m.change, m.id LIMIT $3`, chatID, after, atOnce)
	messages, err := pgx.CollectRows(rows, scanMessage)
	return messages, wrap(err, "read changes")
}

// find gives a message of a conversation; one that is deleted or elsewhere gives chat.ErrGone.
func (l log) find(ctx context.Context, chatID string, id int64) (message, error) {
	rows, _ := l.pool.Query(ctx, `SELECT `+columns+` WHERE m.id = $1 AND m.chat = $2 AND NOT m.deleted`, id, chatID)
	m, err := pgx.CollectExactlyOneRow(rows, scanMessage)
	return m, wrap(gone(err), "find a message")
}

// pause makes a conversation refuse what the house says, or ends that.
func (l log) pause(ctx context.Context, chatID string, on bool) error {
	_, err := l.pool.Exec(ctx, `
		INSERT INTO web_chats (chat, paused_at) VALUES ($1, CASE WHEN $2 THEN now() END)
		ON CONFLICT (chat) DO UPDATE SET paused_at = EXCLUDED.paused_at`, chatID, on)
	return wrap(err, "pause a conversation")
}

// paused reports whether a conversation is paused.
func (l log) paused(ctx context.Context, chatID string) (on bool, err error) {
	err = l.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM web_chats WHERE chat = $1 AND paused_at IS NOT NULL)`, chatID).Scan(&on)
	return on, wrap(err, "read a conversation")
}

// Adopt moves the conversation of an account to the one it has become, in the transaction that joins them.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO web_chats (chat) VALUES ($1), ($2) ON CONFLICT DO NOTHING`, from, into)
	if err == nil {
		_, err = tx.Exec(ctx, `SELECT FROM web_chats WHERE chat IN ($1, $2) ORDER BY chat FOR UPDATE`, from, into)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `
			WITH source AS (SELECT changes FROM web_chats WHERE chat = $1),
			target AS (
				UPDATE web_chats c SET changes = c.changes + source.changes FROM source WHERE c.chat = $2
				RETURNING c.changes - source.changes AS base),
			moved AS (
				UPDATE web_messages SET chat = $2, nonce = NULL, change = change + target.base FROM target WHERE chat = $1)
			UPDATE web_chats SET joined = $2 WHERE chat = $1 OR joined = $1`, from, into)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `SELECT pg_notify('`+channel+`', $1)`, from) // open pages are led to the other
	}
	return wrap(err, "join conversations")
}

// Forget deletes what was said in an account's conversation, in the transaction that erases the account's data.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `
		WITH place AS (UPDATE web_chats SET changes = changes + 1 WHERE chat = $1 RETURNING chat, changes)
		UPDATE web_messages m SET body = '{}', media = '[]', nonce = NULL, deleted = true, change = place.changes
		FROM place WHERE m.chat = place.chat`, accountID)
	return wrap(err, "forget a conversation")
}

func wrap(err error, what string) error {
	return errs.Wrap(err, "webchat: %s", what)
}

// Export writes an account's conversation on the page.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "conversations/page.json", `
		SELECT id, mine, reply_to, body, media, created_at FROM web_messages
		WHERE chat = coalesce((SELECT joined FROM web_chats WHERE chat = $1), $1) AND NOT deleted ORDER BY id`, accountID)
}

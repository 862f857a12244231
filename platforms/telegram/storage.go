package telegram

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// forgetFiles is how many days an unused file_id is kept.
const forgetFiles = 90

// storage is what an Adapter keeps in Postgres.
type storage struct {
	pool *pgxpool.Pool
	bot  int64
	move func(ctx context.Context, tx pgx.Tx, from, to string) error // nil: nothing else is kept of chats
}

// open returns the bot's name, empty if it is not known yet, and the secret of its webhook, which it draws
// from random at the first time.
func (st storage) open(ctx context.Context, random io.Reader) (username, secret string, err error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", "", fmt.Errorf("telegram: draw a secret for the webhook: %w", err)
	}
	err = st.pool.QueryRow(ctx, `
		INSERT INTO telegram_bots (bot_id, webhook_secret) VALUES ($1, $2)
		ON CONFLICT (bot_id) DO UPDATE SET bot_id = EXCLUDED.bot_id
		RETURNING username, webhook_secret`, st.bot, base64.RawURLEncoding.EncodeToString(raw)).Scan(&username, &secret)
	if err != nil {
		return "", "", fmt.Errorf("telegram: read what is known of the bot: %w", err)
	}
	return username, secret, nil
}

func (st storage) setUsername(ctx context.Context, username string) error {
	_, err := st.pool.Exec(ctx, `UPDATE telegram_bots SET username = $2 WHERE bot_id = $1`, st.bot, username)
	return wrap(err, "record the bot's name")
}

// file returns the file_id under which Telegram has a content, or "".
func (st storage) file(ctx context.Context, media string, kind botapi.MediaKind) (string, error) {
	var id string
	err := st.pool.QueryRow(ctx, `
		UPDATE telegram_files SET used_at = now() WHERE bot_id = $1 AND media = $2 AND kind = $3
		RETURNING file_id`, st.bot, media, kind).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, wrap(err, "look for a file that was sent before")
}

// anyFile returns a file_id under which Telegram has a content, as whatever kind it was sent last, or "".
func (st storage) anyFile(ctx context.Context, media string) (kind botapi.MediaKind, id string, err error) {
	err = st.pool.QueryRow(ctx, `
		SELECT kind, file_id FROM telegram_files WHERE bot_id = $1 AND media = $2 ORDER BY used_at DESC, kind LIMIT 1`, st.bot, media).Scan(&kind, &id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", nil
	}
	return kind, id, wrap(err, "look for a file that was sent before")
}

func (st storage) setFile(ctx context.Context, media string, kind botapi.MediaKind, fileID string) error {
	_, err := st.pool.Exec(ctx, `
		INSERT INTO telegram_files (bot_id, media, kind, file_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (bot_id, media, kind) DO UPDATE SET file_id = EXCLUDED.file_id, used_at = now()`,
		st.bot, media, kind, fileID)
	return wrap(err, "record a file that was sent")
}

func (st storage) forgetFile(ctx context.Context, media string, kind botapi.MediaKind) error {
	_, err := st.pool.Exec(ctx, `DELETE FROM telegram_files WHERE bot_id = $1 AND media = $2 AND kind = $3`, st.bot, media, kind)
	return wrap(err, "forget a file")
}

func (st storage) pruneFiles(ctx context.Context) error {
	_, err := st.pool.Exec(ctx, `DELETE FROM telegram_files WHERE used_at < now() - make_interval(days => $1)`, forgetFiles)
	return wrap(err, "forget old files")
}

// moved returns where groups have moved to.
func (st storage) moved(ctx context.Context) (map[int64]int64, error) {
	rows, _ := st.pool.Query(ctx, `SELECT chat_id, moved_to FROM telegram_chats`)
	moved := map[int64]int64{}
	var from, to int64
	_, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		moved[from] = to
		return nil
	})
	return moved, wrap(err, "read which groups have moved")
}

// movedTo gives where a group has moved to, or its own id.
func (st storage) movedTo(ctx context.Context, id int64) (int64, error) {
	err := st.pool.QueryRow(ctx, `SELECT moved_to FROM telegram_chats WHERE chat_id = $1`, id).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return id, wrap(err, "look where a group has moved to")
}

// setMoved records that a group has moved, with all that is kept of it, or nothing of that.
func (st storage) setMoved(ctx context.Context, from, to int64) error {
	err := postgres.InTx(ctx, st.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO telegram_chats (chat_id, moved_to, moved_at, carried_at) VALUES ($1, $2, now(), now())
			ON CONFLICT (chat_id) DO UPDATE SET moved_to = EXCLUDED.moved_to, carried_at = now()`, from, to)
		if err != nil || st.move == nil {
			return err
		}
		return st.move(ctx, tx, idText(from), idText(to))
	})
	return wrap(err, "move what is kept of a group to its new id")
}

// lateWrites is for how long something may still be written under a former id, by who was at it when the group moved.
const lateWrites = 5 * time.Minute

// followMoves repeats the moves of lately, and does those that were recorded before anything was moved with them.
func (st storage) followMoves(ctx context.Context) error {
	rows, _ := st.pool.Query(ctx, `SELECT chat_id, moved_to FROM telegram_chats WHERE carried_at IS NULL OR carried_at < moved_at + make_interval(secs => $1)`, lateWrites.Seconds())
	moves, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ From, To int64 }])
	for _, one := range moves {
		err = errors.Join(err, st.setMoved(ctx, one.From, one.To))
	}
	return wrap(err, "repeat the moves of groups")
}

// commands returns the hashes of the published command lists by scope and language.
func (st storage) commands(ctx context.Context) (map[string]string, error) {
	hashes := map[string]string{}
	err := st.pool.QueryRow(ctx, `SELECT commands FROM telegram_bots WHERE bot_id = $1`, st.bot).Scan(&hashes)
	return hashes, wrap(err, "read which commands are published")
}

func (st storage) setCommands(ctx context.Context, hashes map[string]string) error {
	_, err := st.pool.Exec(ctx, `UPDATE telegram_bots SET commands = $2 WHERE bot_id = $1`, st.bot, hashes)
	return wrap(err, "record which commands are published")
}

func wrap(err error, what string) error {
	return errs.Wrap(err, "telegram: %s", what)
}

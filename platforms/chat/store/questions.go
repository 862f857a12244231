package store

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
	"github.com/signalbox/signalbox/platforms/chat"
)

// Question is how far the open question of a run was answered in its chat.
type Question struct {
	RunID     string
	ID        string
	Platform  string
	Chat      string
	AccountID string
	MessageID string // the message that asks for the field
	Field     int    // the place of the field that is asked for
	Until     time.Time
	State     QuestionState
}

// QuestionState is kept with a question: where it is asked, and what was answered until now.
type QuestionState struct {
	Where  Target          `json:"where"`
	Asked  chat.MessageRef `json:"asked,omitzero"`
	Values map[string]any  `json:"values,omitempty"` // of the fields before
}

// Questions stores them.
type Questions struct {
	pool *pgxpool.Pool
}

const questionColumns = `run_id::text, id, platform, chat, account_id::text, message_id, field, state, expires_at`

func scanQuestion(row pgx.CollectableRow) (q Question, err error) {
	var state []byte
	if err = row.Scan(&q.RunID, &q.ID, &q.Platform, &q.Chat, &q.AccountID, &q.MessageID, &q.Field, &state, &q.Until); err == nil {
		err = decimal.Unmarshal(state, &q.State)
	}
	return q, err
}

// Open takes up a question in place of one that the run had before, and reports whether nobody has asked it yet.
func (s Questions) Open(ctx context.Context, q Question) (mine bool, err error) {
	state, err := json.Marshal(q.State)
	if err != nil {
		return false, err
	}
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO chat_questions (run_id, id, platform, chat, account_id, field, state, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (run_id) DO UPDATE SET id = EXCLUDED.id, platform = EXCLUDED.platform, chat = EXCLUDED.chat, account_id = EXCLUDED.account_id,
			message_id = '', field = EXCLUDED.field, state = EXCLUDED.state, expires_at = EXCLUDED.expires_at
		WHERE chat_questions.id <> EXCLUDED.id`, q.RunID, q.ID, q.Platform, q.Chat, q.AccountID, q.Field, state, q.Until)
	return err == nil && tag.RowsAffected() == 1, err
}

// Move writes how far a question is, unless it is elsewhere by now than at the field from. asked is the message that asked for that field,
// which may be known since a moment.
func (s Questions) Move(ctx context.Context, q Question, from int) (asked chat.MessageRef, moved bool, err error) {
	state, err := json.Marshal(q.State)
	if err != nil {
		return asked, false, err
	}
	var before []byte
	err = s.pool.QueryRow(ctx, `
		UPDATE chat_questions q SET message_id = $4, field = $5, state = $6
		FROM (SELECT run_id, state FROM chat_questions WHERE run_id = $1 AND id = $2 AND field = $3 FOR UPDATE) before
		WHERE q.run_id = before.run_id RETURNING before.state`, q.RunID, q.ID, from, q.MessageID, q.Field, state).Scan(&before)
	if errors.Is(err, pgx.ErrNoRows) {
		return asked, false, nil
	}
	var was QuestionState
	if err == nil {
		err = decimal.Unmarshal(before, &was)
	}
	return was.Asked, err == nil, err
}

// OfRun lists the open questions of a run.
func (s Questions) OfRun(ctx context.Context, runID string) ([]Question, error) {
	return s.list(ctx, `run_id = $1`, runID)
}

// OfPerson lists the open questions of a person in a chat, the latest first.
func (s Questions) OfPerson(ctx context.Context, platform, chat, accountID string) ([]Question, error) {
	return s.list(ctx, `platform = $1 AND chat = $2 AND account_id = $3`, platform, chat, accountID)
}

func (s Questions) list(ctx context.Context, where string, args ...any) ([]Question, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+questionColumns+` FROM chat_questions WHERE `+where+` ORDER BY expires_at DESC`, args...)
	if err != nil {
		return nil, fmt.Errorf("find the questions of runs: %w", err)
	}
	return pgx.CollectRows(rows, scanQuestion)
}

// Close forgets a question, and gives how far it was; done is false where it is closed already.
func (s Questions) Close(ctx context.Context, runID, id string) (q Question, done bool, err error) {
	rows, err := s.pool.Query(ctx, `DELETE FROM chat_questions WHERE run_id = $1 AND id = $2 RETURNING `+questionColumns, runID, id)
	if err == nil {
		q, err = pgx.CollectExactlyOneRow(rows, scanQuestion)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return q, false, nil
	}
	return q, err == nil, err
}

func (s Questions) prune(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_questions WHERE expires_at < now()`)
	return errs.Wrap(err, "prune the questions of runs")
}

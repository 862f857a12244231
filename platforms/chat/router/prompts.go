package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
)

// prompt is a question that waits for a person's answer in a chat.
type prompt struct {
	ID        string
	Platform  string
	Chat      string
	AccountID string
	MessageID string // the message that asks
	State     promptState
}

// promptState is what the answer is for: an input of a draft, or a setting.
type promptState struct {
	Field string        `json:"field"`
	Draft *input.Draft  `json:"draft,omitempty"`
	View  *settingsView `json:"view,omitempty"`
	// Message is where the settings are shown, to be drawn anew.
	Message  chat.MessageRef `json:"message,omitzero"`
	Keyboard string          `json:"keyboard,omitempty"`
	Asked    chat.MessageRef `json:"asked,omitzero"`
	Buttons  bool            `json:"buttons,omitempty"` // below the message that asks
}

// prompts stores open questions.
type prompts struct {
	pool *pgxpool.Pool
}

// errNoPrompt: nothing was asked, or too long ago.
var errNoPrompt = errors.New("no question is open")

// open stores a question and replaces an earlier one of the same person in the same chat.
func (s prompts) open(ctx context.Context, p prompt, lasts time.Duration) error {
	state, err := json.Marshal(p.State)
	if err != nil {
		return fmt.Errorf("store a question: %w", err)
	}
	_, err = s.pool.Exec(ctx, `
		INSERT INTO chat_prompts (platform, chat, account_id, id, message_id, state, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
		ON CONFLICT (platform, chat, account_id) DO UPDATE SET
			id = EXCLUDED.id, message_id = EXCLUDED.message_id, state = EXCLUDED.state, expires_at = EXCLUDED.expires_at`,
		p.Platform, p.Chat, p.AccountID, p.ID, p.MessageID, state, lasts.Seconds())
	if err != nil {
		return fmt.Errorf("store a question: %w", err)
	}
	return nil
}

// asked adds to an open question which message asks it. One that was answered meanwhile stays closed.
func (s prompts) asked(ctx context.Context, p prompt) error {
	state, err := json.Marshal(p.State)
	if err == nil {
		_, err = s.pool.Exec(ctx, `UPDATE chat_prompts SET message_id = $2, state = $3 WHERE id = $1`, p.ID, p.MessageID, state)
	}
	if err != nil {
		return fmt.Errorf("store a question: %w", err)
	}
	return nil
}

// pending gives the open question of a person in a chat, or errNoPrompt.
func (s prompts) pending(ctx context.Context, platform, chat, accountID string) (prompt, error) {
	p, open, err := s.last(ctx, platform, chat, accountID)
	if err == nil && !open {
		err = errNoPrompt
	}
	return p, err
}

// last gives the question that a person was asked last in a chat and did not answer, or errNoPrompt. It is not open
// where too much time has gone by.
func (s prompts) last(ctx context.Context, platform, chat, accountID string) (p prompt, open bool, err error) {
	p = prompt{Platform: platform, Chat: chat, AccountID: accountID}
	var state []byte
	err = s.pool.QueryRow(ctx, `
		SELECT id, message_id, state, expires_at > now() FROM chat_prompts
		WHERE platform = $1 AND chat = $2 AND account_id = $3`, platform, chat, accountID).
		Scan(&p.ID, &p.MessageID, &state, &open)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, false, errNoPrompt
	}
	if err == nil {
		err = unmarshal(state, &p.State)
	}
	if err != nil {
		return p, false, fmt.Errorf("find a question: %w", err)
	}
	return p, open, nil
}

// close ends a question and reports whether it was still open: of two answers only one gets true.
func (s prompts) close(ctx context.Context, id string) (bool, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM chat_prompts WHERE id = $1`, id)
	if err != nil {
		return false, fmt.Errorf("close a question: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// abandon ends whatever a person was asked in a chat: they have begun something else.
func (s prompts) abandon(ctx context.Context, platform, chat, accountID string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_prompts WHERE platform = $1 AND chat = $2 AND account_id = $3`, platform, chat, accountID)
	if err != nil {
		return fmt.Errorf("abandon a question: %w", err)
	}
	return nil
}

// prune forgets questions that nobody answered.
func (s prompts) prune(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM chat_prompts WHERE expires_at < now()`); err != nil {
		return fmt.Errorf("prune questions: %w", err)
	}
	return nil
}

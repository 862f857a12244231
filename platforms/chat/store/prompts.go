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
	"github.com/signalbox/signalbox/platforms/chat/input"
)

// Prompt is a question that waits for a person's answer in a chat.
type Prompt struct {
	ID        string
	Platform  string
	Chat      string
	AccountID string
	MessageID string // the message that asks
	State     PromptState
}

// PromptState is what the answer is for: an input of a draft, a setting, or something of the site.
type PromptState struct {
	Field string        `json:"field"`
	Draft *input.Draft  `json:"draft,omitempty"`
	View  *SettingsView `json:"view,omitempty"`
	Site  *SiteView     `json:"site,omitempty"`
	// Message is where the settings are shown, to be drawn anew.
	Message  chat.MessageRef `json:"message,omitzero"`
	Keyboard string          `json:"keyboard,omitempty"`
	Asked    chat.MessageRef `json:"asked,omitzero"`
	Buttons  bool            `json:"buttons,omitempty"` // below the message that asks
	// Card is the id of the buttons under a card of what a model wants done: what it waits for is a yes.
	Card string `json:"card,omitempty"`
}

// Prompts stores open questions.
type Prompts struct {
	pool *pgxpool.Pool
}

// ErrNoPrompt: nothing was asked, or too long ago.
var ErrNoPrompt = errors.New("no question is open")

// Open stores a question and replaces an earlier one of the same person in the same chat.
func (s Prompts) Open(ctx context.Context, p Prompt, lasts time.Duration) error {
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
	return errs.Wrap(err, "store a question")
}

// Asked adds to an open question which message asks it. One that was answered meanwhile stays closed.
func (s Prompts) Asked(ctx context.Context, p Prompt) error {
	state, err := json.Marshal(p.State)
	if err == nil {
		_, err = s.pool.Exec(ctx, `UPDATE chat_prompts SET message_id = $2, state = $3 WHERE id = $1`, p.ID, p.MessageID, state)
	}
	return errs.Wrap(err, "store a question")
}

// Pending gives the open question of a person in a chat, or errNoPrompt.
func (s Prompts) Pending(ctx context.Context, platform, chat, accountID string) (Prompt, error) {
	p, open, err := s.Last(ctx, platform, chat, accountID)
	if err == nil && !open {
		err = ErrNoPrompt
	}
	return p, err
}

// Last gives the question that a person was asked last in a chat and did not answer, or errNoPrompt. It is not open
// where too much time has gone by.
func (s Prompts) Last(ctx context.Context, platform, chat, accountID string) (p Prompt, open bool, err error) {
	p = Prompt{Platform: platform, Chat: chat, AccountID: accountID}
	var state []byte
	err = s.pool.QueryRow(ctx, `
		SELECT id, message_id, state, expires_at > now() FROM chat_prompts
		WHERE platform = $1 AND chat = $2 AND account_id = $3`, platform, chat, accountID).
		Scan(&p.ID, &p.MessageID, &state, &open)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, false, ErrNoPrompt
	}
	if err == nil {
		err = decimal.Unmarshal(state, &p.State)
	}
	if err != nil {
		return p, false, fmt.Errorf("find a question: %w", err)
	}
	return p, open, nil
}

// Close ends a question and reports whether it was still open: of two answers only one gets true.
func (s Prompts) Close(ctx context.Context, id string) (bool, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM chat_prompts WHERE id = $1`, id)
	return tag.RowsAffected() == 1, errs.Wrap(err, "close a question")
}

// Abandon ends whatever a person was asked in a chat: they have begun something else.
func (s Prompts) Abandon(ctx context.Context, platform, chat, accountID string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_prompts WHERE platform = $1 AND chat = $2 AND account_id = $3`, platform, chat, accountID)
	return errs.Wrap(err, "abandon a question")
}

// prune forgets questions that nobody answered.
func (s Prompts) prune(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_prompts WHERE expires_at < now()`)
	return errs.Wrap(err, "prune questions")
}

package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// keepKeyboards is how long buttons work.
const keepKeyboards = 180 * 24 * time.Hour

// Keyboard is what the buttons of one message are about. The buttons carry its id and an action.
type Keyboard struct {
	ID        string
	Platform  string
	AccountID string
	State     KeyboardState
	Used      map[string]string // by action: the update that used it, for actions that act once
}

// KeyboardState is kept with the buttons. Only the members that its kind of message needs are set.
type KeyboardState struct {
	Run    string            `json:"run,omitempty"`
	Tool   string            `json:"tool,omitempty"`
	Tools  []string          `json:"tools,omitempty"`  // what the buttons of a list mean, by number
	Runs   []string          `json:"runs,omitempty"`   // likewise
	Prompt string            `json:"prompt,omitempty"` // the question it belongs to
	Values []any             `json:"values,omitempty"` // the choices shown, by number
	Fields []string          `json:"fields,omitempty"` // the inputs shown, by number
	Refs   []chat.MessageRef `json:"refs,omitempty"`   // further messages that belong to this one
	Files  []chat.Attachment `json:"files,omitempty"`  // to be used with a tool; without any, Query is
	Sent   bool              `json:"sent,omitempty"`   // they were sent for that, with Query as their caption
	Asked  chat.MessageRef   `json:"asked,omitzero"`   // the message that tools are offered for
	Meant  chat.MessageRef   `json:"meant,omitzero"`   // the message that what comes of it answers
	View   SettingsView      `json:"view,omitzero"`
	// Anonymous tells that they were made for who spoke for the chat itself: those who run it may press.
	Anonymous bool `json:"anonymous,omitempty"`

	Site SiteView `json:"site,omitzero"`
	// Mission is a mission's id, Chain a chain's.
	Mission string `json:"mission,omitempty"`
	Chain   string `json:"chain,omitempty"`
	// Placed tells that whose buttons they are can put the result into the site.
	Placed bool `json:"placed,omitempty"`
	// Next are the tools that go on with the result, at most one for each of registry.Follows.
	Next []NextTool `json:"next,omitempty"`
	// Pictures is how many pictures of a set have buttons of their own; Of is the number of the one that is shown by
	// itself, from 1.
	Pictures int `json:"pictures,omitempty"`
	Of       int `json:"of,omitempty"`
	// Stands is the chat that the message of inline mode stands in, where that is known.
	Stands string `json:"stands,omitempty"`
	// Identities are those of a list of linked accounts, by number.
	Identities []users.Identity `json:"identities,omitempty"`
	Query      string           `json:"query,omitempty"`
	Page       int              `json:"page,omitempty"`
	Before     string           `json:"before,omitempty"`
}

// NextTool is a tool that goes on with a result.
type NextTool struct {
	Does registry.Follow `json:"does"`
	Tool string          `json:"tool"`
	// Strength tells that it can be said how far its result may depart.
	Strength bool `json:"strength,omitempty"`
}

// NextFor gives the tool that does something with the result.
func (s KeyboardState) NextFor(does registry.Follow) (NextTool, bool) {
	for _, next := range s.Next {
		if next.Does == does {
			return next, true
		}
	}
	return NextTool{}, false
}

// NewID makes an id that can't be guessed, 13 characters of base 32.
func NewID() string { return rand.Text()[:13] }

// Data is what the button of an action carries.
func (k Keyboard) Data(action string) string { return k.ID + "." + action }

// ParseData splits a button's data; foreign data gives ok false.
func ParseData(data string) (id, action string, ok bool) {
	id, action, ok = strings.Cut(data, ".")
	return id, action, ok && len(id) == 13 && action != "" && len(data) <= 64
}

// Keyboards stores keyboards.
type Keyboards struct {
	pool   *pgxpool.Pool
	writer *postgres.Writer
}

// ErrTooOld: the buttons are not known (any more).
var ErrTooOld = errors.New("these buttons are too old")

// Save stores a keyboard, or what one is about now.
func (s Keyboards) Save(ctx context.Context, k Keyboard) error {
	state, err := json.Marshal(k.State)
	if err != nil {
		return fmt.Errorf("store buttons: %w", err)
	}
	_, err = s.writer.Exec(ctx, `
		INSERT INTO chat_keyboards (id, platform, account_id, state) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state`, k.ID, k.Platform, k.AccountID, state)
	return errs.Wrap(err, "store buttons")
}

// Find gives the keyboard of a pressed button, or errTooOld.
func (s Keyboards) Find(ctx context.Context, platform, id string) (Keyboard, error) {
	k := Keyboard{ID: id, Platform: platform}
	var state []byte
	err := s.pool.QueryRow(ctx, `SELECT account_id, state, used FROM chat_keyboards WHERE id = $1 AND platform = $2`, id, platform).
		Scan(&k.AccountID, &state, &k.Used)
	if errors.Is(err, pgx.ErrNoRows) {
		return k, ErrTooOld
	}
	if err == nil {
		err = decimal.Unmarshal(state, &k.State)
	}
	return k, errs.Wrap(err, "find buttons")
}

// Use claims an action that acts once, for the update that presses it. It reports whether the claim is
// this update's, so that a press that is handled again after a crash goes on, and a second press does
// not act.
func (s Keyboards) Use(ctx context.Context, id, action, update string) (bool, error) {
	var claimed string
	err := s.pool.QueryRow(ctx, `
		UPDATE chat_keyboards SET used = CASE WHEN used ? $2 THEN used ELSE used || jsonb_build_object($2::text, $3::text) END
		WHERE id = $1 RETURNING used ->> $2`, id, action, update).Scan(&claimed)
	if err != nil {
		return false, fmt.Errorf("claim a button: %w", err)
	}
	return claimed == update, nil
}

// UseAt claims an action for the update that presses it, unless another did a moment before.
func (s Keyboards) UseAt(ctx context.Context, id, action, update string, at time.Time) (bool, error) {
	const sortable = "2006-01-02T15:04:05.000" // 23 characters; the update follows after a space
	tag, err := s.pool.Exec(ctx, `
		UPDATE chat_keyboards SET used = used || jsonb_build_object($2::text, $4::text || ' ' || $3::text)
		WHERE id = $1 AND (NOT used ? $2 OR used ->> $2 < $5 COLLATE "C" OR substr(used ->> $2, 25) = $3)`,
		id, action, update, at.UTC().Format(sortable), at.Add(-doublePress).UTC().Format(sortable))
	return tag.RowsAffected() == 1, errs.Wrap(err, "claim a button")
}

// Release gives a claimed action back, because it could not be done.
func (s Keyboards) Release(ctx context.Context, id, action string) error {
	_, err := s.pool.Exec(ctx, `UPDATE chat_keyboards SET used = used - $2 WHERE id = $1`, id, action)
	return errs.Wrap(err, "give a button back")
}

// prune forgets buttons of long ago.
func (s Keyboards) prune(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_keyboards WHERE created_at < now() - make_interval(secs => $1)`, keepKeyboards.Seconds())
	return errs.Wrap(err, "prune buttons")
}

// RemoveOf deletes the buttons about a run.
func (s Keyboards) RemoveOf(ctx context.Context, runID, accountID string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM chat_keyboards WHERE account_id = $2 AND state ->> 'run' = $1`, runID, accountID)
	return errs.Wrap(err, "delete the buttons of run %s", runID)
}

// doublePress is how far apart two presses of the same button are meant as two.
const doublePress = 2 * time.Second

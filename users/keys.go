package users

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

// keyPrefix makes our keys recognisable, to people and to scanners for leaked secrets.
const keyPrefix = "sbx_"

// CreateKey makes an API key of the account and returns it. It can't be read again: only its hash is
// stored. The label is for the owner.
func (s *Credentials) CreateKey(ctx context.Context, accountID, label string) (plaintext string, err error) {
	secret := make([]byte, 32)
	if _, err := io.ReadFull(s.config.Random, secret); err != nil {
		return "", fmt.Errorf("create an API key: %w", err)
	}
	plaintext = keyPrefix + hex.EncodeToString(secret)
	_, err = s.exec(ctx, `INSERT INTO user_keys (user_id, hash, label, hint) VALUES (`+writesTo+`, $2, $3, $4)`,
		accountID, hashOf(plaintext), cleanText(label), plaintext[:hintLength])
	if err != nil {
		return "", fmt.Errorf("create an API key: %w", err)
	}
	return plaintext, nil
}

// KeyOf gives an API key, of which ID, SpendLimit and Agent are set, and the account behind it, or ErrNotFound. It notes the use, to the minute.
func (s *Credentials) KeyOf(ctx context.Context, plaintext string) (account Account, key Key, err error) {
	if !strings.HasPrefix(plaintext, keyPrefix) {
		return Account{}, Key{}, fmt.Errorf("API key: %w", ErrNotFound)
	}
	var noted bool
	err = s.pool.QueryRow(ctx, `
		SELECT `+accountColumns+`, k.id, k.spend_limit, k.agent, coalesce(k.last_used_at > now() - interval '1 minute', false)
		FROM user_keys k JOIN users u ON u.id = k.user_id WHERE k.hash = $1`, hashOf(plaintext)).
		Scan(&account.ID, &account.DisplayName, &account.Language, &account.Operator, &account.CreatedAt, &key.ID, &key.SpendLimit, &key.Agent, &noted)
	if err == nil && !noted {
		_, err = s.writer.Exec(ctx, `UPDATE user_keys SET last_used_at = now() WHERE hash = $1`, hashOf(plaintext))
	}
	if err != nil {
		return Account{}, Key{}, fmt.Errorf("API key: %w", notFound(err))
	}
	return account, key, nil
}

// Holder is an API key, as KeyOf gives it, with the account behind it.
type Holder struct {
	Account Account
	Key     Key
}

// KeysOf gives those of the API keys that are there, by their ids, as KeyOf does, and notes their use.
func (s *Credentials) KeysOf(ctx context.Context, ids []int64) (map[int64]Holder, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+accountColumns+`, k.id, k.spend_limit, k.agent, coalesce(k.last_used_at > now() - interval '1 minute', false)
		FROM user_keys k JOIN users u ON u.id = k.user_id WHERE k.id = ANY ($1)`, ids)
	holders := make(map[int64]Holder, len(ids))
	var unnoted []int64
	if err == nil {
		var h Holder
		var noted bool
		_, err = pgx.ForEachRow(rows, []any{&h.Account.ID, &h.Account.DisplayName, &h.Account.Language, &h.Account.Operator, &h.Account.CreatedAt,
			&h.Key.ID, &h.Key.SpendLimit, &h.Key.Agent, &noted}, func() error {
			holders[h.Key.ID] = h
			if !noted {
				unnoted = append(unnoted, h.Key.ID)
			}
			return nil
		})
	}
	if err == nil && len(unnoted) > 0 { // who holds one of the rows notes the same
		_, err = s.pool.Exec(ctx, `
			UPDATE user_keys SET last_used_at = now() WHERE id IN (SELECT id FROM user_keys WHERE id = ANY ($1) FOR UPDATE SKIP LOCKED)`, unnoted)
	}
	if err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	return holders, nil
}

// hintLength is how much of a key is shown in lists: enough to tell it from others, too little to guess it.
const hintLength = len(keyPrefix) + 4

// Key is an API key as its owner sees it.
type Key struct {
	ID         int64
	Label      string
	Hint       string // how the key begins; empty for old ones
	CreatedAt  time.Time
	LastUsedAt *time.Time // to the minute; nil: never
	SpendLimit int64      // nano-dollars that its runs may cost in a calendar month; 0: no limit
	Agent      bool       // a model acts with it: what changes something waits for the owner's approval
}

// keyBudget begins the names of the pots of keys.
const keyBudget = "key:"

// Budget names the pot that the key's runs draw on.
func (k Key) Budget() string { return keyBudget + strconv.FormatInt(k.ID, 10) }

// IsKeyBudget reports whether a name is a Key's Budget.
func IsKeyBudget(name string) bool { return strings.HasPrefix(name, keyBudget) }

// BudgetLimit is the spending limit of the account's key whose Budget has the name, in nano-dollars; 0: it has none any more. A key that
// the account does not have is ErrNotFound.
func (s *Credentials) BudgetLimit(ctx context.Context, accountID, name string) (limit int64, err error) {
	err = s.pool.QueryRow(ctx, `SELECT spend_limit FROM user_keys WHERE user_id = `+today+` AND $2 || id = $3`, accountID, keyBudget, name).Scan(&limit)
	if err != nil {
		return 0, fmt.Errorf("the limit of %s: %w", name, notFound(err))
	}
	return limit, nil
}

// Way is the Session.Way of sessions that were opened with the key: they end with it.
func (k Key) Way() string { return "key:" + strconv.FormatInt(k.ID, 10) }

// Keys lists an account's API keys, newest first.
func (s *Credentials) Keys(ctx context.Context, accountID string) ([]Key, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT id, label, hint, created_at, last_used_at, spend_limit, agent FROM user_keys WHERE user_id = `+today+` ORDER BY id DESC`, accountID)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[Key])
	if err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	return keys, nil
}

// RevokeKey ends an API key of the account; it is refused from now on. So are the sessions that were opened with it, but for
// the one of exceptID. A key that the account does not have is ErrNotFound.
func (s *Credentials) RevokeKey(ctx context.Context, accountID string, id int64, exceptID string) error {
	tag, err := s.exec(ctx, `
		WITH ended AS (DELETE FROM user_sessions WHERE user_id = `+today+` AND way = $3 AND id::text <> $4)
		DELETE FROM user_keys WHERE user_id = `+today+` AND id = $2`, accountID, id, Key{ID: id}.Way(), exceptID)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke API key %d: %w", id, err)
	}
	return nil
}

// hashOf needs no salt and no slowness: a key holds 256 random bits.
func hashOf(plaintext string) []byte {
	sum := sha256.Sum256([]byte(plaintext))
	return sum[:]
}

// LimitKey bounds what the runs of an API key may cost in a calendar month, in nano-dollars; 0 lifts the bound. A key
// that the account does not have is ErrNotFound.
func (s *Credentials) LimitKey(ctx context.Context, accountID string, id, nanoUSD int64) error {
	if nanoUSD < 0 {
		return registry.Errorf(registry.CodeInvalidInput, "a key's limit is an amount above zero, or empty for none")
	}
	tag, err := s.exec(ctx, `UPDATE user_keys SET spend_limit = $3 WHERE user_id = `+today+` AND id = $2`, accountID, id, nanoUSD)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("limit API key %d: %w", id, err)
	}
	return nil
}

// MarkAgentKey makes an API key an agent's, for good: who wants another makes another. A key that the account does not have is
// ErrNotFound.
func (s *Credentials) MarkAgentKey(ctx context.Context, accountID string, id int64) error {
	tag, err := s.exec(ctx, `UPDATE user_keys SET agent = true WHERE user_id = `+today+` AND id = $2`, accountID, id)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("mark API key %d as an agent's: %w", id, err)
	}
	return nil
}

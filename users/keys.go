package users

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// keyPrefix makes our keys recognisable, to people and to scanners for leaked secrets.
const keyPrefix = "sbx_"

// NewKey is an API key that is to be made. What is zero restricts nothing.
type NewKey struct {
	Label      string // for the owner
	SpendLimit int64  // see Key, as all that follows
	Agent      bool
	Tools      []string
	ExpiresAt  *time.Time
	AllRuns    bool // a restricted key sees all runs of the account; else those that it made
}

// MakeKey makes an API key of the account and returns it. It can't be read again: only its hash is stored. One that would have ended already is
// a *registry.Error.
func (s *Credentials) MakeKey(ctx context.Context, accountID string, k NewKey) (plaintext string, err error) {
	switch {
	case k.SpendLimit < 0:
		return "", registry.Errorf(registry.CodeInvalidInput, "a key's limit is an amount above zero, or empty for none")
	case k.ExpiresAt != nil && !k.ExpiresAt.After(s.config.Now()):
		return "", registry.Say(registry.CodeInvalidInput, said.KeyPast, "at", k.ExpiresAt.UTC().Format(time.RFC3339)).At("expires")
	}
	secret := make([]byte, 32)
	if _, err := io.ReadFull(s.config.Random, secret); err != nil {
		return "", fmt.Errorf("create an API key: %w", err)
	}
	plaintext = keyPrefix + hex.EncodeToString(secret)
	own := !k.AllRuns && Key{SpendLimit: k.SpendLimit, Agent: k.Agent, Tools: k.Tools}.Restricted()
	hash := hashOf(plaintext)
	if own || len(k.Tools) > 0 || k.ExpiresAt != nil {
		hash = narrowHashOf(plaintext)
	}
	_, err = s.exec(ctx, `
		INSERT INTO user_keys (user_id, hash, label, hint, spend_limit, agent, tools, expires_at, own_runs)
		VALUES (`+writesTo+`, $2, $3, $4, $5, $6, $7, $8, $9)`,
		accountID, hash, cleanText(k.Label), plaintext[:hintLength], k.SpendLimit, k.Agent, append([]string{}, k.Tools...), k.ExpiresAt, own)
	if err != nil {
		return "", fmt.Errorf("create an API key: %w", err)
	}
	return plaintext, nil
}

// KeyEndedError says that a key has ended, and when.
type KeyEndedError struct{ At time.Time }

func (e *KeyEndedError) Error() string {
	return "this API key ended on " + e.At.UTC().Format(time.RFC3339)
}

// Is makes it an ErrNotFound.
func (e *KeyEndedError) Is(target error) bool { return target == ErrNotFound }

// heldColumns are those of a Holder, of the tables user_keys k and users u, and whether the key's use is noted.
const heldColumns = accountColumns + `, k.id, k.spend_limit, k.agent, k.tools, k.expires_at, k.own_runs, coalesce(k.last_used_at > now() - interval '1 minute', false)`

// alive is true of keys k that have not ended.
const alive = `(k.expires_at IS NULL OR k.expires_at > now())`

// into are the places of heldColumns.
func (h *Holder) into(noted *bool) []any {
	return []any{&h.Account.ID, &h.Account.DisplayName, &h.Account.Language, &h.Account.Operator, &h.Account.CreatedAt,
		&h.Key.ID, &h.Key.SpendLimit, &h.Key.Agent, &h.Key.Tools, &h.Key.ExpiresAt, &h.Key.OwnRuns, noted}
}

// KeyOf gives an API key, of which the ID and what restricts it are set, and the account behind it; ErrNotFound, which is a *KeyEndedError where the key
// has ended. It notes the use, to the minute.
func (s *Credentials) KeyOf(ctx context.Context, plaintext string) (account Account, key Key, err error) {
	if !strings.HasPrefix(plaintext, keyPrefix) {
		return Account{}, Key{}, fmt.Errorf("API key: %w", ErrNotFound)
	}
	var h Holder
	var noted, there bool
	err = s.pool.QueryRow(ctx, `SELECT `+heldColumns+`, `+alive+` FROM user_keys k JOIN users u ON u.id = k.user_id WHERE k.hash IN ($1, $2)`, hashOf(plaintext), narrowHashOf(plaintext)).
		Scan(append(h.into(&noted), &there)...)
	if err == nil && !there {
		err = &KeyEndedError{*h.Key.ExpiresAt}
	}
	if err == nil && !noted {
		_, err = s.writer.Exec(ctx, `UPDATE user_keys SET last_used_at = now() WHERE id = $1`, h.Key.ID)
	}
	if err != nil {
		return Account{}, Key{}, fmt.Errorf("API key: %w", notFound(err))
	}
	return h.Account, h.Key, nil
}

// Holder is an API key, as KeyOf gives it, with the account behind it.
type Holder struct {
	Account Account
	Key     Key
}

// KeysOf gives those of the API keys that are there and have not ended, by their ids, as KeyOf does, and notes their use.
func (s *Credentials) KeysOf(ctx context.Context, ids []int64) (map[int64]Holder, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+heldColumns+` FROM user_keys k JOIN users u ON u.id = k.user_id WHERE k.id = ANY ($1) AND `+alive, ids)
	holders := make(map[int64]Holder, len(ids))
	var unnoted []int64
	if err == nil {
		var h Holder
		var noted bool
		_, err = pgx.ForEachRow(rows, h.into(&noted), func() error {
			held := h
			held.Key.Tools = slices.Clone(h.Key.Tools) // the next row may be read into the same list
			holders[h.Key.ID] = held
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
	Tools      []string   // all that it may use, as registry.Only takes them; empty: all that its account may
	ExpiresAt  *time.Time // from then on it is refused; nil: it does not end
	OwnRuns    bool       // of the account's runs it sees those alone that it made
}

// Restricted reports whether the key may less than its account. One that only ends may not.
func (k Key) Restricted() bool { return k.SpendLimit > 0 || k.Agent || len(k.Tools) > 0 }

// Narrow is an account as the key opens it.
func (k Key) Narrow(a Account) Account {
	if k.Restricted() {
		a.Operator, a.Tools = false, registry.Only(k.Tools)
	}
	if k.OwnRuns {
		a.Runs = k.Budget()
	}
	return a
}

// keyBudget begins the names of the pots of keys.
const keyBudget = "key:"

// Budget names the pot that the key's runs draw on.
func (k Key) Budget() string { return keyBudget + strconv.FormatInt(k.ID, 10) }

// IsKeyBudget reports whether a name is a Key's Budget.
func IsKeyBudget(name string) bool { return strings.HasPrefix(name, keyBudget) }

// KeyOfBudget gives the account's key whose Budget has the name, as KeyOf does; ErrNotFound where the account has no such key, or it has ended.
func (s *Credentials) KeyOfBudget(ctx context.Context, accountID, name string) (k Key, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT k.id, k.spend_limit, k.agent, k.tools, k.expires_at, k.own_runs FROM user_keys k WHERE k.user_id = `+today+` AND $2 || k.id = $3 AND `+alive,
		accountID, keyBudget, name).Scan(&k.ID, &k.SpendLimit, &k.Agent, &k.Tools, &k.ExpiresAt, &k.OwnRuns)
	if err != nil {
		return Key{}, fmt.Errorf("the key of %s: %w", name, notFound(err))
	}
	return k, nil
}

// Way is the Session.Way of sessions that were opened with the key: they end with it.
func (k Key) Way() string { return "key:" + strconv.FormatInt(k.ID, 10) }

// Keys lists an account's API keys, newest first.
func (s *Credentials) Keys(ctx context.Context, accountID string) ([]Key, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT id, label, hint, created_at, last_used_at, spend_limit, agent, tools, expires_at, own_runs FROM user_keys WHERE user_id = `+today+` ORDER BY id DESC`, accountID)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[Key])
	return keys, errs.Wrap(err, "list API keys")
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
	return errs.Wrap(err, "revoke API key %d", id)
}

// hashOf needs no salt and no slowness: a key holds 256 random bits.
func hashOf(plaintext string) []byte {
	sum := sha256.Sum256([]byte(plaintext))
	return sum[:]
}

// narrowHashOf is the hash of a key with restrictions that the versions until November 2026 do not know: beside this version, and after a way back to
// one of them, they do not find it, and would else take it for one without.
func narrowHashOf(plaintext string) []byte { return hashOf("narrow:" + plaintext) }

// Package users is people: accounts, their identities on the platforms, preferences, API keys.
//
// An account is one person wherever they come from; an identity is that person as one platform knows
// them. Preferences belong to an account, a tool id and an input name. Of an API key only a hash is
// stored.
package users

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
)

// ErrNotFound says that there is no such account, or no such key.
var ErrNotFound = errors.New("no such user")

// Account is one person, whatever platforms they come from.
type Account struct {
	ID          string // UUID
	DisplayName string
	Language    string // BCP 47, empty: unknown
	Operator    bool
	CreatedAt   time.Time
}

// Identity is a person as one platform knows them.
type Identity struct {
	Platform   string // telegram, discord, web, api
	ExternalID string // the platform's own stable id
	Name       string
	Language   string
}

// Config is what a Store does beyond storing. Its zero value is fine.
type Config struct {
	// OnCreate is called in the transaction that makes an account, e.g. to make its wallet and grant
	// the sign-up credit. An error makes no account.
	OnCreate func(ctx context.Context, tx pgx.Tx, account Account) error
	// Random is where ids and keys are drawn from; nil: the system's cryptographic source.
	Random io.Reader
}

// Store keeps people in Postgres.
type Store struct {
	pool   *pgxpool.Pool
	config Config
}

// New gives the store in pool's database.
func New(pool *pgxpool.Pool, config Config) *Store {
	if config.Random == nil {
		config.Random = rand.Reader
	}
	return &Store{pool: pool, config: config}
}

const accountColumns = `u.id::text AS id, u.display_name, u.language, u.operator, u.created_at`

// Identify gives the account behind an identity, and makes both where the identity is new. A changed name
// or language of the platform is taken over, but not a language over one the user has chosen.
func (s *Store) Identify(ctx context.Context, identity Identity) (Account, error) {
	if identity.Platform == "" || identity.ExternalID == "" {
		return Account{}, fmt.Errorf("identify a user: platform %q and external id %q are both needed", identity.Platform, identity.ExternalID)
	}
	identity.Name, identity.Language = cleanText(identity.Name), cleanText(identity.Language)
	account, err := s.known(ctx, identity)
	if errors.Is(err, ErrNotFound) {
		account, err = s.create(ctx, identity)
	}
	if err != nil {
		return Account{}, fmt.Errorf("identify %s user %s: %w", identity.Platform, identity.ExternalID, err)
	}
	return account, nil
}

// maxText bounds names, labels and the like, in bytes.
const maxText = 200

// cleanText makes a foreign short text fit for the database: no NUL, valid UTF-8, not endless. An odd name is
// no reason to turn somebody away.
func cleanText(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// known finds an identity. It writes only when something has changed, since it runs at every message.
func (s *Store) known(ctx context.Context, identity Identity) (Account, error) {
	var account Account
	var name, language string
	err := s.pool.QueryRow(ctx, `
		SELECT `+accountColumns+`, i.name, i.language FROM user_identities i JOIN users u ON u.id = i.user_id
		WHERE i.platform = $1 AND i.external_id = $2`, identity.Platform, identity.ExternalID).
		Scan(&account.ID, &account.DisplayName, &account.Language, &account.Operator, &account.CreatedAt, &name, &language)
	if err != nil {
		return Account{}, notFound(err)
	}
	if identity.Name == "" {
		identity.Name = name
	}
	if identity.Language == "" {
		identity.Language = language
	}
	if name == identity.Name && language == identity.Language {
		return account, nil
	}
	return s.update(ctx, account.ID, identity)
}

func (s *Store) update(ctx context.Context, accountID string, identity Identity) (Account, error) {
	var account Account
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE user_identities SET name = $3, language = $4 WHERE platform = $1 AND external_id = $2`,
			identity.Platform, identity.ExternalID, identity.Name, identity.Language)
		if err != nil {
			return err
		}
		account, err = one(tx.Query(ctx, `
			UPDATE users u SET display_name = $2, language = CASE WHEN own_language THEN language ELSE $3 END
			WHERE id = $1 RETURNING `+accountColumns, accountID, identity.Name, identity.Language))
		return err
	})
	return account, err
}

// create makes account and identity. Of several that race for one identity one makes it, the others
// find it.
func (s *Store) create(ctx context.Context, identity Identity) (Account, error) {
	id, err := uuid.NewV7FromReader(s.config.Random)
	if err != nil {
		return Account{}, err
	}
	var account Account
	var lost bool
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		account, err = one(tx.Query(ctx, `
			INSERT INTO users AS u (id, display_name, language) VALUES ($1, $2, $3) RETURNING `+accountColumns,
			id.String(), identity.Name, identity.Language))
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO user_identities (platform, external_id, user_id, name, language) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (platform, external_id) DO NOTHING`,
			identity.Platform, identity.ExternalID, account.ID, identity.Name, identity.Language)
		if err != nil {
			return err
		}
		if lost = tag.RowsAffected() == 0; lost {
			_, err = tx.Exec(ctx, `DELETE FROM users WHERE id = $1`, account.ID)
			return err
		}
		if s.config.OnCreate == nil {
			return nil
		}
		return s.config.OnCreate(ctx, tx, account)
	})
	if err == nil && lost {
		return s.known(ctx, identity)
	}
	return account, err
}

// Link adds an identity to an account, e.g. after the same person proved to own both. An identity that
// belongs to an account already moves to this one.
func (s *Store) Link(ctx context.Context, accountID string, identity Identity) error {
	identity.Name, identity.Language = cleanText(identity.Name), cleanText(identity.Language)
	_, err := s.pool.Exec(ctx, `
		INSERT INTO user_identities (platform, external_id, user_id, name, language) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (platform, external_id) DO UPDATE SET user_id = excluded.user_id`,
		identity.Platform, identity.ExternalID, accountID, identity.Name, identity.Language)
	if err != nil {
		return fmt.Errorf("link %s user %s: %w", identity.Platform, identity.ExternalID, err)
	}
	return nil
}

// ByID gives an account, or ErrNotFound.
func (s *Store) ByID(ctx context.Context, accountID string) (Account, error) {
	if _, err := uuid.Parse(accountID); err != nil {
		return Account{}, fmt.Errorf("user %q: %w", accountID, ErrNotFound)
	}
	account, err := one(s.pool.Query(ctx, `SELECT `+accountColumns+` FROM users u WHERE id = $1`, accountID))
	if err != nil {
		return Account{}, fmt.Errorf("user %s: %w", accountID, err)
	}
	return account, nil
}

// SetLanguage stores the language the user chose (BCP 47); what platforms report no longer changes it.
// Empty gives the choice back to the platforms.
func (s *Store) SetLanguage(ctx context.Context, accountID, language string) error {
	return s.set(ctx, accountID, `UPDATE users SET language = $2, own_language = $2 <> '' WHERE id = $1`, language)
}

// SetOperator makes somebody an operator, or no longer one.
func (s *Store) SetOperator(ctx context.Context, accountID string, operator bool) error {
	return s.set(ctx, accountID, `UPDATE users SET operator = $2 WHERE id = $1`, operator)
}

func (s *Store) set(ctx context.Context, accountID, statement string, value any) error {
	tag, err := s.pool.Exec(ctx, statement, accountID, value)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("change user %s: %w", accountID, err)
	}
	return nil
}

// one reads the single account of a query.
func one(rows pgx.Rows, err error) (Account, error) {
	if err != nil {
		return Account{}, err
	}
	account, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Account])
	return account, notFound(err)
}

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

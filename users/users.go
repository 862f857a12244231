// Package users is people: accounts, their identities on the platforms, settings, limits, access, API keys.
//
// An account is one person wherever they come from; an identity is that person as one platform knows
// them. Preferences belong to an account, a tool id and an input name; presets have a name as well, and a
// place (a chat, or a space of chats) has preferences for everybody in it. Of keys and codes only hashes
// are stored.
//
// Two accounts that turn out to be one person are merged. The id of the one that is no more stays valid for
// ever: every function that takes an account's id takes it for the survivor's.
package users

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// Errors of the store.
var (
	// ErrNotFound says that there is no such account, identity or key.
	ErrNotFound = errors.New("no such user")
	// ErrLastIdentity is returned by Unlink for the only identity of an account.
	ErrLastIdentity = errors.New("the last identity of an account cannot leave it")
	// ErrNoCode says that a link code is wrong, was used, or is too old.
	ErrNoCode = errors.New("no such link code")
)

// Account is one person, whatever platforms they come from.
type Account struct {
	ID          string // UUID
	DisplayName string
	Language    string // BCP 47, empty: unknown
	Operator    bool
	CreatedAt   time.Time

	// What an API key leaves of it, where the account came by one: see Key.Narrow.
	Tools registry.Audience `db:"-"` // who it is to tools where it is no operator; zero: everyone
	Runs  string            `db:"-"` // the budget by which alone it sees what was made; empty: all of its own
}

// Narrowed reports whether the account came by a key that leaves it some tools or runs only.
func (a Account) Narrowed() bool { return a.Tools != registry.Everyone || a.Runs != "" }

// Sees reports whether what was made on a budget, of this account's runs, missions, conversations and drawings, is there for it. What has no budget, such
// as a chain that was written down, is the account's own.
func (a Account) Sees(budget string) bool { return a.Runs == "" || a.Runs == budget }

// Identity is a person as one platform knows them.
type Identity struct {
	Platform   string // telegram, discord, web, api
	ExternalID string // the platform's own stable id
	Name       string // which the person chose
	Handle     string // which nobody else has, such as @ann; empty: none, or the platform tells none
	Language   string
}

// Config is what a Store does beyond storing. Its zero value is fine.
type Config struct {
	// OnCreate is called in the transaction that makes an account, e.g. to make its wallet. An error
	// makes no account.
	OnCreate func(ctx context.Context, tx pgx.Tx, account Account) error
	// OnWelcome is called after OnCreate for a person who was never here before, e.g. to grant the sign-up
	// credit.
	OnWelcome func(ctx context.Context, tx pgx.Tx, account Account) error
	// OnMerge is called in the transaction that merges accounts, to move what other rooms keep by account
	// id. It may be called for accounts that it has merged before.
	OnMerge func(ctx context.Context, tx pgx.Tx, from, into string) error
	// OnLeave is called in the transaction in which the last identity leaves accountID that came with from, which was merged into it: what other
	// rooms keep that came with it and acts by itself ends.
	OnLeave func(ctx context.Context, tx pgx.Tx, accountID, from string) error
	// OnErase is called in the transaction that erases an account's data, for the data of other rooms.
	OnErase func(ctx context.Context, tx pgx.Tx, accountID string) error
	// BeforeErase and AfterErase are called around it, for what other rooms do that is no part of a transaction; nil: nothing.
	BeforeErase, AfterErase func(ctx context.Context, accountID string) error
	// Listed turns strangers away: only those whom a rule allows may use the tools.
	Listed bool
	// Limits are those of accounts that have no others; zero members: none.
	Limits Limits
	// Defaults gives Listed and Limits where they may change while the program runs; nil: they don't.
	Defaults func() (listed bool, limits Limits)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Random is where ids and keys are drawn from; nil: the system's cryptographic source.
	Random io.Reader
}

// Store keeps people in Postgres.
type Store struct {
	*core
	Credentials
	Preferences
}

// core is what the parts of a Store share.
type core struct {
	pool   *pgxpool.Pool
	writer *postgres.Writer
	config Config
	policy policyCache
}

// Credentials are by which accounts are recognised beside the platforms: API keys, and sessions of browsers.
type Credentials struct{ *core }

// Preferences are what people and the admins of places have set for tools, and people's presets.
type Preferences struct{ *core }

// New gives the store in pool's database.
func New(pool *pgxpool.Pool, config Config) *Store {
	config.Random = cmp.Or(config.Random, rand.Reader)
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Defaults == nil {
		config.Defaults = func() (bool, Limits) { return config.Listed, config.Limits }
	}
	shared := &core{pool: pool, writer: postgres.NewWriter(pool), config: config}
	return &Store{shared, Credentials{shared}, Preferences{shared}}
}

// today is the id by which the account $1 goes today.
const today = `(SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1)`

// writesTo is the account, by today's id, that something about $1 is written to. It waits for a merge that
// is under way, so that nothing is written to an account that is going.
const writesTo = `(SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE)`

const accountColumns = `u.id::text AS id, u.display_name, u.language, u.operator, u.created_at`

// Identify gives the account behind an identity, and makes both where the identity is new. A changed name
// or language of the platform is taken over, but not a language over one the user has chosen.
func (s *Store) Identify(ctx context.Context, identity Identity) (Account, error) {
	if identity.Platform == "" || identity.ExternalID == "" {
		return Account{}, fmt.Errorf("identify a user: platform %q and external id %q are both needed", identity.Platform, identity.ExternalID)
	}
	identity = identity.clean()
	account, err := s.known(ctx, identity)
	if errors.Is(err, ErrNotFound) {
		account, err = s.create(ctx, identity)
	}
	if err != nil {
		return Account{}, fmt.Errorf("identify %s user %s: %w", identity.Platform, identity.ExternalID, err)
	}
	return account, nil
}

// clean makes what a platform tells fit for the database, and names for those who read them: one line, without marks that hide or turn it.
func (i Identity) clean() Identity {
	i.Name, i.Handle, i.Language = plain.Line(cleanText(i.Name)), plain.Line(cleanText(i.Handle)), cleanText(i.Language)
	return i
}

// maxText bounds names, labels and the like, in bytes.
const maxText = 200

// cleanText makes a foreign short text fit for the database: no NUL, valid UTF-8, not endless. An odd name is
// no reason to turn somebody away.
func cleanText(text string) string { return cut(text, maxText) }

func cut(text string, limit int) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}

// known finds an identity. It writes only when something has changed, since it runs at every message.
func (s *Store) known(ctx context.Context, identity Identity) (Account, error) {
	var account Account
	var name, handle, language string
	err := s.pool.QueryRow(ctx, `
		SELECT `+accountColumns+`, i.name, i.handle, i.language FROM user_identities i JOIN users u ON u.id = i.user_id
		WHERE i.platform = $1 AND i.external_id = $2`, identity.Platform, identity.ExternalID).
		Scan(&account.ID, &account.DisplayName, &account.Language, &account.Operator, &account.CreatedAt, &name, &handle, &language)
	if err != nil {
		return Account{}, notFound(err)
	}
	identity.Name = cmp.Or(identity.Name, name)
	identity.Handle = cmp.Or(identity.Handle, handle)
	identity.Language = cmp.Or(identity.Language, language)
	if name == identity.Name && handle == identity.Handle && language == identity.Language {
		return account, nil
	}
	return s.update(ctx, account.ID, identity)
}

func (s *Store) update(ctx context.Context, accountID string, identity Identity) (Account, error) {
	var account Account
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE user_identities SET name = $3, language = $4, handle = $5 WHERE platform = $1 AND external_id = $2`,
			identity.Platform, identity.ExternalID, identity.Name, identity.Language, identity.Handle)
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
	var account Account
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if account, err = s.newAccount(ctx, tx, identity); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, insertIdentity+` ON CONFLICT (platform, external_id) DO NOTHING`,
			identity.Platform, identity.ExternalID, account.ID, identity.Name, identity.Language, identity.Handle)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errIdentityTaken // the new account goes with the transaction
		}
		if err := s.created(ctx, tx, account); err != nil {
			return err
		}
		if err := stillMuted(ctx, tx, account, identity, s.config.Now()); err != nil {
			return err
		}
		return s.welcome(ctx, tx, account, identity)
	})
	if errors.Is(err, errIdentityTaken) {
		return s.known(ctx, identity)
	}
	return account, err
}

// errIdentityTaken says that somebody else was faster.
var errIdentityTaken = errors.New("the identity has an account")

const insertIdentity = `INSERT INTO user_identities (platform, external_id, user_id, name, language, handle) VALUES ($1, $2, $3, $4, $5, $6)`

// newAccount makes an account named as the identity is.
func (s *Store) newAccount(ctx context.Context, tx pgx.Tx, identity Identity) (Account, error) {
	id, err := uuid.NewV7FromReader(s.config.Random)
	if err != nil {
		return Account{}, err
	}
	return one(tx.Query(ctx, `
		INSERT INTO users AS u (id, display_name, language) VALUES ($1, $2, $3) RETURNING `+accountColumns,
		id.String(), identity.Name, identity.Language))
}

func (s *Store) created(ctx context.Context, tx pgx.Tx, account Account) error {
	if s.config.OnCreate == nil {
		return nil
	}
	return s.config.OnCreate(ctx, tx, account)
}

// welcome treats a new account as a new person, unless the identity was here before its data was erased.
func (s *Store) welcome(ctx context.Context, tx pgx.Tx, account Account, identity Identity) error {
	if s.config.OnWelcome == nil {
		return nil
	}
	var former bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM user_former_identities WHERE hash = $1)`, formerHash(identity)).Scan(&former)
	if err != nil || former {
		return err
	}
	return s.config.OnWelcome(ctx, tx, account)
}

// ByID gives an account, or ErrNotFound. The id of one that was merged gives the survivor.
func (s *Store) ByID(ctx context.Context, accountID string) (Account, error) {
	return s.byID(ctx, accountID)
}

func (c *core) byID(ctx context.Context, accountID string) (Account, error) {
	if _, err := uuid.Parse(accountID); err != nil {
		return Account{}, fmt.Errorf("user %q: %w", accountID, ErrNotFound)
	}
	account, err := one(c.pool.Query(ctx, `SELECT `+accountColumns+` FROM users u WHERE id = `+today, accountID))
	if err != nil {
		return Account{}, fmt.Errorf("user %s: %w", accountID, err)
	}
	return account, nil
}

// SetLanguage stores the language the user chose (BCP 47); what platforms report no longer changes it.
// Empty gives the choice back to the platforms.
func (s *Store) SetLanguage(ctx context.Context, accountID, language string) error {
	return s.set(ctx, accountID, `UPDATE users SET language = $2, own_language = $2 <> '' WHERE id = `+writesTo, language)
}

// exec changes what belongs to an account. A merge of that account may get in its way: then it is tried again.
func (c *core) exec(ctx context.Context, statement string, args ...any) (tag pgconn.CommandTag, err error) {
	err = postgres.InTx(ctx, c.pool, func(tx pgx.Tx) (err error) {
		tag, err = tx.Exec(ctx, statement, args...)
		return err
	})
	return tag, err
}

func (s *Store) set(ctx context.Context, accountID, statement string, value any) error {
	tag, err := s.exec(ctx, statement, accountID, value)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	return errs.Wrap(err, "change user %s", accountID)
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

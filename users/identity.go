package users

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
)

// LinkedIdentity is one of an account's identities.
type LinkedIdentity struct {
	Identity
	LinkedAt time.Time
}

// Card tells who an identity is: beside the name, which everybody chooses as they like, what the platform vouches for.
func (i Identity) Card() string {
	known := i.ExternalID
	if i.Handle != "" {
		known = i.Handle + ", " + known
	}
	platform := strings.ToUpper(i.Platform[:1]) + i.Platform[1:]
	if i.Name == "" {
		return platform + ": " + known
	}
	return platform + ": " + i.Name + " (" + known + ")"
}

// ByIdentity gives the account of a person that has come by a platform before, or ErrNotFound. Unlike
// Identify it makes none.
func (s *Store) ByIdentity(ctx context.Context, platform, externalID string) (Account, error) {
	account, err := one(s.pool.Query(ctx, `
		SELECT `+accountColumns+` FROM user_identities i JOIN users u ON u.id = i.user_id
		WHERE i.platform = $1 AND i.external_id = $2`, platform, externalID))
	if err != nil {
		return Account{}, fmt.Errorf("%s user %s: %w", platform, externalID, err)
	}
	return account, nil
}

// NameOf is what a platform calls a person that has come by it before; empty where nobody has, or has no name.
func (s *Store) NameOf(ctx context.Context, platform, externalID string) (name string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT name FROM user_identities WHERE platform = $1 AND external_id = $2`, platform, externalID).Scan(&name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("name of %s:%s: %w", platform, externalID, err)
	}
	return name, nil
}

// Identities lists the identities of an account, those that it has had longest first.
func (s *Store) Identities(ctx context.Context, accountID string) ([]LinkedIdentity, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT platform, external_id, name, handle, language, created_at AS linked_at FROM user_identities
		WHERE user_id = `+today+` ORDER BY created_at, platform, external_id`, accountID)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[LinkedIdentity])
	return found, errs.Wrap(err, "identities of %s", accountID)
}

// Link adds an identity to an account, e.g. after the same person proved to own both. Where the identity has
// an account already the two accounts are merged.
func (s *Store) Link(ctx context.Context, accountID string, identity Identity) error {
	identity = identity.clean()
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO user_identities (user_id, platform, external_id, name, language, handle) VALUES (`+writesTo+`, $2, $3, $4, $5, $6)
			ON CONFLICT (platform, external_id) DO NOTHING`,
			accountID, identity.Platform, identity.ExternalID, identity.Name, identity.Language, identity.Handle)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			return audit(ctx, tx, AuditEntry{By: accountID, AccountID: accountID, Action: actionLink, Detail: identity.name()})
		}
		var other string
		err = tx.QueryRow(ctx, `SELECT user_id::text FROM user_identities WHERE platform = $1 AND external_id = $2`, identity.Platform, identity.ExternalID).Scan(&other)
		if err != nil {
			return err
		}
		_, err = s.merge(ctx, tx, accountID, other, accountID)
		return err
	})
	if err != nil {
		return fmt.Errorf("link %s: %w", identity.name(), err)
	}
	s.policy.forget()
	return nil
}

// name is how an identity is called in messages, as in telegram:12345.
func (i Identity) name() string { return i.Platform + ":" + i.ExternalID }

// Unlink lets an identity leave its account, for an account of its own, which it returns: with an empty
// wallet, no settings and no sign-up credit. All that the identity brought when it was linked stays. What was denied to
// the account, and the limits that an operator has set it, hold for both.
// Errors: ErrNotFound where the account has no such identity, ErrLastIdentity.
func (s *Store) Unlink(ctx context.Context, accountID, platform, externalID string) (Account, error) {
	identity := Identity{Platform: platform, ExternalID: externalID}
	var account Account
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		// The lock keeps two from leaving an account that has two.
		held, err := lockAccount(ctx, tx, accountID)
		if err != nil {
			return err
		}
		from, err := leaving(ctx, tx, held.ID, &identity)
		if err != nil {
			return err
		}
		if account, err = s.newAccount(ctx, tx, identity); err != nil {
			return err
		}
		if err := s.created(ctx, tx, account); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE user_identities SET user_id = $3, created_at = now(), joined_from = NULL WHERE platform = $1 AND external_id = $2`, platform, externalID, account.ID)
		if err != nil {
			return err
		}
		for _, statement := range leavesWith {
			if _, err := tx.Exec(ctx, statement, held.ID, account.ID); err != nil {
				return err
			}
		}
		if err := s.endWhatCame(ctx, tx, held.ID, platform, from); err != nil {
			return err
		}
		return audit(ctx, tx, AuditEntry{By: held.ID, AccountID: held.ID, Action: actionUnlink, Detail: identity.name() + " is " + account.ID})
	})
	if err != nil {
		return Account{}, fmt.Errorf("unlink %s: %w", identity.name(), err)
	}
	s.policy.forget()
	return account, nil
}

// leavesWith is what an identity that leaves the account $1 can't leave behind: it holds for $2 as well.
var leavesWith = [...]string{
	`INSERT INTO access_rules (allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom)
	 SELECT false, kind, platform, ($2::uuid)::text, where_platform, where_kind, where_id, note, by_whom FROM access_rules
	 WHERE kind = 'account' AND subject = ($1::uuid)::text AND NOT allow`,
	`INSERT INTO user_limits (user_id, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes)
	 SELECT $2, own, greatest(at_once, 0), greatest(per_day, 0), greatest(streams, 0), greatest(day_cap, 0), greatest(month_cap, 0), greatest(upload_bytes, 0), greatest(result_bytes, 0)
	 FROM user_limits WHERE user_id = $1 AND NOT own AND greatest(at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes) > 0`,
	`INSERT INTO user_mutes (user_id, until) SELECT $2, until FROM user_mutes WHERE user_id = $1`,
}

// leaving fills in an identity of an account and makes sure that it is not the last. from is the account that it came from by a merge, where it
// is the last one that did; empty: there is none.
func leaving(ctx context.Context, tx pgx.Tx, accountID string, identity *Identity) (from string, err error) {
	var left int
	err = tx.QueryRow(ctx, `
		SELECT i.name, i.handle, i.language, (SELECT count(*) FROM user_identities WHERE user_id = i.user_id),
			CASE WHEN (SELECT count(*) FROM user_identities WHERE user_id = i.user_id AND joined_from = i.joined_from) = 1 THEN i.joined_from::text ELSE '' END
		FROM user_identities i WHERE i.user_id = $1 AND i.platform = $2 AND i.external_id = $3`,
		accountID, identity.Platform, identity.ExternalID).Scan(&identity.Name, &identity.Handle, &identity.Language, &left, &from)
	if err == nil && left < 2 {
		return "", ErrLastIdentity
	}
	return from, notFound(err)
}

// endWhatCame signs out the browsers that came in by a platform of which an identity leaves, and ends what came with it from another account:
// else whoever has that identity would still act for the account.
func (s *Store) endWhatCame(ctx context.Context, tx pgx.Tx, accountID, platform, from string) error {
	_, err := tx.Exec(ctx, `
		WITH gone AS (DELETE FROM user_keys WHERE user_id = $1 AND joined_from = nullif($3, '')::uuid RETURNING id)
		DELETE FROM user_sessions WHERE user_id = $1 AND (way = $2 OR joined_from = nullif($3, '')::uuid OR way IN (SELECT 'key:' || id FROM gone))`,
		accountID, platform, from)
	if err == nil && from != "" && s.config.OnLeave != nil {
		err = s.config.OnLeave(ctx, tx, accountID, from)
	}
	return err
}

// lockAccount reads and locks an account, by today's id.
func lockAccount(ctx context.Context, tx pgx.Tx, accountID string) (Account, error) {
	for {
		locked, err := one(tx.Query(ctx, `SELECT `+accountColumns+` FROM users u WHERE u.id = `+today+` FOR UPDATE`, accountID))
		if err != nil {
			return Account{}, err
		}
		var present bool
		// It may have been merged while we waited for it.
		if err := tx.QueryRow(ctx, `SELECT merged_into IS NULL FROM users WHERE id = $1`, locked.ID).Scan(&present); err != nil || present {
			return locked, err
		}
	}
}

// Erase deletes what is known of a person, at their request: identities, names, settings, presets, keys. What
// concerns money stays, without a name. Anyone who comes back is a new account without a sign-up credit. A block
// and a mute stay with the identities.
func (s *Store) Erase(ctx context.Context, accountID, by string) error {
	if s.config.BeforeErase != nil {
		if err := s.config.BeforeErase(ctx, accountID); err != nil {
			return fmt.Errorf("erase user %s: %w", accountID, err)
		}
	}
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		account, err := lockAccount(ctx, tx, accountID)
		if err != nil {
			return err
		}
		if err := keepFormer(ctx, tx, account.ID); err != nil {
			return err
		}
		for _, statement := range erasing {
			if _, err := tx.Exec(ctx, statement, account.ID); err != nil {
				return err
			}
		}
		if s.config.OnErase != nil {
			if err := s.config.OnErase(ctx, tx, account.ID); err != nil {
				return err
			}
		}
		return audit(ctx, tx, AuditEntry{By: by, AccountID: account.ID, Action: actionErase})
	})
	if err != nil {
		return fmt.Errorf("erase user %s: %w", accountID, err)
	}
	s.policy.forget()
	if s.config.AfterErase != nil {
		if err := s.config.AfterErase(context.WithoutCancel(ctx), accountID); err != nil {
			return fmt.Errorf("erase user %s: %w", accountID, err)
		}
	}
	return nil
}

// erasing deletes what is kept by account.
var erasing = [...]string{
	`INSERT INTO access_rules (allow, kind, platform, subject, note, by_whom)
	 SELECT false, 'identity', i.platform, i.external_id, r.note, r.by_whom FROM access_rules r JOIN user_identities i ON i.user_id = $1
	 WHERE r.kind = 'account' AND r.subject = i.user_id::text AND NOT r.allow AND r.where_kind = '' ON CONFLICT DO NOTHING`,
	`DELETE FROM access_rules WHERE kind = 'account' AND subject = ($1::uuid)::text`,
	`DELETE FROM user_identities WHERE user_id = $1`,
	`DELETE FROM user_preferences WHERE user_id = $1`,
	`DELETE FROM user_presets WHERE user_id = $1`,
	`DELETE FROM user_keys WHERE user_id = $1`,
	`DELETE FROM user_sessions WHERE user_id = $1`,
	`DELETE FROM user_link_codes WHERE user_id = $1`,
	`DELETE FROM user_limits WHERE user_id = $1`,
	`DELETE FROM user_mutes WHERE user_id = $1`,
	`UPDATE users SET display_name = '', language = '', own_language = false, operator = false WHERE id = $1`,
}

// keepFormer remembers the hashes of an account's identities, and until when it is muted.
func keepFormer(ctx context.Context, tx pgx.Tx, accountID string) error {
	rows, _ := tx.Query(ctx, `SELECT platform, external_id, name, handle, language FROM user_identities WHERE user_id = $1`, accountID)
	identities, err := pgx.CollectRows(rows, pgx.RowToStructByName[Identity])
	if err != nil {
		return err
	}
	for _, identity := range identities {
		_, err := tx.Exec(ctx, `
			INSERT INTO user_former_identities (hash, muted_until) VALUES ($1, (SELECT until FROM user_mutes WHERE user_id = $2))
			ON CONFLICT (hash) DO UPDATE SET muted_until = greatest(user_former_identities.muted_until, excluded.muted_until)`, formerHash(identity), accountID)
		if err != nil {
			return err
		}
	}
	return nil
}

func formerHash(identity Identity) []byte {
	sum := sha256.Sum256([]byte(identity.Platform + "\x00" + identity.ExternalID))
	return sum[:]
}

package groups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/users"
)

// ErrNoWallet says that a place has no wallet, or that it was closed.
var ErrNoWallet = errors.New("the group has no wallet")

// Config is what a Store works with. Pool and Ledger are needed.
type Config struct {
	Pool   *pgxpool.Pool
	Ledger *billing.Ledger
	Record func(ctx context.Context, e users.AuditEntry) error // keeps who changed what; nil: nothing is kept
	Now    func() time.Time                                    // nil: time.Now
}

// Store keeps the wallets of groups and their parties.
type Store struct{ cfg Config }

// New makes a Store.
func New(cfg Config) *Store {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Record == nil {
		cfg.Record = func(context.Context, users.AuditEntry) error { return nil }
	}
	return &Store{cfg}
}

// At gives the terms of the wallet of a place, or ErrNoWallet.
func (s *Store) At(ctx context.Context, place users.Place) (Terms, error) {
	rows, _ := s.cfg.Pool.Query(ctx, termsSQL+` WHERE g.platform = $1 AND g.kind = $2 AND g.place = $3 AND g.closed_at IS NULL`, place.Platform, place.Kind, place.ID)
	t, err := pgx.CollectExactlyOneRow(rows, scanTerms)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNoWallet
	}
	if err != nil {
		return Terms{}, fmt.Errorf("find the wallet of %s %s: %w", place.Kind, place.ID, err)
	}
	return t, nil
}

// Contribution is what somebody gives to a group from their own credit.
type Contribution struct {
	Place     users.Place
	Chat      json.RawMessage // where the group is told, as the platform's side of the house writes it
	AccountID string
	Amount    billing.NanoUSD
	Key       string // of the request: a repeat gives nothing
}

// Sponsor adds to the wallet of a group, which is opened where there is none. A person's wallet that does not cover it is
// billing.ErrInsufficient, and nothing is given then.
func (s *Store) Sponsor(ctx context.Context, c Contribution) error {
	err := s.contribute(ctx, c, "given to a group", func(_ pgx.Tx, group string) (string, error) { return group, nil })
	return errs.Wrap(err, "sponsor %s %s", c.Place.Kind, c.Place.ID)
}

// StartParty makes a fund that pays for all that is asked for in a group, until it is empty or the time is over. Where a party is under way the
// fund grows, and it lasts until the later of both times. Errors: as of Sponsor.
func (s *Store) StartParty(ctx context.Context, c Contribution, until time.Time) error {
	err := s.contribute(ctx, c, "given to a party", func(tx pgx.Tx, group string) (party string, err error) {
		if err := s.endParty(ctx, tx, group, dueSQL); err != nil {
			return "", err
		}
		err = tx.QueryRow(ctx, `
			INSERT INTO group_parties (id, group_id, ends_at, chat) VALUES ($1, $2, $3, $4)
			ON CONFLICT (group_id) WHERE ended_at IS NULL DO UPDATE SET ends_at = greatest(group_parties.ends_at, excluded.ends_at) RETURNING id::text`,
			uuid.NewString(), group, until, c.Chat).Scan(&party)
		if err != nil {
			return "", err
		}
		return party, s.cfg.Ledger.EnsureWallet(ctx, tx, party)
	})
	return errs.Wrap(err, "start a party in %s %s", c.Place.Kind, c.Place.ID)
}

// contribute gives to a fund of a group, once: a repeat opens no wallet and begins no party either.
func (s *Store) contribute(ctx context.Context, c Contribution, note string, to func(tx pgx.Tx, group string) (fund string, err error)) error {
	return postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		var given bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM group_gifts WHERE key = $1)`, c.Key).Scan(&given); err != nil || given {
			return err
		}
		group, err := s.open(ctx, tx, c.Place, c.Chat)
		if err != nil {
			return err
		}
		fund, err := to(tx, group)
		if err != nil {
			return err
		}
		return s.give(ctx, tx, c, fund, note)
	})
}

// open finds the open wallet of a place, or opens one, and locks its row. The rows of groups are locked before what runs lock.
func (s *Store) open(ctx context.Context, tx pgx.Tx, place users.Place, where json.RawMessage) (id string, err error) {
	err = tx.QueryRow(ctx, `
		INSERT INTO groups (id, platform, kind, place, chat) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (platform, kind, place) WHERE closed_at IS NULL DO UPDATE SET chat = excluded.chat RETURNING id::text`,
		uuid.NewString(), place.Platform, place.Kind, place.ID, where).Scan(&id)
	if err != nil {
		return "", err
	}
	return id, s.cfg.Ledger.EnsureWallet(ctx, tx, id)
}

// give moves a contribution to a fund, once.
func (s *Store) give(ctx context.Context, tx pgx.Tx, c Contribution, fund, note string) error {
	tag, err := tx.Exec(ctx, `INSERT INTO group_gifts (key, fund, account_id, amount) VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO NOTHING`,
		c.Key, fund, c.AccountID, c.Amount)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return s.cfg.Ledger.Give(ctx, tx, billing.Gift{From: c.AccountID, To: fund, Amount: c.Amount, Key: "group:" + c.Key, Note: note})
}

// Set changes the rules of a group's wallet, which is opened where there is none; by is the account of who does so. It is the caller who checks that they may.
func (s *Store) Set(ctx context.Context, place users.Place, where json.RawMessage, by string, change func(*Terms)) error {
	var t Terms
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		id, err := s.open(ctx, tx, place, where)
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, termsSQL+` WHERE g.id = $1`, id)
		if t, err = pgx.CollectExactlyOneRow(rows, scanTerms); err != nil {
			return err
		}
		change(&t)
		_, err = tx.Exec(ctx, `UPDATE groups SET pays = $2, day_budget = $3, month_budget = $4, member_budget = $5, guest_runs = $6 WHERE id = $1`,
			id, t.Pays, t.Day, t.Month, t.Member, t.GuestRuns)
		return err
	})
	if err == nil {
		err = s.cfg.Record(ctx, users.AuditEntry{By: by, Action: "group wallet", Detail: fmt.Sprintf(
			"%s %s %s: pays %s, a day %s, a month %s, a member %s, guests' runs a day %d", place.Platform, place.Kind, place.ID, t.Pays, t.Day, t.Month, t.Member, t.GuestRuns)})
	}
	return errs.Wrap(err, "set the rules of the wallet of %s %s", place.Kind, place.ID)
}

// Sponsor is somebody who gave to a fund.
type Sponsor struct {
	AccountID string // empty: no longer known
	Given     billing.NanoUSD
}

// Sponsors lists who gave to a fund, the most generous first.
func (s *Store) Sponsors(ctx context.Context, fund string) ([]Sponsor, error) {
	list, err := sponsors(ctx, s.cfg.Pool, fund)
	if err != nil {
		return nil, fmt.Errorf("list the sponsors of %s: %w", fund, err)
	}
	return list, nil
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func sponsors(ctx context.Context, on querier, fund string) ([]Sponsor, error) {
	rows, _ := on.Query(ctx, `
		SELECT coalesce(account_id::text, ''), sum(amount)::bigint FROM group_gifts WHERE fund = $1 GROUP BY 1 ORDER BY 2 DESC, 1`, fund)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Sponsor])
}

// Adopt gives what an account gave to the one that it becomes.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `UPDATE group_gifts SET account_id = $2 WHERE account_id = $1`, from, into)
	return errs.Wrap(err, "give the gifts of %s to %s", from, into)
}

// Forget forgets who gave. Their share of what is left goes to the house, where their wallet is.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `UPDATE group_gifts SET account_id = NULL WHERE account_id = $1`, accountID)
	return errs.Wrap(err, "forget the gifts of %s", accountID)
}

// Export writes what an account has given to groups and their parties.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "group_gifts.json", `SELECT fund, amount AS nano_usd FROM group_gifts WHERE account_id = $1 ORDER BY key`, accountID)
}

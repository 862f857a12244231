package groups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/users"
)

// Close closes the wallet of a group, with its party, and gives back what is left of both. What runs under way do not cost follows when they
// end, see Tend. by is who does so. Errors: ErrNoWallet.
func (s *Store) Close(ctx context.Context, place users.Place, by string) (left billing.NanoUSD, err error) {
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		left = 0
		var id string
		err := tx.QueryRow(ctx, `UPDATE groups SET closed_at = $4 WHERE platform = $1 AND kind = $2 AND place = $3 AND closed_at IS NULL RETURNING id::text`,
			place.Platform, place.Kind, place.ID, s.cfg.Now()).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			err = ErrNoWallet
		}
		if err != nil {
			return err
		}
		if err := s.endParty(ctx, tx, id, `true`); err != nil {
			return err
		}
		left, err = s.giveBack(ctx, tx, id, id, "a group's wallet was closed")
		return err
	})
	if err == nil {
		err = s.cfg.Record(ctx, users.AuditEntry{By: by, Action: "group wallet", Detail: fmt.Sprintf("%s %s %s: closed, %s went back", place.Platform, place.Kind, place.ID, left)})
	}
	if err != nil {
		return 0, fmt.Errorf("close the wallet of %s %s: %w", place.Kind, place.ID, err)
	}
	return left, nil
}

// dueSQL says of a party p that it is over: its time is, or nothing is left of its fund. $1 is the time now.
const dueSQL = `(p.ends_at <= $1 OR (SELECT sum(a.balance) FROM ledger_accounts a WHERE a.owner = p.id) = 0)`

// endParty ends the party of a group, whose row is locked, if condition holds of it, and gives back what is left.
func (s *Store) endParty(ctx context.Context, tx pgx.Tx, group, condition string) error {
	var party string
	err := tx.QueryRow(ctx, `UPDATE group_parties p SET ended_at = $1 WHERE group_id = $2 AND ended_at IS NULL AND `+condition+` RETURNING id::text`, s.cfg.Now(), group).Scan(&party)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	left, err := s.giveBack(ctx, tx, group, party, "a party is over")
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE group_parties SET left_over = $2 WHERE id = $1`, party, left)
	}
	return err
}

// giveBack gives all that can be spent of a fund back to who gave, each by the share that they gave. Nobody can be accepted meanwhile whom it
// would pay for.
func (s *Store) giveBack(ctx context.Context, tx pgx.Tx, group, fund, note string) (billing.NanoUSD, error) {
	if _, err := tx.Exec(ctx, `SELECT runs_lock($1)`, group); err != nil {
		return 0, err
	}
	given, err := sponsors(ctx, tx, fund)
	if err != nil {
		return 0, err
	}
	var owners []string
	for _, one := range given {
		if one.AccountID != "" {
			owners = append(owners, one.AccountID)
		}
	}
	b, err := s.cfg.Ledger.LockBalance(ctx, tx, fund, owners...)
	if err != nil || b.Available == 0 {
		return 0, err
	}
	var gifts []billing.Gift
	for i, part := range shares(b.Available, given) {
		if part > 0 {
			gifts = append(gifts, billing.Gift{From: fund, To: given[i].AccountID, Amount: part, Key: "back:" + uuid.NewString(), Note: note})
		}
	}
	return b.Available, s.cfg.Ledger.Give(ctx, tx, gifts...)
}

// shares divides what is left of a fund by what each gave: rounded down to the nano-dollar, and what rounding leaves is the first one's.
func shares(left billing.NanoUSD, given []Sponsor) []billing.NanoUSD {
	total := new(big.Int)
	for _, one := range given {
		total.Add(total, big.NewInt(int64(one.Given)))
	}
	parts, rest := make([]billing.NanoUSD, len(given)), left
	for i, one := range given {
		part := new(big.Int).Mul(big.NewInt(int64(left)), big.NewInt(int64(one.Given)))
		parts[i] = billing.NanoUSD(part.Div(part, total).Int64())
		rest -= parts[i]
	}
	if len(parts) > 0 {
		parts[0] += rest
	}
	return parts
}

// Ended is a party that is over.
type Ended struct {
	Platform    string
	Chat        json.RawMessage
	Given, Left billing.NanoUSD
}

// toldWithin is for how long it is tried to tell of a party's end.
const toldWithin = time.Hour

// Tend ends parties that are over, tells of each end, and gives back what came to funds that are no more: holds of runs that cost less, and
// refunds. It may run at any time and on any number of machines.
func (s *Store) Tend(ctx context.Context, tell func(context.Context, Ended) error) error {
	return errors.Join(s.endParties(ctx), s.sweep(ctx), s.tellEnds(ctx, tell))
}

func (s *Store) endParties(ctx context.Context) error {
	rows, _ := s.cfg.Pool.Query(ctx, `SELECT p.group_id::text FROM group_parties p WHERE p.ended_at IS NULL AND `+dueSQL, s.cfg.Now())
	due, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, group := range due {
		err = errors.Join(err, postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT FROM groups WHERE id = $1 FOR UPDATE`, group); err != nil {
				return err
			}
			return s.endParty(ctx, tx, group, dueSQL)
		}))
	}
	return errs.Wrap(err, "end parties")
}

// sweep gives back what came to funds that are no more.
func (s *Store) sweep(ctx context.Context) error {
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT f.group_id::text, f.fund::text FROM (
			SELECT id AS group_id, id AS fund FROM groups WHERE closed_at IS NOT NULL
			UNION ALL SELECT group_id, id FROM group_parties WHERE ended_at IS NOT NULL) f
		JOIN ledger_accounts a ON a.owner = f.fund AND a.kind = 'wallet' AND a.balance > 0`)
	type late struct{ Group, Fund string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[late])
	for _, one := range found {
		err = errors.Join(err, postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
			_, err := s.giveBack(ctx, tx, one.Group, one.Fund, "left of a run that was under way")
			return err
		}))
	}
	return errs.Wrap(err, "give back what came to a fund that is no more")
}

// tellEnds tells of parties that are over, each at least once; who can't be told is given up after a while.
func (s *Store) tellEnds(ctx context.Context, tell func(context.Context, Ended) error) error {
	now := s.cfg.Now()
	var failed error // it must not undo what is noted of others
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		failed = nil
		rows, _ := tx.Query(ctx, `
			SELECT p.id::text, g.platform, p.chat, p.ended_at, p.left_over, (SELECT coalesce(sum(amount), 0)::bigint FROM group_gifts WHERE fund = p.id)
			FROM group_parties p JOIN groups g ON g.id = p.group_id
			WHERE p.ended_at IS NOT NULL AND p.told_at IS NULL ORDER BY p.ended_at FOR UPDATE OF p SKIP LOCKED`)
		type row struct {
			ID, Platform string
			Chat         []byte
			At           time.Time
			Left, Given  billing.NanoUSD
		}
		over, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return fmt.Errorf("look for parties to tell of: %w", err)
		}
		for _, p := range over {
			err := tell(ctx, Ended{Platform: p.Platform, Chat: p.Chat, Given: p.Given, Left: p.Left})
			if err != nil && now.Sub(p.At) < toldWithin {
				failed = errors.Join(failed, fmt.Errorf("tell of the end of party %s: %w", p.ID, err))
				continue
			}
			if _, err := tx.Exec(ctx, `UPDATE group_parties SET told_at = $2 WHERE id = $1`, p.ID, now); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, failed)
}

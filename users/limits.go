package users

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// Limits bound what an account may do. Zero is no limit; in what an operator sets zero leaves the house's
// default and -1 lifts it.
type Limits struct {
	AtOnce   int   // runs under way at a time
	PerDay   int   // runs a day
	Streams  int   // event streams open at a time
	DayCap   int64 // nano-dollars a day
	MonthCap int64 // nano-dollars a calendar month

	UploadBytes int64 // of files that were sent
	ResultBytes int64 // of files that runs made

	ConfirmPercent int // see AskAbove; a person's own only
}

// LimitSettings are the two sources of an account's limits.
type LimitSettings struct {
	Operator Limits
	Own      Limits // what the person set; it only ever narrows
}

// unlimited lifts a limit.
const unlimited = -1

// stricter is the narrower of two settings. One that is not set yields to the other.
func (l Limits) stricter(other Limits) Limits {
	return Limits{
		AtOnce: narrower(l.AtOnce, other.AtOnce), PerDay: narrower(l.PerDay, other.PerDay), Streams: narrower(l.Streams, other.Streams),
		DayCap: narrower(l.DayCap, other.DayCap), MonthCap: narrower(l.MonthCap, other.MonthCap),
		UploadBytes: narrower(l.UploadBytes, other.UploadBytes), ResultBytes: narrower(l.ResultBytes, other.ResultBytes),
		ConfirmPercent: narrower(l.ConfirmPercent, other.ConfirmPercent),
	}
}

func narrower[N int | int64](a, b N) N {
	switch {
	case a == 0 || a == unlimited && b > 0:
		return b
	case b == 0 || b == unlimited:
		return a
	}
	return min(a, b)
}

// inForce is what settings come to, where defaults are the house's.
func (s LimitSettings) inForce(defaults Limits) Limits {
	base := Limits{
		AtOnce: override(s.Operator.AtOnce, defaults.AtOnce), PerDay: override(s.Operator.PerDay, defaults.PerDay), Streams: override(s.Operator.Streams, defaults.Streams),
		DayCap: override(s.Operator.DayCap, defaults.DayCap), MonthCap: override(s.Operator.MonthCap, defaults.MonthCap),
		UploadBytes: override(s.Operator.UploadBytes, defaults.UploadBytes), ResultBytes: override(s.Operator.ResultBytes, defaults.ResultBytes),
	}
	return base.stricter(s.Own)
}

func override[N int | int64](set, fallback N) N {
	switch set {
	case 0:
		return fallback
	case unlimited:
		return 0
	}
	return set
}

func (s *LimitSettings) put(own bool, l Limits) {
	if own {
		s.Own = l
	} else {
		s.Operator = l
	}
}

// LimitsOf gives the limits in force for an account, from memory; zero members are no limits. Somebody who is
// blocked is a *registry.Error. What other processes change counts within policyLife.
func (s *Store) LimitsOf(ctx context.Context, accountID string) (Limits, error) {
	p, err := s.policy.get(ctx, s)
	if err != nil {
		return Limits{}, fmt.Errorf("limits of %s: %w", accountID, err)
	}
	accountID = p.today(accountID)
	if allow, found := p.rules[ruleKey{kind: RuleAccount, subject: accountID}]; found && !allow {
		return Limits{}, Decision{Reason: ReasonBlocked}.Err()
	}
	return p.limits[accountID].inForce(s.defaults()), nil
}

// defaults are the limits of accounts that have no others.
func (s *Store) defaults() Limits {
	_, limits := s.config.Defaults()
	return limits
}

// StreamsOf gives how many event streams an account may have open, from memory; 0: any number. Somebody who is blocked
// may still follow what runs.
func (s *Store) StreamsOf(ctx context.Context, accountID string) (int, error) {
	settings, err := s.LimitSettings(ctx, accountID)
	return settings.inForce(s.defaults()).Streams, err
}

// LimitSettings gives what was set for an account, by the operator and by the person.
func (s *Store) LimitSettings(ctx context.Context, accountID string) (LimitSettings, error) {
	p, err := s.policy.get(ctx, s)
	if err != nil {
		return LimitSettings{}, fmt.Errorf("limits of %s: %w", accountID, err)
	}
	return p.limits[p.today(accountID)], nil
}

// SetLimits sets an account's limits as its operator; see Limits for 0 and -1. by is who sets them, note why.
func (s *Store) SetLimits(ctx context.Context, accountID string, l Limits, by, note string) error {
	return s.setLimits(ctx, accountID, false, l, AuditEntry{By: by, Note: note})
}

// SetOwnLimits sets the limits that a person wants to keep to. They never widen what the operator allows.
func (s *Store) SetOwnLimits(ctx context.Context, accountID string, l Limits) error {
	if min(l.AtOnce, l.PerDay, l.Streams) < 0 || min(l.DayCap, l.MonthCap, l.UploadBytes, l.ResultBytes) < 0 {
		return registry.Errorf(registry.CodeInvalidInput, "a limit of your own is a positive number, or empty for none")
	}
	return s.setLimits(ctx, accountID, true, l, AuditEntry{By: accountID})
}

func (s *Store) setLimits(ctx context.Context, accountID string, own bool, l Limits, e AuditEntry) error {
	if min(l.AtOnce, l.PerDay, l.Streams) < unlimited || min(l.DayCap, l.MonthCap, l.UploadBytes, l.ResultBytes) < unlimited {
		return registry.Errorf(registry.CodeInvalidInput, "a limit is a positive number, 0 for the default or -1 for none")
	}
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		account, err := lockAccount(ctx, tx, accountID)
		if err != nil {
			return err
		}
		if err := writeLimits(ctx, tx, account.ID, own, l); err != nil {
			return err
		}
		e.AccountID, e.Action, e.Detail = account.ID, actionLimits, l.String()
		return audit(ctx, tx, e)
	})
	if err != nil {
		return fmt.Errorf("set the limits of %s: %w", accountID, err)
	}
	s.policy.forget()
	return nil
}

// String is for records.
func (l Limits) String() string {
	return fmt.Sprintf("at once %d, per day %d, streams %d, per day $%.2f, per month $%.2f, bytes of uploads %d, of results %d, asked above %d %%",
		l.AtOnce, l.PerDay, l.Streams, float64(l.DayCap)/1e9, float64(l.MonthCap)/1e9, l.UploadBytes, l.ResultBytes, l.ConfirmShare())
}

func readLimits(ctx context.Context, tx pgx.Tx, accountID string) (LimitSettings, error) {
	rows, err := tx.Query(ctx, `SELECT user_id::text, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes, confirm_percent FROM user_limits WHERE user_id = $1`, accountID)
	if err != nil {
		return LimitSettings{}, err
	}
	p := policy{limits: map[string]LimitSettings{}}
	err = p.readLimits(rows)
	return p.limits[accountID], err
}

func writeLimits(ctx context.Context, tx pgx.Tx, accountID string, own bool, l Limits) error {
	if l == (Limits{}) {
		_, err := tx.Exec(ctx, `DELETE FROM user_limits WHERE user_id = $1 AND own = $2`, accountID, own)
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO user_limits (user_id, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes, confirm_percent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (user_id, own) DO UPDATE SET at_once = excluded.at_once, per_day = excluded.per_day, streams = excluded.streams, day_cap = excluded.day_cap, month_cap = excluded.month_cap,
			upload_bytes = excluded.upload_bytes, result_bytes = excluded.result_bytes, confirm_percent = excluded.confirm_percent`,
		accountID, own, l.AtOnce, l.PerDay, l.Streams, l.DayCap, l.MonthCap, l.UploadBytes, l.ResultBytes, l.ConfirmPercent)
	return err
}

// Package exports makes an archive of everything that is kept about a person, at their request: what the rooms know of the account as
// JSON and CSV, and its files. One process makes it in the background. It is kept for a week, and only its owner can fetch it.
package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	// Kept is how long an archive can be fetched.
	Kept = 7 * 24 * time.Hour
	// Every is how often somebody may have one made.
	Every = 24 * time.Hour

	tries      = 5
	retryAfter = time.Minute
)

// State is how far an archive is.
type State string

// The states of an archive.
const (
	Making State = "making"
	Ready  State = "ready"
	Failed State = "failed"
)

// Export is one archive.
type Export struct {
	ID          string
	AccountID   string
	State       State
	Bytes       int64
	RequestedAt time.Time
	ExpiresAt   *time.Time // when it is deleted; nil: it is not ready
	Address     string     // where its owner fetches it once it is ready
	ref         assets.Ref
}

// Config is what a Service works with. Pool, Files and Tell are needed.
type Config struct {
	Pool  *pgxpool.Pool
	Files *assets.Store  // takes files as large as an archive may be
	Parts []archive.Part // what the rooms know of an account
	// Address is where the owner of an archive fetches it; nil: nowhere.
	Address func(id string) string
	// Tell lets the owner know that an archive is ready, or that it could not be made.
	Tell func(ctx context.Context, e Export) error

	Logger    *slog.Logger     // nil: nothing is logged
	Now       func() time.Time // nil: time.Now
	Poll      time.Duration    // how often the queue is looked at; 0: 5 s
	LookEvery time.Duration    // how often processes that are gone, and archives whose time is over, are looked for; 0: 1 minute
}

func (c Config) withDefaults() (Config, error) {
	if c.Pool == nil || c.Files == nil || c.Tell == nil {
		return c, errors.New("exports: Config needs Pool, Files and Tell")
	}
	if c.Address == nil {
		c.Address = func(string) string { return "" }
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Poll <= 0 {
		c.Poll = 5 * time.Second
	}
	if c.LookEvery <= 0 {
		c.LookEvery = time.Minute
	}
	return c, nil
}

// Service makes archives, one at a time in each process. Any number of processes may share one database.
type Service struct {
	cfg    Config
	log    *slog.Logger
	worker *claims.Worker
}

// New makes a Service, which takes requests. Start lets it make archives.
func New(config Config) (*Service, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: config, log: config.Logger.With("component", "exports")}
	s.worker = claims.NewWorker(claims.WorkerConfig{
		Queue:     claims.QueueConfig{Pool: config.Pool, Log: s.log, Now: config.Now, Table: "export_work", Key: "export_id", Places: 1, Poll: config.Poll, Work: s.do},
		Processes: "export_workers", Lock: locks.Export, LookEvery: config.LookEvery, Tidy: s.expire, BreakOff: true,
	})
	return s, nil
}

// Start begins to make archives, also those that a process which is gone left behind. ctx is for starting only.
func (s *Service) Start(ctx context.Context) error { return s.worker.Start(ctx) }

// Stop breaks off the archive that is being made: it is begun anew elsewhere, or here at the next start.
func (s *Service) Stop(ctx context.Context) error { return s.worker.Stop(ctx) }

// expire deletes archives whose time is over, with what is known of them.
func (s *Service) expire(ctx context.Context) error {
	var gone int
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `DELETE FROM exports WHERE expires_at <= $1 RETURNING `+columns, s.cfg.Now())
		over, err := pgx.CollectRows(rows, s.scan)
		gone = len(over)
		for _, e := range over {
			if err == nil {
				err = assets.Release(ctx, tx, e.AccountID, []string{e.ref.Hash()}, s.cfg.Now())
			}
		}
		return err
	})
	if err == nil && gone > 0 {
		_, err = s.cfg.Files.Collect(ctx)
	}
	return err
}

const columns = `id::text, account_id::text, state, bytes, requested_at, expires_at, coalesce('asset:' || hash, '')`

func (s *Service) scan(row pgx.CollectableRow) (e Export, err error) {
	err = row.Scan(&e.ID, &e.AccountID, &e.State, &e.Bytes, &e.RequestedAt, &e.ExpiresAt, &e.ref)
	e.Address = s.cfg.Address(e.ID)
	return e, err
}

// Request has an archive made for an account, or gives the one that is being made. Where the last one is younger than a day it gives
// that, with an error that says when there may be another.
func (s *Service) Request(ctx context.Context, accountID string) (e Export, err error) {
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		e = Export{}
		// The row of the account is locked: of two requests at a time the second finds the first one's.
		if err := tx.QueryRow(ctx, `SELECT coalesce(merged_into, id)::text FROM users WHERE id = (SELECT coalesce(merged_into, id) FROM users WHERE id = $1) FOR UPDATE`, accountID).Scan(&accountID); err != nil {
			return err
		}
		last, err := s.latest(ctx, tx, accountID)
		if err != nil || last.State == Making || last.State == Ready && s.cfg.Now().Sub(last.RequestedAt) < Every {
			e = last
			return err
		}
		e, err = s.add(ctx, tx, accountID)
		return err
	})
	if err != nil {
		return Export{}, fmt.Errorf("export of %s: %w", accountID, err)
	}
	s.worker.Look() // other processes see it at their next look
	if e.State == Ready {
		return e, registry.Say(registry.CodeRateLimited, said.ExportTooSoon).After(e.RequestedAt.Add(Every).Sub(s.cfg.Now()))
	}
	return e, nil
}

func (s *Service) add(ctx context.Context, tx pgx.Tx, accountID string) (Export, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Export{}, err
	}
	rows, _ := tx.Query(ctx, `INSERT INTO exports (id, account_id, requested_at) VALUES ($1, $2, $3) RETURNING `+columns, id.String(), accountID, s.cfg.Now())
	e, err := pgx.CollectExactlyOneRow(rows, s.scan)
	if err != nil {
		return Export{}, err
	}
	return e, s.worker.Add(ctx, tx, e.ID)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Latest is the last archive of an account that was not given up, or the zero one.
func (s *Service) Latest(ctx context.Context, accountID string) (Export, error) {
	return s.latest(ctx, s.cfg.Pool, accountID)
}

func (s *Service) latest(ctx context.Context, on querier, accountID string) (Export, error) {
	return s.one(ctx, on, `account_id = users_now($1) AND state <> 'failed' AND (expires_at IS NULL OR expires_at > $2) ORDER BY requested_at DESC LIMIT 1`, accountID, s.cfg.Now())
}

// one gives the archive of a condition, or the zero one.
func (s *Service) one(ctx context.Context, on querier, condition string, args ...any) (Export, error) {
	rows, _ := on.Query(ctx, `SELECT `+columns+` FROM exports WHERE `+condition, args...)
	e, err := pgx.CollectOneRow(rows, s.scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return Export{}, nil
	}
	if err != nil {
		return Export{}, fmt.Errorf("look for an export: %w", err)
	}
	return e, nil
}

// Open opens an archive for its owner, who closes it. For everybody else, and when its week is over, there is none: assets.ErrNotFound.
func (s *Service) Open(ctx context.Context, accountID, id string) (assets.Content, error) {
	if _, err := uuid.Parse(id); err != nil {
		return nil, fmt.Errorf("export %.80q: %w", id, assets.ErrNotFound)
	}
	e, err := s.one(ctx, s.cfg.Pool, `id = $1 AND account_id = users_now($2) AND state = 'ready' AND expires_at > $3`, id, accountID, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	if e.ID == "" {
		return nil, fmt.Errorf("export %s: %w", id, assets.ErrNotFound)
	}
	return s.cfg.Files.Open(ctx, e.ref)
}

// Adopt gives the archives of an account to the one that it is merged into. Of two that are being made, the survivor's goes on.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `DELETE FROM exports WHERE account_id = $1 AND state = 'making' AND EXISTS (SELECT FROM exports WHERE account_id = $2 AND state = 'making')`, from, into)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE exports SET account_id = $2 WHERE account_id = $1`, from, into)
	}
	return errs.Wrap(err, "give the exports of %s to %s", from, into)
}

// Forget deletes what is known of the archives of an account, one that is being made too. Their files go with the account's.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM exports WHERE account_id = $1`, accountID)
	return errs.Wrap(err, "forget the exports of %s", accountID)
}

// Package migrations holds the database schema as numbered steps and applies
// them.
//
// # Files
//
// A step is a file NNNN_name.sql in goose's format: what follows
// "-- +goose Up" makes the change, what follows "-- +goose Down" takes it
// back, each in one transaction. A statement with semicolons inside, such as a
// plpgsql function, stands between "-- +goose StatementBegin" and
// "-- +goose StatementEnd". Numbers need not be dense; each part of the
// program has its own range, so that parallel work does not collide:
//
//	0001-0009  shared by all: extensions, assets
//	0010-0019  registry
//	0020-0029  billing
//	0030-0039  runs
//	0040-0049  users
//	0050-0059  platforms: chat, telegram, web
//	0060-0109  what came later, ten for each part
//	0110-0119  runs, billing
//	0120-0149  webhooks, remote tools
//	0150-      in the order in which they are needed
//
// A step that has been released is never edited; a mistake is mended by a new
// step. A step whose number is lower than one already applied is still
// applied, since ranges fill up independently; it must therefore not depend on
// a step with a higher number.
//
// # Deploying
//
// New code runs on the old schema and on the new one, for during a deploy both
// are in use. So add before you need (a nullable column, a table, an index) in
// one release, use it in the next, and remove in a third what no running code
// reads any more. Never rename a column in use.
//
// The job queue's own tables come from River's migrations, which the same
// functions apply under the same lock, before ours.
package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// FS holds the migration files.
//
//go:embed *.sql
var FS embed.FS

// lockKey names our advisory lock in the database. Any constant will do that
// differs from goose's own, which is taken inside it.
const lockKey int64 = 0x5349474e414c // "SIGNAL"

// lockRetry is how often a waiting starter asks for the lock. It asks instead
// of blocking in the database, because a blocked statement holds a snapshot
// that CREATE INDEX CONCURRENTLY would wait for.
const lockRetry = 50 * time.Millisecond

// Step is the state of one migration.
type Step struct {
	Version int64
	Name    string    // the file's name, or "river"
	Applied time.Time // zero while pending
}

// Up applies all pending steps and returns how many of ours and of River's
// there were. Several programs may call it on one database at a time: one
// applies, the others wait and find nothing to do.
func Up(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (applied int, err error) {
	err = locked(ctx, pool, func() error {
		river, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: log})
		if err != nil {
			return err
		}
		theirs, err := river.Migrate(ctx, rivermigrate.DirectionUp, nil)
		if err != nil {
			return fmt.Errorf("apply the job queue's migrations: %w", err)
		}
		applied = len(theirs.Versions)
		return withProvider(pool, log, func(p *goose.Provider) error {
			ours, err := p.Up(ctx)
			applied += len(ours)
			return err
		})
	})
	if err != nil {
		return applied, fmt.Errorf("migrate up: %w", withRemedy(ctx, pool, err))
	}
	return applied, nil
}

// Down takes back all of our steps above version, newest first, and for
// version 0 River's tables as well: the database is then as before the first
// Up. What those steps had stored is lost.
func Down(ctx context.Context, pool *pgxpool.Pool, version int64, log *slog.Logger) error {
	err := locked(ctx, pool, func() error {
		err := withProvider(pool, log, func(p *goose.Provider) error {
			_, err := p.DownTo(ctx, version)
			return err
		})
		if err != nil || version != 0 {
			return err
		}
		river, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: log})
		if err != nil {
			return err
		}
		_, err = river.Migrate(ctx, rivermigrate.DirectionDown, &rivermigrate.MigrateOpts{TargetVersion: -1})
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate down to %d: %w", version, err)
	}
	return nil
}

// Status lists our steps in order, applied and pending.
func Status(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) ([]Step, error) {
	var steps []Step
	err := withProvider(pool, log, func(p *goose.Provider) error {
		all, err := p.Status(ctx)
		for _, s := range all {
			steps = append(steps, Step{Version: s.Source.Version, Name: s.Source.Path, Applied: s.AppliedAt})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", withRemedy(ctx, pool, err))
	}
	return steps, nil
}

// withRemedy says what to do where the database's user may not make tables: from version 15 on, Postgres lets
// nobody but a database's owner do so unasked.
func withRemedy(ctx context.Context, pool *pgxpool.Pool, err error) error {
	const insufficientPrivilege = "42501"
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != insufficientPrivilege {
		return err
	}
	var may bool
	if asked := pool.QueryRow(ctx, `SELECT has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')`).Scan(&may); asked != nil || may {
		return err
	}
	c := pool.Config().ConnConfig
	return fmt.Errorf("%w: an administrator of the server mends that with ALTER DATABASE %s OWNER TO %s", err,
		pgx.Identifier{c.Database}.Sanitize(), pgx.Identifier{c.User}.Sanitize())
}

// Hash changes whenever any step does, ours or River's. It names a schema, as
// for a cache of migrated databases.
func Hash() (string, error) {
	sum := sha256.New()
	names, err := fs.Glob(FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		raw, err := FS.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(raw), raw)
	}
	river, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		return "", err
	}
	for _, m := range river.AllVersions() {
		fmt.Fprintf(sum, "river %d %d\n%s", m.Version, len(m.SQLUp), m.SQLUp)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// withProvider calls f with goose set up for our files.
func withProvider(pool *pgxpool.Pool, log *slog.Logger, f func(*goose.Provider) error) (err error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := newProvider(db, locker, log)
	if err != nil {
		return err
	}
	return f(p)
}

func newProvider(db *sql.DB, locker lock.SessionLocker, log *slog.Logger) (*goose.Provider, error) {
	return goose.NewProvider(goose.DialectPostgres, db, FS,
		goose.WithSessionLocker(locker),
		goose.WithAllowOutofOrder(true),
		goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(log))
}

// locked calls f while holding our lock, so that River's steps and ours are
// one unit to every other program. A connection of its own holds it: when this
// process dies, the database frees the lock.
func locked(ctx context.Context, pool *pgxpool.Pool, f func() error) error {
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	// Closing the session gives up the lock, also when ctx is over by then.
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		var mine bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey).Scan(&mine); err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
		if mine {
			return f()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another program's migration: %w", context.Cause(ctx))
		case <-time.After(lockRetry):
		}
	}
}

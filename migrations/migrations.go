// Package migrations holds the database schema as numbered steps and applies
// them.
//
// # Files
//
// A step is a file NNNN_name.sql in goose's format: what follows
// "-- +goose Up" makes the change, what follows "-- +goose Down" takes it
// back, each in one transaction; indexes of large tables are built outside of one ("-- +goose NO TRANSACTION"), beside the work, in a step
// that can be repeated. A statement with semicolons inside, such as a
// plpgsql function, stands between "-- +goose StatementBegin" and
// "-- +goose StatementEnd".
//
// Below 0300 each room of the program has one file with all its tables. They keep numbers of the steps that they were made from, so that a
// database which has all of those goes on with them; see oldest. What came later, or comes, is a step of its own from 0300 on.
//
// A step that has been released is never edited; a mistake is mended by a new
// step. A step whose number is lower than one already applied is still
// applied, since parallel work fills the numbers independently; it must therefore not depend on
// a step with a higher number.
//
// # Deploying
//
// New code runs on the old schema and on the new one, for during a deploy both
// are in use. So add before you need (a nullable column, a table, an index) in
// one release, use it in the next, and remove in a third what no running code
// reads any more. Never rename a column in use. When a version is released, go generate records its statements, which tests hold the next steps to.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres/session"
)

//go:generate sh -c "UPDATE_RELEASED=1 go test -count=1 -run '^TestStatementsOfTheVersionBefore$' ."

// FS holds the migration files.
//
//go:embed *.sql
var FS embed.FS

// lockRetry is how often a waiting starter asks for the lock. It asks instead
// of blocking in the database, because a blocked statement holds a snapshot
// that CREATE INDEX CONCURRENTLY would wait for.
const lockRetry = 50 * time.Millisecond

// Step is the state of one migration.
type Step struct {
	Version int64
	Name    string    // the file's name
	Applied time.Time // zero while pending
}

// Up applies all pending steps and returns how many there were. Several programs may call it on one database at a time: one
// applies, the others wait and find nothing to do.
func Up(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (applied int, err error) {
	err = locked(ctx, pool, func() error {
		if err := oldest(ctx, pool); err != nil {
			return err
		}
		return withProvider(ctx, pool, log, func(p *goose.Provider) error {
			steps, err := p.Up(ctx)
			applied = len(steps)
			return err
		})
	})
	if err != nil {
		return applied, fmt.Errorf("migrate up: %w", withRemedy(ctx, pool, err))
	}
	return applied, nil
}

// Only applies those of our steps that versions lists, in order, to a database without any: it gets the schema that another had.
func Only(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger, versions []int64) error {
	err := locked(ctx, pool, func() error {
		return withProvider(ctx, pool, log, func(p *goose.Provider) error {
			for _, version := range versions {
				switch _, err := p.ApplyVersion(ctx, version, true); {
				case errors.Is(err, goose.ErrVersionNotFound):
					return fmt.Errorf("it is of a newer program than this one, which lacks step %d of its schema: take that program", version)
				case err != nil && !errors.Is(err, goose.ErrAlreadyApplied):
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("migrate to the steps of a backup: %w", withRemedy(ctx, pool, err))
	}
	return nil
}

// oldest refuses a database that has some of the steps that the files below 0300 were made from, such as 31, and not the last of them, 227:
// nothing brings it up to them any more.
func oldest(ctx context.Context, pool *pgxpool.Pool) error {
	var begun, halfway bool
	err := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, goose.DefaultTablename).Scan(&begun)
	if err == nil && begun {
		err = pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE version_id = 31) > 0 AND count(*) FILTER (WHERE version_id = 227) = 0
			FROM `+goose.DefaultTablename).Scan(&halfway)
	}
	if err == nil && halfway {
		err = errors.New("the database is from before November 2026: start the program of 25 November 2026 with it once, or take another database")
	}
	return err
}

// firstOfOurs is where the numbers of today's files begin, but for those made from the steps up to 227; see oldest.
const firstOfOurs = 300

// Applied lists the versions of all steps that the database has had, in order: ours, and those of a newer program beside this one.
func Applied(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (versions []int64, err error) {
	steps, err := Status(ctx, pool, log)
	if err != nil {
		return nil, err
	}
	rows, _ := pool.Query(ctx, `SELECT DISTINCT version_id FROM `+goose.DefaultTablename+` WHERE is_applied AND version_id >= $1`, firstOfOurs)
	if versions, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	for _, s := range steps {
		if !s.Applied.IsZero() && s.Version < firstOfOurs {
			versions = append(versions, s.Version)
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// Status lists our steps in order, applied and pending. It changes nothing in the database, and fails where the
// database's user could not apply them.
func Status(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) ([]Step, error) {
	var begun bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, goose.DefaultTablename).Scan(&begun); err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	var steps []Step
	err := withProvider(ctx, pool, log, func(p *goose.Provider) error {
		if !begun { // goose would make its table now
			for _, s := range p.ListSources() {
				steps = append(steps, Step{Version: s.Version, Name: s.Path})
			}
			return remedy(ctx, pool)
		}
		all, err := p.Status(ctx)
		for _, s := range all {
			steps = append(steps, Step{Version: s.Source.Version, Name: s.Source.Path, Applied: s.AppliedAt})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	return steps, nil
}

// withRemedy says what to do where err is that the database's user may not make tables.
func withRemedy(ctx context.Context, pool *pgxpool.Pool, err error) error {
	const insufficientPrivilege = "42501"
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != insufficientPrivilege {
		return err
	}
	if what := remedy(ctx, pool); what != nil {
		return fmt.Errorf("%w: %w", err, what)
	}
	return err
}

// remedy is an error that says what to do where the database's user may not make tables: from version 15 on, Postgres
// lets nobody but a database's owner do so unasked.
func remedy(ctx context.Context, pool *pgxpool.Pool) error {
	var may bool
	err := pool.QueryRow(ctx, `SELECT has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')`).Scan(&may)
	if err != nil || may {
		return err
	}
	c := pool.Config().ConnConfig
	return fmt.Errorf("the user %s may not make tables: an administrator of the server mends that with ALTER DATABASE %s OWNER TO %s",
		c.User, pgx.Identifier{c.Database}.Sanitize(), pgx.Identifier{c.User}.Sanitize())
}

// withProvider calls f with goose set up for our files.
func withProvider(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger, f func(*goose.Provider) error) (err error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	config, err := session.Config(ctx, pool) // goose takes locks that outlive a transaction
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
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

// locked calls f while holding our lock, so that all steps are one unit to every
// other program. A connection of its own holds it: when this process dies, the
// database frees the lock.
func locked(ctx context.Context, pool *pgxpool.Pool, f func() error) error {
	conn, err := session.Open(ctx, pool)
	if err != nil {
		return err
	}
	// Closing the session gives up the lock, also when ctx is over by then.
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		var mine bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, locks.Migrations).Scan(&mine); err != nil {
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

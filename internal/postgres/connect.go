package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
	"github.com/signalbox/signalbox/internal/postgres/session"
)

const (
	// connectLimit is how long Connect tries.
	connectLimit = 9 * time.Second
	// applicationName is how our connections are listed in pg_stat_activity.
	applicationName = "signalbox"
)

// maxConns is the pool's size for a number of processors, unless the address sets pool_max_conns. More connections than
// that do no more, while each has to learn all statements first. Postgres' own default allows 100: several programs fit.
func maxConns(processors int) int32 { return int32(min(max(4*processors, 8), 32)) }

// Connect returns a pool on the database that dsn names, in pgx's notation
// (postgres://user:password@host:5432/database, with pool_max_conns and the
// like as query parameters), after speaking with it once. It fails within 10
// seconds with one line that has no password in it. A server that is just
// starting is waited for during that time.
func Connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	return ConnectBoth(ctx, dsn, "")
}

// ConnectBoth is Connect for a database behind a pooler that gives each transaction another connection: sessions is the address
// for what needs one of its own, see package session. Without it the pool's is used, which fails behind such a pooler.
func ConnectBoth(ctx context.Context, dsn, sessions string) (*pgxpool.Pool, error) {
	return connectWithin(ctx, dsn, sessions, connectLimit)
}

func connectWithin(ctx context.Context, dsn, sessions string, limit time.Duration) (*pgxpool.Pool, error) {
	config, err := poolConfig(dsn)
	if err != nil {
		return nil, err
	}
	if sessions != "" {
		if err := session.By(config, sessions); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, connectError(config, err)
	}
	if err := greet(ctx, pool); err != nil {
		pool.Close()
		return nil, connectError(config, err)
	}
	if pool, err = behindPooler(ctx, pool, config, dsn); err != nil {
		return nil, connectError(config, err)
	}
	return pool, nil
}

func poolConfig(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The reason would quote parts of the address, and an address that cannot
		// be read may have its password anywhere.
		return nil, errors.New("DATABASE_URL is no Postgres address: want postgres://user:password@host:5432/database, with special characters of the password %-encoded")
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = maxConns(runtime.GOMAXPROCS(0))
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = applicationName
	}
	if config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		// Few statements are planned anew each time; for pgx's 512 each connection takes 75 kB.
		config.ConnConfig.DescriptionCacheCapacity = min(config.ConnConfig.DescriptionCacheCapacity, 32)
	}
	boundSilence(config, dsn)
	return config, nil
}

// greet asks the server until it answers whether it will do.
func greet(ctx context.Context, pool *pgxpool.Pool) error {
	for {
		var version int
		var encoding string
		err := pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding')`, pgx.QueryExecModeExec).Scan(&version, &encoding)
		switch {
		case err == nil && version/10000 < cluster.OldestMajor:
			return fmt.Errorf("the server is Postgres %d, want %d or newer: upgrade it with pg_upgrade, or move the data with pg_dump to a newer one", version/10000, cluster.OldestMajor)
		case err == nil && encoding != "UTF8":
			return fmt.Errorf("the database's encoding is %s, want UTF8 for the texts of all scripts: make one with TEMPLATE template0 ENCODING 'UTF8', and move the data with pg_dump", encoding)
		case err == nil || !hasCode(err, cannotConnectNow):
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Codes of errors at the beginning of a connection.
const (
	cannotConnectNow   = "57P03" // the server is there but not ready yet
	tooManyConnections = "53300"
)

func hasCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}

// connectError names the server without the password.
func connectError(config *pgxpool.Config, err error) error {
	c := config.ConnConfig
	server := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if strings.HasPrefix(c.Host, "/") {
		server = c.Host
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("database %q at %s gave no answer in time: check that the server runs and can be reached: %w",
			c.Database, server, oneLine(err))
	}
	if hasCode(err, tooManyConnections) {
		return fmt.Errorf("database %q at %s as user %q has no connection left: set pool_max_conns in the DATABASE_URL of each process, have the server allow more (max_connections), or put PgBouncer in between: %w",
			c.Database, server, c.User, oneLine(err))
	}
	return fmt.Errorf("database %q at %s as user %q: %w", c.Database, server, c.User, oneLine(err))
}

// oneLine keeps what errors.Is and errors.As see in err and puts its text on
// one line. pgx writes a line for each address and way it tried: a heading,
// which is dropped, and then often the same thing several times.
func oneLine(err error) error { return lineError{err} }

type lineError struct{ err error }

func (e lineError) Error() string {
	lines := strings.Split(e.err.Error(), "\n")
	if len(lines) > 1 && strings.HasPrefix(lines[0], "failed to connect to") {
		lines = lines[1:]
	}
	var kept []string
	for _, line := range lines {
		if _, reason, dialled := strings.Cut(line, ": connect: "); dialled {
			line = reason // before it stands the address, three times
		}
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "; ")
}

func (e lineError) Unwrap() error { return e.err }
